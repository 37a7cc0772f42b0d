//! Conversations as one item a message: `InnerMessage`.

use std::borrow::Cow;
use std::collections::HashSet;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Body, CallId, EvaluationId, PromptId, Session, Time};

use super::FORMAT;
use super::conversation::prompt_of;
use super::message::{Ends, Group, Message, NameKey, Unpacker, holds_text, into_text, is_absent, is_text_or_absent};
use crate::turns::TurnBuilder;

const NAME: NameKey = NameKey("tool_name");

/// An item of the slice.
struct Inner {
    message: Message,
    prompt: (String, String),
    sequence: i64,
    turn: Option<i64>,
}

/// Whether an item is a message.
fn is_inner(object: &Object) -> bool {
    let is_whole = |value: &Json| whole(value).is_some();
    Message::is_message(object, NAME)
        && holds_text(object, "evaluation_id")
        && object.get("sequence").is_some_and(is_whole)
        && object.get("turn").is_none_or(is_whole)
        && ["prompt_ns", "prompt_key"].into_iter().all(|key| is_text_or_absent(object, key))
}

impl Inner {
    /// Reads what [`is_inner`] accepts.
    fn read(item: Json) -> Inner {
        let object = match item {
            Json::Object(object) => object,
            _ => Object::new(),
        };
        let (mut sequence, mut turn, mut ns, mut key) = (None, None, None, None);
        let mut message = Message::read(object, NAME, |name, value| {
            match &name {
                name if *name == "evaluation_id" => {}
                name if *name == "sequence" => sequence = whole(&value),
                name if *name == "turn" => turn = whole(&value),
                name if *name == "prompt_ns" => ns = into_text(value),
                name if *name == "prompt_key" => key = into_text(value),
                _ => return Some((name, value)),
            }
            None
        });
        let sequence = sequence.unwrap_or_default();
        let missing = [("turn", turn.is_none()), ("prompt_ns", ns.is_none()), ("prompt_key", key.is_none())];
        for (key, _) in missing.into_iter().filter(|(_, is_missing)| *is_missing) {
            note_absent(&mut message, key);
        }
        Inner { message, prompt: (ns.unwrap_or_default(), key.unwrap_or_default()), sequence, turn }
    }
}

fn note_absent(message: &mut Message, key: &str) {
    let mut absent = match message.extra.spelling.remove("absent") {
        Some(Json::Array(absent)) => absent,
        _ => Vec::new(),
    };
    absent.push(key.into());
    message.extra.spelling.set("absent", absent);
}

fn whole(value: &Json) -> Option<i64> {
    value.as_number()?.as_i64()
}

/// The places of the items of the latest evaluation, in the order of their messages: each message once.
pub(super) fn latest(items: &[Json]) -> Vec<usize> {
    let is_message = |(_, item): &(usize, &Object)| is_inner(item);
    let all = items.iter().enumerate().filter_map(|(at, item)| Some((at, item.as_object()?)));
    let all: Vec<(usize, &Object)> = all.filter(is_message).collect();
    let Some(wanted) = latest_evaluation(&all) else { return Vec::new() };
    let mut ids = HashSet::new();
    let of_wanted = all.iter().filter(|(_, item)| item.get_str("evaluation_id").as_deref() == Some(&*wanted));
    let mut chosen: Vec<(i64, usize)> = of_wanted
        .filter(|(_, item)| item.get_str("message_id").is_none_or(|id| ids.insert(id)))
        .map(|(at, item)| (sequence_of(item), *at))
        .collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, at)| at).collect()
}

fn sequence_of(item: &Object) -> i64 {
    item.get("sequence").and_then(|sequence| sequence.as_number()?.as_i64()).unwrap_or_default()
}

/// The evaluation of the newest system message, else of the last message.
fn latest_evaluation<'a>(all: &[(usize, &'a Object)]) -> Option<Cow<'a, str>> {
    let time = |item: &Object| Time::new(item.get_str("created_at").unwrap_or_default()).instant();
    let systems = all.iter().filter(|(_, item)| item.get_str("role").as_deref() == Some("system"));
    let newest = systems.max_by_key(|(_, item)| time(item));
    newest.or(all.last()).and_then(|(_, item)| item.get_str("evaluation_id"))
}

