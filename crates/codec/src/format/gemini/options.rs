//! Options, tools and the form of answers, both ways.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Effort, Options, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode, ToolSpec};

use super::{FORMAT, spelled};
use crate::take;

type Slot = fn(&mut Options) -> &mut Option<Number>;

const NUMBERS: &[(&str, Slot)] = &[
    ("temperature", |options| &mut options.temperature),
    ("topP", |options| &mut options.top_p),
    ("topK", |options| &mut options.top_k),
    ("maxOutputTokens", |options| &mut options.max_tokens),
    ("seed", |options| &mut options.seed),
    ("presencePenalty", |options| &mut options.presence_penalty),
    ("frequencyPenalty", |options| &mut options.frequency_penalty),
];

const LEVELS: &[(&str, Effort)] =
    &[("MINIMAL", Effort::Minimal), ("LOW", Effort::Low), ("MEDIUM", Effort::Medium), ("HIGH", Effort::High)];

const MODES: &[(&str, ToolMode)] = &[("AUTO", ToolMode::Auto), ("ANY", ToolMode::Required), ("NONE", ToolMode::None)];

/// Moves what the model has a place for from a request body to the session.
pub(super) fn take(body: &mut Object, session: &mut Session) {
    if let Some(key) = spelled(body, "generationConfig") {
        within(body, key, |config| take_config(config, session));
    }
    within(body, "toolConfig", |config| {
        within(config, "functionCallingConfig", |calling| take_choice(calling, session));
    });
    take_tools(body, session);
}

/// Puts back what [`take`] moved.
pub(super) fn put(session: &Session, body: &mut Object) {
    let key = spelled(body, "generationConfig").unwrap_or("generationConfig");
    let mut config = body.get(key).and_then(Json::as_object).cloned().unwrap_or_default();
    let before = config.len();
    put_config(session, &mut config);
    if config.len() > before || has_nested(&config) {
        body.set(key, config);
    }
    if let Some(choice) = &session.options.tool_choice {
        put_choice(choice, body);
    }
    put_tools(session, body);
}

fn has_nested(config: &Object) -> bool {
    config.contains("thinkingConfig")
}

/// Takes from the object under `key`; nothing left of it goes away, unless it was empty from the start.
fn within(map: &mut Object, key: &str, take: impl FnOnce(&mut Object)) {
    let Some(mut inner) = map.get(key).and_then(Json::as_object).cloned() else { return };
    if inner.is_empty() {
        return;
    }
    take(&mut inner);
    if inner.is_empty() {
        map.remove(key);
    } else {
        map.set(key, inner);
    }
}

fn take_config(config: &mut Object, session: &mut Session) {
    for (key, slot) in NUMBERS {
        if let Some(number) = take::number(config, key) {
            *slot(&mut session.options) = Some(number);
        }
    }
    session.options.stop = take::texts(config, "stopSequences").unwrap_or_default();
    within(config, "thinkingConfig", |thinking| {
        session.options.budget_tokens = take::number(thinking, "thinkingBudget");
        let level = thinking.get_str("thinkingLevel").and_then(|word| level(&word));
        if level.is_some() {
            thinking.remove("thinkingLevel");
            session.options.reasoning = level;
        }
    });
    take_response(config, session);
}

fn level(word: &str) -> Option<Effort> {
    LEVELS.iter().find(|(known, _)| *known == word).map(|(_, effort)| effort.clone())
}

fn put_config(session: &Session, config: &mut Object) {
    let mut options = session.options.clone();
    for (key, slot) in NUMBERS {
        if let Some(number) = slot(&mut options).take() {
            config.set(key, number);
        }
    }
    if !options.stop.is_empty() {
        config.set("stopSequences", options.stop.iter().map(|stop| Json::from(stop.as_str())).collect::<Vec<_>>());
    }
    let word = options.reasoning.as_ref().and_then(|effort| LEVELS.iter().find(|(_, known)| known == effort));
    let mut thinking = config.get("thinkingConfig").and_then(Json::as_object).cloned().unwrap_or_default();
    if let Some(budget) = options.budget_tokens.take() {
        thinking.set("thinkingBudget", budget);
    }
    if let Some((word, _)) = word {
        thinking.set("thinkingLevel", *word);
    }
    if !thinking.is_empty() {
        config.set("thinkingConfig", thinking);
    }
    put_response(session, config);
}

fn take_response(config: &mut Object, session: &mut Session) {
    if config.get_str("responseMimeType").as_deref() != Some("application/json") {
        return;
    }
    config.remove("responseMimeType");
    let mut format = ResponseFormat { kind: ResponseKind::JsonObject, ..ResponseFormat::default() };
    for key in ["responseJsonSchema", "responseSchema"] {
        if config.get(key).is_some_and(|schema| *schema != Json::Null) {
            format.kind = ResponseKind::JsonSchema;
            format.schema = config.remove(key).unwrap_or_default();
            if key == "responseSchema" {
                format.extra.part_mut(FORMAT).spelling.set("schema", key);
            }
            break;
        }
    }
    session.response_format = Some(format);
}

