//! Checks of what stands beside the history: settings and tools.

use turnkeep_model::json::{Node, Value};

use super::super::ID;
use super::history::is_name;
use crate::lint::rule::Hit;
use crate::lint::view::{RequestView, number_at};
use crate::models;

fn hit(key: &str, what: impl Into<String>) -> Hit {
    Hit { at: key.to_owned(), what: what.into() }
}

pub(super) fn temperature(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    match view.body.get("temperature").map(|node| &node.value) {
        Some(Value::Number(_)) if !number_at(view.body, &["temperature"]).is_some_and(|n| (0.0..=2.0).contains(&n)) => {
            hits.push(hit("temperature", "the temperature must lie between 0 and 2"));
        }
        Some(Value::Text(_)) => hits.push(hit("temperature", "the temperature must be a number")),
        _ => {}
    }
    hits
}

/// The first thinking models, which know neither system nor developer text.
pub(super) fn old_thinkers(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    if models::of(ID, None, &view.body.get_str("model").unwrap_or_default()).row.system {
        return hits;
    }
    for message in view.messages.iter().filter(|message| message.is("system") || message.is("developer")) {
        hits.push(message.hit("role", format!("this model does not know the role `{}`", message.role)));
    }
    hits
}

pub(super) fn forced_tool(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let thinking = view.body.get("thinking").and_then(|thinking| thinking.get("type")).and_then(Node::as_str);
    let off = thinking.as_deref() == Some("disabled");
    let thinks = thinking.as_deref() == Some("enabled")
        || view.body.get_str("model").unwrap_or_default().contains("reasoner") && !off;
    let forced = match view.body.get("tool_choice").map(|choice| &choice.value) {
        Some(Value::Text(_)) => view.body.get_str("tool_choice").is_some_and(|word| word == "required"),
        Some(Value::Object(_)) => true,
        _ => false,
    };
    if thinks && forced {
        hits.push(hit("tool_choice", "a tool cannot be forced while the model thinks"));
    }
    hits
}

fn functions<'b, 'a>(view: &RequestView<'b, 'a>) -> Vec<(usize, &'b Node<'a>)> {
    let tools = view.body.get("tools").and_then(Node::as_array).unwrap_or_default();
    let functions = tools.iter().enumerate().filter_map(|(index, tool)| Some((index, tool.get("function")?)));
    functions.collect()
}

pub(super) fn tool_names(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, function) in functions(view) {
        if !function.get("name").and_then(Node::as_str).is_some_and(|name| is_name(&name)) {
            let what = "the name has other characters than letters, digits, _ and -".to_owned();
            hits.push(Hit { at: format!("tools[{index}].function.name"), what });
        }
    }
    hits
}

/// A strict schema must list every property as required and forbid others.
pub(super) fn strict_schemas(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, function) in functions(view) {
        let strict = function.get("strict").is_some_and(|strict| strict.value == Value::Bool(true));
        let Some(schema) = function.get("parameters").filter(|_| strict) else { continue };
        let closed = schema.get("additionalProperties").is_some_and(|value| value.value == Value::Bool(false));
        let properties = schema.get("properties").and_then(Node::as_object).unwrap_or_default();
        let required = schema.get("required").and_then(Node::as_array).unwrap_or_default();
        let listed = |name: &str| required.iter().any(|own| own.as_str().is_some_and(|own| own == name));
        let open = properties.iter().find(|(name, _)| !listed(&name.to_str_lossy()));
        let what = match open {
            _ if !closed => "`additionalProperties` must be false in a strict schema",
            Some(_) => "a strict schema must require every property",
            None => continue,
        };
        let at = format!("tools[{index}].function.parameters");
        hits.push(Hit { at, what: what.to_owned() });
    }
    hits
}
