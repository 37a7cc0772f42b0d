//! Outputs of tools among the items.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, ExtraPart, Part, Text, ToolResult};

use super::FORMAT;
use super::part;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer, is_text, keys_note};

const OUTPUT: Form = &[("type", KeyRule::Derived), ("call_id", KeyRule::Taken), ("output", KeyRule::Taken)];
/// A part that is kept whole, with a type or without one.
const TYPED: Form = &[("type", KeyRule::Derived)];
const UNTYPED: Form = &[("type", KeyRule::Noted)];
/// How an output is usually typed.
const USUAL: &str = "function_call_output";

/// Whether an item is an output that can be read into a block.
pub(super) fn is_readable(object: &Object) -> bool {
    let output = match object.get("output") {
        Some(Json::Array(parts)) => {
            parts.iter().all(|part| part.as_object().is_some_and(|part| !part.has_duplicates()))
        }
        output => output.is_some_and(is_text),
    };
    output && object.get_str("call_id").is_some()
}

/// The block of an output that [`is_readable`].
pub(super) fn read(object: Object) -> Block {
    let mut fields = Fields::new(object, OUTPUT);
    let kind = fields.text("type").unwrap_or_default();
    let call = CallId::given(fields.text("call_id").unwrap_or_default());
    let mut orders = Vec::new();
    let (parts, is_list) = match fields.array("output") {
        Some(parts) => (parts.into_iter().map(|raw| read_part(raw, &mut orders)).collect(), true),
        None => (vec![Text { text: fields.text("output").unwrap_or_default() }.into()], false),
    };
    if kind != USUAL {
        fields.note("type", kind);
    }
    if is_list != usually_list(&parts) {
        fields.note("output", if is_list { "list" } else { "string" });
    }
    if orders.iter().any(|order| *order != Json::Null) {
        fields.note("parts", orders);
    }
    let result = ToolResult { call, name: None, parts, error: None, is_error: None, outcome: None };
    let mut block = Block::new(Author::Tool, result);
    fields.keep(FORMAT, &mut block.extra);
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
    orders.push(if is_first { Json::Null } else { keys_note(object.iter().map(|(key, _)| key)) });
    let kind = object.get_str("type").map(std::borrow::Cow::into_owned);
    if kind.is_some() {
        object.remove("type");
    }
    Part::Other { kind: kind.unwrap_or_default(), raw: object }
}

/// The item of a tool's result.
pub(super) fn write(block: &Block) -> Json {
    let Body::ToolResult(result) = &block.body else { return Json::Null };
    let kept = Kept::of(&block.extra, FORMAT);
    let is_list = kept.word("output").map_or_else(|| usually_list(&result.parts), |word| word == "list");
    let output = match (result.parts.as_slice(), is_list) {
        ([], false) => Json::from(""),
        ([Part::Text(text)], false) => Json::from(text.text.as_str()),
        (parts, _) => {
            let orders = kept.note("parts").and_then(Json::as_array).unwrap_or_default();
            let written = parts.iter().enumerate().map(|(index, part)| write_part(part, orders.get(index)));
            Json::Array(written.collect())
        }
    };
    let mut made = Writer::new(kept, OUTPUT);
    made.derive("type", kept.word("type").as_deref().unwrap_or(USUAL));
    made.set("call_id", super::item::call_id(&result.call));
    made.set("output", output);
    Json::Object(made.finish())
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
            notes.fields = raw.clone();
            // What had no type is given back without one.
            let form = if kind.is_empty() { UNTYPED } else { TYPED };
            let mut made = Writer::new(Kept::of_part(Some(&notes)), form);
            made.derive("type", kind.as_str());
            return Json::Object(made.finish());
        }
        _ => return Json::Null,
    };
    part::write_body(&body, "input_text", Kept::of_part(Some(&notes)))
}
