//! What the blocks of one vendor say to another.
//!
//! A decoder keeps what the model has no body for as it stood, so that its own wire gets it back. Another wire would drop
//! it, or show the model the JSON of it. Here the words, images and files in such a block become bodies that every wire
//! knows. Blocks are recognised by their shape: the same block is kept under several names by several decoders.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Body, Extra, Media, Part, Text};

use crate::format::{anthropic, bedrock, gemini, openai_chat, responses};

/// What a block says; nothing where nobody but its vendor can read it.
pub(super) fn bodies(raw: &Json) -> Vec<Body> {
    match raw {
        Json::Object(object) => match object.get_str("type").as_deref() {
            Some(kind) => typed(kind, object),
            None => keyed(object),
        },
        Json::Array(items) => items.iter().flat_map(bodies).collect(),
        Json::String(text) => said(&text.to_str_lossy()),
        _ => Vec::new(),
    }
}

/// A document and what is said of it beside it, where something is.
pub(super) fn with_context(media: &Media, extra: &Extra) -> Vec<Body> {
    let wires = [anthropic::WIRE, bedrock::WIRE];
    let context = wires.iter().find_map(|wire| text_of(extra.fields(wire)?, "context"));
    context.map(|text| vec![Text { text }.into(), media.clone().into()]).unwrap_or_default()
}

/// What a part of a result says, as parts that every wire knows.
pub(super) fn parts(kind: &str, raw: &Object) -> Vec<Part> {
    let typed = std::iter::once(("type".into(), Json::from(kind))).chain(raw.clone()).collect();
    let keyed = [(kind, Json::Object(raw.clone()))].into_iter().collect();
    let mut found = [typed, keyed].into_iter().map(|object: Object| bodies(&Json::Object(object)));
    let found = found.find(|bodies| !bodies.is_empty()).unwrap_or_default();
    found.into_iter().filter_map(part).collect()
}

fn part(body: Body) -> Option<Part> {
    match body {
        Body::Text(text) => Some(text.into()),
        Body::Media(media) => Some(media.into()),
        _ => None,
    }
}

fn said(text: &str) -> Vec<Body> {
    if text.is_empty() { Vec::new() } else { vec![Text { text: text.to_owned() }.into()] }
}

fn shown(media: Option<Media>) -> Vec<Body> {
    media.map(Body::from).into_iter().collect()
}

fn field(object: &Object, key: &str) -> Vec<Body> {
    object.get(key).map(bodies).unwrap_or_default()
}

/// Blocks that say what they are in `type`.
fn typed(kind: &str, object: &Object) -> Vec<Body> {
    match kind {
        "text" | "input_text" | "output_text" => field(object, "text"),
        "refusal" => field(object, "refusal"),
        "image" | "document" => match anthropic::media(object) {
            Some(media) => shown(Some(media)),
            None => titled(object, object.get("source").and_then(Json::as_object)),
        },
        "search_result" => titled(object, Some(object)),
        "image_url" | "input_audio" | "file" => shown(openai_chat::media(kind, object)),
        "video_url" | "document_url" => shown(by_address(kind, object)),
        "input_image" | "input_file" => shown(responses::media(object)),
        "image_generation_call" => shown(text_of(object, "result").map(|data| Media {
            media_type: Some("image/png".to_owned()),
            inline: Some(data),
            ..Media::default()
        })),
        "computer_screenshot" => shown(responses::media(object)),
        "computer_call_output" => field(object, "output"),
        "message" => field(object, "content"),
        _ => Vec::new(),
    }
}

/// Blocks that say what they are by the key they stand under, and messages.
fn keyed(object: &Object) -> Vec<Body> {
    for (key, value) in object.iter() {
        let Some(inner) = value.as_object() else { continue };
        let found = match &*key.to_str_lossy() {
            kind @ ("image" | "document" | "video" | "audio") => match bedrock::media(kind, inner) {
                None if kind == "audio" => field(inner, "transcript"),
                None => titled(inner, inner.get("source").and_then(Json::as_object)),
                media => shown(media),
            },
            "inlineData" | "inline_data" | "fileData" | "file_data" => shown(gemini::media(inner)),
            "guardContent" => guarded(inner),
            "searchResult" | "citationsContent" => titled(inner, Some(inner)),
            "executableCode" | "executable_code" => field(inner, "code"),
            "codeExecutionResult" | "code_execution_result" => field(inner, "output"),
            _ => continue,
        };
        if !found.is_empty() {
            return found;
        }
    }
    ["text", "content", "parts", "transcript"].iter().flat_map(|key| field(object, key)).collect()
}

/// What stands in the `content` of a document or of a search result, under its title.
fn titled(object: &Object, source: Option<&Object>) -> Vec<Body> {
    let content = source.map(|source| field(source, "content")).unwrap_or_default();
    let head = ["title", "source", "context"].iter().filter_map(|key| text_of(object, key)).collect::<Vec<_>>();
    if content.is_empty() || head.is_empty() {
        return content;
    }
    std::iter::once(Text { text: head.join("\n") }.into()).chain(content).collect()
}

/// What is checked by a guardrail is said all the same.
fn guarded(inner: &Object) -> Vec<Body> {
    let text = inner.get("text").and_then(Json::as_object).map(|text| field(text, "text")).unwrap_or_default();
    let image = inner.get("image").and_then(Json::as_object).and_then(|image| bedrock::media("image", image));
    text.into_iter().chain(shown(image)).collect()
}

fn by_address(kind: &str, object: &Object) -> Option<Media> {
    let url = match object.get(kind)? {
        Json::Object(inner) => text_of(inner, "url")?,
        value => value.as_str()?.into_owned(),
    };
    let media_type = if kind == "video_url" { "video/mp4" } else { super::document::type_of_url(&url) };
    Some(Media { media_type: Some(media_type.to_owned()), url: Some(url), ..Media::default() })
}

fn text_of(object: &Object, key: &str) -> Option<String> {
    object.get_str(key).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty())
}
