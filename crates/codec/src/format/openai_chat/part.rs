//! From the parts of a content to blocks, and to the parts of a result.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, Data, Part, Reasoning, Text};

use super::message::other;
use super::{ID, media};
use crate::fields::{Fields, Form, optional, order_of};

/// The usual order of a part's fields.
pub(super) const PART: Form = &optional(["type", "text", "refusal", "thinking", "image_url", "input_audio", "file"]);

/// The blocks of a message's content.
pub(super) fn content(fields: &mut Fields, author: &Author) -> Vec<Block> {
    if let Some(text) = fields.text("content") {
        return vec![Block::text(author.clone(), text)];
    }
    let some = |value: &Json| value.as_array().is_some_and(|parts| !parts.is_empty());
    let Some(Json::Array(parts)) = fields.take_if("content", some) else { return Vec::new() };
    let blocks: Vec<Block> = parts.into_iter().map(|part| self::part(part, author)).collect();
    if let [only] = blocks.as_slice()
        && only.body.as_text().is_some()
        && only.extra.is_empty()
    {
        fields.note("content", "parts");
    }
    blocks
}

pub(super) fn part(part: Json, author: &Author) -> Block {
    let Json::Object(object) = part else { return other("part", part, author.clone()) };
    let kind = object.get_str("type").map(std::borrow::Cow::into_owned);
    let Some(kind) = kind.filter(|kind| is_known(kind, &object)) else {
        let kind = object.get_str("type").map_or_else(|| "part".to_owned(), std::borrow::Cow::into_owned);
        return other(&kind, Json::Object(object), author.clone());
    };
    let mut fields = Fields::new(object, PART);
    let body: Body = match kind.as_str() {
        "text" => Text { text: fields.text("text").unwrap_or_default() }.into(),
        "refusal" => {
            fields.note("refusal", "part");
            Text { text: fields.text("refusal").unwrap_or_default() }.into()
        }
        "thinking" => {
            fields.note("field", "thinking");
            Reasoning { text: thinking_text(fields.take("thinking")), ..Reasoning::default() }.into()
        }
        _ => match media::take(&kind, &mut fields) {
            Some(media) => media.into(),
            None => return other(&kind, Json::Object(fields.into_rest()), author.clone()),
        },
    };
    fields.take("type");
    let mut block = Block::new(author.clone(), body);
    fields.keep(ID, &mut block.extra);
    block
}

/// Whether a part can be read as what its type says.
fn is_known(kind: &str, part: &Object) -> bool {
    match kind {
        "text" | "refusal" => part.get_str(kind).is_some() && !part.has_duplicates(),
        "thinking" => part.get("thinking").is_some_and(is_thinking) && !part.has_duplicates(),
        "image_url" | "input_audio" | "file" => !part.has_duplicates(),
        _ => false,
    }
}

/// Whether thinking is one text, as Mistral writes it.
fn is_thinking(value: &Json) -> bool {
    match value.as_array() {
        Some([Json::Object(only)]) => {
            let is_usual = only.len() == 2 && only.iter().next().is_some_and(|(key, _)| key.is("type"));
            is_usual && only.get_str("type").is_some_and(|kind| kind == "text") && only.get_str("text").is_some()
        }
        _ => false,
    }
}

fn thinking_text(value: Option<Json>) -> Option<String> {
    let items = match value {
        Some(Json::Array(items)) => items,
        _ => return None,
    };
    items.first()?.as_object()?.get_str("text").map(std::borrow::Cow::into_owned)
}

pub(super) fn result_parts(fields: &mut Fields) -> Vec<Part> {
    if let Some(text) = fields.text("content") {
        return vec![Text { text }.into()];
    }
    match fields.take_if("content", |value| *value != Json::Null) {
        None => {
            fields.note("content", "absent");
            Vec::new()
        }
        Some(Json::Array(parts)) if !parts.is_empty() && parts.iter().all(is_part) => {
            let (parts, orders): (Vec<Part>, Vec<Json>) = parts.into_iter().map(result_part).unzip();
            if orders.iter().any(|order| *order != Json::Null) {
                fields.note("parts", orders);
            }
            if let [Part::Text(_)] = parts.as_slice() {
                fields.note("content", "parts");
            }
            parts
        }
        Some(json) => {
            fields.note("content", "data");
            vec![Data { json }.into()]
        }
    }
}

fn is_part(part: &Json) -> bool {
    part.as_object().is_some_and(|part| part.get_str("type").is_some() && !part.has_duplicates())
}

/// A part of a result and the order of its keys, where that is unusual. A part has no place for other notes: one that needs
/// some is kept whole.
fn result_part(part: Json) -> (Part, Json) {
    let mut block = self::part(part, &Author::Tool);
    let order = block.extra.part_mut(ID).spelling.remove("order");
    block.extra.tidy();
    let is_plain = block.extra.is_empty();
    if let Some(order) = &order {
        block.extra.part_mut(ID).spelling.push("order", order.clone());
    }
    let mut raw = match block.body {
        Body::Text(text) if is_plain => return (text.into(), order.unwrap_or_default()),
        Body::Media(media) if is_plain => return (media.into(), order.unwrap_or_default()),
        Body::Other { raw: Json::Object(raw), .. } => raw,
        _ => super::restore::part(&block),
    };
    let order = order_of(&raw, PART).unwrap_or_default();
    let kind = raw.remove("type").as_ref().and_then(Json::as_str).map(std::borrow::Cow::into_owned);
    (Part::Other { kind: kind.unwrap_or_default(), raw }, order)
}
