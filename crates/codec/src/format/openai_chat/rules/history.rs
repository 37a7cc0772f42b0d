//! Checks of the history: roles, calls and results, contents, thinking.

use turnkeep_model::json::{Node, Text, Value};

use super::{CALLS, profile};
use crate::lint::rule::Hit;
use crate::lint::view::{Block, Message, RequestView, items, repeated};

/// The calls of a message.
fn calls<'v, 'b, 'a>(
    view: &'v RequestView<'b, 'a>,
    message: &Message<'b, 'a>,
) -> impl Iterator<Item = &'v Block<'b, 'a>> + use<'v, 'b, 'a> {
    view.blocks_of(message).iter().filter(|block| block.place.list == CALLS)
}

fn has_calls(message: &Message<'_, '_>) -> bool {
    !items(message.node, CALLS).is_empty()
}

/// What is called.
fn function<'b, 'a>(call: &Block<'b, 'a>) -> Option<&'b Node<'a>> {
    call.node.get("function").or_else(|| call.node.get("custom"))
}

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];

pub(super) fn messages(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    hits.extend(RequestView::hit_if(view.messages.is_empty(), "messages", "there are no messages"));
    hits
}

pub(super) fn roles(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for message in view.messages.iter().filter(|message| !ROLES.contains(&&*message.role)) {
        hits.push(message.hit("role", "the role is none that this wire knows"));
    }
    hits
}

/// Results must answer a call of the assistant's message before them.
pub(super) fn orphans(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for message in &view.messages {
        if !message.is("tool") {
            open = calls(view, message).filter_map(|call| call.call.as_deref()).collect();
            continue;
        }
        let answered = message.call.as_deref().and_then(|id| open.iter().position(|own| *own == id));
        match answered {
            Some(at) => {
                open.remove(at);
            }
            None if message.call.is_none() => hits.push(message.hit("tool_call_id", "the result names no call")),
            None => hits.push(message.hit("tool_call_id", "no call of the message before has this id")),
        }
    }
    hits
}

/// Every call needs a result before anything else is said.
pub(super) fn dangling(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (place, message) in view.messages.iter().enumerate().filter(|(_, message)| has_calls(message)) {
        let following = view.messages.iter().skip(place + 1).take_while(|message| message.is("tool"));
        let answered: Vec<&str> = following.filter_map(|message| message.call.as_deref()).collect();
        for call in calls(view, message) {
            if !call.call.as_deref().is_some_and(|id| answered.contains(&id)) {
                hits.push(call.hit("id", "no tool message right after it answers this call"));
            }
        }
    }
    hits
}

pub(super) fn id_rule(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let profile = profile(view);
    for call in view.of_kind(CALLS) {
        match &call.call {
            Some(id) if profile.ids.takes(id) => {}
            Some(_) => hits.push(call.hit("id", "the id is not one that this vendor takes")),
            None => hits.push(call.hit("id", "the call has no id")),
        }
    }
    hits
}

pub(super) fn duplicate_ids(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for message in &view.messages {
        let again = repeated(calls(view, message).filter_map(|call| Some((call.place, call.call.as_deref()?))));
        hits.extend(
            again.into_iter().map(|place| Hit {
                at: format!("{place}.id"),
                what: "two calls of one message share this id".to_owned(),
            }),
        );
    }
    hits
}

pub(super) fn empty_calls(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for message in &view.messages {
        if message.node.get(CALLS).and_then(Node::as_array).is_some_and(<[_]>::is_empty) {
            hits.push(message.hit("tool_calls", "the list of calls is empty"));
        }
    }
    hits
}

pub(super) fn arguments(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for call in view.of_kind(CALLS) {
        let arguments = function(call).and_then(|function| function.get("arguments").or(function.get("input")));
        if !arguments.is_some_and(|arguments| matches!(arguments.value, Value::Text(_))) {
            hits.push(call.hit("function.arguments", "the arguments are no string"));
        }
    }
    hits
}

pub(super) fn arguments_json(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for call in view.of_kind(CALLS) {
        let arguments = function(call).and_then(|function| function.get("arguments"));
        if let Some(text) = arguments.and_then(Node::as_str)
            && !turnkeep_model::json::parse(&text).is_ok_and(|value| value.as_object().is_some())
        {
            hits.push(call.hit("function.arguments", "the arguments are no JSON object"));
        }
    }
    hits
}

