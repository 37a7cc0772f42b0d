//! Settings and tools of a request, both ways.

use turnkeep_model::json::{self, Json, Node, Object};
use turnkeep_model::{Effort, Number, Options, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode, ToolSpec};

use super::WIRE;
use crate::fields::{Fields, Form, Kept, Writer, optional, order_of};
use crate::wire::cache;
use crate::wire::tables::{OptionRow, option_rows, options_set, take_options};

const INFERENCE: Form = &optional(["maxTokens", "temperature", "topP", "stopSequences"]);
const TOOLS: Form = &optional(["tools", "toolChoice"]);
const TOOL: Form = &optional(["name", "description", "inputSchema", "strict"]);
const MORE: Form = &optional(["thinking", "output_config", "top_k"]);
const THINKING: Form = &optional(["type", "budget_tokens"]);
const SCHEMA: Form = &optional(["name", "description", "schema"]);

const OPTIONS: &[OptionRow] = option_rows! {
    "maxTokens" => number max_tokens,
    "temperature" => number temperature,
    "topP" => number top_p,
    "stopSequences" => texts stop,
};

/// Takes the settings of a request body.
pub(super) fn read(fields: &mut Fields, session: &mut Session) {
    fields.within("inferenceConfig", INFERENCE, |inner| take_options(OPTIONS, inner, &mut session.options));
    fields.within("additionalModelRequestFields", MORE, |inner| read_more(inner, &mut session.options));
    let places = fields.within("toolConfig", TOOLS, |inner| read_tools(inner, session)).unwrap_or_default();
    if !places.is_empty() {
        fields.note("tools", places);
    }
    session.response_format = fields.read("outputConfig", format);
}

fn read_more(inner: &mut Fields, options: &mut Options) {
    options.top_k = inner.number("top_k");
    options.budget_tokens = inner.read("thinking", budget);
    options.reasoning = inner.read("output_config", effort);
}

/// The budget of thinking that is on, where it says nothing else and is spelled as we spell it.
fn budget(thinking: &Json) -> Option<Number> {
    let thinking = thinking.as_object().filter(|thinking| thinking.len() == 2)?;
    let is_usual = order_of(thinking, THINKING).is_none() && thinking.get_str("type").as_deref() == Some("enabled");
    thinking.get("budget_tokens")?.as_number().filter(|_| is_usual).cloned()
}

/// The effort, where the output's settings say nothing else.
fn effort(output: &Json) -> Option<Effort> {
    let output = output.as_object().filter(|output| output.len() == 1)?;
    Some(Effort::from_word(&output.get_str("effort")?)).filter(|effort| *effort != Effort::None)
}

/// Tools of the application become tools; all else in the list is kept as it stood, at the places that are given back.
fn read_tools(inner: &mut Fields, session: &mut Session) -> Vec<Json> {
    session.options.tool_choice = inner.read("toolChoice", choice);
    let items = inner.items("tools").unwrap_or_default();
    let (mut vendor, mut places) = (Vec::new(), Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        match tool(&item) {
            Some(tool) => session.tools.push(tool),
            None => {
                vendor.push(item);
                places.push(Json::from(index as u64));
            }
        }
    }
    if !vendor.is_empty() {
        inner.put_back("tools", vendor);
    }
    places
}

/// The only pair of an object that has one.
fn only(value: &Json) -> Option<(String, &Json)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.iter().next().map(|(key, value)| (key.to_str_lossy().into_owned(), value))
}

fn choice(value: &Json) -> Option<ToolChoice> {
    let (kind, inner) = only(value)?;
    let inner = inner.as_object()?;
    let (mode, names) = match (kind.as_str(), inner.len()) {
        ("auto", 0) => (ToolMode::Auto, Vec::new()),
        ("any", 0) => (ToolMode::Required, Vec::new()),
        ("tool", 1) => (ToolMode::Required, vec![inner.get_str("name")?.into_owned()]),
        _ => return None,
    };
    Some(ToolChoice { mode, names, ..ToolChoice::default() })
}

fn tool(item: &Json) -> Option<ToolSpec> {
    let (_, spec) = only(item).filter(|(kind, _)| kind == "toolSpec")?;
    let spec = spec.as_object().filter(|spec| spec.get_str("name").is_some() && !spec.has_duplicates())?;
    let (_, schema) = only(spec.get("inputSchema")?).filter(|(kind, value)| kind == "json" && **value != Json::Null)?;
    let schema = schema.clone();
    let mut fields = Fields::new(spec.clone(), TOOL);
    fields.take("inputSchema");
    let mut tool = ToolSpec {
        name: fields.text("name").unwrap_or_default(),
        description: fields.text("description"),
        parameters: schema,
        strict: fields.flag("strict"),
        ..ToolSpec::default()
    };
    fields.keep(WIRE, &mut tool.extra);
    Some(tool)
}

