//! What a request says beside its messages: the model, its settings, tools and the form of the answer.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Effort, Options, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode, ToolSpec};

use super::ID;
use crate::fields::{Fields, Form, Kept, optional};
use crate::wire::tables::{OptionRow, list_of, option_rows, options_set, take_options};

/// The usual order of a request's fields.
pub(super) const REQUEST: Form = &optional([
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "temperature",
    "top_p",
    "top_k",
    "max_completion_tokens",
    "max_tokens",
    "presence_penalty",
    "frequency_penalty",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "stop",
    "seed",
    "random_seed",
]);
const TOOL: Form = &optional(["type", "function"]);
const TOOL_FUNCTION: Form = &optional(["name", "description", "parameters", "strict"]);
const EFFORT: Form = &optional(["effort", "max_tokens"]);
const FORMAT: Form = &optional(["type", "json_schema"]);
const SCHEMA: Form = &optional(["name", "description", "schema", "strict"]);

/// The options that all vendors name alike.
const OPTIONS: &[OptionRow] = option_rows! {
    "temperature" => number temperature,
    "top_p" => number top_p,
    "top_k" => number top_k,
    "presence_penalty" => number presence_penalty,
    "frequency_penalty" => number frequency_penalty,
    "parallel_tool_calls" => flag parallel_tool_calls,
};

/// Takes the settings of a request.
pub(super) fn take(fields: &mut Fields, session: &mut Session) {
    let options = &mut session.options;
    take_options(OPTIONS, fields, options);
    options.max_tokens = either(fields, "max_completion_tokens", "max_tokens");
    options.seed = either(fields, "seed", "random_seed");
    take_stop(fields, options);
    take_effort(fields, options);
    options.tool_choice = take_choice(fields);
    session.response_format = take_format(fields);
    take_tools(fields, &mut session.tools, ID);
}

fn either(fields: &mut Fields, usual: &str, other: &str) -> Option<turnkeep_model::Number> {
    fields.number(usual).or_else(|| {
        let found = fields.number(other)?;
        fields.note(usual, other);
        Some(found)
    })
}

fn take_stop(fields: &mut Fields, options: &mut Options) {
    if let Some(text) = fields.text("stop") {
        fields.note("stop", "string");
        options.stop.push(text);
        return;
    }
    options.stop = fields.texts("stop").unwrap_or_default();
}

fn take_effort(fields: &mut Fields, options: &mut Options) {
    if let Some(word) = fields.text("reasoning_effort") {
        options.reasoning = Some(Effort::from_word(&word));
        return;
    }
    if let Some(inner) = fields.object("reasoning") {
        let mut inner = Fields::new(inner, EFFORT);
        options.reasoning = inner.text("effort").map(|word| Effort::from_word(&word));
        options.budget_tokens = inner.number("max_tokens");
        inner.note("object", true);
        fields.nest("reasoning", inner);
        return;
    }
    let off: Object = [("type", Json::from("disabled"))].into_iter().collect();
    if fields.take_if("thinking", |value| value.as_object() == Some(&off)).is_some() {
        options.reasoning = Some(Effort::None);
        fields.note("thinking", "disabled");
    }
}

fn take_choice(fields: &mut Fields) -> Option<ToolChoice> {
    let rule = |mode: ToolMode| ToolChoice { mode, ..ToolChoice::default() };
    let known = |value: &Json| value.as_str().is_some_and(|word| ["auto", "none", "required", "any"].contains(&&*word));
    if let Some(word) = fields.take_if("tool_choice", known) {
        return Some(match word.as_str().as_deref() {
            Some("any") => {
                fields.note("tool_choice", "any");
                rule(ToolMode::Required)
            }
            Some(word) => rule(ToolMode::from_word(word)),
            None => rule(ToolMode::Auto),
        });
    }
    let choice = fields.get("tool_choice")?.as_object()?;
    let name =
        choice.get("function")?.as_object().filter(|function| function.len() == 1)?.get_str("name")?.into_owned();
    let typed = choice.get_str("type").is_some_and(|kind| kind == "function");
    let is_usual = !typed || choice.iter().next().is_some_and(|(key, _)| key.is("type"));
    if choice.len() != 1 + usize::from(typed) || !is_usual {
        return None;
    }
    if !typed {
        fields.note("tool_choice", "untyped");
    }
    fields.take("tool_choice")?;
    Some(ToolChoice { names: vec![name], ..rule(ToolMode::Required) })
}

