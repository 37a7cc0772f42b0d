//! Images, sounds and files as parts of a content.

use turnkeep_model::Media;
use turnkeep_model::json::{Json, Object};

use super::part::PART;
use crate::fields::{Fields, Form, Kept, optional};
use crate::wire::document::type_of_url;

const IMAGE: Form = &optional(["url", "detail"]);
const AUDIO: Form = &optional(["data", "format"]);
const FILE: Form = &optional(["filename", "file_data", "file_id"]);

/// Takes the media out of a part of type `kind`, if it is a spelling we know.
pub(super) fn take(kind: &str, part: &mut Fields) -> Option<Media> {
    let media = match kind {
        "image_url" => image(part),
        "input_audio" => audio(part),
        "file" => file(part),
        _ => None,
    }?;
    if part_kind(&media) != kind {
        part.note("as", kind);
    }
    Some(media)
}

/// The media of a part of type `kind`, whatever stands beside it.
pub(crate) fn media(kind: &str, part: &Object) -> Option<Media> {
    take(kind, &mut Fields::new(part.clone(), PART))
}

/// Which part holds a medium, where the source does not say.
pub(super) fn part_kind(media: &Media) -> &'static str {
    match media.media_type.as_deref() {
        Some(kind) if kind.starts_with("audio/") && media.inline.is_some() => "input_audio",
        Some(kind) if kind.starts_with("image/") => "image_url",
        None if media.url.is_some() && media.file_id.is_none() => "image_url",
        _ => "file",
    }
}

fn image(part: &mut Fields) -> Option<Media> {
    if let Some(url) = part.text("image_url") {
        part.note("bare", true);
        return Some(at_url(url));
    }
    let has_url = part.get("image_url")?.as_object()?.get_str("url").is_some();
    let mut inner = Fields::new(has_url.then(|| part.object("image_url")).flatten()?, IMAGE);
    let url = inner.text("url")?;
    let media = Media { detail: inner.text("detail"), ..at_url(url) };
    part.nest("image_url", inner);
    Some(media)
}

fn audio(part: &mut Fields) -> Option<Media> {
    let known = part.get("input_audio")?.as_object()?;
    let plain = |format: &str| !format.contains(['/', ';', ' ']) && !format.is_empty() && format != "mpeg";
    if known.get_str("data").is_none() || !known.get_str("format").is_some_and(|format| plain(&format)) {
        return None;
    }
    let mut inner = Fields::new(part.object("input_audio")?, AUDIO);
    let inline = inner.text("data");
    let format = inner.text("format").unwrap_or_default();
    part.nest("input_audio", inner);
    let kind = if format == "mp3" { "mpeg" } else { &format };
    Some(Media { inline, media_type: Some(format!("audio/{kind}")), ..Media::default() })
}

fn file(part: &mut Fields) -> Option<Media> {
    let known = part.get("file")?.as_object()?;
    if known.get_str("file_data").is_none() && known.get_str("file_id").is_none() {
        return None;
    }
    let mut inner = Fields::new(part.object("file")?, FILE);
    let mut media = Media { name: inner.text("filename"), file_id: inner.text("file_id"), ..Media::default() };
    if let Some(data) = inner.text("file_data") {
        match split_data_url(&data) {
            Some((kind, bytes)) => {
                media.media_type = Some(kind.to_owned());
                media.inline = Some(bytes.to_owned());
            }
            // OpenRouter takes an address where others take the bytes.
            None if is_address(&data) => {
                media.media_type = Some(type_of_url(&data).to_owned());
                media.url = Some(data);
            }
            None => media.inline = Some(data),
        }
    }
    part.nest("file", inner);
    Some(media)
}

fn at_url(url: String) -> Media {
    match split_data_url(&url) {
        Some((kind, bytes)) => {
            Media { media_type: Some(kind.to_owned()), inline: Some(bytes.to_owned()), ..Media::default() }
        }
        None => Media { url: Some(url), ..Media::default() },
    }
}

fn is_address(data: &str) -> bool {
    data.starts_with("https://") || data.starts_with("http://")
}

/// The media type and the bytes of a `data:` URL that says both and nothing else.
fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (kind, bytes) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (!kind.is_empty() && !kind.contains([';', ','])).then_some((kind, bytes))
}

/// The fields of the part that holds a medium, type first.
pub(super) fn part(media: &Media, notes: Kept<'_>) -> Object {
    let kind = notes.word("as").map_or_else(|| part_kind(media).to_owned(), std::borrow::Cow::into_owned);
    let value = match kind.as_str() {
        "image_url" if notes.note("bare").is_some() => Json::from(url_of(media)),
        "image_url" => Json::Object(notes.at("image_url").complete(image_url(media), IMAGE)),
        "input_audio" => Json::Object(notes.at("input_audio").complete(input_audio(media), AUDIO)),
        _ => Json::Object(notes.at("file").complete(file_of(media), FILE)),
    };
    [("type", Json::from(kind.as_str())), (kind.as_str(), value)].into_iter().collect()
}

fn url_of(media: &Media) -> String {
    match (&media.url, &media.inline) {
        (Some(url), _) => url.clone(),
        (None, inline) => data_url(media.media_type.as_deref(), inline.as_deref().unwrap_or_default()),
    }
}

fn data_url(kind: Option<&str>, inline: &str) -> String {
    format!("data:{};base64,{inline}", kind.unwrap_or("application/octet-stream"))
}

fn image_url(media: &Media) -> Object {
    let mut object = Object::new();
    object.push("url", url_of(media));
    if let Some(detail) = &media.detail {
        object.push("detail", detail.as_str());
    }
    object
}

fn input_audio(media: &Media) -> Object {
    let kind = media.media_type.as_deref().and_then(|kind| kind.strip_prefix("audio/")).unwrap_or("wav");
    let format = if kind == "mpeg" { "mp3" } else { kind };
    let data = media.inline.clone().unwrap_or_default();
    [("data", Json::from(data)), ("format", Json::from(format))].into_iter().collect()
}

fn file_of(media: &Media) -> Object {
    let mut object = Object::new();
    if let Some(name) = &media.name {
        object.push("filename", name.as_str());
    }
    if let Some(inline) = &media.inline {
        let data = match &media.media_type {
            Some(kind) => data_url(Some(kind), inline),
            None => inline.clone(),
        };
        object.push("file_data", data);
    } else if let Some(url) = &media.url {
        object.push("file_data", url.as_str());
    }
    if let Some(id) = &media.file_id {
        object.push("file_id", id.as_str());
    }
    object
}
