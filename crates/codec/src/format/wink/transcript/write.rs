//! From sessions to log records.

use turnkeep_model::json::{Json, Nan, parse_with};
use turnkeep_model::{Author, Block, Body, CallId, ExtraPart, Part, Session, Turn, Usage};

use super::detail::{DetailTemplate, PathSegment};
use super::entry::Entry;
use super::read::{MAIN, RECORD, detail};
use crate::format::wink::FORMAT;

/// The detail of a block as this format words it, with holes where the content goes.
pub(super) fn own_words(body: &Body) -> Option<DetailTemplate> {
    let slots: &[(&'static str, &'static str)] = match body {
        Body::Text(_) | Body::Summary(_) | Body::Reasoning(_) => &[("text", "text")],
        Body::ToolCall(call) => match (&call.call, call.arguments.is_empty()) {
            (CallId::Given(_), false) => &[("name", "name"), ("id", "tool_use_id"), ("input", "input")],
            (CallId::Given(_), true) => &[("name", "name"), ("id", "tool_use_id")],
            (CallId::Minted(_), false) => &[("name", "name"), ("input", "input")],
            (CallId::Minted(_), true) => &[("name", "name")],
        },
        Body::ToolResult(result) => match (&result.call, result.parts.is_empty(), result.is_error) {
            (CallId::Given(_), false, None) => &[("id", "tool_use_id"), ("content", "content")],
            (CallId::Given(_), false, Some(_)) => {
                &[("id", "tool_use_id"), ("content", "content"), ("is_error", "is_error")]
            }
            (CallId::Given(_), true, None) => &[("id", "tool_use_id")],
            (CallId::Given(_), true, Some(_)) => &[("id", "tool_use_id"), ("is_error", "is_error")],
            (CallId::Minted(_), false, None) => &[("content", "content")],
            (CallId::Minted(_), false, Some(_)) => &[("content", "content"), ("is_error", "is_error")],
            (CallId::Minted(_), true, None) => &[],
            (CallId::Minted(_), true, Some(_)) => &[("is_error", "is_error")],
        },
        _ => return None,
    };
    let order = ["tool_use_id", "name", "input", "content", "is_error", "text"];
    let mut keys: Vec<(&'static str, Json)> = slots.iter().map(|(_, key)| (*key, Json::Null)).collect();
    keys.sort_by_key(|(key, _)| order.iter().position(|own| own == key));
    let holes = slots.iter().map(|(slot, key)| (*slot, vec![PathSegment::Key((*key).to_owned())])).collect();
    Some(DetailTemplate { detail: detail(&keys), holes })
}

/// Writes the entries of one source.
pub(super) struct SourceWriter<'a> {
    session: &'a Session,
    source: String,
    entries: u64,
}

