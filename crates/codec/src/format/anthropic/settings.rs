//! Settings and tools of a request, both ways.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Effort, Options, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode, ToolSpec};

use super::WIRE;
use crate::fields::{Fields, Form, Kept, Writer, optional};
use crate::wire::tables::{OptionRow, Words, meant, option_rows, options_set, take_options, word_for};

const TOOL: Form = &optional(["type", "name", "description", "input_schema", "strict", "cache_control"]);
const CHOICE: Form = &optional(["type", "name", "disable_parallel_tool_use"]);
const THINKING: Form = &optional(["type", "budget_tokens", "display"]);
const OUTPUT: Form = &optional(["effort", "format"]);
const FORMAT: Form = &optional(["type", "schema"]);

const OPTIONS: &[OptionRow] = option_rows! {
    "max_tokens" => number max_tokens,
    "temperature" => number temperature,
    "top_p" => number top_p,
    "top_k" => number top_k,
    "stop_sequences" => texts stop,
};

/// The modes of choosing a tool; one that names the tool is apart.
const MODES: Words<ToolMode> = &[("auto", ToolMode::Auto), ("none", ToolMode::None), ("any", ToolMode::Required)];

/// Takes the settings of a request body.
pub(super) fn read(fields: &mut Fields, session: &mut Session) {
    take_options(OPTIONS, fields, &mut session.options);
    read_output(fields, session);
    read_thinking(fields, &mut session.options);
    read_choice(fields, &mut session.options);
    read_tools(fields, session);
}

/// Effort and form of the answer; the form once stood on its own.
fn read_output(fields: &mut Fields, session: &mut Session) {
    let effort = |word: &Json| Some(Effort::from_word(&word.as_str()?)).filter(|effort| *effort != Effort::None);
    fields.within("output_config", OUTPUT, |output| {
        session.options.reasoning = output.read("effort", effort);
        session.response_format = output.read("format", format);
    });
    if session.response_format.is_none()
        && let Some(format) = fields.read("output_format", format)
    {
        fields.note("format", "output_format");
        session.response_format = Some(format);
    }
}

fn format(value: &Json) -> Option<ResponseFormat> {
    let object = value.as_object()?;
    let known = object.get_str("type").as_deref() == Some("json_schema") && object.contains("schema");
    if object.has_duplicates() {
        return None;
    }
    let mut fields = Fields::new(object.clone(), FORMAT);
    fields.take("type");
    let schema = fields.take("schema").filter(|_| known)?;
    let mut format = ResponseFormat { kind: ResponseKind::JsonSchema, schema, ..ResponseFormat::default() };
    fields.keep(WIRE, &mut format.extra);
    Some(format)
}

fn read_thinking(fields: &mut Fields, options: &mut Options) {
    let Some(thinking) = fields.get_object("thinking") else { return };
    let has_budget = matches!(thinking.get("budget_tokens"), Some(Json::Number(_)));
    match thinking.get_str("type").as_deref() {
        Some("enabled") if has_budget => {
            let budget = fields.within("thinking", THINKING, |thinking| {
                thinking.take("type");
                thinking.number("budget_tokens")
            });
            options.budget_tokens = budget.flatten();
        }
        Some("disabled") if thinking.len() == 1 && options.reasoning.is_none() => {
            fields.take("thinking");
            options.reasoning = Some(Effort::None);
        }
        _ => {}
    }
}

fn read_choice(fields: &mut Fields, options: &mut Options) {
    let Some(choice) = fields.object("tool_choice") else { return };
    let kind = choice.get_str("type").map(std::borrow::Cow::into_owned).unwrap_or_default();
    let named = choice.get_str("name").is_some();
    let mode = if kind == "tool" && named { Some(ToolMode::Required) } else { meant(MODES, &kind) };
    let Some(mode) = mode else { return fields.put_back("tool_choice", choice) };
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
    if !(custom && schema && object.get_str("name").is_some()) || object.has_duplicates() {
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
pub(super) fn write(session: &Session, writer: &mut Writer<'_>) {
    let options = &session.options;
    options_set(OPTIONS, options).for_each(|(key, value)| writer.set(key, value));
    write_output(session, writer);
    write_thinking(options, writer);
    if let Some(choice) = &options.tool_choice {
        writer.set("tool_choice", choice_value(choice, options.parallel_tool_calls));
    }
    write_tools(session, writer);
}

fn write_output(session: &Session, writer: &mut Writer<'_>) {
    let apart = writer.kept().is("format", "output_format");
    let mut output = Object::new();
    if let Some(effort) = session.options.reasoning.as_ref().filter(|effort| **effort != Effort::None) {
        output.push("effort", effort.as_str());
    }
    match &session.response_format {
        Some(format) if apart => writer.set("output_format", format_value(format)),
        Some(format) => output.push("format", format_value(format)),
        None => {}
    }
    writer.nest("output_config", output, OUTPUT);
}

fn format_value(format: &ResponseFormat) -> Object {
    let mut writer = Writer::new(Kept::of(&format.extra, WIRE), FORMAT);
    writer.set("type", "json_schema");
    writer.set("schema", format.schema.clone());
    writer.finish()
}

fn write_thinking(options: &Options, writer: &mut Writer<'_>) {
    let mut thinking = Object::new();
    match (&options.budget_tokens, &options.reasoning) {
        (Some(budget), _) => {
            thinking.push("type", "enabled");
            thinking.push("budget_tokens", budget.clone());
        }
        (None, Some(Effort::None)) => thinking.push("type", "disabled"),
        _ => return,
    }
    writer.nest("thinking", thinking, THINKING);
}

fn choice_value(choice: &ToolChoice, parallel: Option<bool>) -> Object {
    let mut writer = Writer::new(Kept::of(&choice.extra, WIRE), CHOICE);
    match (&choice.mode, choice.names.first()) {
        (ToolMode::Required, Some(name)) => {
            writer.set("type", "tool");
            writer.set("name", name.as_str());
        }
        (mode, _) => writer.set("type", word_for(MODES, mode).unwrap_or("auto")),
    }
    writer.set_some("disable_parallel_tool_use", parallel.map(|parallel| !parallel));
    writer.finish()
}

fn write_tools(session: &Session, writer: &mut Writer<'_>) {
    let vendor = writer.kept().field("tools").and_then(Json::as_array).unwrap_or_default();
    if session.tools.is_empty() {
        return;
    }
    let mut tools: Vec<Json> = session.tools.iter().map(tool_value).collect();
    let places = writer.kept().note("tools").and_then(Json::as_array).unwrap_or_default();
    for (index, tool) in vendor.iter().enumerate() {
        let place = places.get(index).and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
        let place = place.and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX);
        tools.insert(place.min(tools.len()), tool.clone());
    }
    writer.set("tools", tools);
}

fn tool_value(tool: &ToolSpec) -> Json {
    let mut writer = Writer::new(Kept::of(&tool.extra, WIRE), TOOL);
    writer.set("name", tool.name.as_str());
    writer.set_some("description", tool.description.as_deref());
    writer.set("input_schema", tool.parameters.clone());
    writer.set_some("strict", tool.strict);
    Json::Object(writer.finish())
}
