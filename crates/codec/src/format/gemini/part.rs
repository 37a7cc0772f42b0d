//! Parts of a content: texts, media, and what stands beside the response of a function.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, Media, Part, Reasoning, Text};

use super::spelled_in;
use crate::fields::{Fields, Form, order_of, taken, taken_last};

/// The usual order of a part's fields.
pub(super) const PART: Form = &taken([
    "text",
    "thought",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "thoughtSignature",
    "thought_signature",
]);
/// The usual order of a content's fields.
pub(super) const CONTENT: Form = &taken(["role", "parts"]);
/// The same for the system's text.
pub(super) const SYSTEM: Form = &taken_last(["", "parts"]);
pub(super) const SYSTEM_PART: Form = &taken(["text"]);
pub(super) const CALL: Form = &taken(["id", "name", "args"]);
pub(super) const RESPONSE: Form = &taken(["id", "name", "response", "parts"]);
pub(super) const BLOB: Form = &taken(["mimeType", "mime_type", "data", "fileUri", "file_uri", "displayName"]);

/// The note with what is left of the object inside a part, and the path of its order.
pub(super) const INNER: &str = "inner.keys";
/// The same for the content that a block is the first one of.
pub(super) const AROUND: &str = "content.keys";
/// The note on the orders of keys in what stands beside the response of a function.
pub(super) const SHOWN: &str = "shown";

/// How a single thing is noted where a list usually stands.
pub(super) const ALONE: &str = "object";
/// How a text is noted where a list of parts usually stands.
pub(super) const TEXT: &str = "text";

/// How a text is noted where a whole content usually stands.
pub(super) const STRING: &str = "string";

/// Takes the parts of a content, and says how they stood where they were no list.
pub(super) fn take_parts(content: &mut Fields) -> (Option<Vec<Json>>, Option<&'static str>) {
    match content.take_if("parts", |parts| matches!(parts, Json::Array(_) | Json::Object(_) | Json::String(_))) {
        Some(Json::Array(parts)) => (Some(parts), None),
        Some(text @ Json::String(_)) => (Some(vec![Json::Object([("text", text)].into_iter().collect())]), Some(TEXT)),
        part => (part.map(|part| vec![part]), Some(ALONE)),
    }
}

/// A part of the system's text, and what else stood in it. What is no text is kept as it stands.
pub(super) fn system_part(part: Json) -> (Block, Fields) {
    let nothing = || Fields::new(Object::new(), SYSTEM_PART);
    let Json::Object(object) = part else {
        return (Block::new(Author::System, Body::Other { kind: kind_of(&part), raw: part }), nothing());
    };
    let mut fields = Fields::new(object, SYSTEM_PART);
    match fields.text("text") {
        Some(text) => (Block::text(Author::System, text), fields),
        None => (other(Author::System, fields), nothing()),
    }
}

/// A part that is kept as it stands.
pub(super) fn other(author: Author, part: Fields) -> Block {
    let raw = Json::Object(part.into_rest());
    Block::new(author, Body::Other { kind: kind_of(&raw), raw })
}

/// The kind of a part: its first key.
fn kind_of(part: &Json) -> String {
    let key = part.as_object().and_then(|part| part.iter().next());
    key.map_or_else(|| "part".to_owned(), |(key, _)| key.to_str_lossy().into_owned())
}

/// Takes the images and files of a response, if each stands alone under its name, with the orders of their keys.
pub(super) fn take_shown(response: &mut Fields) -> (Vec<Part>, Vec<Json>) {
    let only = |part: &Json| {
        let part = part.as_object().filter(|part| part.len() == 1)?;
        let (key, inner) = part.iter().next()?;
        Some((key.to_str().ok()?.into_owned(), inner.as_object()?.clone()))
    };
    let all = |parts: &Json| {
        let parts = parts.as_array().filter(|parts| !parts.is_empty())?;
        parts.iter().map(only).collect::<Option<Vec<_>>>()
    };
    let found = response.read("parts", all).unwrap_or_default();
    let part = |(kind, raw): (String, Object)| match shown(&kind, &raw) {
        Some(media) => (media.into(), order_of(&raw, BLOB).unwrap_or_default()),
        None => (Part::Other { kind, raw }, Json::Null),
    };
    found.into_iter().map(part).unzip()
}

/// The media of a part, if it holds nothing else and is spelled as usual.
fn shown(kind: &str, raw: &Object) -> Option<Media> {
    let mut blob = Fields::new(raw.clone(), BLOB);
    let media = media_of(&mut blob)?;
    let media = Media { name: blob.text("displayName"), ..media };
    let is_usual = !is_snake(raw) && kind == blob_kind(&media);
    (is_usual && blob.into_rest().is_empty()).then_some(media)
}

/// The key that media stands under.
pub(super) fn blob_kind(media: &Media) -> &'static str {
    if media.inline.is_some() { "inlineData" } else { "fileData" }
}

/// The media of a blob, whatever stands beside it.
pub(crate) fn media(inner: &Object) -> Option<Media> {
    media_of(&mut Fields::new(inner.clone(), BLOB))
}

/// A text or a thought of which the text was taken.
pub(super) fn text(text: String, part: &mut Fields) -> Body {
    if part.take_if("thought", |thought| *thought == Json::Bool(true)).is_none() {
        return Text { text }.into();
    }
    let signature = spelled_in(part, "thoughtSignature").and_then(|key| {
        let signature = part.text(key)?;
        note_snake(part, key != "thoughtSignature");
        Some(signature)
    });
    Reasoning { text: Some(text), signature, ..Reasoning::default() }.into()
}

/// Notes that the key of a part is spelled with underscores.
pub(super) fn note_snake(part: &mut Fields, is_snake: bool) {
    if is_snake {
        part.note("spelling", "snake");
    }
}

/// Whether the keys of a blob are spelled with underscores.
pub(super) fn is_snake(blob: &Object) -> bool {
    blob.contains("mime_type") || blob.contains("file_uri")
}

/// Takes the media of a blob, if it has some.
pub(super) fn media_of(blob: &mut Fields) -> Option<Media> {
    let take = |blob: &mut Fields, key| spelled_in(blob, key).and_then(|key| blob.text(key));
    let (inline, url) = (blob.text("data"), take(blob, "fileUri"));
    if inline.is_none() && url.is_none() {
        return None;
    }
    Some(Media { media_type: take(blob, "mimeType"), inline, url, ..Media::default() })
}
