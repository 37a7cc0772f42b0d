//! One content block: read from a message, and written back as it was.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Data, Extra, Media, Part, Reasoning, Scope, Text, ToolCall, ToolResult,
};

use super::WIRE;
use crate::wire::degrade::{value_of, wrapped};
use crate::wire::document::type_of_url;
use crate::wire::fields::{Fields, Writing, in_order, spelled_order};

const TEXT: &[&str] = &["type", "text", "citations", "cache_control"];
const THINKING: &[&str] = &["type", "thinking", "signature"];
const REDACTED: &[&str] = &["type", "data"];
const TOOL_USE: &[&str] = &["type", "id", "name", "input", "caller", "cache_control"];
const TOOL_RESULT: &[&str] = &["type", "tool_use_id", "content", "is_error", "cache_control"];
const MEDIA: &[&str] = &["type", "source", "title", "context", "citations", "cache_control"];
const PART: &[&str] = &["type"];
const SOURCE: &[&str] = &["type", "media_type", "data", "url", "file_id"];

/// The block that `value` is, in a message by `author`.
pub(super) fn read(value: Json, author: &Author, scope: &Scope) -> Block {
    let Json::Object(object) = value else { return other("block", value, author) };
    let kind = object.get_str("type").map(std::borrow::Cow::into_owned).unwrap_or_default();
    let has = |key: &str| object.get_str(key).is_some();
    let is_answer = *author == Author::Assistant;
    match kind.as_str() {
        "text" if has("text") => text(object, author),
        "thinking" if has("thinking") && is_answer => thinking(object, scope),
        "redacted_thinking" if has("data") && is_answer => redacted(object, scope),
        "tool_use" if has("id") && has("name") && is_answer => call(object),
        "tool_result" if has("tool_use_id") && *author == Author::User => result(object),
        "image" | "document" => match media_of(object) {
            Ok((media, extra)) => Block { extra, ..Block::new(author.clone(), media) },
            Err(object) => other(&kind, Json::Object(object), author),
        },
        _ => other(&kind, Json::Object(object), author),
    }
}

fn other(kind: &str, raw: Json, author: &Author) -> Block {
    Block::new(author.clone(), Body::Other { kind: kind.to_owned(), raw })
}

fn block(author: Author, body: impl Into<Body>, fields: Fields) -> Block {
    let mut block = Block::new(author, body);
    fields.keep(WIRE, &mut block.extra);
    block
}

fn text(object: Object, author: &Author) -> Block {
    let mut fields = Fields::new(object, TEXT);
    fields.take("type");
    let text = fields.text("text").unwrap_or_default();
    block(author.clone(), Text { text }, fields)
}

fn thinking(object: Object, scope: &Scope) -> Block {
    let mut fields = Fields::new(object, THINKING);
    fields.take("type");
    let text = fields.text("thinking");
    let signature = fields.text("signature");
    let scope = signature.is_some().then(|| scope.clone());
    block(Author::Assistant, Reasoning { text, signature, scope, ..Reasoning::default() }, fields)
}

fn redacted(object: Object, scope: &Scope) -> Block {
    let mut fields = Fields::new(object, REDACTED);
    fields.take("type");
    let encrypted = fields.text("data");
    block(Author::Assistant, Reasoning { encrypted, scope: Some(scope.clone()), ..Reasoning::default() }, fields)
}

fn call(object: Object) -> Block {
    let mut fields = Fields::new(object, TOOL_USE);
    fields.take("type");
    let call = CallId::given(fields.text("id").unwrap_or_default());
    let name = fields.text("name").unwrap_or_default();
    let arguments = match fields.take("input") {
        None => {
            fields.note_absent("input");
            String::new()
        }
        // Where a stream was cut off, the arguments are the text so far.
        Some(Json::String(text)) if text.to_str().is_ok() => {
            fields.note("input", "text");
            text.to_str_lossy().into_owned()
        }
        Some(value) => value.to_text(),
    };
    block(Author::Assistant, ToolCall { call, name, arguments }, fields)
}

fn result(object: Object) -> Block {
    let mut fields = Fields::new(object, TOOL_RESULT);
    fields.take("type");
    let call = CallId::given(fields.text("tool_use_id").unwrap_or_default());
    let mut parts = Vec::new();
    if let Some(text) = fields.text("content") {
        fields.note("content", "string");
        parts.push(Text { text }.into());
    } else if let Some(items) = fields.items("content") {
        let orders: Vec<Json> = items.iter().map(part_order).collect();
        if orders.iter().any(|order| *order != Json::Null) {
            fields.note("parts", orders);
        }
        parts.extend(items.into_iter().map(part));
    }
    let is_error = fields.flag("is_error");
    block(Author::Tool, ToolResult { call, name: None, parts, error: None, is_error, outcome: None }, fields)
}