impl<'a> SourceWriter<'a> {
    pub(super) fn new(session: &'a Session, is_main: bool) -> SourceWriter<'a> {
        let source = if is_main { MAIN.to_owned() } else { session.agent.clone().unwrap_or_default() };
        SourceWriter { session, source, entries: 0 }
    }

    /// The record of a block; `None` where a transcript has no place for it.
    pub(super) fn record(&mut self, turn: &Turn, block: &Block) -> Option<Json> {
        if let Body::Other { kind, raw } = &block.body
            && kind == RECORD
        {
            return Some(raw.clone());
        }
        let kind = kind(block)?;
        self.entries += 1;
        let none = ExtraPart::default();
        let part = block.extra.part(FORMAT).unwrap_or(&none);
        let noted = |key: &str| part.spelling.get(key);
        let text = |value: &Json| value.as_str().map(std::borrow::Cow::into_owned);
        let prompt = self.session.prompt.as_ref().map(|prompt| prompt.key.clone()).unwrap_or_default();
        let time = block.message.time.as_ref().map(ToString::to_string);
        let sequence = noted("sequence").and_then(|value| value.as_number()?.as_u64());
        let entry = Entry {
            logged: part.fields.get("timestamp").map_or_else(|| time.clone(), text),
            prompt_name: noted("prompt_name").and_then(text).unwrap_or(prompt),
            adapter: noted("adapter").and_then(text).or_else(|| turn.api.clone()).unwrap_or_default(),
            kind,
            sequence: sequence.unwrap_or(self.entries),
            source: self.source.clone(),
            time,
            session_id: noted("session_id").map_or_else(|| self.session.id.as_ref().map(ToString::to_string), text),
            detail: outgoing_detail(turn, block, part),
            raw: part.fields.get("raw").and_then(text),
        };
        Some(entry.to_json())
    }
}

/// The type of a block's entry.
fn kind(block: &Block) -> Option<String> {
    let word = match (&block.body, &block.author) {
        (Body::Other { kind, .. }, Author::Other(word)) if word == "transcript" => kind,
        (Body::Text(_) | Body::Summary(_), Author::System | Author::Developer) => "system_event",
        (Body::Text(_) | Body::Summary(_), Author::Assistant) => "assistant_message",
        (Body::Text(_) | Body::Summary(_), _) => "user_message",
        (Body::Reasoning(reasoning), _) if reasoning.text.is_some() => "thinking",
        (Body::ToolCall(_), _) => "tool_use",
        (Body::ToolResult(_), _) => "tool_result",
        _ => return None,
    };
    Some(word.to_owned())
}

fn outgoing_detail(turn: &Turn, block: &Block, part: &ExtraPart) -> Option<Json> {
    let holes = part.spelling.get("holes").and_then(Json::as_object);
    if let Body::Other { raw, .. } = &block.body {
        return match (raw, holes) {
            (Json::Object(raw), Some(holes)) => {
                Some(Json::Object(DetailTemplate::fill(raw.clone(), holes, |slot| count(&turn.usage, slot))))
            }
            (Json::Null, _) => part.spelling.get("detail").map(|_| Json::Null),
            (raw, _) => Some(raw.clone()),
        };
    }
    let value = |slot: &str| slot_value(&block.body, slot);
    let filled = match (part.fields.get("detail"), holes) {
        (Some(Json::Object(detail)), Some(holes)) => DetailTemplate::fill(detail.clone(), holes, value),
        _ => {
            let own = own_words(&block.body)?;
            let note = own.note();
            DetailTemplate::fill(own.detail, note.as_object()?, value)
        }
    };
    Some(Json::Object(filled))
}

fn count(usage: &Usage, slot: &str) -> Option<Json> {
    let count = match slot {
        "input" => usage.input,
        "output" => usage.output,
        _ => usage.cached_read,
    };
    count.map(Json::from)
}

fn slot_value(body: &Body, slot: &str) -> Option<Json> {
    let text = |text: &str| Some(Json::from(text));
    match (body, slot) {
        (Body::Text(body), "text") => text(&body.text),
        (Body::Summary(body), "text") => text(&body.text),
        (Body::Reasoning(body), "text") => body.text.as_deref().map(Json::from),
        (Body::ToolCall(call), "id") => call.call.as_given().map(Json::from),
        (Body::ToolCall(call), "name") => text(&call.name),
        (Body::ToolCall(call), "input") => Some(input(&call.arguments)),
        (Body::ToolResult(result), "id") => result.call.as_given().map(Json::from),
        (Body::ToolResult(result), "content") => content(&result.parts),
        (Body::ToolResult(result), "is_error") => result.is_error.map(Json::from),
        _ => None,
    }
}

/// Arguments as a value; what is no JSON stays text.
fn input(arguments: &str) -> Json {
    parse_with(arguments, Nan::Accept).map_or_else(|_| arguments.into(), turnkeep_model::json::Node::into_json)
}

fn content(parts: &[Part]) -> Option<Json> {
    let value = |part: &Part| match part {
        Part::Text(text) => Json::from(text.text.as_str()),
        Part::Data(data) => data.json.clone(),
        Part::Other { raw, .. } => Json::Object(raw.clone()),
        _ => Json::Null,
    };
    match parts {
        [] => None,
        [part] => Some(value(part)),
        parts => Some(Json::Array(parts.iter().map(value).collect())),
    }
}
