//! Parts of a message's content.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, ExtraPart, Media, Text};

use super::FORMAT;
use super::apart::{Apart, Emit, Slot, Together, has_duplicates, is_text, keep};
use crate::wire::document::type_of_url;

const TEXT: &[Slot] = &[("type", Emit::Usual), ("text", Emit::Value)];
const REFUSAL: &[Slot] = &[("type", Emit::Usual), ("refusal", Emit::Value)];
const IMAGE: &[Slot] =
    &[("type", Emit::Usual), ("image_url", Emit::Value), ("file_id", Emit::Value), ("detail", Emit::Value)];
const FILE: &[Slot] = &[
    ("type", Emit::Usual),
    ("filename", Emit::Value),
    ("file_data", Emit::Value),
    ("file_url", Emit::Value),
    ("file_id", Emit::Value),
    ("detail", Emit::Value),
];

/// The block of a part that `author` wrote.
pub(super) fn read(author: &Author, raw: Json) -> Block {
    let (body, part) = read_body(usual_text_type(author), raw);
    let mut block = Block::new(author.clone(), body);
    keep(&mut block.extra, part);
    block
}

/// What a part is, and what is left of it.
pub(super) fn read_body(usual_text: &str, raw: Json) -> (Body, ExtraPart) {
    let object = match raw {
        Json::Object(object) if !has_duplicates(&object) => object,
        raw => return other("part".to_owned(), raw),
    };
    let kind = object.get_str("type").unwrap_or_default().into_owned();
    let has_text = |key: &str| is_text(object.get(key));
    match kind.as_str() {
        "input_text" | "output_text" | "text" if has_text("text") => read_text(object, &kind, usual_text, "text", TEXT),
        "refusal" if has_text("refusal") => read_text(object, &kind, usual_text, "refusal", REFUSAL),
        "input_image" => read_media(object, &kind, IMAGE),
        "input_file" => read_media(object, &kind, FILE),
        _ => other(kind, Json::Object(object)),
    }
}

fn other(kind: String, raw: Json) -> (Body, ExtraPart) {
    let mut part = ExtraPart::default();
    part.spelling.push("place", "part");
    (Body::Other { kind, raw }, part)
}

fn read_text(object: Object, kind: &str, usual: &str, key: &str, slots: &[Slot]) -> (Body, ExtraPart) {
    let mut apart = Apart::new(object);
    apart.text("type");
    let text = apart.text(key).unwrap_or_default();
    let mut part = apart.finish(slots);
    if kind != usual {
        part.spelling.push("type", kind);
    }
    (Text { text }.into(), part)
}

fn read_media(object: Object, kind: &str, slots: &[Slot]) -> (Body, ExtraPart) {
    let mut apart = Apart::new(object);
    apart.text("type");
    let mut media = Media::default();
    if kind == "input_image" {
        if let Some(url) = apart.text("image_url") {
            match data_url(&url) {
                Some(data) => set_data(&mut media, data),
                None => media.url = Some(url),
            }
        }
    } else {
        media.name = apart.text("filename");
        media.url = apart.text("file_url");
        media.media_type = media.url.as_deref().map(|url| type_of_url(url).to_owned());
        if let Some(data) = apart.text("file_data") {
            match data_url(&data) {
                Some(data) => set_data(&mut media, data),
                None => media.inline = Some(data),
            }
        }
    }
    media.file_id = apart.text("file_id");
    media.detail = apart.text("detail");
    let mut part = apart.finish(slots);
    if kind != usual_media_type(&media) {
        part.spelling.push("type", kind);
    }
    (media.into(), part)
}

/// The media of a part, whatever stands beside it.
pub(crate) fn media(part: &Object) -> Option<Media> {
    let is_file = part.get_str("type").is_some_and(|kind| kind == "input_file");
    match read_media(part.clone(), if is_file { "input_file" } else { "input_image" }, &[]).0 {
        Body::Media(media) if media != Media::default() => Some(media),
        _ => None,
    }
}

fn set_data(media: &mut Media, (media_type, data): (&str, &str)) {
    media.media_type = Some(media_type.to_owned());
    media.inline = Some(data.to_owned());
}

/// The media type and the base64 of a data URL.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// How text of an author is typed.
pub(super) fn usual_text_type(author: &Author) -> &'static str {
    if *author == Author::Assistant { "output_text" } else { "input_text" }
}

/// How media is typed: what is neither an image by its type nor only pointed at is a file.
pub(super) fn usual_media_type(media: &Media) -> &'static str {
    match &media.media_type {
        Some(media_type) if media_type.starts_with("image/") => "input_image",
        None if media.name.is_none() && media.inline.is_none() => "input_image",
        _ => "input_file",
    }
}

/// The part of a block of text, media or of something that stood as a part.
pub(super) fn write(block: &Block) -> Json {
    write_body(&block.body, usual_text_type(&block.author), block.extra.part(FORMAT))
}

/// The part of a body.
pub(super) fn write_body(body: &Body, usual_text: &str, part: Option<&ExtraPart>) -> Json {
    let kind = part.and_then(|part| part.spelling.get_str("type"));
    let mut made = Together::default();
    match body {
        Body::Text(text) => {
            let kind = kind.as_deref().unwrap_or(usual_text);
            made.put_as("type", kind, Emit::Usual);
            made.put(if kind == "refusal" { "refusal" } else { "text" }, text.text.as_str());
        }
        Body::Media(media) => {
            let kind = kind.as_deref().unwrap_or_else(|| usual_media_type(media));
            made.put_as("type", kind, Emit::Usual);
            put_media(&mut made, kind, media);
        }
        Body::Other { raw, .. } => return raw.clone(),
        Body::Summary(summary) => {
            made.put_as("type", usual_text, Emit::Usual);
            made.put("text", summary.text.as_str());
        }
        Body::Reasoning(_) | Body::ToolCall(_) | Body::ToolResult(_) => {}
        _ => {}
    }
    Json::Object(made.with_part(part))
}

fn put_media(made: &mut Together, kind: &str, media: &Media) {
    let data = media.inline.as_ref().map(|data| match &media.media_type {
        Some(media_type) => format!("data:{media_type};base64,{data}"),
        None => data.clone(),
    });
    if kind == "input_image" {
        made.put_some("image_url", data.or_else(|| media.url.clone()));
    } else {
        made.put_some("filename", media.name.clone());
        made.put_some("file_data", data);
        made.put_some("file_url", media.url.clone());
    }
    made.put_some("file_id", media.file_id.clone());
    made.put_some("detail", media.detail.clone());
}
