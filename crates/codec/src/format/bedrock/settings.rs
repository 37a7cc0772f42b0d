//! Settings and tools of a request, both ways.

use turnkeep_model::json::{self, Json, Node, Object};
use turnkeep_model::{Effort, Number, Options, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode, ToolSpec};

use super::WIRE;
use crate::wire::cache;
use crate::wire::fields::{Fields, Writing, in_order, spelled_order};

const INFERENCE: &[&str] = &["maxTokens", "temperature", "topP", "stopSequences"];
const TOOLS: &[&str] = &["tools", "toolChoice"];
const TOOL: &[&str] = &["name", "description", "inputSchema", "strict"];
const MORE: &[&str] = &["thinking", "output_config", "top_k"];
const SCHEMA: &[&str] = &["name", "description", "schema"];

/// Takes the settings of a request body.
pub(super) fn read(fields: &mut Fields, session: &mut Session) {
    within(fields, "inferenceConfig", INFERENCE, |inner, _| read_inference(inner, &mut session.options));
    within(fields, "additionalModelRequestFields", MORE, |inner, _| read_more(inner, &mut session.options));
    within(fields, "toolConfig", TOOLS, |inner, notes| read_tools(inner, notes, session));
    if let Some(format) = fields.left().get("outputConfig").and_then(format) {
        fields.take("outputConfig");
        session.response_format = Some(format);
    }
}

/// Reads an object of the body: what is left of it stays, if anything is, or if nothing was taken.
fn within(fields: &mut Fields, key: &str, usual: &[&str], read: impl FnOnce(&mut Object, &mut Fields)) {
    let Some(mut inner) = fields.object(key) else { return };
    let (order, before) = (spelled_order(&inner, usual), inner.clone());
    read(&mut inner, fields);
    let taken = inner != before;
    if let Some(order) = order.filter(|_| taken) {
        fields.note(key, order);
    }
    if !inner.is_empty() || !taken {
        fields.put_back(key, inner);
    }
}

fn take_number(object: &mut Object, key: &str) -> Option<Number> {
    let number = object.get(key)?.as_number()?.clone();
    object.remove(key);
    Some(number)
}

fn read_inference(inner: &mut Object, options: &mut Options) {
    options.max_tokens = take_number(inner, "maxTokens");
    options.temperature = take_number(inner, "temperature");
    options.top_p = take_number(inner, "topP");
    let stop = inner.get("stopSequences").and_then(Json::as_array).filter(|items| !items.is_empty());
    let texts: Option<Vec<String>> =
        stop.and_then(|items| items.iter().map(|item| Some(item.as_str()?.into())).collect());
    if let Some(texts) = texts {
        inner.remove("stopSequences");
        options.stop = texts;
    }
}

fn read_more(inner: &mut Object, options: &mut Options) {
    options.top_k = take_number(inner, "top_k");
    let thinking = inner.get("thinking").and_then(Json::as_object);
    let enabled = thinking.filter(|thinking| {
        thinking.len() == 2
            && thinking.get_str("type").as_deref() == Some("enabled")
            && spelled_order(thinking, &["type", "budget_tokens"]).is_none()
    });
    if let Some(budget) = enabled.and_then(|thinking| thinking.get("budget_tokens")?.as_number().cloned()) {
        inner.remove("thinking");
        options.budget_tokens = Some(budget);
    }
    let output = inner.get("output_config").and_then(Json::as_object).filter(|output| output.len() == 1);
    let effort = output.and_then(|output| output.get_str("effort")).map(|word| Effort::from_word(&word));
    if let Some(effort) = effort.filter(|effort| *effort != Effort::None) {
        inner.remove("output_config");
        options.reasoning = Some(effort);
    }
}

/// Tools of the application become tools; all else in the list is kept as it stood.
fn read_tools(inner: &mut Object, notes: &mut Fields, session: &mut Session) {
    if let Some(choice) = inner.get("toolChoice").and_then(choice) {
        inner.remove("toolChoice");
        session.options.tool_choice = Some(choice);
    }
    let items = match inner.get("tools") {
        Some(Json::Array(items)) if !items.is_empty() => items.clone(),
        _ => return,
    };
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
    match vendor.is_empty() {
        true => drop(inner.remove("tools")),
        false => {
            inner.set("tools", vendor);
            notes.note("tools", places);
        }
    }
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
    let spec = spec.as_object().filter(|spec| spec.get_str("name").is_some())?;
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
pub(super) fn write(session: &Session, writing: &mut Writing<'_>) {
    put(writing, "inferenceConfig", INFERENCE, inference(&session.options));
    put(writing, "additionalModelRequestFields", MORE, more(&session.options));
    put(writing, "toolConfig", TOOLS, tools(session, writing));
    if let Some(format) = &session.response_format {
        writing.set("outputConfig", format_value(format));
    }
}

/// Sets an object of the body, with what the source had in it beyond that.
fn put(writing: &mut Writing<'_>, key: &str, usual: &[&str], mut object: Object) {
    if object.is_empty() {
        return;
    }
    if let Some(Json::Object(rest)) = writing.kept(key) {
        for (key, value) in rest.iter() {
            if !object.iter().any(|(known, _)| known == key) {
                object.push(key.clone(), value.clone());
            }
        }
    }
    writing.set(key, in_order(object, writing.noted(key), usual));
}

fn inference(options: &Options) -> Object {
    let mut object = Object::new();
    let numbers = [("maxTokens", &options.max_tokens), ("temperature", &options.temperature), ("topP", &options.top_p)];
    for (key, number) in numbers {
        if let Some(number) = number {
            object.push(key, number.clone());
        }
    }
    if !options.stop.is_empty() {
        object.push("stopSequences", options.stop.iter().map(|text| text.as_str().into()).collect::<Vec<Json>>());
    }
    object
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

fn tools(session: &Session, writing: &Writing<'_>) -> Object {
    let mut object = Object::new();
    if !session.tools.is_empty() {
        let marked = |tool: &ToolSpec| cache::control(&tool.extra).map(cache::point);
        let mut tools: Vec<Json> =
            session.tools.iter().flat_map(|tool| std::iter::once(tool_value(tool)).chain(marked(tool))).collect();
        let config = writing.kept("toolConfig").and_then(Json::as_object);
        let vendor = config.and_then(|config| config.get("tools")?.as_array()).unwrap_or_default();
        let places = writing.noted("tools").and_then(Json::as_array).unwrap_or_default();
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
    let mut writing = Writing::new(WIRE, &tool.extra);
    writing.set("name", tool.name.as_str());
    writing.set_some("description", tool.description.as_deref());
    let schema: Object = [("json", tool.parameters.clone())].into_iter().collect();
    writing.set("inputSchema", schema);
    writing.set_some("strict", tool.strict);
    let spec: Object = [("toolSpec", Json::Object(writing.finish(TOOL)))].into_iter().collect();
    Json::Object(spec)
}

fn format_value(format: &ResponseFormat) -> Object {
    let mut writing = Writing::new(WIRE, &format.extra);
    writing.set_some("name", format.name.as_deref());
    writing.set_some("description", format.description.as_deref());
    writing.set("schema", format.schema.to_text());
    let structure: Object = [("jsonSchema", Json::Object(writing.finish(SCHEMA)))].into_iter().collect();
    let text: Object =
        [("type", Json::from("json_schema")), ("structure", Json::Object(structure))].into_iter().collect();
    [("textFormat", Json::Object(text))].into_iter().collect()
}
