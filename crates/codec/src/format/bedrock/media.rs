//! Images and documents.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Extra, Media};

use super::WIRE;
use crate::fields::{Fields, Form, Kept, Writer, optional};

const MEDIA: Form = &optional(["format", "name", "source"]);

/// The formats of documents, and their media types.
const DOCUMENTS: &[(&str, &str)] = &[
    ("pdf", "application/pdf"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("html", "text/html"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
];
const IMAGES: &[&str] = &["png", "jpeg", "gif", "webp"];

/// The media of an `image` or a `document`, if it is all that it holds.
pub(super) fn read(kind: &str, object: &Object) -> Option<(Media, Extra)> {
    let format = object.get_str("format")?;
    let media_type = match kind {
        "image" => format!("image/{}", IMAGES.iter().find(|known| **known == format)?),
        _ => DOCUMENTS.iter().find(|(known, _)| *known == format)?.1.to_owned(),
    };
    let found = source(object.get("source")?.as_object()?, kind)?;
    let mut fields = Fields::new(object.clone(), MEDIA);
    fields.take("format");
    fields.take("source");
    let name = fields.text("name");
    let mut extra = Extra::NONE;
    fields.keep(WIRE, &mut extra);
    Some((Media { media_type: Some(media_type), name, ..found }, extra))
}

/// The media of a block, whatever stands beside it: sounds and films too, which only another wire has a body for.
pub(crate) fn media(kind: &str, object: &Object) -> Option<Media> {
    if let Some((media, _)) = read(kind, object) {
        return Some(media);
    }
    let format = object.get_str("format").filter(|_| matches!(kind, "video" | "audio"))?;
    let found = source(object.get("source")?.as_object()?, kind)?;
    Some(Media { media_type: Some(format!("{kind}/{format}")), ..found })
}

/// The bytes, the text, or the place where they lie.
fn source(source: &Object, kind: &str) -> Option<Media> {
    if source.len() != 1 {
        return None;
    }
    if let Some(bytes) = source.get_str("bytes") {
        return Some(Media { inline: Some(bytes.into_owned()), ..Media::default() });
    }
    if let Some(text) = source.get_str("text").filter(|_| kind == "document") {
        return Some(Media { text: Some(text.into_owned()), ..Media::default() });
    }
    let place = source.get("s3Location")?.as_object().filter(|place| place.len() == 1)?;
    Some(Media { url: Some(place.get_str("uri")?.into_owned()), ..Media::default() })
}

/// The block of some media, if the wire takes it.
pub(super) fn write(media: &Media, extra: &Extra) -> Option<Json> {
    let media_type = media.media_type.as_deref().or_else(|| media.text.as_ref().map(|_| "text/plain"))?;
    let image = media_type.strip_prefix("image/").filter(|format| IMAGES.contains(format));
    let document = DOCUMENTS.iter().find(|(_, known)| *known == media_type).map(|(format, _)| *format);
    let (kind, format) = image.map(|format| ("image", format)).or(document.map(|format| ("document", format)))?;
    let source: Object = match (&media.inline, &media.url) {
        (None, _) if media.text.as_deref().is_some_and(|text| !text.trim().is_empty()) => {
            [("text", Json::from(media.text.as_deref().unwrap_or_default()))].into_iter().collect()
        }
        (Some(bytes), _) if !bytes.is_empty() => [("bytes", Json::from(bytes.as_str()))].into_iter().collect(),
        (_, Some(uri)) if uri.starts_with("s3://") => {
            let place: Object = [("uri", Json::from(uri.as_str()))].into_iter().collect();
            [("s3Location", Json::Object(place))].into_iter().collect()
        }
        _ => return None,
    };
    let mut writer = Writer::new(Kept::of(extra, WIRE), MEDIA);
    writer.set("format", format);
    writer.set_some("name", media.name.as_deref());
    writer.set("source", source);
    Some(Json::Object([(kind, Json::Object(writer.finish()))].into_iter().collect()))
}

/// The same media with a name that a document may have.
pub(super) fn named(media: &Media) -> Media {
    let is_document = media.media_type.as_deref().is_some_and(|kind| !kind.starts_with("image/"));
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '(' | ')' | '[' | ']');
    let clean = |name: &str| name.chars().map(|c| if legal(c) { c } else { '-' }).take(200).collect::<String>();
    let name = media.name.as_deref().map(clean).filter(|name| !name.trim().is_empty());
    let name = if is_document { Some(name.unwrap_or_else(|| "document".to_owned())) } else { None };
    Media { name, ..media.clone() }
}
