//! One content block: read from a message, and written back as it was.

use std::borrow::Cow;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, Data, Extra, Part, Reasoning, Scope, Text, ToolCall, ToolResult};

use super::{WIRE, media};
use crate::fields::{Fields, Form, Kept, Writer, optional};
use crate::wire::block_wire::take_input;
use crate::wire::degrade::{value_of, wrapped};

const TOOL_USE: Form = &optional(["toolUseId", "name", "input"]);
const TOOL_RESULT: Form = &optional(["toolUseId", "content", "status"]);
const TEXT: Form = &optional(["text"]);
const REASONING: Form = &optional(["text", "signature"]);
const CITED: Form = &optional(["content", "citations"]);
/// The type of a call that the vendor answers itself.
const SERVER_CALL: &str = "server_tool_use";

/// The block that `value` is, in a message by `author`.
pub(super) fn read(value: Json, author: &Author, scope: &Scope) -> Block {
    known(&value, author, scope).unwrap_or_else(|| {
        let key = value.as_object().and_then(|object| object.iter().next());
        let kind = key.map(|(key, _)| key.to_str_lossy().into_owned()).unwrap_or_default();
        Block::new(author.clone(), Body::Other { kind, raw: value })
    })
}

fn known(value: &Json, author: &Author, scope: &Scope) -> Option<Block> {
    let object = value.as_object().filter(|object| !object.has_duplicates())?;
    if object.get_str("text").is_some() {
        let mut fields = Fields::new(object.clone(), TEXT);
        let text = fields.text("text").unwrap_or_default();
        return Some(block(author.clone(), Text { text }, fields));
    }
    let (key, inner) = object.iter().next().filter(|_| object.len() == 1)?;
    let inner = inner.as_object().filter(|inner| !inner.has_duplicates())?;
    let is_answer = *author == Author::Assistant;
    match &*key.to_str_lossy() {
        "toolUse" if is_answer => call(inner),
        "toolResult" if *author == Author::User => result(inner),
        "reasoningContent" if is_answer => reasoning(inner, scope),
        "citationsContent" if is_answer => cited(inner),
        kind @ ("image" | "document") => {
            let (media, extra) = media::read(kind, inner)?;
            Some(Block { extra, ..Block::new(author.clone(), media) })
        }
        _ => None,
    }
}

fn block(author: Author, body: impl Into<Body>, fields: Fields) -> Block {
    let mut block = Block::new(author, body);
    fields.keep(WIRE, &mut block.extra);
    block
}

/// A call that the application answers. What the vendor calls and answers itself stays as it stands, with its result.
fn call(inner: &Object) -> Option<Block> {
    inner.get_str("toolUseId").and(inner.get_str("name"))?;
    if inner.get_str("type").is_some_and(|kind| kind == SERVER_CALL) {
        return None;
    }
    let mut fields = Fields::new(inner.clone(), TOOL_USE);
    let call = CallId::given(fields.text("toolUseId").unwrap_or_default());
    let name = fields.text("name").unwrap_or_default();
    let arguments = take_input(&mut fields);
    Some(block(Author::Assistant, ToolCall { call, name, arguments }, fields))
}

fn result(inner: &Object) -> Option<Block> {
    inner.get_str("toolUseId")?;
    let mut fields = Fields::new(inner.clone(), TOOL_RESULT);
    let call = CallId::given(fields.text("toolUseId").unwrap_or_default());
    let parts = fields.items("content").unwrap_or_default().into_iter().map(part).collect();
    let is_error = match fields.get_str("status").as_deref() {
        Some("success") => Some(false),
        Some("error") => Some(true),
        _ => None,
    };
    if is_error.is_some() {
        fields.take("status");
    }
    Some(block(Author::Tool, ToolResult { call, name: None, parts, error: None, is_error, outcome: None }, fields))
}

fn part(value: Json) -> Part {
    let is_bare = |inner: &Json| inner.as_object().is_some_and(|inner| inner.len() == 1 && inner.contains(BARE));
    let pair = value.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
    let pair = pair.filter(|(key, inner)| key.to_str().is_ok_and(|key| key != BARE) && !is_bare(inner));
    let Some((key, inner)) = pair else {
        return Part::Other { kind: BARE.to_owned(), raw: [(BARE, value)].into_iter().collect() };
    };
    match (&*key.to_str_lossy(), inner) {
        ("text", Json::String(text)) if text.to_str().is_ok() => Text { text: text.to_str_lossy().into_owned() }.into(),
        ("json", inner) => Data { json: inner.clone() }.into(),
        (kind @ ("image" | "document"), Json::Object(inner)) => match media::read(kind, inner) {
            Some((media, extra)) if extra.is_empty() => media.into(),
            _ => Part::Other { kind: kind.to_owned(), raw: inner.clone() },
        },
        (kind, Json::Object(inner)) => Part::Other { kind: kind.to_owned(), raw: inner.clone() },
        (kind, inner) => Part::Other { kind: kind.to_owned(), raw: [(BARE, inner.clone())].into_iter().collect() },
    }
}

/// The key under which a part is kept whose content is no object.
const BARE: &str = "";

fn reasoning(inner: &Object, scope: &Scope) -> Option<Block> {
    if inner.len() != 1 {
        return None;
    }
    if let Some(data) = inner.get_str("redactedContent") {
        let encrypted = Some(data.into_owned());
        let body = Reasoning { encrypted, scope: Some(scope.clone()), ..Reasoning::default() };
        return Some(Block::new(Author::Assistant, body));
    }
    let text = inner.get("reasoningText")?.as_object().filter(|text| text.get_str("text").is_some())?;
    let mut fields = Fields::new(text.clone(), REASONING);
    let text = fields.text("text");
    let signature = fields.text("signature");
    let scope = signature.is_some().then(|| scope.clone());
    Some(block(Author::Assistant, Reasoning { text, signature, scope, ..Reasoning::default() }, fields))
}

