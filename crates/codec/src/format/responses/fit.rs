//! Settings, tools and media that a model of this wire takes.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Loss, Media, Options, ResponseFormat, ResponseKind, Session, ToolMode, ToolSpec};

use super::next::RequestTarget;
use super::part;
use crate::models::fit;
use crate::wire::repair::legal_name;

/// The fewest tokens that an answer may be limited to.
const FEWEST_TOKENS: u64 = 16;

/// Makes settings fit, and says what became of those that did not. The model they were made for gets them as they were.
pub(super) fn settings(session: &mut Session, aim: &RequestTarget) -> Vec<Loss> {
    let mut losses = Vec::new();
    if aim.is_same_model {
        return losses;
    }
    tools(&mut session.tools);
    session.response_format = session.response_format.take().and_then(format);
    let options = &mut session.options;
    choice(options, &session.tools);
    sampling(options);
    fit::thinking(options, aim.target, true, &mut losses);
    losses
}

fn tools(tools: &mut Vec<ToolSpec>) {
    let mut seen: Vec<String> = Vec::new();
    tools.retain_mut(|tool| {
        if let Some(legal) = legal_name(&tool.name, 64) {
            tool.name = legal;
        }
        tool.parameters = schema(std::mem::take(&mut tool.parameters));
        // Left out, it would be true here.
        tool.strict = Some(tool.strict == Some(true) && is_strict(&tool.parameters));
        let is_new = !seen.contains(&tool.name);
        seen.push(tool.name.clone());
        is_new
    });
}

/// A schema of an object, which parameters must be.
fn schema(schema: Json) -> Json {
    let mut object = match schema {
        Json::Object(object) => object,
        _ => Object::new(),
    };
    if object.get_str("type").is_none_or(|kind| kind != "object") {
        object.set("type", "object");
    }
    if !object.contains("properties") {
        object.set("properties", Object::new());
    }
    let mut schema = Json::Object(object);
    only_json(&mut schema);
    schema
}

/// Some systems write numbers that JSON has not.
fn only_json(value: &mut Json) {
    match value {
        Json::Number(number) if !number.is_json() => *value = Json::Null,
        Json::Array(items) => items.iter_mut().for_each(only_json),
        Json::Object(object) => object.iter_mut().for_each(|(_, value)| only_json(value)),
        _ => {}
    }
}

/// Whether a schema says all that a strict one must: every property required, and no others.
pub(crate) fn is_strict(schema: &Json) -> bool {
    match schema {
        Json::Object(object) => {
            let is_object = object.get_str("type").is_some_and(|kind| kind == "object");
            (!is_object || closes(object)) && object.iter().all(|(_, value)| is_strict(value))
        }
        Json::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

fn closes(object: &Object) -> bool {
    let required = object.get("required").and_then(Json::as_array).unwrap_or_default();
    let is_required = |name: &str| required.iter().any(|other| other.as_str().is_some_and(|other| other == name));
    let properties = object.get("properties").and_then(Json::as_object);
    let all = properties.is_none_or(|properties| properties.iter().all(|(name, _)| is_required(&name.to_str_lossy())));
    all && object.get("additionalProperties") == Some(&Json::Bool(false))
}

fn format(mut format: ResponseFormat) -> Option<ResponseFormat> {
    match format.kind {
        ResponseKind::Text | ResponseKind::JsonObject => {
            Some(ResponseFormat { kind: format.kind, extra: format.extra, ..ResponseFormat::default() })
        }
        ResponseKind::JsonSchema => {
            format.schema.as_object()?;
            only_json(&mut format.schema);
            let name = format.name.unwrap_or_else(|| "answer".to_owned());
            format.name = Some(legal_name(&name, 64).unwrap_or(name));
            format.strict = format.strict.map(|strict| strict && is_strict(&format.schema));
            Some(format)
        }
        _ => None,
    }
}

fn choice(options: &mut Options, tools: &[ToolSpec]) {
    let Some(choice) = &mut options.tool_choice else { return };
    for name in &mut choice.names {
        if let Some(legal) = legal_name(name, 64) {
            *name = legal;
        }
    }
    choice.names.retain(|name| tools.iter().any(|tool| tool.name == *name));
    if tools.is_empty() || matches!(choice.mode, ToolMode::Other(_)) {
        options.tool_choice = None;
    } else if choice.mode == ToolMode::None {
        choice.names.clear();
    }
}

fn sampling(options: &mut Options) {
    options.temperature = options.temperature.take().and_then(|number| within(number, 2));
    options.top_p = options.top_p.take().and_then(|number| within(number, 1));
    options.max_tokens = options.max_tokens.take().and_then(|tokens| {
        let count = tokens.as_u64()?;
        Some(if count < FEWEST_TOKENS { Number::from(FEWEST_TOKENS) } else { tokens })
    });
}

/// The number, or the end of the range from 0 to `most` that it is beyond.
fn within(number: Number, most: u64) -> Option<Number> {
    match number.as_f64() {
        value if value.is_nan() => None,
        value if value < 0.0 => Some(Number::from(0u64)),
        value if value > most as f64 => Some(Number::from(most)),
        _ => Some(number),
    }
}

/// Whether the wire takes an image or a file.
pub(super) fn takes(media: &Media, aim: &RequestTarget) -> bool {
    const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
    if aim.is_home {
        let sounds =
            media.media_type.as_deref().is_some_and(|kind| kind.starts_with("audio/") || kind.starts_with("video/"));
        return !(sounds && part::usual_media_type(media) == "input_file" && media.inline.is_some());
    }
    let by_url = media.url.as_deref().is_some_and(|url| url.starts_with("https://") || url.starts_with("http://"));
    let has_data = media.inline.as_deref().is_some_and(|data| !data.is_empty());
    match (part::usual_media_type(media), media.media_type.as_deref()) {
        ("input_image", Some(kind)) => IMAGES.contains(&kind) && (has_data || by_url),
        ("input_image", None) => by_url,
        (_, Some(kind)) => (kind == "application/pdf" || kind.starts_with("text/")) && (has_data || by_url),
        (_, None) => false,
    }
}