fn part_order(value: &Json) -> Json {
    value.as_object().and_then(|object| spelled_order(object, usual_part(object))).unwrap_or_default()
}

/// The usual order of a part's fields.
fn usual_part(object: &Object) -> &'static [&'static str] {
    match object.get_str("type").as_deref() {
        Some("image" | "document") => MEDIA,
        _ => PART,
    }
}

fn part(value: Json) -> Part {
    let Json::Object(mut object) = value else { return Data { json: value }.into() };
    let Some(kind) = object.get_str("type").map(std::borrow::Cow::into_owned) else {
        return Data { json: Json::Object(object) }.into();
    };
    if kind == "text"
        && object.len() == 2
        && let Some(text) = crate::take::text(&mut object, "text")
    {
        return Text { text }.into();
    }
    if matches!(kind.as_str(), "image" | "document")
        && let Ok((media, mut extra)) = media_of(object.clone())
    {
        // The order of its fields is kept with the result. A part has no room for anything else beside the media.
        extra.part_mut(WIRE).spelling.remove("order");
        extra.tidy();
        if extra.is_empty() {
            return media.into();
        }
    }
    object.remove("type");
    Part::Other { kind, raw: object }
}

/// The media of an image or a document, whatever stands beside it.
pub(crate) fn media(object: &Object) -> Option<Media> {
    media_of(object.clone()).ok().map(|(media, _)| media)
}

/// The media of an image or a document, or the object as it was.
fn media_of(object: Object) -> Result<(Media, Extra), Object> {
    let kind = object.get_str("type").unwrap_or_default().into_owned();
    let Some(source) = object.get("source").and_then(Json::as_object).cloned() else { return Err(object) };
    let Some((mut media, rest, order)) = media_source(source, &kind) else { return Err(object) };
    let mut fields = Fields::new(object, MEDIA);
    fields.take("type");
    fields.take("source");
    media.name = fields.text("title");
    if kind != usual_kind(&media) {
        fields.note("type", kind);
    }
    if !rest.is_empty() {
        fields.put_back("source", rest);
    }
    if let Some(order) = order {
        fields.note("source", order);
    }
    let mut extra = Extra::NONE;
    fields.keep(WIRE, &mut extra);
    Ok((media, extra))
}

fn media_source(mut source: Object, holder: &str) -> Option<(Media, Object, Option<Json>)> {
    let order = spelled_order(&source, SOURCE);
    let kind = source.get_str("type")?.into_owned();
    let is_document = holder == "document";
    let text = |key: &str| source.get_str(key).map(std::borrow::Cow::into_owned);
    let (media, keys): (Media, &[&str]) = match kind.as_str() {
        "base64" => {
            let media =
                Media { media_type: Some(text("media_type")?), inline: Some(text("data")?), ..Media::default() };
            (media, &["type", "media_type", "data"])
        }
        "text" if is_document => {
            let media = Media { media_type: Some(text("media_type")?), text: Some(text("data")?), ..Media::default() };
            (media, &["type", "media_type", "data"])
        }
        "url" => {
            let url = text("url")?;
            let media_type = is_document.then(|| type_of_url(&url).to_owned());
            (Media { media_type, url: Some(url), ..Media::default() }, &["type", "url"])
        }
        "file" => (Media { file_id: Some(text("file_id")?), ..Media::default() }, &["type", "file_id"]),
        _ => return None,
    };
    keys.iter().for_each(|key| drop(source.remove(key)));
    Some((media, source, order))
}

/// What a block of this media is, where nothing says otherwise.
pub(super) fn usual_kind(media: &Media) -> &'static str {
    match media.media_type.as_deref() {
        Some(media_type) if !media_type.starts_with("image/") => "document",
        None if media.text.is_some() => "document",
        _ => "image",
    }
}

/// The block as it was read.
pub(super) fn write(block: &Block) -> Json {
    let mut writing = Writing::new(WIRE, &block.extra);
    let usual = match &block.body {
        Body::Text(text) => {
            writing.set("type", "text");
            writing.set("text", text.text.as_str());
            TEXT
        }
        Body::Summary(summary) => {
            writing.set("type", "text");
            writing.set("text", summary.text.as_str());
            TEXT
        }
        Body::Reasoning(reasoning) => write_reasoning(reasoning, &mut writing),
        Body::ToolCall(call) => {
            write_call(call, &mut writing);
            TOOL_USE
        }
        Body::ToolResult(result) => {
            write_result(result, &mut writing);
            TOOL_RESULT
        }
        Body::Media(media) => {
            write_media(media, &mut writing);
            MEDIA
        }
        Body::Other { raw, .. } => return raw.clone(),
        _ => return Json::Null,
    };
    Json::Object(writing.finish(usual))
}

