//! One content block: read from a message, and written back as it was.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Data, Extra, Media, Part, Reasoning, Scope, Text, ToolCall, ToolResult,
};

use super::WIRE;
use crate::fields::{Fields, Form, Kept, Writer, in_order, optional, order_of};
use crate::wire::block_wire::take_input;
use crate::wire::degrade::{value_of, wrapped};
use crate::wire::document::type_of_url;

const TEXT: Form = &optional(["type", "text", "citations", "cache_control"]);
const THINKING: Form = &optional(["type", "thinking", "signature"]);
const REDACTED: Form = &optional(["type", "data"]);
const TOOL_USE: Form = &optional(["type", "id", "name", "input", "caller", "cache_control"]);
pub(super) const TOOL_RESULT: Form = &optional(["type", "tool_use_id", "content", "is_error", "cache_control"]);
const MEDIA: Form = &optional(["type", "source", "title", "context", "citations", "cache_control"]);
const PART: Form = &optional(["type"]);
const SOURCE: Form = &optional(["type", "media_type", "data", "url", "file_id"]);

/// The block that `value` is, in a message by `author`.
pub(super) fn read(value: Json, author: &Author, scope: &Scope) -> Block {
    let object = match value {
        Json::Object(object) if !object.has_duplicates() => object,
        value => return other("block", value, author),
    };
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
    let arguments = take_input(&mut fields);
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
    value.as_object().and_then(|object| order_of(object, usual_part(object))).unwrap_or_default()
}

/// The usual order of a part's fields.
fn usual_part(object: &Object) -> Form {
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
        && let Some(text) = object.get_str("text")
    {
        return Text { text: text.into_owned() }.into();
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
    let source = object.get("source").and_then(Json::as_object).filter(|source| !source.has_duplicates());
    let Some((mut media, keys)) = source.and_then(|source| media_source(source, &kind)) else { return Err(object) };
    let mut fields = Fields::new(object, MEDIA);
    fields.take("type");
    fields.within("source", SOURCE, |source| keys.iter().for_each(|key| drop(source.take(key))));
    media.name = fields.text("title");
    if kind != usual_kind(&media) {
        fields.note("type", kind);
    }
    let mut extra = Extra::NONE;
    fields.keep(WIRE, &mut extra);
    Ok((media, extra))
}

/// The media that a source holds, and the keys that say so.
fn media_source(source: &Object, holder: &str) -> Option<(Media, &'static [&'static str])> {
    let kind = source.get_str("type")?.into_owned();
    let is_document = holder == "document";
    let text = |key: &str| source.get_str(key).map(std::borrow::Cow::into_owned);
    Some(match kind.as_str() {
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
    })
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
    let kept = Kept::of(&block.extra, WIRE);
    let writer = match &block.body {
        Body::Text(text) => write_text(&text.text, kept),
        Body::Summary(summary) => write_text(&summary.text, kept),
        Body::Reasoning(reasoning) => write_reasoning(reasoning, kept),
        Body::ToolCall(call) => write_call(call, kept),
        Body::ToolResult(result) => write_result(result, kept),
        Body::Media(media) => write_media(media, kept),
        Body::Other { raw, .. } => return raw.clone(),
        _ => return Json::Null,
    };
    Json::Object(writer.finish())
}

/// A block of a type.
fn typed<'a>(kind: &str, kept: Kept<'a>, form: Form) -> Writer<'a> {
    let mut writer = Writer::new(kept, form);
    writer.set("type", kind);
    writer
}

fn write_text<'a>(text: &str, kept: Kept<'a>) -> Writer<'a> {
    let mut writer = typed("text", kept, TEXT);
    writer.set("text", text);
    writer
}

fn write_reasoning<'a>(reasoning: &Reasoning, kept: Kept<'a>) -> Writer<'a> {
    if let (None, Some(data)) = (&reasoning.text, &reasoning.encrypted) {
        let mut writer = typed("redacted_thinking", kept, REDACTED);
        writer.set("data", data.as_str());
        return writer;
    }
    let mut writer = typed("thinking", kept, THINKING);
    writer.set("thinking", reasoning.text.as_deref().unwrap_or_default());
    writer.set_some("signature", reasoning.signature.as_deref());
    writer
}

fn write_call<'a>(call: &ToolCall, kept: Kept<'a>) -> Writer<'a> {
    let mut writer = typed("tool_use", kept, TOOL_USE);
    writer.set("id", call.call.to_string());
    writer.set("name", call.name.as_str());
    if kept.is("input", "text") {
        writer.set("input", call.arguments.as_str());
    } else if !(call.arguments.is_empty() && kept.lacks("input")) {
        writer.set("input", value_of(&call.arguments).unwrap_or_else(|| wrapped(&call.arguments)));
    }
    writer
}

fn write_result<'a>(result: &ToolResult, kept: Kept<'a>) -> Writer<'a> {
    let mut writer = typed("tool_result", kept, TOOL_RESULT);
    writer.set("tool_use_id", result.call.to_string());
    match result.parts.as_slice() {
        [] => {}
        [Part::Text(text)] if kept.is("content", "string") => writer.set("content", text.text.as_str()),
        parts => {
            let orders = kept.note("parts").and_then(Json::as_array).unwrap_or_default();
            let part = |(at, part): (usize, &Part)| write_part(part, orders.get(at));
            writer.set("content", parts.iter().enumerate().map(part).collect::<Vec<_>>());
        }
    }
    writer.set_some("is_error", result.is_error);
    writer
}

fn write_part(part: &Part, order: Option<&Json>) -> Json {
    match (part_value(part), order) {
        (Json::Object(object), Some(order)) if *order != Json::Null => {
            Json::Object(in_order(object, Some(order), PART))
        }
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
    Json::Object(write_media(media, Kept::of(extra, WIRE)).finish())
}

fn write_media<'a>(media: &Media, kept: Kept<'a>) -> Writer<'a> {
    let mut writer = typed(kept.word("type").as_deref().unwrap_or_else(|| usual_kind(media)), kept, MEDIA);
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
    writer.nest("source", source, SOURCE);
    writer.set_some("title", media.name.as_deref());
    writer
}
