//! Which of the formats an input is.

use turnkeep_model::Result;
use turnkeep_model::json::{self, Json, Nan, Node};

use super::slim::Dialect;
use crate::input::{Form, Input};
use crate::sniff::Guess;

fn has_map(node: &Node<'_>, key: &str) -> bool {
    node.get(key).is_some_and(|inner| inner.as_object().is_some())
}

fn has_list(node: &Node<'_>, key: &str) -> bool {
    node.get(key).is_some_and(|inner| inner.as_array().is_some())
}

/// A state, and the document; none where it is a list of messages.
pub(super) fn state<'i, 'a>(input: &'i Input<'a>) -> Option<(Guess, Option<&'i Node<'a>>)> {
    let top = input.top();
    if top.form == Form::Items {
        let is_message = |item: &Json| {
            let has = |key| item.as_object().is_some_and(|item| item.contains(key));
            has("role") && has("content") && has("createdAt") && !has("parts")
        };
        let all = !top.records.is_empty() && top.records.iter().all(is_message);
        return all.then(|| (Guess::likely("it is a list of messages with `role` and `createdAt`"), None));
    }
    let node = &input.object()?.node;
    node.get("agentId")?;
    let store = node.get("context").is_some_and(|context| context.get("messageStore").is_some());
    if store {
        return Some((Guess::certain("it has `agentId` and a `context` with a message store"), Some(node)));
    }
    if node.get("messageStore").is_some() {
        return Some((Guess::certain("it has `agentId` and `messageStore`"), Some(node)));
    }
    let known = has_map(node, "execution") || has_map(node, "stateInfo") || has_map(node, "context");
    known.then(|| (Guess::likely("it has `agentId` beside `context` or `execution`"), Some(node)))
}

/// A slim snapshot.
pub(super) fn slim(input: &Input<'_>) -> Guess {
    let Some(document) = input.object() else { return Guess::no() };
    let node = &document.node;
    let is_slim = node.get("agent_id").is_some() && has_list(node, "messages") && node.get("version").is_none();
    if !is_slim {
        return Guess::no();
    }
    let dialect = Dialect::of(&node.clone().into_json()).as_str();
    if node.get("step_count").is_some() || has_map(node, "usage") || has_map(node, "execution") {
        Guess::certain("it has `agent_id`, `messages` and counts").of(dialect)
    } else {
        Guess::likely("it has `agent_id` and `messages`").of(dialect)
    }
}

/// A continuation snapshot.
pub(super) fn continuation(input: &Input<'_>) -> Guess {
    let Some(document) = input.object() else { return Guess::no() };
    let node = &document.node;
    if node.get("agent_id").is_none() {
        return Guess::no();
    }
    let stored = node.get("messageStore").is_some() || node.get("message_store").is_some();
    match (stored, node.get("version").is_some() && has_list(node, "messages")) {
        (true, _) => Guess::certain("it has `agent_id` and a message store"),
        (false, true) => Guess::certain("it has `version`, `agent_id` and `messages`"),
        (false, false) => Guess::no(),
    }
}

/// A session file.
pub(super) fn session(input: &Input<'_>) -> Guess {
    let Some(document) = input.object() else { return Guess::no() };
    let node = &document.node;
    let named = node.get("header").is_some_and(|header| header.get("sessionId").is_some());
    if named && node.get("definition").is_some() && node.get("state").is_some() {
        Guess::certain("it has `header`, `definition` and `state`")
    } else {
        Guess::no()
    }
}

fn parse(line: &str) -> Result<Node<'_>> {
    json::parse_with(line, Nan::Accept)
}

/// A message storage.
pub(super) fn jsonl(input: &Input<'_>) -> Guess {
    let Ok(text) = input.text() else { return Guess::no() };
    let Some(first) = input.first_line() else { return Guess::no() };
    if first.get("type").and_then(Node::as_str).as_deref() != Some("session") || first.get("id").is_none() {
        return Guess::no();
    }
    let is_record = |line: &str| {
        parse(line).is_ok_and(|node| {
            (node.get("section").is_some() && node.get("data").is_some()) || node.get("targetId").is_some()
        })
    };
    let second = crate::input::lines(text).filter(|line| !line.trim().is_empty()).nth(1);
    if first.get("createdAt").is_some() && second.is_none_or(is_record) {
        Guess::certain("its first line is the head of a storage and records follow")
    } else {
        Guess::no()
    }
}
