//! Conversations as one item a message: `InnerMessage`.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, EvaluationId, PromptId, Session, Time};

use super::FORMAT;
use super::conversation::prompt_of;
use super::message::{Ends, Group, Message, NameKey, Unpacker, is_absent, take_text};
use crate::turns::TurnBuilder;

const NAME: NameKey = NameKey("tool_name");

/// An item of the slice, and its place there.
struct Inner {
    at: usize,
    message: Message,
    evaluation: String,
    prompt: (String, String),
    sequence: i64,
    turn: Option<i64>,
}

impl Inner {
    fn read(at: usize, item: &Json) -> Option<Inner> {
        let mut object = item.as_object()?.clone();
        let evaluation = take_text(&mut object, "evaluation_id")??;
        let sequence = take_whole(&mut object, "sequence")??;
        let turn = take_whole(&mut object, "turn")?;
        let prompt = (take_text(&mut object, "prompt_ns")?, take_text(&mut object, "prompt_key")?);
        let mut message = Message::read(object, NAME)?;
        let mut missing = |key: &str, is_missing: bool| {
            if is_missing {
                let mut absent = match message.extra.spelling.remove("absent") {
                    Some(Json::Array(absent)) => absent,
                    _ => Vec::new(),
                };
                absent.push(key.into());
                message.extra.spelling.set("absent", absent);
            }
        };
        missing("turn", turn.is_none());
        missing("prompt_ns", prompt.0.is_none());
        missing("prompt_key", prompt.1.is_none());
        let prompt = (prompt.0.unwrap_or_default(), prompt.1.unwrap_or_default());
        Some(Inner { at, message, evaluation, prompt, sequence, turn })
    }

    fn is_system(&self) -> bool {
        self.message.role == "system"
    }
}

/// Takes a whole number; fails where something else stands there.
fn take_whole(object: &mut Object, key: &str) -> Option<Option<i64>> {
    match object.get(key) {
        None => Some(None),
        Some(value) => {
            let number = value.as_number()?.as_i64()?;
            object.remove(key);
            Some(Some(number))
        }
    }
}

/// Puts the latest evaluation into a session; gives the places of its items in the slice, in the order of the messages.
pub(super) fn unpack(items: &[Json], session: &mut Session) -> Option<Vec<usize>> {
    let all: Vec<Inner> = items.iter().enumerate().filter_map(|(at, item)| Inner::read(at, item)).collect();
    let latest = latest_evaluation(&all)?.to_owned();
    let mut ids = HashSet::new();
    let mut is_new = |inner: &Inner| inner.message.id.as_ref().is_none_or(|id| ids.insert(id.clone()));
    let mut chosen: Vec<Inner> = all.into_iter().filter(|inner| inner.evaluation == latest && is_new(inner)).collect();
    chosen.sort_by_key(|inner| inner.sequence);
    let places = chosen.iter().map(|inner| inner.at).collect();
    let prompt = chosen.first().map(|inner| inner.prompt.clone()).unwrap_or_default();
    let mut builder = TurnBuilder::default();
    let mut unpacker = Unpacker::default();
    let mut round = 0;
    for (sequence, inner) in chosen.into_iter().enumerate() {
        let answers = inner.message.role == "assistant";
        round += i64::from(answers);
        if answers {
            builder.begin_answer();
        }
        let message = with_notes(inner, sequence, round, &prompt);
        unpacker.blocks(message).into_iter().for_each(|block| builder.push(block));
    }
    session.turns = builder.finish();
    if !latest.is_empty() {
        session.turns.iter_mut().for_each(|turn| turn.evaluation = Some(EvaluationId::new(latest.as_str())));
    }
    session.prompt = prompt_of(prompt.0, prompt.1);
    settle(session);
    Some(places)
}

/// The evaluation of the newest system message, else of the last message.
fn latest_evaluation(all: &[Inner]) -> Option<&str> {
    let time = |inner: &Inner| {
        let time = inner.message.time.as_deref().map(Time::from);
        time.as_ref().and_then(Time::instant)
    };
    let systems = all.iter().filter(|inner| inner.is_system());
    let newest = systems.max_by_key(|inner| time(inner));
    newest.or(all.last()).map(|inner| inner.evaluation.as_str())
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

/// Turns the status of calls into what the model says of their results, and keeps as a note what that does not say.
fn settle(session: &mut Session) {
    let mut failed = HashSet::new();
    let statuses = session.blocks().filter_map(|(_, block)| match &block.body {
        Body::ToolCall(call) => Some((call.call.clone(), spelled(block))),
        _ => None,
    });
    failed.extend(statuses.filter(|(_, word)| word.as_deref() == Some("failed")).map(|(call, _)| call));
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        if let Body::ToolResult(result) = &mut block.body
            && failed.contains(&result.call)
        {
            result.is_error = Some(true);
        }
    }
    let ends = Ends::of(session);
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        let Body::ToolCall(call) = &block.body else { continue };
        let (expected, found) = (ends.status(&call.call), spelled(block));
        let spelling = &mut block.extra.part_mut(FORMAT).spelling;
        match found {
            Some(word) if word == expected => drop(spelling.remove("status")),
            Some(_) => {}
            None => spelling.set("status", Json::Null),
        }
        block.extra.tidy();
    }
}

fn spelled(block: &Block) -> Option<String> {
    block.extra.spelling(FORMAT, "status").and_then(Json::as_str).map(std::borrow::Cow::into_owned)
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