/// Makes turns of the items of one evaluation, in the order of their messages.
pub(super) fn unpack(items: Vec<Json>, session: &mut Session) {
    let evaluation = items.first().and_then(|item| Some(item.as_object()?.get_str("evaluation_id")?.into_owned()));
    let mut builder = TurnBuilder::default();
    let mut unpacker = Unpacker::default();
    let mut round = 0;
    let mut statuses = Vec::new();
    let mut prompt = None;
    for (sequence, item) in items.into_iter().enumerate() {
        let inner = Inner::read(item);
        let answers = inner.message.role == "assistant";
        round += i64::from(answers);
        if answers {
            builder.begin_answer();
        }
        let prompt = prompt.get_or_insert_with(|| inner.prompt.clone());
        let mut message = with_notes(inner, sequence, round, prompt);
        statuses.extend(message.calls.iter_mut().map(|call| call.status.take()));
        unpacker.blocks(message).into_iter().for_each(|block| builder.push(block));
    }
    session.turns = builder.finish();
    if let Some(evaluation) = evaluation.filter(|evaluation| !evaluation.is_empty()) {
        session.turns.iter_mut().for_each(|turn| turn.evaluation = Some(EvaluationId::new(evaluation.as_str())));
    }
    let (ns, key) = prompt.unwrap_or_default();
    session.prompt = prompt_of(ns, key);
    settle(session, statuses);
}

/// The message with notes on what is not as one would expect from its place.
fn with_notes(inner: Inner, sequence: usize, round: i64, prompt: &(String, String)) -> Message {
    let mut message = inner.message;
    let notes = &mut message.extra.spelling;
    if i64::try_from(sequence) != Ok(inner.sequence) {
        notes.set("sequence", inner.sequence);
    }
    if let Some(turn) = inner.turn.filter(|turn| *turn != round) {
        notes.set("turn", turn);
    }
    if inner.prompt != *prompt {
        notes.set("prompt_ns", inner.prompt.0);
        notes.set("prompt_key", inner.prompt.1);
    }
    message
}

/// Turns the status of every call into what the model says of its result, and keeps as a note what that does not say.
fn settle(session: &mut Session, statuses: Vec<Option<Json>>) {
    mark_failed(session, &statuses);
    let ends = Ends::of(session);
    let expected: Vec<&str> = calls(session).map(|call| ends.status(call)).collect();
    let blocks = session.turns.iter_mut().flat_map(|turn| &mut turn.blocks);
    let calling = blocks.filter(|block| matches!(block.body, Body::ToolCall(_)));
    for ((block, found), expected) in calling.zip(statuses).zip(expected) {
        if found.as_ref().and_then(Json::as_str).as_deref() != Some(expected) {
            block.extra.part_mut(FORMAT).spelling.set("status", found.unwrap_or_default());
        }
    }
}

/// The results of calls that failed are errors.
fn mark_failed(session: &mut Session, statuses: &[Option<Json>]) {
    let is_failed = |status: &Option<Json>| status.as_ref().and_then(Json::as_str).as_deref() == Some("failed");
    let failed = calls(session).zip(statuses).filter(|(_, status)| is_failed(status));
    let failed: HashSet<CallId> = failed.map(|(call, _)| call.clone()).collect();
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        if let Body::ToolResult(result) = &mut block.body
            && failed.contains(&result.call)
        {
            result.is_error = Some(true);
        }
    }
}

fn calls(session: &Session) -> impl Iterator<Item = &CallId> {
    session.blocks().filter_map(|(_, block)| match &block.body {
        Body::ToolCall(call) => Some(&call.call),
        _ => None,
    })
}

/// The items of a session's conversation.
pub(super) fn pack(session: &Session, groups: &[Group<'_>]) -> Vec<Json> {
    let evaluation = session.turns.iter().find_map(|turn| turn.evaluation.as_ref());
    let mut packer = Packer {
        prompt: session.prompt.clone().unwrap_or_default(),
        evaluation: evaluation.map(ToString::to_string).unwrap_or_default(),
        sequence: 0,
        round: 0,
    };
    let ends = Ends::of(session);
    groups.iter().map(|group| packer.item(group.message(&ends))).collect()
}

struct Packer {
    prompt: PromptId,
    evaluation: String,
    sequence: u64,
    round: u64,
}

impl Packer {
    fn item(&mut self, mut message: Message) -> Json {
        self.round += u64::from(message.role == "assistant");
        for call in &mut message.calls {
            call.status.get_or_insert_with(|| call.implied.into());
        }
        let notes = std::mem::take(&mut message.extra.spelling);
        let or_noted = |key: &str, implied: Json| notes.get(key).cloned().unwrap_or(implied);
        let fields = [
            ("turn", or_noted("turn", self.round.into())),
            ("prompt_ns", or_noted("prompt_ns", self.prompt.ns.as_str().into())),
            ("prompt_key", or_noted("prompt_key", self.prompt.key.as_str().into())),
        ];
        message.extra.spelling.set("absent", notes.get("absent").cloned().unwrap_or_default());
        let mut object = message.write(NAME);
        object.push("evaluation_id", self.evaluation.as_str());
        object.push("sequence", or_noted("sequence", self.sequence.into()));
        for (key, value) in fields {
            if !is_absent(&notes, key) {
                object.push(key, value);
            }
        }
        self.sequence += 1;
        Json::Object(object)
    }
}
