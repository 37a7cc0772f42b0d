//! Checks of the history: roles, calls and results, contents, thinking.

use turnkeep_model::json::{Node, Text, Value};

use super::super::profile::Profile;
use super::Hit;
use super::view::{Message, Request};

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];

pub(super) fn messages(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    if request.messages.is_empty() {
        let offset = request.body.at;
        hits.push(Hit { at: "messages".to_owned(), offset, what: "there are no messages".to_owned() });
    }
}

pub(super) fn roles(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for message in request.messages.iter().filter(|message| !ROLES.contains(&&*message.role)) {
        hits.push(message.hit("role", "the role is none that this wire knows"));
    }
}

/// Results must answer a call of the assistant's message before them.
pub(super) fn orphans(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    let mut open: Vec<&str> = Vec::new();
    for message in &request.messages {
        if !message.is("tool") {
            open = message.calls.iter().filter_map(|call| call.id.as_deref()).collect();
            continue;
        }
        let answered = message.answers.as_deref().and_then(|id| open.iter().position(|own| *own == id));
        match answered {
            Some(at) => {
                open.remove(at);
            }
            None if message.answers.is_none() => hits.push(message.hit("tool_call_id", "the result names no call")),
            None => hits.push(message.hit("tool_call_id", "no call of the message before has this id")),
        }
    }
}

/// Every call needs a result before anything else is said.
pub(super) fn dangling(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for (place, message) in request.messages.iter().enumerate().filter(|(_, message)| !message.calls.is_empty()) {
        let following = request.messages.iter().skip(place + 1).take_while(|message| message.is("tool"));
        let answered: Vec<&str> = following.filter_map(|message| message.answers.as_deref()).collect();
        for call in &message.calls {
            if !call.id.as_deref().is_some_and(|id| answered.contains(&id)) {
                hits.push(call.hit("id", "no tool message right after it answers this call"));
            }
        }
    }
}

pub(super) fn id_rule(request: &Request<'_>, profile: &Profile, hits: &mut Vec<Hit>) {
    for call in request.messages.iter().flat_map(|message| &message.calls) {
        match &call.id {
            Some(id) if profile.ids.takes(id) => {}
            Some(_) => hits.push(call.hit("id", "the id is not one that this vendor takes")),
            None => hits.push(call.hit("id", "the call has no id")),
        }
    }
}

pub(super) fn duplicate_ids(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for message in &request.messages {
        for (place, call) in message.calls.iter().enumerate() {
            let before = message.calls.iter().take(place);
            if call.id.is_some() && before.into_iter().any(|other| other.id == call.id) {
                hits.push(call.hit("id", "two calls of one message share this id"));
            }
        }
    }
}

pub(super) fn empty_calls(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for message in &request.messages {
        if message.listed.is_some_and(<[_]>::is_empty) {
            hits.push(message.hit("tool_calls", "the list of calls is empty"));
        }
    }
}

pub(super) fn arguments(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for call in request.messages.iter().flat_map(|message| &message.calls) {
        let arguments = call.function.and_then(|function| function.get("arguments").or(function.get("input")));
        if !arguments.is_some_and(|arguments| matches!(arguments.value, Value::Text(_))) {
            hits.push(call.hit("function.arguments", "the arguments are no string"));
        }
    }
}

pub(super) fn arguments_json(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for call in request.messages.iter().flat_map(|message| &message.calls) {
        let arguments = call.function.and_then(|function| function.get("arguments"));
        if let Some(text) = arguments.and_then(Node::as_str)
            && !turnkeep_model::json::parse(&text).is_ok_and(|value| value.as_object().is_some())
        {
            hits.push(call.hit("function.arguments", "the arguments are no JSON object"));
        }
    }
}

pub(super) fn names(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for call in request.messages.iter().flat_map(|message| &message.calls) {
        let name = call.function.and_then(|function| function.get("name")).and_then(Node::as_str);
        if !name.is_some_and(|name| is_name(&name)) {
            hits.push(call.hit("function.name", "the name has other characters than letters, digits, _ and -"));
        }
    }
}

pub(super) fn is_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(legal)
}

