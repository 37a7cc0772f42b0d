//! From blocks to messages, and from sessions to the bodies they came from.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, Part, Reasoning, Session, ToolCall, ToolResult, Turn};

use super::message::{CALL, DETAIL, FUNCTION, MESSAGE};
use super::part::PART;
use super::{ID, body, media, options};
use crate::fields::{Kept, in_order};
use crate::wire::message_wire::asked_model;
use crate::wire::repair::speaker;
use crate::wire::{Kind, Parts};

/// The bodies that a session was decoded from.
pub(super) fn parts(session: &Session, kind: Kind) -> Parts {
    let request = || Some(request(session));
    let answer = session.turns.iter().rfind(|turn| is_answer(turn)).or(session.turns.last());
    let response = || Some(Json::Object(answer.map(body::response).unwrap_or_default()));
    match kind {
        Kind::Request => Parts { request: request(), response: None },
        Kind::Response | Kind::Stream => Parts { request: None, response: response() },
        Kind::Exchange => Parts { request: request(), response: response() },
    }
}

/// Whether the answer of a turn came as a response.
pub(super) fn is_answer(turn: &Turn) -> bool {
    turn.extra.spelling(ID, "answer").is_some()
}

fn request(session: &Session) -> Json {
    let asked = session.in_message_order().into_iter().filter(|(turn, _, block)| {
        let answered = session.turns.get(*turn).is_some_and(is_answer);
        !(answered && block.is_answer())
    });
    let blocks: Vec<&Block> = asked.map(|(_, _, block)| block).collect();
    Json::Object(options::request(session, asked_model(session, ID).as_deref(), messages(&blocks)))
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
    match (&first.body, blocks) {
        (Body::Other { kind, raw }, [_]) if kind == "message" => raw.clone(),
        (Body::ToolResult(result), _) => Json::Object(tool_message(first, result)),
        _ => Json::Object(spoken(first, blocks)),
    }
}

fn spoken(first: &Block, blocks: &[&Block]) -> Object {
    let notes = Kept::of(&first.message.extra, ID);
    let author = speaker(first);
    let mut object = Object::new();
    let role = match &first.author {
        Author::Other(word) if author == Author::User => word,
        _ => author.as_str(),
    };
    object.push("role", role);
    if let Some(content) = content(blocks, notes, &author) {
        object.push("content", content);
    }
    blocks.iter().for_each(|block| beside_content(block, &mut object));
    for field in ["reasoning_content", "reasoning"].into_iter().filter(|field| notes.is(field, "joined")) {
        object.push(field, joined_reasoning(blocks));
    }
    if notes.is("reasoning", "repeated")
        && let Some(text) = object.get("reasoning_content").cloned()
    {
        object.set("reasoning", text);
    }
    let calls: Vec<Json> = blocks.iter().filter_map(|block| call(block)).collect();
    if !calls.is_empty() {
        object.push("tool_calls", calls);
    }
    if let Some(name) = &first.message.name {
        object.push("name", name.as_str());
    }
    notes.complete(object, MESSAGE)
}

/// The content of a message.
fn content(blocks: &[&Block], notes: Kept<'_>, author: &Author) -> Option<Json> {
    let parts: Vec<&&Block> = blocks.iter().filter(|block| is_content(block)).collect();
    match parts.as_slice() {
        [] if notes.is("content", "absent") => None,
        [] if notes.is("content", "empty") => Some("".into()),
        [] => (*author == Author::Assistant).then_some(Json::Null),
        [only] => match &only.body {
            Body::Text(text) if Kept::of(&only.extra, ID).is_empty() && !notes.is("content", "parts") => {
                Some(text.text.as_str().into())
            }
            _ => Some(vec![part_json(only)].into()),
        },
        parts => Some(parts.iter().map(|part| part_json(part)).collect::<Vec<_>>().into()),
    }
}

