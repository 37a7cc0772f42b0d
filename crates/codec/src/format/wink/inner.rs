//! Conversations as one item a message: `InnerMessage`.

use std::borrow::Cow;
use std::collections::HashSet;

use turnkeep_model::json::{Json, Node, Value};
use turnkeep_model::{Body, CallId, EvaluationId, Session, Time};

use super::conversation::prompt_of;
use super::group::{Ends, Group};
use super::message::{self, Message, NameKey, Unpacker, into_fields, into_text, is_absent};
use super::{FORMAT, python};
use crate::tree;
use crate::turns::TurnBuilder;

const NAME: NameKey = NameKey::ToolName;

/// An item of the slice.
struct Inner<'a> {
    message: Message<'a>,
    prompt: (Cow<'a, str>, Cow<'a, str>),
    sequence: i64,
    turn: Option<i64>,
}

/// What is to be known of an item before it is chosen.
struct Inspection<'n> {
    evaluation: Cow<'n, str>,
    sequence: i64,
    id: Option<Cow<'n, str>>,
    /// When it was made, of a system message.
    begun: Option<Time>,
}

impl<'n> Inspection<'n> {
    /// Looks at an item; `None` where it is no message.
    fn at(node: &'n Node<'_>) -> Option<Inspection<'n>> {
        let fields = node.as_object().filter(|fields| !python::has_duplicates(fields))?;
        let (mut evaluation, mut sequence, mut id, mut role, mut time) = (None, None, None, None, None);
        let mut speaks = false;
        for field in fields {
            if !message::fits(field, NAME) {
                return None;
            }
            let (key, value) = field;
            match &*key.to_str_lossy() {
                "content" => speaks = true,
                "role" => role = value.as_str(),
                "created_at" => time = value.as_str(),
                "message_id" => id = value.as_str(),
                "evaluation_id" => evaluation = Some(value.as_str()?),
                "sequence" => sequence = Some(whole(value)?),
                "turn" => _ = whole(value)?,
                "prompt_ns" | "prompt_key" => message::is_text(value).then_some(())?,
                _ => {}
            }
        }
        let is_system = role.filter(|_| speaks)? == "system";
        let begun = is_system.then(|| Time::new(time.unwrap_or_default()));
        Some(Inspection { evaluation: evaluation?, sequence: sequence?, id, begun })
    }
}

impl<'a> Inner<'a> {
    /// Reads what [`Inspection::at`] accepts.
    fn read(item: Node<'a>) -> Inner<'a> {
        let (mut sequence, mut turn, mut ns, mut prompt_key) = (None, None, None, None);
        let mut message = Message::read(into_fields(item), NAME, |(key, value)| {
            match &*key.to_str_lossy() {
                "evaluation_id" => {}
                "sequence" => sequence = whole(&value),
                "turn" => turn = whole(&value),
                "prompt_ns" => ns = into_text(value),
                "prompt_key" => prompt_key = into_text(value),
                _ => return Some((key.clone(), value)),
            }
            None
        });
        let sequence = sequence.unwrap_or_default();
        let missing = [("turn", turn.is_none()), ("prompt_ns", ns.is_none()), ("prompt_key", prompt_key.is_none())];
        for (key, _) in missing.into_iter().filter(|(_, is_missing)| *is_missing) {
            note_absent(&mut message, key);
        }
        Inner { message, prompt: (ns.unwrap_or_default(), prompt_key.unwrap_or_default()), sequence, turn }
    }
}

fn note_absent(message: &mut Message<'_>, key: &str) {
    let mut absent = match message.extra.spelling.remove("absent") {
        Some(Json::Array(absent)) => absent,
        _ => Vec::new(),
    };
    absent.push(key.into());
    message.extra.spelling.set("absent", absent);
}

fn whole(node: &Node<'_>) -> Option<i64> {
    match &node.value {
        Value::Number(text) => text.parse().ok(),
        _ => None,
    }
}

/// The places of the items of the latest evaluation, in the order of their messages: each message once.
pub(super) fn latest(items: &[Node<'_>]) -> Vec<usize> {
    let all: Vec<(usize, Inspection<'_>)> =
        items.iter().enumerate().filter_map(|(at, item)| Some((at, Inspection::at(item)?))).collect();
    let Some(wanted) = latest_evaluation(&all) else { return Vec::new() };
    let mut ids = HashSet::new();
    let mut chosen: Vec<(i64, usize)> = all
        .iter()
        .filter(|(_, item)| item.evaluation == wanted)
        .filter(|(_, item)| item.id.as_ref().is_none_or(|id| ids.insert(id)))
        .map(|(at, item)| (item.sequence, *at))
        .collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, at)| at).collect()
}

/// The evaluation of the newest system message, else of the last message.
fn latest_evaluation<'l>(all: &'l [(usize, Inspection<'_>)]) -> Option<&'l str> {
    let systems = all.iter().filter_map(|(_, item)| Some((item, item.begun.as_ref()?.instant())));
    let newest = systems.max_by_key(|(_, begun)| *begun).map(|(item, _)| item);
    newest.or(all.last().map(|(_, item)| item)).map(|item| &*item.evaluation)
}

/// Makes turns of the items of one evaluation, in the order of their messages.
pub(super) fn unpack(items: Vec<Node<'_>>, session: &mut Session) {
    let evaluation = items.first().and_then(|item| Some(item.get_str("evaluation_id")?.into_owned()));
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
        statuses.extend(message.calls.iter_mut().map(|call| call.status.take().map(Cow::into_owned)));
        unpacker.blocks(message).into_iter().for_each(|block| builder.push(block));
    }
    session.turns = builder.finish();
    if let Some(evaluation) = evaluation.filter(|evaluation| !evaluation.is_empty()) {
        session.turns.iter_mut().for_each(|turn| turn.evaluation = Some(EvaluationId::new(evaluation.as_str())));
    }
    let (ns, key) = prompt.unwrap_or_default();
    session.prompt = prompt_of(ns.into_owned(), key.into_owned());
    settle(session, statuses);
}

/// The message with notes on what is not as one would expect from its place.
fn with_notes<'a>(inner: Inner<'a>, sequence: usize, round: i64, prompt: &(Cow<'a, str>, Cow<'a, str>)) -> Message<'a> {
    let mut message = inner.message;
    let notes = &mut message.extra.spelling;
    if i64::try_from(sequence) != Ok(inner.sequence) {
        notes.set("sequence", inner.sequence);
    }
    if let Some(turn) = inner.turn.filter(|turn| *turn != round) {
        notes.set("turn", turn);
    }
    if inner.prompt != *prompt {
        notes.set("prompt_ns", inner.prompt.0.into_owned());
        notes.set("prompt_key", inner.prompt.1.into_owned());
    }
    message
}