fn write_reasoning(reasoning: &Reasoning, writing: &mut Writing<'_>) -> &'static [&'static str] {
    match (&reasoning.text, &reasoning.encrypted) {
        (None, Some(data)) => {
            writing.set("type", "redacted_thinking");
            writing.set("data", data.as_str());
            REDACTED
        }
        (text, _) => {
            writing.set("type", "thinking");
            writing.set("thinking", text.as_deref().unwrap_or_default());
            writing.set_some("signature", reasoning.signature.as_deref());
            THINKING
        }
    }
}

fn write_call(call: &ToolCall, writing: &mut Writing<'_>) {
    writing.set("type", "tool_use");
    writing.set("id", call.call.to_string());
    writing.set("name", call.name.as_str());
    if writing.noted_as("input", "text") {
        writing.set("input", call.arguments.as_str());
    } else if !(call.arguments.is_empty() && writing.lacks("input")) {
        writing.set("input", value_of(&call.arguments).unwrap_or_else(|| wrapped(&call.arguments)));
    }
}

fn write_result(result: &ToolResult, writing: &mut Writing<'_>) {
    writing.set("type", "tool_result");
    writing.set("tool_use_id", result.call.to_string());
    match result.parts.as_slice() {
        [] => {}
        [Part::Text(text)] if writing.noted_as("content", "string") => writing.set("content", text.text.as_str()),
        parts => {
            let orders = writing.noted("parts").and_then(Json::as_array).unwrap_or_default();
            let orders = orders.iter().map(|order| Some(order).filter(|order| **order != Json::Null));
            let parts = parts.iter().zip(orders.chain(std::iter::repeat(None)));
            writing.set("content", parts.map(|(part, order)| write_part(part, order)).collect::<Vec<_>>());
        }
    }
    writing.set_some("is_error", result.is_error);
}

fn write_part(part: &Part, order: Option<&Json>) -> Json {
    let value = part_value(part);
    match (value, order) {
        (Json::Object(object), Some(order)) => Json::Object(in_order(object, Some(order), PART)),
        (value, _) => value,
    }
}

fn part_value(part: &Part) -> Json {
    match part {
        Part::Text(text) => text_value(&text.text),
        Part::Data(data) => data.json.clone(),
        Part::Media(media) => media_value(media, &Extra::NONE),
        Part::Other { kind, raw } => {
            let mut object = Object::new();
            object.push("type", kind.as_str());
            raw.iter().for_each(|(key, value)| object.push(key.clone(), value.clone()));
            Json::Object(object)
        }
        _ => Json::Null,
    }
}

/// A block of text.
pub(super) fn text_value(text: &str) -> Json {
    Json::Object([("type", Json::from("text")), ("text", Json::from(text))].into_iter().collect())
}

/// A block of media.
pub(super) fn media_value(media: &Media, extra: &Extra) -> Json {
    let mut writing = Writing::new(WIRE, extra);
    write_media(media, &mut writing);
    Json::Object(writing.finish(MEDIA))
}

fn write_media(media: &Media, writing: &mut Writing<'_>) {
    let kind = writing.noted("type").and_then(Json::as_str);
    writing.set("type", kind.as_deref().unwrap_or_else(|| usual_kind(media)));
    let mut source = Object::new();
    match media {
        Media { text: Some(text), inline: None, .. } => {
            source.push("type", "text");
            source.push("media_type", media.media_type.as_deref().unwrap_or("text/plain"));
            source.push("data", text.as_str());
        }
        Media { inline: Some(data), .. } => {
            source.push("type", "base64");
            source.push("media_type", media.media_type.as_deref().unwrap_or("application/octet-stream"));
            source.push("data", data.as_str());
        }
        Media { file_id: Some(id), .. } => {
            source.push("type", "file");
            source.push("file_id", id.as_str());
        }
        media => {
            source.push("type", "url");
            source.push("url", media.url.as_deref().unwrap_or_default());
        }
    }
    if let Some(Json::Object(rest)) = writing.kept("source") {
        rest.iter().for_each(|(key, value)| source.push(key.clone(), value.clone()));
    }
    writing.set("source", in_order(source, writing.noted("source"), SOURCE));
    writing.set_some("title", media.name.as_deref());
}