/// A part must say what it is.
pub(super) fn part_types(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for message in &request.messages {
        for (place, part) in message.parts().iter().enumerate() {
            if part.get("type").and_then(Node::as_str).is_none() {
                hits.push(message.hit(&format!("content[{place}].type"), "the part has no type"));
            }
        }
    }
}

pub(super) fn tool_parts(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for message in request.messages.iter().filter(|message| message.is("tool")) {
        for (place, part) in message.parts().iter().enumerate() {
            if part.get("type").and_then(Node::as_str).is_some_and(|kind| kind != "text" && kind != "image_url") {
                hits.push(message.hit(&format!("content[{place}].type"), "a result may hold text only"));
            }
        }
    }
}

pub(super) fn no_content(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for message in &request.messages {
        let nothing = message.content.is_none_or(|content| content.value == Value::Null);
        let says = ["tool_calls", "function_call", "audio", "refusal"];
        let otherwise = message.is("assistant")
            && says.iter().any(|key| message.node.get(key).is_some_and(|value| value.value != Value::Null));
        if nothing && !otherwise {
            hits.push(message.hit("content", "the message says nothing"));
        }
    }
}

pub(super) fn empty_text(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    let empty = |node: &Node<'_>| node.as_text().is_some_and(Text::is_empty);
    for message in request.messages.iter().filter(|message| !message.is("tool") && message.calls.is_empty()) {
        if message.content.is_some_and(empty) {
            hits.push(message.hit("content", "the text is empty"));
        }
        for (place, part) in message.parts().iter().enumerate() {
            if part.get("text").is_some_and(empty) {
                hits.push(message.hit(&format!("content[{place}].text"), "the text is empty"));
            }
        }
    }
}

pub(super) fn media(request: &Request<'_>, profile: &Profile, hits: &mut Vec<Hit>) {
    for message in &request.messages {
        for (place, part) in message.parts().iter().enumerate() {
            let kind = part.get("type").and_then(Node::as_str).unwrap_or_default();
            if !kind.is_empty() && kind != "text" && !profile.media.contains(&&*kind) {
                hits.push(message.hit(&format!("content[{place}]"), "this vendor takes text only"));
            }
        }
    }
}

pub(super) fn last_role(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    let Some(last) = request.messages.last() else { return };
    let prefix = last.node.get("prefix").is_some_and(|prefix| prefix.value == Value::Bool(true));
    if last.is("assistant") && !prefix {
        hits.push(last.hit("role", "the history ends with the assistant"));
    }
}

/// A result must come right after a call or another result.
pub(super) fn result_order(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for pair in request.messages.windows(2) {
        if let [before, message] = pair
            && message.is("tool")
            && (before.is("user") || before.is("system"))
        {
            hits.push(message.hit("role", "a result stands after a user's message"));
        }
    }
}

pub(super) fn user_after_tool(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for pair in request.messages.windows(2) {
        if let [before, message] = pair
            && before.is("tool")
            && message.is("user")
        {
            hits.push(message.hit("role", "a user's message stands right after a result"));
        }
    }
}

/// Thinking that must be passed back with calls.
pub(super) fn thinking_missing(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    let mode = request.body.get("thinking").and_then(|thinking| thinking.get("type")).and_then(Node::as_str);
    let thinks = match mode.as_deref() {
        Some(word) => word == "enabled",
        None => request.model().contains("reasoner"),
    };
    if !thinks {
        return;
    }
    for message in request.messages.iter().filter(|message| !message.calls.is_empty()) {
        if !has_text(message, "reasoning_content") {
            hits.push(message.hit("reasoning_content", "calls stand without the thinking that led to them"));
        }
    }
}

fn has_text(message: &Message<'_>, key: &str) -> bool {
    message.node.get(key).is_some_and(|value| matches!(value.value, Value::Text(_)))
}

pub(super) fn thinking_refused(request: &Request<'_>, _: &Profile, hits: &mut Vec<Hit>) {
    for message in request.messages.iter().filter(|message| message.node.get("reasoning_content").is_some()) {
        hits.push(message.hit("reasoning_content", "this vendor does not take thinking back"));
    }
}