/// Whether a block stands among the parts of a content.
fn is_content(block: &Block) -> bool {
    let notes = Kept::of(&block.extra, ID);
    match &block.body {
        Body::Text(_) => !notes.is("refusal", "field"),
        Body::Summary(_) => true,
        Body::Media(_) | Body::Other { .. } => notes.note("place").is_none(),
        Body::Reasoning(_) => notes.is("field", "thinking"),
        _ => false,
    }
}

fn part_json(block: &Block) -> Json {
    match &block.body {
        Body::Other { raw, .. } => raw.clone(),
        _ => Json::Object(part(block)),
    }
}

/// The part of a content that a block is.
pub(super) fn part(block: &Block) -> Object {
    let notes = Kept::of(&block.extra, ID);
    let object = match &block.body {
        Body::Media(media) => media::part(media, notes),
        Body::Reasoning(reasoning) => {
            let text = typed("text", "text", reasoning.text.as_deref().unwrap_or_default());
            let mut object = Object::new();
            object.push("type", "thinking");
            object.push("thinking", vec![Json::Object(text)]);
            object
        }
        Body::Summary(summary) => typed("text", "text", &summary.text),
        body if notes.is("refusal", "part") => typed("refusal", "refusal", body.as_text().unwrap_or_default()),
        body => typed("text", "text", body.as_text().unwrap_or_default()),
    };
    notes.complete(object, PART)
}

fn typed(kind: &str, key: &str, text: &str) -> Object {
    [("type", Json::from(kind)), (key, Json::from(text))].into_iter().collect()
}

/// What stands in fields of its own beside the content.
fn beside_content(block: &Block, object: &mut Object) {
    let notes = Kept::of(&block.extra, ID);
    match &block.body {
        Body::Text(text) if notes.is("refusal", "field") => object.set("refusal", text.text.as_str()),
        Body::Reasoning(reasoning) if notes.note("detail").is_some() => {
            let mut details = match object.remove("reasoning_details") {
                Some(Json::Array(details)) => details,
                _ => Vec::new(),
            };
            details.push(Json::Object(detail(block, reasoning, notes)));
            object.push("reasoning_details", details);
        }
        Body::Reasoning(_) if notes.is("field", "thinking") => {}
        Body::Reasoning(reasoning) => {
            let field = notes.word("field").unwrap_or("reasoning_content".into());
            let text = reasoning_text(reasoning);
            match object.get_str(&field) {
                Some(before) => {
                    let joined = format!("{before}\n\n{text}");
                    object.set(&field, joined);
                }
                None => object.set(&field, text),
            }
        }
        Body::ToolCall(call) if notes.is("place", "function_call") => {
            object.set("function_call", Json::Object(notes.at("function").complete(function(call, notes), FUNCTION)));
        }
        Body::Media(_) if notes.is("place", "images") => {
            let mut images = match object.remove("images") {
                Some(Json::Array(images)) => images,
                _ => Vec::new(),
            };
            images.push(part_json(block));
            object.push("images", images);
        }
        Body::Other { raw, .. } if notes.is("place", "audio") => object.set("audio", raw.clone()),
        _ => {}
    }
}

fn reasoning_text(reasoning: &Reasoning) -> String {
    reasoning.text.clone().unwrap_or_else(|| reasoning.summary.join("\n\n"))
}

fn joined_reasoning(blocks: &[&Block]) -> String {
    let details = blocks.iter().filter(|block| block.extra.spelling(ID, "detail").is_some());
    let texts = details.filter_map(|block| match &block.body {
        Body::Reasoning(reasoning) => Some(reasoning_text(reasoning)),
        _ => None,
    });
    texts.collect()
}

