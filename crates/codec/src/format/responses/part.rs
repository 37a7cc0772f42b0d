//! Parts of a message's content.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, ExtraPart, Media, Text};

use super::FORMAT;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer, is_text};
use crate::wire::document::type_of_url;

const TEXT: Form = &[("type", KeyRule::Derived), ("text", KeyRule::Taken)];
const REFUSAL: Form = &[("type", KeyRule::Derived), ("refusal", KeyRule::Taken)];
const IMAGE: Form = &[
    ("type", KeyRule::Derived),
    ("image_url", KeyRule::Taken),
    ("file_id", KeyRule::Taken),
    ("detail", KeyRule::Taken),
];
const FILE: Form = &[
    ("type", KeyRule::Derived),
    ("filename", KeyRule::Taken),
    ("file_data", KeyRule::Taken),
    ("file_url", KeyRule::Taken),
    ("file_id", KeyRule::Taken),
    ("detail", KeyRule::Taken),
];

/// The block of a part that `author` wrote.
pub(super) fn read(author: &Author, raw: Json) -> Block {
    let (body, part) = read_body(usual_text_type(author), raw);
    let mut block = Block::new(author.clone(), body);
    block.extra.keep(FORMAT, part);
    block
}

/// What a part is, and what is left of it.
pub(super) fn read_body(usual_text: &str, raw: Json) -> (Body, ExtraPart) {
    let object = match raw {
        Json::Object(object) if !object.has_duplicates() => object,
        raw => return other("part".to_owned(), raw),
    };
    let kind = object.get_str("type").unwrap_or_default().into_owned();
    let has_text = |key: &str| object.get(key).is_some_and(is_text);
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

fn read_text(object: Object, kind: &str, usual: &str, key: &str, form: Form) -> (Body, ExtraPart) {
    let mut fields = Fields::new(object, form);
    fields.text("type");
    let text = fields.text(key).unwrap_or_default();
    if kind != usual {
        fields.note("type", kind);
    }
    (Text { text }.into(), fields.into_part())
}

fn read_media(object: Object, kind: &str, form: Form) -> (Body, ExtraPart) {
    let mut fields = Fields::new(object, form);
    fields.text("type");
    let mut media = Media::default();
    if kind == "input_image" {
        if let Some(url) = fields.text("image_url") {
            match data_url(&url) {
                Some(data) => set_data(&mut media, data),
                None => media.url = Some(url),
            }
        }
    } else {
        media.name = fields.text("filename");
        media.url = fields.text("file_url");
        media.media_type = media.url.as_deref().map(|url| type_of_url(url).to_owned());
        if let Some(data) = fields.text("file_data") {
            match data_url(&data) {
                Some(data) => set_data(&mut media, data),
                None => media.inline = Some(data),
            }
        }
    }
    media.file_id = fields.text("file_id");
    media.detail = fields.text("detail");
    if kind != usual_media_type(&media) {
        fields.note("type", kind);
    }
    (media.into(), fields.into_part())
}

/// The media of a part, whatever stands beside it.
pub(crate) fn media(part: &Object) -> Option<Media> {
    let is_file = part.get_str("type").is_some_and(|kind| kind == "input_file");
    let (kind, form) = if is_file { ("input_file", FILE) } else { ("input_image", IMAGE) };
    match read_media(part.clone(), kind, form).0 {
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
    write_body(&block.body, usual_text_type(&block.author), Kept::of(&block.extra, FORMAT))
}

/// The part of a body.
pub(super) fn write_body(body: &Body, usual_text: &str, kept: Kept<'_>) -> Json {
    let kind = kept.word("type");
    let typed = |kind: &str| {
        let mut made = Writer::new(kept, form_of(kind));
        made.derive("type", kind);
        made
    };
    let made = match body {
        Body::Text(text) => {
            let kind = kind.as_deref().unwrap_or(usual_text);
            let mut made = typed(kind);
            made.set(if kind == "refusal" { "refusal" } else { "text" }, text.text.as_str());
            made
        }
        Body::Media(media) => {
            let kind = kind.as_deref().unwrap_or_else(|| usual_media_type(media));
            let mut made = typed(kind);
            put_media(&mut made, kind, media);
            made
        }
        Body::Other { raw, .. } => return raw.clone(),
        Body::Summary(summary) => {
            let mut made = typed(usual_text);
            made.set("text", summary.text.as_str());
            made
        }
        Body::Reasoning(_) | Body::ToolCall(_) | Body::ToolResult(_) => Writer::new(kept, &[]),
        _ => Writer::new(kept, &[]),
    };
    Json::Object(made.finish())
}

/// The form of a part of a type.
fn form_of(kind: &str) -> Form {
    match kind {
        "refusal" => REFUSAL,
        "input_image" => IMAGE,
        "input_file" => FILE,
        _ => TEXT,
    }
}

fn put_media(made: &mut Writer<'_>, kind: &str, media: &Media) {
    let data = media.inline.as_ref().map(|data| match &media.media_type {
        Some(media_type) => format!("data:{media_type};base64,{data}"),
        None => data.clone(),
    });
    if kind == "input_image" {
        made.set_some("image_url", data.or_else(|| media.url.clone()));
    } else {
        made.set_some("filename", media.name.clone());
        made.set_some("file_data", data);
        made.set_some("file_url", media.url.clone());
    }
    made.set_some("file_id", media.file_id.clone());
    made.set_some("detail", media.detail.clone());
}