fn put_response(session: &Session, config: &mut Object) {
    let Some(format) = &session.response_format else { return };
    if !matches!(format.kind, ResponseKind::JsonObject | ResponseKind::JsonSchema) {
        return;
    }
    config.set("responseMimeType", "application/json");
    if format.schema != Json::Null {
        let own = format.extra.spelling(FORMAT, "schema").is_some();
        config.set(if own { "responseSchema" } else { "responseJsonSchema" }, format.schema.clone());
    }
}

fn take_choice(calling: &mut Object, session: &mut Session) {
    let mode = calling.get_str("mode").and_then(|word| MODES.iter().find(|(known, _)| *known == word));
    let Some((_, mode)) = mode else { return };
    calling.remove("mode");
    let names = take::texts(calling, "allowedFunctionNames").unwrap_or_default();
    session.options.tool_choice = Some(ToolChoice { mode: mode.clone(), names, ..ToolChoice::default() });
}

fn put_choice(choice: &ToolChoice, body: &mut Object) {
    let Some((word, _)) = MODES.iter().find(|(_, mode)| *mode == choice.mode) else { return };
    let mut config = body.get("toolConfig").and_then(Json::as_object).cloned().unwrap_or_default();
    let mut calling = config.get("functionCallingConfig").and_then(Json::as_object).cloned().unwrap_or_default();
    calling.set("mode", *word);
    if !choice.names.is_empty() {
        calling
            .set("allowedFunctionNames", choice.names.iter().map(|name| Json::from(name.as_str())).collect::<Vec<_>>());
    }
    config.set("functionCallingConfig", calling);
    body.set("toolConfig", config);
}

/// The declarations of the first tool that has some; the tool itself stays, without them, to hold its place.
fn take_tools(body: &mut Object, session: &mut Session) {
    let Some(Json::Array(mut tools)) = body.get("tools").cloned() else { return };
    let has = |tool: &Json| tool.as_object().is_some_and(|tool| spelled(tool, "functionDeclarations").is_some());
    let Some(at) = tools.iter().position(has) else { return };
    let Some(Json::Object(tool)) = tools.get_mut(at) else { return };
    let Some(key) = spelled(tool, "functionDeclarations") else { return };
    let declarations = tool.get(key).and_then(Json::as_array).filter(|list| !list.is_empty());
    let Some(specs) = declarations.and_then(|list| list.iter().map(declaration).collect::<Option<Vec<_>>>()) else {
        return;
    };
    tool.remove(key);
    session.tools = specs;
    let part = session.extra.part_mut(FORMAT);
    if key != "functionDeclarations" {
        part.spelling.set("tools", "snake");
    }
    if tools.len() == 1 && tools.first().and_then(Json::as_object).is_some_and(Object::is_empty) {
        body.remove("tools");
    } else {
        part.spelling.set("tool", at as u64);
        body.set("tools", tools);
    }
}

fn declaration(json: &Json) -> Option<ToolSpec> {
    let mut map = json.as_object()?.clone();
    let mut spec = ToolSpec { name: take::text(&mut map, "name")?, ..ToolSpec::default() };
    spec.description = take::text(&mut map, "description");
    for key in ["parametersJsonSchema", "parameters", "parameters_json_schema"] {
        if map.get(key).is_some_and(|schema| *schema != Json::Null) {
            spec.parameters = map.remove(key).unwrap_or_default();
            if key != "parametersJsonSchema" {
                spec.extra.part_mut(FORMAT).spelling.set("parameters", key);
            }
            break;
        }
    }
    spec.extra.part_mut(FORMAT).fields = map;
    spec.extra.tidy();
    Some(spec)
}

fn put_tools(session: &Session, body: &mut Object) {
    if session.tools.is_empty() {
        return;
    }
    let declarations: Vec<Json> = session.tools.iter().map(declared).collect();
    let snake = session.extra.spelling(FORMAT, "tools").is_some();
    let key = if snake { "function_declarations" } else { "functionDeclarations" };
    let mut tools = body.get("tools").and_then(Json::as_array).map(<[Json]>::to_vec).unwrap_or_default();
    let at = session.extra.spelling(FORMAT, "tool").and_then(Json::as_number).and_then(Number::as_u64);
    match at.and_then(|at| tools.get_mut(usize::try_from(at).ok()?)) {
        Some(Json::Object(tool)) => tool.set(key, declarations),
        _ => tools.insert(0, Json::Object([(key, Json::Array(declarations))].into_iter().collect())),
    }
    body.set("tools", tools);
}

fn declared(tool: &ToolSpec) -> Json {
    let mut map = Object::new();
    map.set("name", tool.name.as_str());
    if let Some(description) = &tool.description {
        map.set("description", description.as_str());
    }
    if tool.parameters != Json::Null {
        let key = tool.extra.spelling(FORMAT, "parameters").and_then(Json::as_str);
        map.set(key.as_deref().unwrap_or("parametersJsonSchema"), tool.parameters.clone());
    }
    for (key, value) in tool.extra.fields(FORMAT).into_iter().flat_map(Object::iter) {
        map.push(key.clone(), value.clone());
    }
    Json::Object(map)
}