fn detail(block: &Block, reasoning: &Reasoning, notes: Kept<'_>) -> Object {
    let mut object = Object::new();
    object.push("type", notes.word("detail").unwrap_or_default().into_owned());
    let fields = [
        ("text", reasoning.text.as_deref()),
        ("summary", reasoning.summary.first().map(String::as_str)),
        ("data", reasoning.encrypted.as_deref()),
        ("signature", reasoning.signature.as_deref()),
        ("id", block.item_id.as_ref().map(turnkeep_model::ItemId::as_str)),
    ];
    for (key, value) in fields {
        if let Some(value) = value {
            object.push(key, value);
        }
    }
    notes.complete(object, DETAIL)
}

fn call(block: &Block) -> Option<Json> {
    let notes = Kept::of(&block.extra, ID);
    match &block.body {
        Body::Other { raw, .. } if notes.is("place", "tool_calls") => Some(raw.clone()),
        Body::ToolCall(call) if notes.note("place").is_none() => Some(Json::Object(tool_call(call, notes))),
        _ => None,
    }
}

fn tool_call(call: &ToolCall, notes: Kept<'_>) -> Object {
    let mut object = Object::new();
    if let CallId::Given(id) = &call.call {
        object.push("id", &**id);
    }
    let is_custom = notes.is("type", "custom");
    let kind = if is_custom { "custom" } else { "function" };
    if !notes.is("type", "absent") {
        object.push("type", kind);
    }
    let inner = if is_custom { custom(call) } else { function(call, notes) };
    object.push(kind, notes.at(kind).complete(inner, FUNCTION));
    notes.complete(object, CALL)
}

fn custom(call: &ToolCall) -> Object {
    [("name", Json::from(call.name.as_str())), ("input", Json::from(call.arguments.as_str()))].into_iter().collect()
}

fn function(call: &ToolCall, notes: Kept<'_>) -> Object {
    let mut object = Object::new();
    object.push("name", call.name.as_str());
    match notes.at("function").word("arguments").as_deref() {
        Some("absent") => {}
        Some("object") => object.push("arguments", call.arguments_json().unwrap_or_default()),
        _ => object.push("arguments", call.arguments.as_str()),
    }
    object
}

fn tool_message(block: &Block, result: &ToolResult) -> Object {
    let notes = Kept::of(&block.message.extra, ID);
    let mut object = Object::new();
    object.push("role", if notes.is("role", "function") { "function" } else { "tool" });
    if let CallId::Given(id) = &result.call {
        object.push("tool_call_id", &**id);
    }
    if !notes.is("content", "absent") {
        object.push("content", result_content(result, notes));
    }
    if let Some(name) = &result.name {
        object.push("name", name.as_str());
    }
    notes.complete(object, MESSAGE)
}

fn result_content(result: &ToolResult, notes: Kept<'_>) -> Json {
    match result.parts.as_slice() {
        [] => result.error.as_deref().unwrap_or_default().into(),
        [Part::Data(data)] if notes.is("content", "data") => data.json.clone(),
        [Part::Text(text)] if !notes.is("content", "parts") => text.text.as_str().into(),
        [Part::Data(data)] => data.json.to_text().into(),
        parts => {
            let orders = notes.note("parts").and_then(Json::as_array).unwrap_or_default();
            let part = |(at, part): (usize, &Part)| result_part(part, orders.get(at));
            parts.iter().enumerate().map(part).collect::<Vec<_>>().into()
        }
    }
}

fn result_part(part: &Part, order: Option<&Json>) -> Json {
    let object = match part {
        Part::Text(text) => typed("text", "text", &text.text),
        Part::Data(data) => typed("text", "text", &data.json.to_text()),
        Part::Media(media) => media::part(media, Kept::of(&turnkeep_model::Extra::NONE, ID)),
        Part::Other { kind, raw } => {
            let mut object = Object::new();
            object.push("type", kind.as_str());
            raw.iter().for_each(|(key, value)| object.push(key.clone(), value.clone()));
            object
        }
        // Parts of a newer model have no form here.
        _ => Object::new(),
    };
    Json::Object(in_order(object, order, PART))
}
