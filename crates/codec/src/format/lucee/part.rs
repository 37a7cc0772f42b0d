//! Parts of questions and answers, and scalars where texts should stand.

use std::borrow::Cow;

use turnkeep_model::json::{self, Json, Nan, Number};
use turnkeep_model::{Author, Block, Body, Loss, LossKind, Media, Text};

use super::FORMAT;
use super::decode::{keep, key_list};
use super::document::Part;
use crate::base64_text;
use crate::codec::Mode;

const PLAIN: &str = "text/plain";
const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// The text of a number or a truth value, and the word for what it was.
pub(super) fn scalar_text(value: &Json) -> Option<(String, &'static str)> {
    match value {
        Json::Number(number) => Some((number.to_string(), "number")),
        Json::Bool(value) => Some((value.to_string(), "boolean")),
        _ => None,
    }
}

/// The scalar that a text was, if it still is one.
pub(super) fn scalar_of(text: &str, kind: &str) -> Option<Json> {
    match (kind, text) {
        ("number", _) => Number::parse(text).map(Json::Number),
        ("boolean", "true") => Some(Json::Bool(true)),
        ("boolean", "false") => Some(Json::Bool(false)),
        _ => None,
    }
}

/// The block of a part, and what had to be changed, told of the place `at`.
pub(super) fn block(part: Part, author: Author, mode: Mode, at: &str, losses: &mut Vec<Loss>) -> Block {
    let kind =
        if mode == Mode::Compat && part.kind != "struct" && part.kind != "text" { "binary" } else { &*part.kind };
    let mut notes: Vec<(&str, Json)> = Vec::new();
    let usual_type = match kind {
        "text" => Some(PLAIN),
        "struct" => Some(JSON),
        _ => None,
    };
    if usual_type.is_some_and(|usual| usual != part.content_type) || !matches!(kind, "text" | "struct" | "binary") {
        notes.push(("contenttype", Json::from(part.content_type.as_str())));
    }
    let body: Body = match kind {
        "text" => text(&part.content, at, &mut notes, losses),
        "struct" => {
            notes.push(("type", Json::from("struct")));
            structured(&part.content, at, &mut notes, losses)
        }
        "binary" => {
            let inline = part.content.as_str().map(Cow::into_owned);
            Media { media_type: Some(part.content_type.clone()), inline, ..Media::default() }.into()
        }
        _ => {
            notes.push(("type", Json::from("other")));
            Body::Other { kind: part.kind.clone(), raw: part.content.clone() }
        }
    };
    let mut block = Block::new(author, body);
    keep(&mut block.extra, part.keys, part.unknown, notes, mode);
    block
}

fn text(content: &Json, at: &str, notes: &mut Vec<(&str, Json)>, losses: &mut Vec<Loss>) -> Body {
    let text = match scalar_text(content) {
        Some((text, kind)) => {
            notes.push(("content", Json::from(kind)));
            losses.push(scalar_loss(at, kind));
            text
        }
        None => content.as_str().unwrap_or_default().into_owned(),
    };
    Text { text }.into()
}

/// Structured content is its JSON text: that is what the model wrote, and what other formats can hold.
fn structured(content: &Json, at: &str, notes: &mut Vec<(&str, Json)>, losses: &mut Vec<Loss>) -> Body {
    let text = match content {
        Json::String(text) => {
            notes.push(("content", Json::from("text")));
            text.to_str_lossy().into_owned()
        }
        Json::Null => {
            notes.push(("content", Json::from("null")));
            let what = "the content of a structured part is null: Lucee lost it when it wrote the session";
            losses.push(Loss::decode(LossKind::Dropped, format!("{at}.text"), what));
            String::new()
        }
        value => value.to_text(),
    };
    Text { text }.into()
}

/// The loss of a scalar's type.
pub(super) fn scalar_loss(at: &str, kind: &str) -> Loss {
    Loss::decode(LossKind::Coerced, format!("{at}.text"), format!("a {kind} stands where a text should; read as text"))
}

/// Whether a block can only stand in a part.
pub(super) fn needs_part(block: &Block) -> bool {
    match &block.body {
        Body::Media(_) => true,
        Body::Other { .. } => true,
        _ => {
            ["type", "contenttype", "content", "keys"].iter().any(|key| block.extra.spelling(FORMAT, key).is_some())
                || block.extra.fields(FORMAT).is_some_and(|fields| !fields.is_empty())
        }
    }
}

/// Whether a block has a place in an exchange.
pub(super) fn fits(block: &Block) -> bool {
    match &block.body {
        Body::Text(_) => true,
        Body::Media(media) => media.inline.as_deref().is_some_and(base64_text::is_standard),
        Body::Other { .. } => block.extra.spelling(FORMAT, "type").is_some(),
        _ => false,
    }
}

/// The part of a block that fits.
pub(super) fn part(block: &Block, mode: Mode) -> Part {
    let spelled = |key: &str| block.extra.spelling(FORMAT, key).and_then(Json::as_str).map(Cow::into_owned);
    let (kind, usual_type, content) = match &block.body {
        Body::Media(media) => {
            let media_type = media.media_type.clone().unwrap_or_else(|| BYTES.to_owned());
            ("binary".to_owned(), media_type, Json::from(media.inline.as_deref().unwrap_or_default()))
        }
        Body::Other { kind, raw } => (kind.clone(), BYTES.to_owned(), raw.clone()),
        body => {
            let text = body.as_text().unwrap_or_default();
            let spelling = spelled("content");
            match spelled("type").and_then(|_| struct_content(text, spelling.as_deref())) {
                Some(content) => ("struct".to_owned(), JSON.to_owned(), content),
                None => {
                    let scalar = spelling.and_then(|kind| scalar_of(text, &kind));
                    ("text".to_owned(), PLAIN.to_owned(), scalar.unwrap_or_else(|| Json::from(text)))
                }
            }
        }
    };
    let (keys, unknown) = match mode {
        Mode::Faithful => (key_list(&block.extra), block.extra.fields(FORMAT).cloned().unwrap_or_default()),
        Mode::Compat => Default::default(),
    };
    Part { keys, content_type: spelled("contenttype").unwrap_or(usual_type), kind, content, unknown }
}

/// The structured content that a text stands for.
fn struct_content(text: &str, spelling: Option<&str>) -> Option<Json> {
    match spelling {
        Some("null") if text.is_empty() => Some(Json::Null),
        Some(_) => Some(Json::from(text)),
        None => match json::parse_with(text, Nan::Accept).ok()?.into_json() {
            value @ (Json::Object(_) | Json::Array(_)) => Some(value),
            _ => None,
        },
    }
}
