//! Settings and tools that a turn document holds in its data.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Effort, ResponseFormat, ResponseKind, Session, ToolMode, ToolSpec};

use super::FORMAT;
use super::decode::take_text;
use super::keys::typed;

pub(super) fn take_settings(session: &mut Session, data: &mut Object) {
    take_tools(session, data);
    in_map(data, &typed("inference_config"), |map| take_options(session, map));
    in_map(data, &typed("claude_inference_config"), |map| session.options.top_k = take_number(map, "top_k"));
    in_map(data, &typed("openai_inference_config"), |map| {
        session.options.presence_penalty = take_number(map, "presence_penalty");
        session.options.frequency_penalty = take_number(map, "frequency_penalty");
    });
    in_map(data, &typed("structured_output_config"), |map| take_response_format(session, map));
    in_map(data, &typed("tool_config"), |map| take_tool_choice(session, map));
}

/// Takes from the map under `key`; nothing left of it goes away.
fn in_map(data: &mut Object, key: &str, take: impl FnOnce(&mut Object)) {
    let Some(Json::Object(map)) = data.get(key) else { return };
    let mut map = map.clone();
    if map.is_empty() {
        return;
    }
    take(&mut map);
    if map.is_empty() {
        data.remove(key);
    } else {
        data.set(key, map);
    }
}

fn take_number(map: &mut Object, key: &str) -> Option<Number> {
    let number = map.get(key)?.as_number()?.clone();
    map.remove(key);
    Some(number)
}

fn take_options(session: &mut Session, map: &mut Object) {
    let options = &mut session.options;
    options.temperature = take_number(map, "temperature");
    options.top_p = take_number(map, "top_p");
    options.max_tokens = take_number(map, "max_response_tokens");
    options.budget_tokens = take_number(map, "thinking_budget");
    options.seed = take_number(map, "seed");
    options.reasoning = take_text(map, "reasoning_effort").map(|word| Effort::from_word(&word));
    if let Some(stop) = map.get("stop").and_then(super::keys::as_strings).filter(|stop| !stop.is_empty()) {
        map.remove("stop");
        options.stop = stop;
    }
}

fn take_response_format(session: &mut Session, map: &mut Object) {
    let Some(mode) = take_text(map, "mode") else { return };
    session.response_format = Some(ResponseFormat {
        kind: ResponseKind::from_word(&mode),
        name: take_text(map, "name"),
        description: take_text(map, "description"),
        schema: map.remove("schema").unwrap_or_default(),
        strict: take_bool(map, "strict"),
        ..ResponseFormat::default()
    });
}

fn take_bool(map: &mut Object, key: &str) -> Option<bool> {
    let value = map.get(key)?.as_bool()?;
    map.remove(key);
    Some(value)
}

fn take_tool_choice(session: &mut Session, map: &mut Object) {
    if let Some(choice) = take_text(map, "tool_choice") {
        session.options.tool_choice =
            Some(turnkeep_model::ToolChoice { mode: ToolMode::from_word(&choice), ..Default::default() });
    }
    session.options.limits.steps = take_number(map, "max_iterations");
}

fn take_tools(session: &mut Session, data: &mut Object) {
    let key = typed("tool_definitions");
    let items = data.get(&key).and_then(Json::as_array).filter(|items| !items.is_empty());
    let tools = items.and_then(|items| items.iter().map(tool).collect::<Option<Vec<_>>>());
    if let Some(tools) = tools {
        data.remove(&key);
        session.tools = tools;
    }
}

fn tool(item: &Json) -> Option<ToolSpec> {
    let mut map = item.as_object()?.clone();
    let mut tool = ToolSpec { name: take_text(&mut map, "name")?, ..ToolSpec::default() };
    tool.description = take_text(&mut map, "description");
    if map.get("parameters").is_some_and(|parameters| *parameters != Json::Null) {
        tool.parameters = map.remove("parameters").unwrap_or_default();
    }
    tool.extra.part_mut(FORMAT).fields = map;
    tool.extra.tidy();
    Some(tool)
}
