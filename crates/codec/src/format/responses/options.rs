//! Settings, the choice of tools and the form of the answer.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Effort, ResponseFormat, ResponseKind, Session, ToolChoice, ToolMode};

use super::FORMAT;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer};
use crate::wire::tables::{OptionRow, option_rows, options_set, take_options};

const REASONING: Form = &[("effort", KeyRule::Taken)];
const TEXT: Form = &[("format", KeyRule::Taken)];
const ANSWER: Form = &[
    ("type", KeyRule::Derived),
    ("name", KeyRule::Taken),
    ("description", KeyRule::Taken),
    ("schema", KeyRule::Taken),
    ("strict", KeyRule::Taken),
];
const CHOSEN: Form = &[("type", KeyRule::Derived), ("name", KeyRule::Taken)];
const ALLOWED: Form = &[("type", KeyRule::Derived), ("mode", KeyRule::Taken), ("tools", KeyRule::Taken)];

const OPTIONS: &[OptionRow] = option_rows! {
    "parallel_tool_calls" => flag parallel_tool_calls,
    "temperature" => number temperature,
    "top_p" => number top_p,
    "max_output_tokens" => number max_tokens,
};

/// Reads the settings of a request.
pub(super) fn read(body: &mut Fields, session: &mut Session) {
    take_options(OPTIONS, body, &mut session.options);
    session.options.tool_choice = read_choice(body);
    let effort = body.within("reasoning", REASONING, |inner| inner.text("effort"));
    session.options.reasoning = effort.flatten().map(|word| Effort::from_word(&word));
    session.response_format = body.within("text", TEXT, read_format).flatten();
}

fn read_format(text: &mut Fields) -> Option<ResponseFormat> {
    let mut fields = Fields::new(text.object("format")?, ANSWER);
    let Some(kind) = fields.text("type") else {
        text.put_back("format", fields.into_rest());
        return None;
    };
    let mut format = ResponseFormat {
        kind: ResponseKind::from_word(&kind),
        name: fields.text("name"),
        description: fields.text("description"),
        schema: fields.take_if("schema", |value| *value != Json::Null).unwrap_or_default(),
        strict: fields.flag("strict"),
        ..ResponseFormat::default()
    };
    fields.keep(FORMAT, &mut format.extra);
    Some(format)
}

fn read_choice(body: &mut Fields) -> Option<ToolChoice> {
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
    let mut fields = Fields::new(object, CHOSEN);
    fields.text("type");
    let names = fields.text("name").into_iter().collect();
    let mut choice = ToolChoice { mode: ToolMode::Required, names, ..ToolChoice::default() };
    fields.keep(FORMAT, &mut choice.extra);
    choice
}

fn read_allowed(object: Object) -> ToolChoice {
    let names = allowed_names(&object).unwrap_or_default();
    let mut fields = Fields::new(object, ALLOWED);
    fields.text("type");
    fields.array("tools");
    let mode = ToolMode::from_word(&fields.text("mode").unwrap_or_default());
    if names.is_empty() || mode == ToolMode::Required && names.len() == 1 {
        fields.note("form", "allowed_tools");
    }
    let mut choice = ToolChoice { mode, names, ..ToolChoice::default() };
    fields.keep(FORMAT, &mut choice.extra);
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
pub(super) fn write(session: &Session, body: &mut Writer<'_>) {
    let options = &session.options;
    body.set_some("tool_choice", options.tool_choice.as_ref().map(write_choice));
    let effort = options.reasoning.iter().map(|effort| ("effort", Json::from(effort.as_str())));
    body.nest("reasoning", effort.collect(), REASONING);
    let format = session.response_format.iter().map(|format| ("format", write_format(format)));
    body.nest("text", format.collect(), TEXT);
    options_set(OPTIONS, options).for_each(|(key, value)| body.set(key, value));
}

fn write_format(format: &ResponseFormat) -> Json {
    let mut made = Writer::new(Kept::of(&format.extra, FORMAT), ANSWER);
    made.derive("type", format.kind.as_str());
    made.set_some("name", format.name.as_deref());
    made.set_some("description", format.description.as_deref());
    if format.schema != Json::Null {
        made.set("schema", format.schema.clone());
    }
    made.set_some("strict", format.strict);
    Json::Object(made.finish())
}

fn write_choice(choice: &ToolChoice) -> Json {
    let kept = Kept::of(&choice.extra, FORMAT);
    let as_allowed = kept.note("form").is_some();
    let made = match (choice.names.as_slice(), &choice.mode) {
        ([], mode) if !as_allowed => return Json::from(mode.as_str()),
        ([name], ToolMode::Required) if !as_allowed => {
            let mut made = Writer::new(kept, CHOSEN);
            made.derive("type", "function");
            made.set("name", name.as_str());
            made
        }
        (names, mode) => {
            let mut made = Writer::new(kept, ALLOWED);
            made.derive("type", "allowed_tools");
            made.set("mode", mode.as_str());
            made.set("tools", names.iter().map(|name| allowed(name)).collect::<Vec<_>>());
            made
        }
    };
    Json::Object(made.finish())
}