/// Turns the status of every call into what the model says of its result, and keeps as a note what that does not say.
fn settle(session: &mut Session, statuses: Vec<Option<String>>) {
    mark_failed(session, &statuses);
    let ends = Ends::of(session);
    let expected: Vec<&str> = calls(session).map(|call| ends.status(call)).collect();
    let blocks = session.turns.iter_mut().flat_map(|turn| &mut turn.blocks);
    let calling = blocks.filter(|block| matches!(block.body, Body::ToolCall(_)));
    for ((block, found), expected) in calling.zip(statuses).zip(expected) {
        if found.as_deref() != Some(expected) {
            block.extra.part_mut(FORMAT).spelling.set("status", found.map_or(Json::Null, Json::from));
        }
    }
}

/// The results of calls that failed are errors.
fn mark_failed(session: &mut Session, statuses: &[Option<String>]) {
    let is_failed = |status: &Option<String>| status.as_deref() == Some("failed");
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
pub(super) fn pack<'s>(session: &'s Session, groups: &[Group<'s>]) -> Vec<Node<'s>> {
    let evaluation = session.turns.iter().find_map(|turn| turn.evaluation.as_ref());
    let mut packer = Packer {
        prompt: session.prompt.as_ref().map_or(("", ""), |prompt| (&prompt.ns, &prompt.key)),
        evaluation: evaluation.map_or("", |evaluation| evaluation.as_str()),
        ends: Ends::of(session),
        sequence: 0,
        round: 0,
    };
    groups.iter().map(|group| packer.item(group)).collect()
}

struct Packer<'s> {
    prompt: (&'s str, &'s str),
    evaluation: &'s str,
    ends: Ends<'s>,
    sequence: u64,
    round: u64,
}

impl<'s> Packer<'s> {
    fn item(&mut self, group: &Group<'s>) -> Node<'s> {
        self.round += u64::from(group.role == "assistant");
        let notes = group.extra().map(|part| &part.spelling);
        let value = |key: &str| match key {
            "evaluation_id" => tree::text(self.evaluation),
            "prompt_ns" => tree::text(self.prompt.0),
            "prompt_key" => tree::text(self.prompt.1),
            "sequence" => tree::count(self.sequence),
            _ => tree::count(self.round),
        };
        let beside = |key: &'static str| match notes {
            None => Some(value(key)),
            Some(notes) if is_absent(notes, key) && key != "sequence" && key != "evaluation_id" => None,
            Some(notes) => {
                let noted = notes.get(key).filter(|_| key != "evaluation_id");
                Some(noted.map_or_else(|| value(key), Json::to_node))
            }
        };
        let item = group.write(NAME, Some(&self.ends), beside);
        self.sequence += 1;
        item
    }
}