/// An answer that names its sources: its text, and where each piece of it ends.
fn cited(inner: &Object) -> Option<Block> {
    let pieces = inner.get("content")?.as_array().filter(|pieces| !pieces.is_empty())?;
    let text = |piece: &Json| piece.as_object().filter(|piece| piece.len() == 1)?.get_str("text").map(Cow::into_owned);
    let texts: Vec<String> = pieces.iter().map(text).collect::<Option<_>>()?;
    let mut fields = Fields::new(inner.clone(), CITED);
    fields.take("content");
    fields.note("pieces", texts.iter().map(|text| Json::from(text.chars().count() as u64)).collect::<Vec<_>>());
    Some(block(Author::Assistant, Text { text: texts.concat() }, fields))
}

/// The pieces that a text was made of, if it still is that text.
fn pieces(text: &str, lengths: &[Json]) -> Option<Vec<Json>> {
    let mut chars = text.chars();
    let mut pieces = Vec::with_capacity(lengths.len());
    for length in lengths {
        let length = usize::try_from(length.as_number()?.as_u64()?).ok()?;
        pieces.push(wrap("text", chars.by_ref().take(length).collect::<String>()));
    }
    chars.next().is_none().then_some(pieces)
}

fn wrap(kind: &str, inner: impl Into<Json>) -> Json {
    Json::Object([(kind, inner.into())].into_iter().collect())
}

/// The block as it was read.
pub(super) fn write(block: &Block) -> Json {
    let kept = Kept::of(&block.extra, WIRE);
    match &block.body {
        Body::Text(Text { text }) | Body::Summary(turnkeep_model::Summary { text, .. }) => {
            let lengths = kept.note("pieces").and_then(Json::as_array);
            let said = |key: &str, value: Json| [(key, value)].into_iter().collect();
            if let Some(pieces) = lengths.and_then(|lengths| pieces(text, lengths)) {
                return wrap("citationsContent", kept.complete(said("content", Json::Array(pieces)), CITED));
            }
            Json::Object(kept.complete(said("text", text.as_str().into()), TEXT))
        }
        Body::Reasoning(reasoning) => wrap("reasoningContent", reasoning_value(reasoning, kept)),
        Body::ToolCall(call) => wrap("toolUse", call_value(call, kept)),
        Body::ToolResult(result) => {
            let parts = result.parts.iter().map(part_value).collect::<Vec<_>>();
            let mut writer = Writer::new(kept, TOOL_RESULT);
            write_result(&result.call.to_string(), parts, result.is_error, &mut writer);
            wrap("toolResult", writer.finish())
        }
        Body::Media(media) => media::write(media, &block.extra).unwrap_or_default(),
        Body::Other { raw, .. } => raw.clone(),
        _ => Json::Null,
    }
}

fn reasoning_value(reasoning: &Reasoning, kept: Kept<'_>) -> Json {
    if let (None, Some(data)) = (&reasoning.text, &reasoning.encrypted) {
        return wrap("redactedContent", data.as_str());
    }
    let mut writer = Writer::new(kept, REASONING);
    writer.set("text", reasoning.text.as_deref().unwrap_or_default());
    writer.set_some("signature", reasoning.signature.as_deref());
    wrap("reasoningText", writer.finish())
}

fn call_value(call: &ToolCall, kept: Kept<'_>) -> Object {
    let mut writer = Writer::new(kept, TOOL_USE);
    writer.set("toolUseId", call.call.to_string());
    writer.set("name", call.name.as_str());
    if kept.is("input", "text") {
        writer.set("input", call.arguments.as_str());
    } else if !(call.arguments.is_empty() && kept.lacks("input")) {
        writer.set("input", value_of(&call.arguments).unwrap_or_else(|| wrapped(&call.arguments)));
    }
    writer.finish()
}

fn write_result(id: &str, parts: Vec<Json>, is_error: Option<bool>, writer: &mut Writer<'_>) {
    writer.set("toolUseId", id);
    if !parts.is_empty() {
        writer.set("content", parts);
    }
    writer.set_some("status", is_error.map(|is_error| if is_error { "error" } else { "success" }));
}

/// A result with these parts.
pub(super) fn result_value(id: &str, parts: Vec<Json>, is_error: Option<bool>, extra: &Extra) -> Json {
    let mut writer = Writer::new(Kept::of(extra, WIRE), TOOL_RESULT);
    if parts.is_empty() && writer.kept().field("content").is_none() {
        writer.set("content", Vec::new());
    }
    write_result(id, parts, is_error, &mut writer);
    wrap("toolResult", writer.finish())
}

/// A part of a result.
pub(super) fn part_value(part: &Part) -> Json {
    match part {
        Part::Text(text) => wrap("text", text.text.as_str()),
        Part::Data(data) => wrap("json", data.json.clone()),
        Part::Media(media) => media::write(media, &Extra::NONE).unwrap_or_default(),
        Part::Other { kind, raw } => match raw.get(BARE) {
            Some(bare) if raw.len() == 1 && kind == BARE => bare.clone(),
            Some(bare) if raw.len() == 1 => wrap(kind, bare.clone()),
            _ => wrap(kind, raw.clone()),
        },
        _ => Json::Null,
    }
}
