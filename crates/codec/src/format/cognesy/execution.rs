//! What a step did: errors, and the executions of tools.

use turnkeep_model::json::{self, Json, Node};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Author, Block, Body, CallId, Data, Extra, ExtraPart, Part, Text, ToolResult};

use super::FORMAT;
use super::call::{self, Shape};
use super::map::{Map, text};
use super::message::Messages;
use super::php::Spelling;
use super::step::{ERROR, EXECUTION};

pub(super) fn errors(step: &mut Map) -> Vec<TurnError> {
    let read = |item: &Json| {
        let mut map = Map::open(item.clone(), ERROR).ok()?;
        let mut made = TurnError {
            message: map.text("message").unwrap_or_default(),
            class: map.text("class"),
            ..TurnError::default()
        };
        map.leave(made.extra.part_mut(FORMAT), "");
        made.extra.tidy();
        Some(made)
    };
    step.take("errors", |value| value.as_array()?.iter().map(read).collect()).unwrap_or_default()
}

pub(super) fn execution(item: Json, blocks: &mut [Block], messages: &mut Messages) -> Option<(Block, Block)> {
    let mut map = Map::open(item, EXECUTION).ok()?;
    let item = map.remove("tool_call").unwrap_or_default();
    let (made, mut extra) = call::read(item.clone(), Shape::Plain, || messages.mint()).ok()?;
    let mut found = blocks.iter_mut().find(|block| match &block.body {
        Body::ToolCall(call) => call.call == made.call,
        _ => false,
    });
    if let Some((block, Body::ToolCall(call))) = found.as_mut().map(|block| (&mut block.extra, &block.body)) {
        if call::in_step(call, false) != item {
            map.restore("tool_call", item);
        }
        let part = block.part_mut(FORMAT);
        part.spelling.set("executed", true);
        map.leave(part, "execution");
        return None;
    }
    let id = made.call.clone();
    let mut result_extra = Extra::NONE;
    let result = result(id, &mut map, result_extra.part_mut(FORMAT));
    let part = extra.part_mut(FORMAT);
    part.spelling.set("place", "step");
    map.leave(part, "execution");
    Some((
        Block { extra, ..Block::new(Author::Assistant, made) },
        Block { extra: result_extra, ..Block::new(Author::Tool, result) },
    ))
}

fn result(call: CallId, map: &mut Map, part: &mut ExtraPart) -> ToolResult {
    part.spelling.set("place", "step");
    let error = map.text("error");
    let is_error = error.is_some().then_some(true);
    let encoded = map.take("result", text);
    let parts = match encoded {
        None => Vec::new(),
        Some(encoded) => match decoded(&encoded) {
            Some(part) => vec![part],
            None => {
                part.spelling.set("result", "text");
                vec![Part::Text(Text { text: encoded })]
            }
        },
    };
    ToolResult { call, name: None, parts, error, is_error, outcome: None }
}

/// What a result says that the program encoded as JSON, if encoding it again gives the same text.
pub(super) fn decoded(encoded: &str) -> Option<Part> {
    let value = json::parse(encoded).ok().map(Node::into_json)?;
    if Spelling::PLAIN.line(&value) != encoded {
        return None;
    }
    Some(match text(&value) {
        Some(text) => Part::Text(Text { text }),
        None => Part::Data(Data { json: value }),
    })
}

/// The messages of a store, to which steps refer instead of repeating them.
#[derive(Debug, Default)]
pub(super) struct Lists<'a> {
    messages: Vec<&'a Json>,
    by_id: std::collections::HashMap<String, usize>,
}

impl<'a> Lists<'a> {
    /// The messages of a store in order.
    pub(super) fn new(messages: impl Iterator<Item = &'a Json>) -> Lists<'a> {
        let id = |message: &Json| message.as_object().and_then(|fields| fields.get("id")).and_then(text);
        let messages: Vec<&Json> = messages.collect();
        let by_id = messages.iter().enumerate().filter_map(|(at, message)| id(message).map(|id| (id, at))).collect();
        Lists { messages, by_id }
    }

    /// Takes a list, and says which messages it repeats; a list that holds others stays as it is.
    pub(super) fn take(&self, step: &mut Map, key: &str) -> Option<Json> {
        let Some(Json::Array(items)) = step.get(key) else { return None };
        if items.is_empty() {
            return None;
        }
        let note = if self.begin_with(items) {
            Json::from(items.len() as u64)
        } else {
            Json::Array(items.iter().map(|item| self.place(item)).collect::<Option<Vec<_>>>()?)
        };
        step.remove(key);
        Some(note)
    }

    fn begin_with(&self, items: &[Json]) -> bool {
        items.len() <= self.messages.len() && self.messages.iter().zip(items).all(|(stored, item)| *stored == item)
    }

    /// The place of a message in the store: a number, or as a text where the store has a step's tags on it.
    fn place(&self, item: &Json) -> Option<Json> {
        let id = item.as_object()?.get("id").and_then(text)?;
        let at = *self.by_id.get(&id)?;
        let stored = self.messages.get(at)?;
        if *stored == item {
            return Some(Json::from(at as u64));
        }
        (untagged(stored) == *item).then(|| Json::from(at.to_string()))
    }
}

/// The keys that a step adds to the metadata of its messages.
pub(super) const TAGS: [&str; 4] = ["step_id", "execution_id", "agent_id", "is_trace"];

/// A message without the tags of its step.
pub(super) fn untagged(message: &Json) -> Json {
    let Json::Object(fields) = message else { return message.clone() };
    let mut fields = fields.clone();
    if let Some(Json::Object(metadata)) = fields.get("_metadata") {
        let mut metadata = metadata.clone();
        metadata.retain(|key, _| !TAGS.contains(&&*key.to_str_lossy()));
        if metadata.is_empty() {
            fields.remove("_metadata");
        } else {
            fields.set("_metadata", metadata);
        }
    }
    Json::Object(fields)
}
