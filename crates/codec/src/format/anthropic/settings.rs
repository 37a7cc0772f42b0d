//! Settings and tools of a request, both ways.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Effort, Options, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode, ToolSpec};

use super::WIRE;
use crate::wire::fields::{Fields, Writing, in_order, spelled_order};

const TOOL: &[&str] = &["type", "name", "description", "input_schema", "strict", "cache_control"];
const CHOICE: &[&str] = &["type", "name", "disable_parallel_tool_use"];
const THINKING: &[&str] = &["type", "budget_tokens", "display"];
const OUTPUT: &[&str] = &["effort", "format"];
const FORMAT: &[&str] = &["type", "schema"];

/// Takes the settings of a request body.
pub(super) fn read(fields: &mut Fields, session: &mut Session) {
    let options = &mut session.options;
    options.max_tokens = fields.number("max_tokens");
    options.temperature = fields.number("temperature");
    options.top_p = fields.number("top_p");
    options.top_k = fields.number("top_k");
    options.stop = stop(fields);
    read_output(fields, session);
    read_thinking(fields, &mut session.options);
    read_choice(fields, &mut session.options);
    read_tools(fields, session);
}

fn stop(fields: &mut Fields) -> Vec<String> {
    let texts = |items: &[Json]| items.iter().map(|item| item.as_str().map(std::borrow::Cow::into_owned)).collect();
    let found: Option<Vec<String>> =
        fields.left().get("stop_sequences").and_then(Json::as_array).filter(|items| !items.is_empty()).and_then(texts);
    if found.is_some() {
        fields.take("stop_sequences");
    }
    found.unwrap_or_default()
}

/// Effort and form of the answer; the form once stood on its own.
fn read_output(fields: &mut Fields, session: &mut Session) {
    if let Some(mut output) = fields.object("output_config") {
        let order = spelled_order(&output, OUTPUT);
        let effort = output.get_str("effort").map(|word| Effort::from_word(&word));
        if let Some(effort) = effort.filter(|effort| *effort != Effort::None) {
            output.remove("effort");
            session.options.reasoning = Some(effort);
        }
        if let Some(format) = output.get("format").and_then(format) {
            output.remove("format");
            session.response_format = Some(format);
        }
        let used = session.options.reasoning.is_some() || session.response_format.is_some();
        if let Some(order) = order.filter(|_| used) {
            fields.note("output_config", order);
        }
        if !output.is_empty() || !used {
            fields.put_back("output_config", output);
        }
    }
    if session.response_format.is_none()
        && let Some(format) = fields.left().get("output_format").and_then(format)
    {
        fields.take("output_format");
        fields.note("format", "output_format");
        session.response_format = Some(format);
    }
}

fn format(value: &Json) -> Option<ResponseFormat> {
    let object = value.as_object()?;
    let known = object.get_str("type").as_deref() == Some("json_schema") && object.contains("schema");
    let mut fields = Fields::new(object.clone(), FORMAT);
    fields.take("type");
    let schema = fields.take("schema").filter(|_| known)?;
    let mut format = ResponseFormat { kind: ResponseKind::JsonSchema, schema, ..ResponseFormat::default() };
    fields.keep(WIRE, &mut format.extra);
    Some(format)
}

fn read_thinking(fields: &mut Fields, options: &mut Options) {
    let Some(mut thinking) = fields.object("thinking") else { return };
    let kind = thinking.get_str("type").map(std::borrow::Cow::into_owned).unwrap_or_default();
    let budget = thinking.get("budget_tokens").and_then(Json::as_number).cloned();
    match (kind.as_str(), budget) {
        ("enabled", Some(budget)) => {
            if let Some(order) = spelled_order(&thinking, THINKING) {
                fields.note("thinking", order);
            }
            thinking.remove("type");
            thinking.remove("budget_tokens");
            options.budget_tokens = Some(budget);
            if !thinking.is_empty() {
                fields.put_back("thinking", thinking);
            }
        }
        ("disabled", None) if thinking.len() == 1 && options.reasoning.is_none() => {
            options.reasoning = Some(Effort::None);
        }
        _ => fields.put_back("thinking", thinking),
    }
}

fn read_choice(fields: &mut Fields, options: &mut Options) {
    let Some(choice) = fields.object("tool_choice") else { return };
    let kind = choice.get_str("type").map(std::borrow::Cow::into_owned).unwrap_or_default();
    let named = choice.get_str("name").is_some();
    let mode = match kind.as_str() {
        "auto" => ToolMode::Auto,
        "none" => ToolMode::None,
        "any" => ToolMode::Required,
        "tool" if named => ToolMode::Required,
        _ => return fields.put_back("tool_choice", choice),
    };
    let mut rest = Fields::new(choice, CHOICE);
    rest.take("type");
    let names = if kind == "tool" { rest.text("name").into_iter().collect() } else { Vec::new() };
    options.parallel_tool_calls = rest.flag("disable_parallel_tool_use").map(|disabled| !disabled);
    let mut choice = ToolChoice { mode, names, ..ToolChoice::default() };
    rest.keep(WIRE, &mut choice.extra);
    options.tool_choice = Some(choice);
}

