//! Parts of a message's content.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Body, Data, Media, Part, Text};

use super::map::text;

fn object<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Object(pairs.into_iter().collect())
}

/// The body of one part: text, media that can be written back as it was, or the part itself.
pub(super) fn body(part: Json) -> Body {
    let kind = part.as_object().and_then(|fields| fields.get("type")).and_then(text).unwrap_or_default();
    let known = match (kind.as_str(), &part) {
        ("text", Json::Object(fields)) => fields.get("text").and_then(text).map(|text| Body::Text(Text { text })),
        (_, Json::Object(fields)) => media(&kind, fields).map(Body::Media),
        _ => None,
    };
    match known {
        Some(body) if written(&body) == part => body,
        _ => Body::Other { kind, raw: part },
    }
}

fn media(kind: &str, fields: &Object) -> Option<Media> {
    let inner = fields.get(kind)?.as_object()?;
    let get = |key: &str| inner.get(key).and_then(text);
    Some(match kind {
        "image_url" => Media { detail: get("detail"), ..located(&get("url")?) },
        "input_audio" => Media {
            media_type: Some(format!("audio/{}", get("format")?)),
            inline: Some(get("data")?),
            ..Media::default()
        },
        "file" => {
            let data = get("file_data").map(|url| located(&url)).unwrap_or_default();
            Media { name: get("file_name").or_else(|| get("filename")), file_id: get("file_id"), ..data }
        }
        _ => return None,
    })
}

/// Media at a URL, or in it.
fn located(url: &str) -> Media {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((media_type, inline)) => {
            Media { media_type: Some(media_type.to_owned()), inline: Some(inline.to_owned()), ..Media::default() }
        }
        None => Media { url: Some(url.to_owned()), ..Media::default() },
    }
}

/// The part that stands for a body.
pub(super) fn written(body: &Body) -> Json {
    match body {
        Body::Text(Text { text }) => text_part(text),
        Body::Summary(summary) => text_part(&summary.text),
        Body::Media(media) => media_part(media),
        Body::Other { raw: raw @ Json::Object(_), .. } => raw.clone(),
        Body::Other { kind, raw } if kind.is_empty() => raw.clone(),
        Body::Other { kind, raw } => object([("type", Json::from(kind.as_str())), ("data", raw.clone())]),
        other => object([("type", Json::from(other.kind()))]),
    }
}

fn text_part(text: &str) -> Json {
    object([("type", Json::from("text")), ("text", Json::from(text))])
}

fn media_part(media: &Media) -> Json {
    let kind = media.media_type.as_deref().unwrap_or_default();
    let sound = kind.strip_prefix("audio/").zip(media.inline.as_deref());
    let mut inner = Object::new();
    let word = if let Some((format, data)) = sound {
        inner.set("data", data);
        inner.set("format", format);
        "input_audio"
    } else if media.file_id.is_some() || media.name.is_some() || !(kind.is_empty() || kind.starts_with("image/")) {
        for (key, value) in
            [("file_data", url(media)), ("file_name", media.name.clone()), ("file_id", media.file_id.clone())]
        {
            if let Some(value) = value {
                inner.set(key, value);
            }
        }
        "file"
    } else {
        inner.set("url", url(media).unwrap_or_default());
        if let Some(detail) = &media.detail {
            inner.set("detail", detail.as_str());
        }
        "image_url"
    };
    object([("type", Json::from(word)), (word, Json::Object(inner))])
}

fn url(media: &Media) -> Option<String> {
    let kind = media.media_type.as_deref().unwrap_or("application/octet-stream");
    let inline = media.inline.as_ref().map(|inline| format!("data:{kind};base64,{inline}"));
    inline.or_else(|| media.url.clone())
}

/// A tool's answer from a message's content.
pub(super) fn parts(content: Json) -> Vec<Part> {
    let part = |item: Json| match body(item) {
        Body::Text(text) => Part::Text(text),
        Body::Media(media) => Part::Media(media),
        Body::Other { raw, .. } => Part::Data(Data { json: raw }),
        _ => Part::Data(Data::default()),
    };
    match content {
        Json::String(text) if text.is_empty() => Vec::new(),
        Json::String(text) if text.is_sound() => vec![Part::Text(Text { text: text.into_string_lossy() })],
        Json::Array(items) if !items.is_empty() => items.into_iter().map(part).collect(),
        other => vec![Part::Data(Data { json: other })],
    }
}

/// The content that stands for a tool's answer.
pub(super) fn of_parts(parts: &[Part], as_list: bool) -> Json {
    match parts {
        [] => Json::from(""),
        [Part::Text(text)] if !as_list => Json::from(text.text.as_str()),
        [Part::Data(data)] if !as_list => match &data.json {
            value @ (Json::Null | Json::Bool(_) | Json::Number(_)) => value.clone(),
            value => Json::from(value.to_text()),
        },
        parts => Json::Array(parts.iter().map(part_value).collect()),
    }
}

fn part_value(part: &Part) -> Json {
    match part {
        Part::Text(text) => text_part(&text.text),
        Part::Media(media) => media_part(media),
        Part::Data(data) if data.json.as_object().is_some() => data.json.clone(),
        Part::Data(data) => text_part(&data.json.to_text()),
        Part::Other { raw, .. } => Json::Object(raw.clone()),
        _ => Json::Null,
    }
}