fn take_format(fields: &mut Fields) -> Option<ResponseFormat> {
    let format = fields.get("response_format")?.as_object()?;
    let kind = format.get_str("type")?.into_owned();
    let kind = ResponseKind::from_word(&kind);
    if matches!(kind, ResponseKind::Other(_)) || format.has_duplicates() {
        return None;
    }
    let mut outer = Fields::new(fields.object("response_format")?, FORMAT);
    outer.take("type");
    let mut found = ResponseFormat { kind, ..ResponseFormat::default() };
    if found.kind == ResponseKind::JsonSchema
        && let Some(inner) = outer.object("json_schema")
    {
        let mut inner = Fields::new(inner, SCHEMA);
        found.name = inner.text("name");
        found.description = inner.text("description");
        found.strict = inner.flag("strict");
        found.schema = inner.take_if("schema", |value| *value != Json::Null).unwrap_or_default();
        inner.note("object", true);
        outer.nest("json_schema", inner);
    }
    outer.keep(ID, &mut found.extra);
    Some(found)
}

/// Takes the tools, leaving what is no function as it is.
pub(crate) fn take_tools(fields: &mut Fields, tools: &mut Vec<ToolSpec>, id: &str) {
    let some = |value: &Json| value.as_array().is_some_and(|tools| tools.iter().any(is_function));
    let Some(Json::Array(items)) = fields.take_if("tools", some) else { return };
    let mut strange = Object::new();
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Json::Object(object) if is_function_object(&object) => tools.push(tool(object, id)),
            other => strange.push(index.to_string(), other),
        }
    }
    if !strange.is_empty() {
        fields.leave("tools", strange);
    }
}

fn is_function(tool: &Json) -> bool {
    tool.as_object().is_some_and(is_function_object)
}

fn is_function_object(tool: &Object) -> bool {
    let kind = tool.get("type").map(Json::as_str);
    let function = tool.get("function").and_then(Json::as_object);
    matches!(kind.as_ref().map(|kind| kind.as_deref()), None | Some(Some("function")))
        && function.is_some_and(|function| function.get_str("name").is_some())
        && !tool.has_duplicates()
}

fn tool(object: Object, id: &str) -> ToolSpec {
    let mut fields = Fields::new(object, TOOL);
    if fields.take("type").is_none() {
        fields.note("type", "absent");
    }
    let mut inner = Fields::new(fields.object("function").unwrap_or_default(), TOOL_FUNCTION);
    let mut spec = ToolSpec {
        name: inner.text("name").unwrap_or_default(),
        description: inner.text("description"),
        parameters: inner.take_if("parameters", |value| *value != Json::Null).unwrap_or_default(),
        strict: inner.flag("strict"),
        ..ToolSpec::default()
    };
    fields.nest("function", inner);
    fields.keep(id, &mut spec.extra);
    spec
}

/// The request with these messages to this model.
pub(super) fn request(session: &Session, model: Option<&str>, messages: Vec<Json>) -> Object {
    let notes = Kept::of(&session.extra, ID);
    let mut body = Object::new();
    if let Some(model) = model {
        body.push("model", model);
    }
    if !(notes.is("messages", "absent") && messages.is_empty()) {
        body.push("messages", messages);
    }
    put_tools(session, notes, &mut body, ID);
    put_options(&session.options, notes, &mut body);
    if let Some(format) = &session.response_format {
        body.push("response_format", response_format(format));
    }
    notes.complete(body, REQUEST)
}

