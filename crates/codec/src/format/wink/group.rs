//! From blocks to the messages that a conversation holds.

use std::collections::HashMap;

use turnkeep_model::json::{Fields, Json, Node, Object, Text as JsonText};
use turnkeep_model::{Author, Block, Body, CallId, ExtraPart, Part, Session, ToolResult};

use super::FORMAT;
use super::message::{NameKey, is_absent};
use crate::tree;

/// Every call that has a result, and whether that is an error.
pub(super) struct Ends<'a>(HashMap<&'a CallId, bool>);

impl<'a> Ends<'a> {
    pub(super) fn of(session: &'a Session) -> Ends<'a> {
        let end = |block: &'a Block| match &block.body {
            Body::ToolResult(result) => Some((&result.call, result.is_error == Some(true))),
            _ => None,
        };
        Ends(session.blocks().filter_map(|(_, block)| end(block)).collect())
    }

    /// What a call's status is if nothing else is noted.
    pub(super) fn status(&self, call: &CallId) -> &'static str {
        match self.0.get(call) {
            None => "pending",
            Some(true) => "failed",
            Some(false) => "completed",
        }
    }
}

/// Blocks that are one message, and the turn they stand in.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub turn: usize,
    pub role: &'a str,
    first: &'a Block,
    /// The others; most messages are one block.
    more: Vec<&'a Block>,
}

/// The messages of a session, in order. What no message can hold is left out.
pub(super) fn groups(session: &Session) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (turn, _, block) in session.in_message_order().into_iter().filter(|(.., block)| is_holdable(&block.body)) {
        let role = role(block);
        match groups.last_mut() {
            Some(last) if last.role == role && last.takes(block) => last.more.push(block),
            _ => groups.push(Group { turn, role, first: block, more: Vec::new() }),
        }
    }
    groups
}

impl<'a> Group<'a> {
    /// Whether the block is of the same message. A tool's answer is a message by itself.
    fn takes(&self, block: &Block) -> bool {
        let is_result = |block: &Block| matches!(block.body, Body::ToolResult(_));
        self.first.message.ordinal == block.message.ordinal && !is_result(self.first) && !is_result(block)
    }

    fn blocks(&self) -> impl Iterator<Item = &'a Block> {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }

    /// Whether it calls tools.
    pub(super) fn has_calls(&self) -> bool {
        self.blocks().any(|block| matches!(block.body, Body::ToolCall(_)))
    }

