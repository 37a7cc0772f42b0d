//! Settings, the choice of tools and the form of the answer.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Effort, ExtraPart, Options, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode};

use super::FORMAT;
use super::apart::{Apart, Emit, Slot, Together, keep};

const REASONING: &[Slot] = &[("effort", Emit::Value)];
const TEXT: &[Slot] = &[("format", Emit::Value)];
const FORMAT_SLOTS: &[Slot] = &[
    ("type", Emit::Usual),
    ("name", Emit::Value),
    ("description", Emit::Value),
    ("schema", Emit::Value),
    ("strict", Emit::Value),
];
const CHOSEN: &[Slot] = &[("type", Emit::Usual), ("name", Emit::Value)];
const ALLOWED: &[Slot] = &[("type", Emit::Usual), ("mode", Emit::Value), ("tools", Emit::Value)];

/// Reads the settings of a request.
pub(super) fn read(body: &mut Apart, session: &mut Session, notes: &mut Object) {
    session.options = Options {
        temperature: body.number("temperature"),
        top_p: body.number("top_p"),
        max_tokens: body.number("max_output_tokens"),
        parallel_tool_calls: body.bool("parallel_tool_calls"),
        tool_choice: read_choice(body),
        ..Options::default()
    };
    let effort = body.within("reasoning", REASONING, notes, |inner| inner.text("effort"));
    session.options.reasoning = effort.flatten().map(|word| Effort::from_word(&word));
    session.response_format = body.within("text", TEXT, notes, read_format).flatten();
}

fn read_format(text: &mut Apart) -> Option<ResponseFormat> {
    let mut apart = Apart::new(text.object("format")?);
    let Some(kind) = apart.text("type") else {
        text.put_back("format", apart.into_rest());
        return None;
    };
    let mut format = ResponseFormat {
        kind: ResponseKind::from_word(&kind),
        name: apart.text("name"),
        description: apart.text("description"),
        schema: apart.take_if("schema", |value| *value != Json::Null).unwrap_or_default(),
        strict: apart.bool("strict"),
        ..ResponseFormat::default()
    };
    keep(&mut format.extra, apart.finish(FORMAT_SLOTS));
    Some(format)
}

fn read_choice(body: &mut Apart) -> Option<ToolChoice> {
    if let Some(word) = body.text("tool_choice") {
        return Some(ToolChoice { mode: ToolMode::from_word(&word), ..ToolChoice::default() });
    }
    let object = body.object("tool_choice")?;
    let kind = object.get_str("type").unwrap_or_default().into_owned();
    match kind.as_str() {
        "function" if object.get_str("name").is_some() => Some(read_chosen(object)),
        "allowed_tools" if allowed_names(&object).is_some() && object.get_str("mode").is_some() => {
            Some(read_allowed(object))
        }
        _ => {
            body.put_back("tool_choice", object);
            None
        }
    }
}

fn read_chosen(object: Object) -> ToolChoice {
    let mut apart = Apart::new(object);
    apart.text("type");
    let names = apart.text("name").into_iter().collect();
    let mut choice = ToolChoice { mode: ToolMode::Required, names, ..ToolChoice::default() };
    keep(&mut choice.extra, apart.finish(CHOSEN));
    choice
}

fn read_allowed(object: Object) -> ToolChoice {
    let names = allowed_names(&object).unwrap_or_default();
    let mut apart = Apart::new(object);
    apart.text("type");
    apart.array("tools");
    let mode = ToolMode::from_word(&apart.text("mode").unwrap_or_default());
    let mut part = apart.finish(ALLOWED);
    if names.is_empty() || mode == ToolMode::Required && names.len() == 1 {
        part.spelling.push("form", "allowed_tools");
    }
    let mut choice = ToolChoice { mode, names, ..ToolChoice::default() };
    keep(&mut choice.extra, part);
    choice
}

/// The functions that an `allowed_tools` choice names, if it names nothing else.
fn allowed_names(object: &Object) -> Option<Vec<String>> {
    let tools = object.get("tools")?.as_array()?;
    tools
        .iter()
        .map(|tool| {
            let name = tool.as_object()?.get_str("name")?;
            (*tool == allowed(&name)).then(|| name.into_owned())
        })
        .collect()
}

fn allowed(name: &str) -> Json {
    Json::Object([("type", Json::from("function")), ("name", Json::from(name))].into_iter().collect())
}

/// Writes the settings of a request.
pub(super) fn write(session: &Session, part: Option<&ExtraPart>, body: &mut Together) {
    let options = &session.options;
    body.put_some("tool_choice", options.tool_choice.as_ref().map(write_choice));
    body.put_some("parallel_tool_calls", options.parallel_tool_calls);
    let mut reasoning = Together::default();
    reasoning.put_some("effort", options.reasoning.as_ref().map(Effort::as_str));
    body.put_within("reasoning", reasoning, part);
    let mut text = Together::default();
    text.put_some("format", session.response_format.as_ref().map(write_format));
    body.put_within("text", text, part);
    body.put_some("temperature", options.temperature.clone());
    body.put_some("top_p", options.top_p.clone());
    body.put_some("max_output_tokens", options.max_tokens.clone());
}

/// The fields that [`read`] and [`write`] speak of.
pub(super) const SLOTS: &[Slot] = &[
    ("tool_choice", Emit::Value),
    ("parallel_tool_calls", Emit::Value),
    ("reasoning", Emit::Value),
    ("text", Emit::Value),
    ("temperature", Emit::Value),
    ("top_p", Emit::Value),
    ("max_output_tokens", Emit::Value),
];

fn write_format(format: &ResponseFormat) -> Json {
    let mut made = Together::default();
    made.put_as("type", format.kind.as_str(), Emit::Usual);
    made.put_some("name", format.name.as_deref());
    made.put_some("description", format.description.as_deref());
    if format.schema != Json::Null {
        made.put("schema", format.schema.clone());
    }
    made.put_some("strict", format.strict);
    Json::Object(made.with(&format.extra))
}

fn write_choice(choice: &ToolChoice) -> Json {
    let mut made = Together::default();
    let as_allowed = choice.extra.spelling(FORMAT, "form").is_some();
    match (choice.names.as_slice(), &choice.mode) {
        ([], mode) if !as_allowed => return Json::from(mode.as_str()),
        ([name], ToolMode::Required) if !as_allowed => {
            made.put_as("type", "function", Emit::Usual);
            made.put("name", name.as_str());
        }
        (names, mode) => {
            made.put_as("type", "allowed_tools", Emit::Usual);
            made.put("mode", mode.as_str());
            made.put("tools", names.iter().map(|name| allowed(name)).collect::<Vec<_>>());
        }
    }
    Json::Object(made.with(&choice.extra))
}
