//! Settings of a state: the model's configuration and the form of its answers.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{ExtraPart, Options, ResponseFormat, ResponseKind};

use super::map::{Draft, Form, KeyRule, Map};

const CONFIG: Form = &[
    ("apiUrl", KeyRule::Optional),
    ("apiKey", KeyRule::Optional),
    ("endpoint", KeyRule::Optional),
    ("queryParams", KeyRule::Optional),
    ("metadata", KeyRule::Optional),
    ("model", KeyRule::Optional),
    ("maxTokens", KeyRule::Optional),
    ("contextLength", KeyRule::Optional),
    ("maxOutputLength", KeyRule::Optional),
    ("driver", KeyRule::Optional),
    ("options", KeyRule::Optional),
    ("pricing", KeyRule::Optional),
];
const OPTIONS: Form = &[
    ("temperature", KeyRule::Optional),
    ("top_p", KeyRule::Optional),
    ("top_k", KeyRule::Optional),
    ("presence_penalty", KeyRule::Optional),
    ("frequency_penalty", KeyRule::Optional),
    ("seed", KeyRule::Optional),
];
const FORMAT: Form = &[("type", KeyRule::Optional), ("json_schema", KeyRule::Optional)];
const SCHEMA: Form = &[
    ("name", KeyRule::Optional),
    ("description", KeyRule::Optional),
    ("schema", KeyRule::Optional),
    ("strict", KeyRule::Optional),
];

/// Takes the model's configuration. What only a connection needs stays as it is.
pub(super) fn take_config(map: &mut Map, options: &mut Options, part: &mut ExtraPart) {
    let Some(mut config) = map.object("llmConfig").and_then(|config| Map::open(config.into(), CONFIG).ok()) else {
        return;
    };
    options.max_tokens = config.number("maxTokens");
    if let Some(mut inner) = config.object("options").and_then(|inner| Map::open(inner.into(), OPTIONS).ok()) {
        options.temperature = inner.number("temperature");
        options.top_p = inner.number("top_p");
        options.top_k = inner.number("top_k");
        options.presence_penalty = inner.number("presence_penalty");
        options.frequency_penalty = inner.number("frequency_penalty");
        options.seed = inner.number("seed");
        inner.leave(part, "llmConfig.options");
    }
    config.leave(part, "llmConfig");
}

/// Says the model's configuration, if there is one.
pub(super) fn put_config(draft: &mut Draft, options: &Options, part: Option<&ExtraPart>) {
    let mut inner = Draft::default();
    inner.put_some("temperature", options.temperature.clone());
    inner.put_some("top_p", options.top_p.clone());
    inner.put_some("top_k", options.top_k.clone());
    inner.put_some("presence_penalty", options.presence_penalty.clone());
    inner.put_some("frequency_penalty", options.frequency_penalty.clone());
    inner.put_some("seed", options.seed.clone());
    let inner = inner.finish(OPTIONS, part, "llmConfig.options");
    let mut config = Draft::default();
    config.put_some("maxTokens", options.max_tokens.clone());
    if matches!(inner, Json::Object(_)) {
        config.put("options", inner);
    }
    let config = config.finish(CONFIG, part, "llmConfig");
    if matches!(config, Json::Object(_)) {
        draft.put("llmConfig", config);
    }
}

/// Takes the form that answers must have.
pub(super) fn take_format(map: &mut Map, part: &mut ExtraPart) -> Option<ResponseFormat> {
    let kind = map.get("responseFormat")?.as_object()?.get_str("type")?.into_owned();
    let mut format = map.open_at("responseFormat", FORMAT)?;
    format.remove("type");
    let mut made = ResponseFormat { kind: ResponseKind::from_word(&kind), ..ResponseFormat::default() };
    if let Some(mut schema) = format.object("json_schema").and_then(|schema| Map::open(schema.into(), SCHEMA).ok()) {
        made.name = schema.text("name");
        made.description = schema.text("description");
        made.schema = schema.object("schema").map_or(Json::Null, Json::Object);
        made.strict = schema.take("strict", Json::as_bool);
        schema.leave(part, "context.responseFormat.json_schema");
    }
    format.leave(part, "context.responseFormat");
    Some(made)
}

/// Says the form that answers must have.
pub(super) fn put_format(draft: &mut Draft, format: Option<&ResponseFormat>, part: Option<&ExtraPart>) {
    let Some(format) = format else { return };
    let mut schema = Draft::default();
    schema.put_text("name", format.name.as_deref());
    schema.put_text("description", format.description.as_deref());
    schema.put_some("schema", Some(format.schema.clone()).filter(|schema| *schema != Json::Null));
    schema.put_some("strict", format.strict);
    let schema = schema.finish(SCHEMA, part, "context.responseFormat.json_schema");
    let mut made = Draft::default();
    made.put("type", format.kind.as_str());
    if matches!(schema, Json::Object(_)) {
        made.put("json_schema", schema);
    }
    draft.put("responseFormat", made.finish(FORMAT, part, "context.responseFormat"));
}

/// What the cache of a context holds when nothing is cached.
pub(super) fn empty_cache() -> Json {
    let empty = || Json::Array(Vec::new());
    let keys = ["messages", "tools", "toolChoice", "responseFormat"];
    Json::Object(keys.into_iter().map(|key| (key, empty())).collect::<Object>())
}