/// The form of an answer, where its schema is spelled as we spell it.
fn format(value: &Json) -> Option<ResponseFormat> {
    let (_, text) = only(value).filter(|(key, _)| key == "textFormat")?;
    let text = text.as_object().filter(|text| text.len() == 2)?;
    let (first, _) = text.iter().next()?;
    let typed = first.to_str_lossy() == "type" && text.get_str("type").as_deref() == Some("json_schema");
    let (_, schema) = only(text.get("structure")?).filter(|(key, _)| typed && key == "jsonSchema")?;
    let mut fields = Fields::new(schema.as_object()?.clone(), SCHEMA);
    let spelled = fields.text("schema")?;
    let schema = json::parse(&spelled).ok().map(Node::into_json).filter(|schema| schema.to_text() == spelled)?;
    let mut format = ResponseFormat {
        kind: ResponseKind::JsonSchema,
        name: fields.text("name"),
        description: fields.text("description"),
        schema,
        ..ResponseFormat::default()
    };
    fields.keep(WIRE, &mut format.extra);
    Some(format)
}

/// Sets the settings of a request body.
pub(super) fn write(session: &Session, writer: &mut Writer<'_>) {
    writer.nest("inferenceConfig", options_set(OPTIONS, &session.options).collect(), INFERENCE);
    writer.nest("additionalModelRequestFields", more(&session.options), MORE);
    writer.nest("toolConfig", tools(session, writer.kept()), TOOLS);
    if let Some(format) = &session.response_format {
        writer.set("outputConfig", format_value(format));
    }
}

fn more(options: &Options) -> Object {
    let mut object = Object::new();
    if let Some(budget) = &options.budget_tokens {
        let thinking = [("type", Json::from("enabled")), ("budget_tokens", Json::Number(budget.clone()))];
        object.push("thinking", thinking.into_iter().collect::<Object>());
    }
    if let Some(effort) = options.reasoning.as_ref().filter(|effort| **effort != Effort::None) {
        let output: Object = [("effort", Json::from(effort.as_str()))].into_iter().collect();
        object.push("output_config", output);
    }
    if let Some(top_k) = &options.top_k {
        object.push("top_k", top_k.clone());
    }
    object
}

fn tools(session: &Session, kept: Kept<'_>) -> Object {
    let mut object = Object::new();
    if !session.tools.is_empty() {
        let marked = |tool: &ToolSpec| cache::control(&tool.extra).map(cache::point);
        let mut tools: Vec<Json> =
            session.tools.iter().flat_map(|tool| std::iter::once(tool_value(tool)).chain(marked(tool))).collect();
        let vendor = kept.at("toolConfig").field("tools").and_then(Json::as_array).unwrap_or_default();
        let places = kept.note("tools").and_then(Json::as_array).unwrap_or_default();
        for (index, tool) in vendor.iter().enumerate() {
            let place = places.get(index).and_then(Json::as_number).and_then(Number::as_u64);
            let place = place.and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX);
            tools.insert(place.min(tools.len()), tool.clone());
        }
        object.push("tools", tools);
    }
    if let Some(choice) = &session.options.tool_choice {
        object.push("toolChoice", choice_value(choice));
    }
    object
}

fn choice_value(choice: &ToolChoice) -> Object {
    let (kind, inner) = match (&choice.mode, choice.names.first()) {
        (ToolMode::Required, Some(name)) => ("tool", [("name", Json::from(name.as_str()))].into_iter().collect()),
        (ToolMode::Required, None) => ("any", Object::new()),
        (_, _) => ("auto", Object::new()),
    };
    [(kind, Json::Object(inner))].into_iter().collect()
}

fn tool_value(tool: &ToolSpec) -> Json {
    let mut writer = Writer::new(Kept::of(&tool.extra, WIRE), TOOL);
    writer.set("name", tool.name.as_str());
    writer.set_some("description", tool.description.as_deref());
    let schema: Object = [("json", tool.parameters.clone())].into_iter().collect();
    writer.set("inputSchema", schema);
    writer.set_some("strict", tool.strict);
    let spec: Object = [("toolSpec", Json::Object(writer.finish()))].into_iter().collect();
    Json::Object(spec)
}

fn format_value(format: &ResponseFormat) -> Object {
    let mut writer = Writer::new(Kept::of(&format.extra, WIRE), SCHEMA);
    writer.set_some("name", format.name.as_deref());
    writer.set_some("description", format.description.as_deref());
    writer.set("schema", format.schema.to_text());
    let structure: Object = [("jsonSchema", Json::Object(writer.finish()))].into_iter().collect();
    let text: Object =
        [("type", Json::from("json_schema")), ("structure", Json::Object(structure))].into_iter().collect();
    [("textFormat", Json::Object(text))].into_iter().collect()
}