/// Tools of the application become tools; those that the vendor runs are kept as they stood.
fn read_tools(fields: &mut Fields, session: &mut Session) {
    let Some(items) = fields.items("tools") else { return };
    let (mut vendor, mut places) = (Vec::new(), Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        match tool(item) {
            Ok(tool) => session.tools.push(tool),
            Err(item) => {
                vendor.push(item);
                places.push(Json::from(index as u64));
            }
        }
    }
    if !vendor.is_empty() {
        fields.put_back("tools", vendor);
        fields.note("tools", places);
    }
}

fn tool(item: Json) -> Result<ToolSpec, Json> {
    let Json::Object(object) = item else { return Err(item) };
    let custom = object.get("type").is_none_or(|kind| kind.as_str().as_deref() == Some("custom"));
    let schema = object.get("input_schema").is_some_and(|schema| *schema != Json::Null);
    if !(custom && schema && object.get_str("name").is_some()) {
        return Err(Json::Object(object));
    }
    let mut fields = Fields::new(object, TOOL);
    let mut tool = ToolSpec {
        name: fields.text("name").unwrap_or_default(),
        description: fields.text("description"),
        parameters: fields.take("input_schema").unwrap_or_default(),
        strict: fields.flag("strict"),
        ..ToolSpec::default()
    };
    fields.keep(WIRE, &mut tool.extra);
    Ok(tool)
}

/// Sets the settings of a request body.
pub(super) fn write(session: &Session, writing: &mut Writing<'_>) {
    let options = &session.options;
    writing.set_some("max_tokens", options.max_tokens.clone());
    writing.set_some("temperature", options.temperature.clone());
    writing.set_some("top_p", options.top_p.clone());
    writing.set_some("top_k", options.top_k.clone());
    if !options.stop.is_empty() {
        writing.set("stop_sequences", options.stop.iter().map(|text| text.as_str().into()).collect::<Vec<Json>>());
    }
    write_output(session, writing);
    write_thinking(options, writing);
    if let Some(choice) = &options.tool_choice {
        writing.set("tool_choice", choice_value(choice, options.parallel_tool_calls));
    }
    write_tools(session, writing);
}

fn write_output(session: &Session, writing: &mut Writing<'_>) {
    let apart = writing.noted_as("format", "output_format");
    let mut output = Object::new();
    if let Some(effort) = session.options.reasoning.as_ref().filter(|effort| **effort != Effort::None) {
        output.push("effort", effort.as_str());
    }
    match &session.response_format {
        Some(format) if apart => writing.set("output_format", format_value(format)),
        Some(format) => output.push("format", format_value(format)),
        None => {}
    }
    if output.is_empty() {
        return;
    }
    if let Some(Json::Object(rest)) = writing.kept("output_config") {
        rest.iter().for_each(|(key, value)| output.push(key.clone(), value.clone()));
    }
    writing.set("output_config", in_order(output, writing.noted("output_config"), OUTPUT));
}

fn format_value(format: &ResponseFormat) -> Object {
    let mut writing = Writing::new(WIRE, &format.extra);
    writing.set("type", "json_schema");
    writing.set("schema", format.schema.clone());
    writing.finish(FORMAT)
}

fn write_thinking(options: &Options, writing: &mut Writing<'_>) {
    let mut thinking = Object::new();
    match (&options.budget_tokens, &options.reasoning) {
        (Some(budget), _) => {
            thinking.push("type", "enabled");
            thinking.push("budget_tokens", budget.clone());
            if let Some(Json::Object(rest)) = writing.kept("thinking") {
                rest.iter().for_each(|(key, value)| thinking.push(key.clone(), value.clone()));
            }
        }
        (None, Some(Effort::None)) => thinking.push("type", "disabled"),
        _ => return,
    }
    writing.set("thinking", in_order(thinking, writing.noted("thinking"), THINKING));
}

fn choice_value(choice: &ToolChoice, parallel: Option<bool>) -> Object {
    let mut writing = Writing::new(WIRE, &choice.extra);
    match (&choice.mode, choice.names.first()) {
        (ToolMode::Required, Some(name)) => {
            writing.set("type", "tool");
            writing.set("name", name.as_str());
        }
        (ToolMode::Required, None) => writing.set("type", "any"),
        (ToolMode::None, _) => writing.set("type", "none"),
        (_, _) => writing.set("type", "auto"),
    }
    writing.set_some("disable_parallel_tool_use", parallel.map(|parallel| !parallel));
    writing.finish(CHOICE)
}

fn write_tools(session: &Session, writing: &mut Writing<'_>) {
    let vendor = writing.kept("tools").and_then(Json::as_array).unwrap_or_default();
    if session.tools.is_empty() {
        return;
    }
    let mut tools: Vec<Json> = session.tools.iter().map(tool_value).collect();
    let places = writing.noted("tools").and_then(Json::as_array).unwrap_or_default();
    for (index, tool) in vendor.iter().enumerate() {
        let place = places.get(index).and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
        let place = place.and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX);
        tools.insert(place.min(tools.len()), tool.clone());
    }
    writing.set("tools", tools);
}

fn tool_value(tool: &ToolSpec) -> Json {
    let mut writing = Writing::new(WIRE, &tool.extra);
    writing.set("name", tool.name.as_str());
    writing.set_some("description", tool.description.as_deref());
    writing.set("input_schema", tool.parameters.clone());
    writing.set_some("strict", tool.strict);
    Json::Object(writing.finish(TOOL))
}