/// Writes the tools.
pub(crate) fn put_tools(session: &Session, notes: Kept<'_>, body: &mut Object, id: &str) {
    if session.tools.is_empty() {
        return;
    }
    let mut tools: Vec<Json> = session.tools.iter().map(|tool| Json::Object(tool_object(tool, id))).collect();
    for (index, raw) in notes.field("tools").and_then(Json::as_object).into_iter().flat_map(Object::iter) {
        let index = index.to_str_lossy().parse().unwrap_or(usize::MAX);
        tools.insert(tools.len().min(index), raw.clone());
    }
    body.push("tools", tools);
}

fn tool_object(spec: &ToolSpec, id: &str) -> Object {
    let notes = Kept::of(&spec.extra, id);
    let mut function = Object::new();
    function.push("name", spec.name.as_str());
    if let Some(description) = &spec.description {
        function.push("description", description.as_str());
    }
    if spec.parameters != Json::Null {
        function.push("parameters", spec.parameters.clone());
    }
    if let Some(strict) = spec.strict {
        function.push("strict", strict);
    }
    let mut object = Object::new();
    if !notes.is("type", "absent") {
        object.push("type", "function");
    }
    object.push("function", notes.at("function").complete(function, TOOL_FUNCTION));
    notes.complete(object, TOOL)
}

fn put_options(options: &Options, notes: Kept<'_>, body: &mut Object) {
    options_set(OPTIONS, options).for_each(|(key, value)| body.push(key, value));
    for (usual, number) in [("max_completion_tokens", &options.max_tokens), ("seed", &options.seed)] {
        let key = notes.word(usual).unwrap_or(usual.into());
        number.iter().for_each(|number| body.push(&*key, number.clone()));
    }
    match options.stop.as_slice() {
        [] => {}
        [only] if notes.is("stop", "string") => body.push("stop", only.as_str()),
        texts => list_of(texts).into_iter().for_each(|texts| body.push("stop", texts)),
    }
    if let Some(choice) = &options.tool_choice {
        body.push("tool_choice", tool_choice(choice, notes));
    }
    put_effort(options, notes, body);
}

fn put_effort(options: &Options, notes: Kept<'_>, body: &mut Object) {
    let effort = options.reasoning.as_ref().map(|effort| Json::from(effort.as_str()));
    if notes.is("thinking", "disabled") && options.reasoning == Some(Effort::None) {
        let off: Object = [("type", Json::from("disabled"))].into_iter().collect();
        return body.push("thinking", off);
    }
    if notes.note("reasoning").is_some() {
        let mut inner = Object::new();
        effort.into_iter().for_each(|effort| inner.push("effort", effort));
        options.budget_tokens.iter().for_each(|budget| inner.push("max_tokens", budget.clone()));
        return body.push("reasoning", notes.at("reasoning").complete(inner, EFFORT));
    }
    effort.into_iter().for_each(|effort| body.push("reasoning_effort", effort));
}

fn tool_choice(choice: &ToolChoice, notes: Kept<'_>) -> Json {
    let Some(name) = choice.names.first().filter(|_| choice.mode == ToolMode::Required) else {
        let any = notes.is("tool_choice", "any") && choice.mode == ToolMode::Required;
        return if any { "any".into() } else { choice.mode.as_str().into() };
    };
    let function: Object = [("name", Json::from(name.as_str()))].into_iter().collect();
    let mut object = Object::new();
    if !notes.is("tool_choice", "untyped") {
        object.push("type", "function");
    }
    object.push("function", function);
    Json::Object(object)
}

fn response_format(format: &ResponseFormat) -> Object {
    let notes = Kept::of(&format.extra, ID);
    let mut object = Object::new();
    object.push("type", format.kind.as_str());
    let mut inner = Object::new();
    let texts = [("name", &format.name), ("description", &format.description)];
    for (key, text) in texts {
        text.iter().for_each(|text| inner.push(key, text.as_str()));
    }
    if format.schema != Json::Null {
        inner.push("schema", format.schema.clone());
    }
    format.strict.iter().for_each(|strict| inner.push("strict", *strict));
    if !inner.is_empty() || notes.note("json_schema").is_some() {
        object.push("json_schema", notes.at("json_schema").complete(inner, SCHEMA));
    }
    notes.complete(object, FORMAT)
}
