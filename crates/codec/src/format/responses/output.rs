//! Outputs of tools among the items.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, ExtraPart, Part, Text, ToolResult};

use super::FORMAT;
use super::apart::{Apart, Emit, Slot, Together, has_duplicates, is_text, keep, order_of};
use super::part;

const SLOTS: &[Slot] = &[("type", Emit::Usual), ("call_id", Emit::Value), ("output", Emit::Value)];
/// How an output is usually typed.
const USUAL: &str = "function_call_output";

/// Whether an item is an output that can be read into a block.
pub(super) fn is_readable(object: &Object) -> bool {
    let output = match object.get("output") {
        Some(Json::Array(parts)) => parts.iter().all(|part| part.as_object().is_some_and(|part| !has_duplicates(part))),
        output => is_text(output),
    };
    output && object.get_str("call_id").is_some()
}

/// The block of an output that [`is_readable`].
pub(super) fn read(object: Object) -> Block {
    let mut apart = Apart::new(object);
    let kind = apart.text("type").unwrap_or_default();
    let call = CallId::given(apart.text("call_id").unwrap_or_default());
    let mut orders = Vec::new();
    let (parts, is_list) = match apart.array("output") {
        Some(parts) => (parts.into_iter().map(|raw| read_part(raw, &mut orders)).collect(), true),
        None => (vec![Text { text: apart.text("output").unwrap_or_default() }.into()], false),
    };
    let mut rest = apart.finish(SLOTS);
    if kind != USUAL {
        rest.spelling.push("type", kind);
    }
    if is_list != usually_list(&parts) {
        rest.spelling.push("output", if is_list { "list" } else { "string" });
    }
    if orders.iter().any(|order| *order != Json::Null) {
        rest.spelling.push("parts", Json::Array(orders));
    }
    let result = ToolResult { call, name: None, parts, error: None, is_error: None, outcome: None };
    let mut block = Block::new(Author::Tool, result);
    keep(&mut block.extra, rest);
    block
}

fn usually_list(parts: &[Part]) -> bool {
    !matches!(parts, [] | [Part::Text(_)])
}

/// A part of an output. A part has no extra: where something is left of it, it is kept whole.
fn read_part(raw: Json, orders: &mut Vec<Json>) -> Part {
    let (body, mut rest) = part::read_body("input_text", raw.clone());
    let order = rest.spelling.remove("order").unwrap_or_default();
    if rest == ExtraPart::default() {
        let part = match body {
            Body::Text(text) => Some(Part::Text(text)),
            Body::Media(media) => Some(Part::Media(media)),
            _ => None,
        };
        if let Some(part) = part {
            orders.push(order);
            return part;
        }
    }
    let Json::Object(mut object) = raw else {
        orders.push(Json::Null);
        return Text::default().into();
    };
    let is_first = object.iter().next().is_some_and(|(key, _)| key.to_str_lossy() == "type");
    orders.push(if is_first {
        Json::Null
    } else {
        order_of(object.iter().map(|(key, _)| key).collect::<Vec<_>>().into_iter())
    });
    let kind = object.remove("type").as_ref().and_then(Json::as_str).unwrap_or_default().into_owned();
    Part::Other { kind, raw: object }
}

/// The item of a tool's result.
pub(super) fn write(block: &Block) -> Json {
    let Body::ToolResult(result) = &block.body else { return Json::Null };
    let part = block.extra.part(FORMAT);
    let spelled = |key: &str| part.and_then(|part| part.spelling.get_str(key));
    let is_list = spelled("output").map_or_else(|| usually_list(&result.parts), |word| word == "list");
    let output = match (result.parts.as_slice(), is_list) {
        ([], false) => Json::from(""),
        ([Part::Text(text)], false) => Json::from(text.text.as_str()),
        (parts, _) => {
            let orders = part.and_then(|part| part.spelling.get("parts")).and_then(Json::as_array).unwrap_or_default();
            let written = parts.iter().enumerate().map(|(index, part)| write_part(part, orders.get(index)));
            Json::Array(written.collect())
        }
    };
    let mut made = Together::default();
    made.put_as("type", spelled("type").as_deref().unwrap_or(USUAL), Emit::Usual);
    made.put("call_id", super::item::call_id(&result.call));
    made.put("output", output);
    Json::Object(made.with_part(part))
}

fn write_part(part: &Part, order: Option<&Json>) -> Json {
    let mut notes = ExtraPart::default();
    if let Some(order @ (Json::Array(_) | Json::String(_))) = order {
        notes.spelling.push("order", order.clone());
    }
    let body = match part {
        Part::Text(text) => Body::Text(text.clone()),
        Part::Media(media) => Body::Media(media.clone()),
        Part::Data(data) => Body::Text(Text { text: data.json.to_text() }),
        Part::Other { kind, raw } => {
            let mut made = Together::default();
            // What had no type is given back without one.
            made.put_as("type", kind.as_str(), if kind.is_empty() { Emit::Noted } else { Emit::Usual });
            notes.fields = raw.clone();
            return Json::Object(made.with_part(Some(&notes)));
        }
        _ => return Json::Null,
    };
    part::write_body(&body, "input_text", Some(&notes))
}