    /// What the source had beside the message.
    pub(super) fn extra(&self) -> Option<&'a ExtraPart> {
        self.first.message.extra.part(FORMAT)
    }

    /// The message as it is written, with what `beside` says of the keys that only some conversations have. Statuses of
    /// calls follow from `ends`, where they are written at all. Keys stand in the order in which Python writes them.
    pub(super) fn write(
        &self,
        name: NameKey,
        ends: Option<&Ends<'_>>,
        beside: impl Fn(&'static str) -> Option<Node<'a>>,
    ) -> Node<'a> {
        let key = &self.first.message;
        let is_absent = |key: &str| self.extra().is_some_and(|part| is_absent(&part.spelling, key));
        let or_null = |key: &str, text: Option<&'a str>| match text {
            None if is_absent(key) => None,
            text => Some(text.map_or_else(tree::null, tree::text)),
        };
        let tool = self.tool_name();
        let calls: Vec<Node<'a>> = self.blocks().filter_map(|block| call(block, ends)).collect();
        let no_calls = calls.is_empty() && is_absent("tool_calls");
        let named = |wanted: NameKey| if wanted == name { or_null(wanted.as_str(), tool) } else { None };
        let pairs = [
            ("content", Some(self.content())),
            ("created_at", key.time.as_ref().map(|time| tree::text(time.as_str()))),
            ("evaluation_id", beside("evaluation_id")),
            ("message_id", key.id.as_ref().map(|id| tree::text(id.as_str()))),
            ("name", named(NameKey::Name)),
            ("prompt_key", beside("prompt_key")),
            ("prompt_ns", beside("prompt_ns")),
            ("role", Some(tree::text(self.role))),
            ("sequence", beside("sequence")),
            ("tool_call_id", or_null("tool_call_id", self.call_id())),
            ("tool_calls", (!no_calls).then(|| tree::array(calls))),
            ("tool_name", named(NameKey::ToolName)),
            ("turn", beside("turn")),
        ];
        let mut fields: Fields<'a> = Vec::with_capacity(pairs.len());
        fields.extend(pairs.into_iter().filter_map(|(key, value)| Some((JsonText::Plain(key), value?))));
        let unknown = self.extra().into_iter().flat_map(|part| part.fields.iter());
        let unknown = unknown.filter(|(key, _)| !key.is("tool_call_id"));
        fields.extend(unknown.map(|(key, value)| (key.to_text(), value.to_node())));
        tree::object(fields)
    }

    fn result(&self) -> Option<&'a ToolResult> {
        match &self.first.body {
            Body::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    fn tool_name(&self) -> Option<&'a str> {
        match self.result() {
            Some(result) => result.name.as_deref(),
            None => self.first.message.name.as_deref(),
        }
    }

    /// The call that it answers, or is said to by a source where it is no answer.
    fn call_id(&self) -> Option<&'a str> {
        let noted = self.extra();
        match self.result() {
            Some(result) => {
                let empty = || noted?.spelling.get("tool_call_id").map(|_| "");
                result.call.as_given().or_else(empty)
            }
            None => match noted?.fields.get("tool_call_id")? {
                Json::String(text) => match text.to_text() {
                    JsonText::Plain(text) => Some(text),
                    _ => None,
                },
                _ => None,
            },
        }
    }

    fn content(&self) -> Node<'a> {
        if let Some(result) = self.result() {
            return result_text(result);
        }
        let mut texts = self.blocks().filter_map(|block| match &block.body {
            Body::Text(text) => Some(text.text.as_str()),
            Body::Summary(summary) => Some(summary.text.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default();
        let Some(second) = texts.next() else { return tree::text(first) };
        let mut joined = first.to_owned();
        for text in std::iter::once(second).chain(texts) {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(text);
        }
        tree::owned(joined)
    }
}

fn role(block: &Block) -> &str {
    match (&block.body, &block.author) {
        (Body::ToolResult(_), _) => "tool",
        (_, Author::Developer) => "system",
        (_, other) => other.as_str(),
    }
}

fn is_holdable(body: &Body) -> bool {
    matches!(body, Body::Text(_) | Body::Summary(_) | Body::ToolCall(_) | Body::ToolResult(_))
}

/// A call as it is written; its status is the noted one, or where statuses are written the one that follows.
fn call<'a>(block: &'a Block, ends: Option<&Ends<'_>>) -> Option<Node<'a>> {
    let Body::ToolCall(call) = &block.body else { return None };
    let status = match block.extra.spelling(FORMAT, "status") {
        Some(Json::String(noted)) => Some(tree::string(noted.to_text())),
        Some(_) => None,
        None => ends.map(|ends| tree::text(ends.status(&call.call))),
    };
    let mut fields: Fields<'a> = Vec::with_capacity(4);
    let mut push = |key: &'static str, value: Node<'a>| fields.push((JsonText::Plain(key), value));
    push("arguments", tree::text(&call.arguments));
    push("call_id", tree::text(call.call.as_given().unwrap_or_default()));
    push("name", tree::text(&call.name));
    if let Some(status) = status {
        push("status", status);
    }
    let unknown = block.extra.fields(FORMAT).into_iter().flat_map(Object::iter);
    fields.extend(unknown.map(|(key, value)| (key.to_text(), value.to_node())));
    Some(tree::object(fields))
}

fn result_text(result: &ToolResult) -> Node<'_> {
    let text = |part: &Part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        Part::Other { raw, .. } => Json::Object(raw.clone()).to_text(),
        _ => String::new(),
    };
    match (result.parts.as_slice(), &result.error) {
        ([], Some(error)) => tree::text(error),
        ([Part::Text(text)], _) => tree::text(&text.text),
        (parts, _) => tree::owned(parts.iter().map(text).collect::<Vec<_>>().join("\n")),
    }
}
