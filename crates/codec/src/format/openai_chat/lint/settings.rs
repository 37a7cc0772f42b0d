//! Checks of what stands beside the history: settings and tools.

use turnkeep_model::json::{Node, Value};

use super::super::ID;
use super::super::profile::Profile;
use super::Hit;
use super::history::is_name;
use super::view::Request;
use crate::models;

fn hit(request: &Request<'_>, key: &str, what: impl Into<String>) -> Hit {
    let offset = request.body.get(key).map_or(request.body.at, |node| node.at);
    Hit { at: key.to_owned(), offset, what: what.into() }
}

pub(super) fn temperature(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    match request.body.get("temperature").map(|node| &node.value) {
        Some(Value::Number(_)) if !request.number("temperature").is_some_and(|n| (0.0..=2.0).contains(&n)) => {
            hits.push(hit(request, "temperature", "the temperature must lie between 0 and 2"));
        }
        Some(Value::Text(_)) => hits.push(hit(request, "temperature", "the temperature must be a number")),
        _ => {}
    }
}

/// The first thinking models, which know neither system nor developer text.
pub(super) fn old_thinkers(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    if models::of(ID, None, &request.model()).row.system {
        return;
    }
    for message in request.messages.iter().filter(|message| message.is("system") || message.is("developer")) {
        hits.push(message.hit("role", format!("this model does not know the role `{}`", message.role)));
    }
}

pub(super) fn forced_tool(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    let thinking = request.body.get("thinking").and_then(|thinking| thinking.get("type")).and_then(Node::as_str);
    let off = thinking.as_deref() == Some("disabled");
    let thinks = thinking.as_deref() == Some("enabled") || request.model().contains("reasoner") && !off;
    let forced = match request.body.get("tool_choice").map(|choice| &choice.value) {
        Some(Value::Text(_)) => request.word("tool_choice").is_some_and(|word| word == "required"),
        Some(Value::Object(_)) => true,
        _ => false,
    };
    if thinks && forced {
        hits.push(hit(request, "tool_choice", "a tool cannot be forced while the model thinks"));
    }
}

fn functions<'a>(request: &Request<'a>) -> Vec<(usize, &'a Node<'a>)> {
    let tools = request.body.get("tools").and_then(Node::as_array).unwrap_or_default();
    let functions = tools.iter().enumerate().filter_map(|(index, tool)| Some((index, tool.get("function")?)));
    functions.collect()
}

pub(super) fn tool_names(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for (index, function) in functions(request) {
        if !function.get("name").and_then(Node::as_str).is_some_and(|name| is_name(&name)) {
            let what = "the name has other characters than letters, digits, _ and -".to_owned();
            hits.push(Hit { at: format!("tools[{index}].function.name"), offset: function.at, what });
        }
    }
}

/// A strict schema must list every property as required and forbid others.
pub(super) fn strict_schemas(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for (index, function) in functions(request) {
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
        hits.push(Hit { at, offset: schema.at, what: what.to_owned() });
    }
}