pub(super) fn names(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for call in view.of_kind(CALLS) {
        let name = function(call).and_then(|function| function.get("name")).and_then(Node::as_str);
        if !name.is_some_and(|name| is_name(&name)) {
            hits.push(call.hit("function.name", "the name has other characters than letters, digits, _ and -"));
        }
    }
    hits
}

pub(super) fn is_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(legal)
}

/// A part must say what it is.
pub(super) fn part_types(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for message in &view.messages {
        for (place, part) in message.parts().iter().enumerate() {
            if part.get("type").and_then(Node::as_str).is_none() {
                hits.push(message.hit(&format!("content[{place}].type"), "the part has no type"));
            }
        }
    }
    hits
}

pub(super) fn tool_parts(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for message in view.messages.iter().filter(|message| message.is("tool")) {
        for (place, part) in message.parts().iter().enumerate() {
            if part.get("type").and_then(Node::as_str).is_some_and(|kind| kind != "text" && kind != "image_url") {
                hits.push(message.hit(&format!("content[{place}].type"), "a result may hold text only"));
            }
        }
    }
    hits
}

pub(super) fn no_content(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for message in &view.messages {
        let nothing = message.content.is_none_or(|content| content.value == Value::Null);
        let says = ["tool_calls", "function_call", "audio", "refusal"];
        let otherwise = message.is("assistant")
            && says.iter().any(|key| message.node.get(key).is_some_and(|value| value.value != Value::Null));
        if nothing && !otherwise {
            hits.push(message.hit("content", "the message says nothing"));
        }
    }
    hits
}

pub(super) fn empty_text(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let empty = |node: &Node<'_>| node.as_text().is_some_and(Text::is_empty);
    for message in view.messages.iter().filter(|message| !message.is("tool") && !has_calls(message)) {
        if message.content.is_some_and(empty) {
            hits.push(message.hit("content", "the text is empty"));
        }
        for (place, part) in message.parts().iter().enumerate() {
            if part.get("text").is_some_and(empty) {
                hits.push(message.hit(&format!("content[{place}].text"), "the text is empty"));
            }
        }
    }
    hits
}

pub(super) fn media(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let profile = profile(view);
    for message in &view.messages {
        for (place, part) in message.parts().iter().enumerate() {
            let kind = part.get("type").and_then(Node::as_str).unwrap_or_default();
            if !kind.is_empty() && kind != "text" && !profile.media.contains(&&*kind) {
                hits.push(message.hit(&format!("content[{place}]"), "this vendor takes text only"));
            }
        }
    }
    hits
}

pub(super) fn last_role(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let Some(last) = view.messages.last() else { return hits };
    let prefix = last.node.get("prefix").is_some_and(|prefix| prefix.value == Value::Bool(true));
    if last.is("assistant") && !prefix {
        hits.push(last.hit("role", "the history ends with the assistant"));
    }
    hits
}

/// A result must come right after a call or another result.
pub(super) fn result_order(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for pair in view.messages.windows(2) {
        if let [before, message] = pair
            && message.is("tool")
            && (before.is("user") || before.is("system"))
        {
            hits.push(message.hit("role", "a result stands after a user's message"));
        }
    }
    hits
}

pub(super) fn user_after_tool(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for pair in view.messages.windows(2) {
        if let [before, message] = pair
            && before.is("tool")
            && message.is("user")
        {
            hits.push(message.hit("role", "a user's message stands right after a result"));
        }
    }
    hits
}

/// Thinking that must be passed back with calls.
pub(super) fn thinking_missing(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mode = view.body.get("thinking").and_then(|thinking| thinking.get("type")).and_then(Node::as_str);
    let thinks = match mode.as_deref() {
        Some(word) => word == "enabled",
        None => view.body.get_str("model").unwrap_or_default().contains("reasoner"),
    };
    if !thinks {
        return hits;
    }
    for message in view.messages.iter().filter(|message| has_calls(message)) {
        if !has_text(message, "reasoning_content") {
            hits.push(message.hit("reasoning_content", "calls stand without the thinking that led to them"));
        }
    }
    hits
}

fn has_text(message: &Message<'_, '_>, key: &str) -> bool {
    message.node.get(key).is_some_and(|value| matches!(value.value, Value::Text(_)))
}

pub(super) fn thinking_refused(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for message in view.messages.iter().filter(|message| message.node.get("reasoning_content").is_some()) {
        hits.push(message.hit("reasoning_content", "this vendor does not take thinking back"));
    }
    hits
}
