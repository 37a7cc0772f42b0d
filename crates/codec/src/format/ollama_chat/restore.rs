//! From blocks to messages, and from sessions to the bodies they came from.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, Part, Session, ToolCall, ToolResult, Turn};

use super::message::{CALL, FUNCTION, MESSAGE};
use super::{ID, body};
use crate::fields::Kept;
use crate::wire::message_wire::asked_model;
use crate::wire::repair::speaker;
use crate::wire::{Kind, Parts};

/// The bodies that a session was decoded from.
pub(super) fn parts(session: &Session, kind: Kind) -> Parts {
    let request = || Some(Json::Object(body::request(session, asked_model(session, ID).as_deref(), asked(session))));
    let answer = session.turns.iter().rfind(|turn| is_answer(turn)).or(session.turns.last());
    let response = || Some(Json::Object(answer.map(body::response).unwrap_or_default()));
    match kind {
        Kind::Request => Parts { request: request(), response: None },
        Kind::Response | Kind::Stream => Parts { request: None, response: response() },
        Kind::Exchange => Parts { request: request(), response: response() },
    }
}

fn is_answer(turn: &Turn) -> bool {
    turn.extra.spelling(ID, "answer").is_some()
}

fn asked(session: &Session) -> Vec<Json> {
    let asked = session.in_message_order().into_iter().filter(|(turn, _, block)| {
        let answered = session.turns.get(*turn).is_some_and(is_answer);
        !(answered && block.is_answer())
    });
    let blocks: Vec<&Block> = asked.map(|(_, _, block)| block).collect();
    messages(&blocks)
}

/// The messages of blocks: those with one ordinal and one speaker are one.
pub(super) fn messages(blocks: &[&Block]) -> Vec<Json> {
    blocks.chunk_by(|a, b| is_one_message(a, b)).map(message).collect()
}

/// Whether two neighbours are of one message.
pub(super) fn is_one_message(a: &Block, b: &Block) -> bool {
    a.message.ordinal == b.message.ordinal && speaker(a) == speaker(b) && speaker(a) != Author::Tool
}

/// The message that some blocks were.
pub(super) fn message(blocks: &[&Block]) -> Json {
    let Some(first) = blocks.first() else { return Json::Null };
    match &first.body {
        Body::Other { raw, .. } => raw.clone(),
        Body::ToolResult(result) => Json::Object(tool_message(first, result)),
        _ => Json::Object(spoken(first, blocks)),
    }
}

fn spoken(first: &Block, blocks: &[&Block]) -> Object {
    let notes = Kept::of(&first.message.extra, ID);
    let mut object = Object::new();
    let author = speaker(first);
    let role = match &first.author {
        Author::Other(word) if author == Author::User => word,
        _ => author.as_str(),
    };
    object.push("role", role);
    let texts: Vec<&str> = blocks.iter().filter_map(|block| said(block)).collect();
    if !(texts.is_empty() && notes.is("content", "absent")) {
        object.push("content", texts.join("\n\n"));
    }
    let thoughts: Vec<String> = blocks.iter().filter_map(|block| thought(block)).collect();
    if !thoughts.is_empty() {
        object.push("thinking", thoughts.join("\n\n"));
    }
    let images: Vec<Json> = blocks.iter().filter_map(|block| image(block)).collect();
    if !images.is_empty() {
        object.push("images", images);
    }
    let calls: Vec<Json> = blocks.iter().filter_map(|block| call(block)).collect();
    if !calls.is_empty() {
        object.push("tool_calls", calls);
    }
    notes.complete(object, MESSAGE)
}

fn said(block: &Block) -> Option<&str> {
    match &block.body {
        Body::Text(text) => Some(&text.text),
        Body::Summary(summary) => Some(&summary.text),
        _ => None,
    }
}

fn thought(block: &Block) -> Option<String> {
    match &block.body {
        Body::Reasoning(reasoning) => Some(reasoning.text.clone().unwrap_or_else(|| reasoning.summary.join("\n\n"))),
        _ => None,
    }
}

fn image(block: &Block) -> Option<Json> {
    match &block.body {
        Body::Media(media) => media.inline.as_deref().map(Json::from),
        _ => None,
    }
}

fn call(block: &Block) -> Option<Json> {
    let Body::ToolCall(call) = &block.body else { return None };
    let notes = Kept::of(&block.extra, ID);
    let mut object = Object::new();
    if let CallId::Given(id) = &call.call {
        object.push("id", &**id);
    }
    object.push("function", notes.at("function").complete(function(call, notes), FUNCTION));
    Some(Json::Object(notes.complete(object, CALL)))
}

fn function(call: &ToolCall, notes: Kept<'_>) -> Object {
    let mut object = Object::new();
    object.push("name", call.name.as_str());
    match notes.at("function").word("arguments").as_deref() {
        Some("absent") => {}
        Some("string") => object.push("arguments", call.arguments.as_str()),
        _ => object.push("arguments", arguments(call)),
    }
    object
}

/// The arguments as an object; what is none stands in one.
fn arguments(call: &ToolCall) -> Object {
    match call.arguments_json() {
        Some(Json::Object(object)) => object,
        _ if call.arguments.trim().is_empty() => Object::new(),
        _ => [("_raw", Json::from(call.arguments.as_str()))].into_iter().collect(),
    }
}

fn tool_message(block: &Block, result: &ToolResult) -> Object {
    let notes = Kept::of(&block.message.extra, ID);
    let mut object = Object::new();
    object.push("role", "tool");
    if !notes.is("content", "absent") {
        object.push("content", result_text(result));
    }
    let images: Vec<Json> = result.parts.iter().filter_map(shown).collect();
    if !images.is_empty() {
        object.push("images", images);
    }
    if let Some(name) = &result.name {
        object.push("tool_name", name.as_str());
    }
    if let CallId::Given(id) = &result.call
        && !notes.is("tool_call_id", "absent")
    {
        object.push("tool_call_id", &**id);
    }
    notes.complete(object, MESSAGE)
}

fn shown(part: &Part) -> Option<Json> {
    match part {
        Part::Media(media) => media.inline.as_deref().map(Json::from),
        _ => None,
    }
}

fn result_text(result: &ToolResult) -> String {
    let texts = result.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.text.clone()),
        Part::Data(data) => Some(data.json.to_text()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
