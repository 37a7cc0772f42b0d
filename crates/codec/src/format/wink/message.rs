//! Messages of a stored conversation, and the blocks they are.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use turnkeep_model::json::{Field, Fields, Json, Node, Object, Text as JsonText, Value};
use turnkeep_model::{
    Author, Block, Body, CallId, ExtraPart, MessageId, MessageKey, Part, Session, Text, Time, ToolCall, ToolResult,
};

use super::{FORMAT, python};
use crate::tree;

/// One message as it is read: `ConversationMessage`, or the part of an `InnerMessage` that is alike.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub role: Cow<'a, str>,
    pub content: Cow<'a, str>,
    pub calls: Vec<Call<'a>>,
    /// The call it answers; `None` where the key is null.
    pub call_id: Option<Cow<'a, str>>,
    pub name: Option<Cow<'a, str>>,
    pub time: Option<Cow<'a, str>>,
    pub id: Option<Cow<'a, str>>,
    /// Keys that are missing although the original writes them, and what else was there.
    pub extra: ExtraPart,
}

/// `ToolCallRecord`.
#[derive(Debug, Default)]
pub(super) struct Call<'a> {
    pub id: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub arguments: Cow<'a, str>,
    pub status: Option<Cow<'a, str>>,
    pub unknown: Object,
}

/// The key of a tool's name: it differs between the two kinds of conversation slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NameKey {
    /// `name`, of a `ConversationState`.
    Name,
    /// `tool_name`, of an `InnerMessage`.
    ToolName,
}

impl NameKey {
    fn as_str(self) -> &'static str {
        match self {
            NameKey::Name => "name",
            NameKey::ToolName => "tool_name",
        }
    }
}

/// Whether a value is a text that a Rust string can hold.
pub(super) fn is_text(node: &Node<'_>) -> bool {
    matches!(&node.value, Value::Text(text) if text.is_whole())
}

/// Whether a text stands there.
pub(super) fn holds_text(node: &Node<'_>, key: &str) -> bool {
    node.get(key).is_some_and(is_text)
}

/// Whether a text stands there, or nothing.
pub(super) fn is_text_or_absent(node: &Node<'_>, key: &str) -> bool {
    node.get(key).is_none_or(is_text)
}

/// The text of a value, if it is one.
pub(super) fn into_text(node: Node<'_>) -> Option<Cow<'_, str>> {
    match node.value {
        Value::Text(text) => Some(text.into_cow_lossy()),
        _ => None,
    }
}

/// The pairs of a value, none where it is no object.
pub(super) fn into_fields(node: Node<'_>) -> Fields<'_> {
    match node.value {
        Value::Object(fields) => fields,
        _ => Vec::new(),
    }
}

/// Whether a field of a message, if it is one, has a value that fits.
pub(super) fn fits((key, value): &Field<'_>, name: NameKey) -> bool {
    match &*key.to_str_lossy() {
        "role" | "content" | "created_at" | "message_id" => is_text(value),
        "tool_calls" => value.as_array().is_some_and(|calls| calls.iter().all(Call::is_call)),
        key if key == "tool_call_id" || key == name.as_str() => value.value == Value::Null || is_text(value),
        _ => true,
    }
}

impl<'a> Message<'a> {
    /// Whether a value is a message.
    pub(super) fn is_message(node: &Node<'_>, name: NameKey) -> bool {
        let Value::Object(fields) = &node.value else { return false };
        !python::has_duplicates(fields)
            && fields.iter().all(|field| fits(field, name))
            && ["role", "content"].into_iter().all(|key| node.get(key).is_some())
    }

    /// Reads what [`Message::is_message`] accepts; what is no field of a message is `beside` it, unless that takes it.
    pub(super) fn read(
        fields: Fields<'a>,
        name: NameKey,
        mut beside: impl FnMut(Field<'a>) -> Option<Field<'a>>,
    ) -> Message<'a> {
        let mut message = Message::default();
        let (mut calls, mut call_id, mut tool) = (None, None, None);
        for (key, value) in fields {
            match &*key.to_str_lossy() {
                "role" => message.role = into_text(value).unwrap_or_default(),
                "content" => message.content = into_text(value).unwrap_or_default(),
                "created_at" => message.time = into_text(value),
                "message_id" => message.id = into_text(value),
                "tool_calls" => calls = Some(value),
                "tool_call_id" => call_id = Some(value),
                key if key == name.as_str() => tool = Some(value),
                _ => {
                    if let Some((key, value)) = beside((key.clone(), value)) {
                        message.extra.fields.push(key.into_json_string(), value.into_json());
                    }
                }
            }
        }
        let missing =
            [("tool_calls", calls.is_none()), ("tool_call_id", call_id.is_none()), (name.as_str(), tool.is_none())];
        let missing = missing.into_iter().filter(|(_, is_missing)| *is_missing).map(|(key, _)| Json::from(key));
        let missing: Vec<Json> = missing.collect();
        if !missing.is_empty() {
            message.extra.spelling.set("absent", missing);
        }
        if let Some(Value::Array(calls)) = calls.map(|calls| calls.value) {
            message.calls = calls.into_iter().map(Call::read).collect();
        }
        message.call_id = call_id.and_then(into_text);
        message.name = tool.and_then(into_text);
        message
    }

    /// The same, where all else stays with the message.
    pub(super) fn read_alone(fields: Fields<'a>, name: NameKey) -> Message<'a> {
        Message::read(fields, name, Some)
    }

    /// Whether it is a system message that says nothing.
    pub(super) fn is_silent_system(&self) -> bool {
        self.role == "system"
            && self.content.is_empty()
            && self.calls.is_empty()
            && [&self.call_id, &self.name, &self.time, &self.id].iter().all(|field| field.is_none())
            && self.extra == ExtraPart::default()
    }

    fn is_result(&self) -> bool {
        self.role == "tool" && self.calls.is_empty()
    }
}

/// Whether a note says that `key` is missing.
pub(super) fn is_absent(spelling: &Object, key: &str) -> bool {
    let listed = spelling.get("absent").and_then(Json::as_array).unwrap_or_default();
    listed.iter().any(|name| name.as_str().as_deref() == Some(key))
}

impl<'a> Call<'a> {
    fn is_call(node: &Node<'_>) -> bool {
        let Value::Object(fields) = &node.value else { return false };
        !python::has_duplicates(fields)
            && ["call_id", "name", "arguments"].into_iter().all(|key| holds_text(node, key))
            && is_text_or_absent(node, "status")
    }

    fn read(node: Node<'a>) -> Call<'a> {
        let mut call = Call::default();
        for (key, value) in into_fields(node) {
            match &*key.to_str_lossy() {
                "call_id" => call.id = into_text(value).unwrap_or_default(),
                "name" => call.name = into_text(value).unwrap_or_default(),
                "arguments" => call.arguments = into_text(value).unwrap_or_default(),
                "status" => call.status = into_text(value),
                _ => call.unknown.push(key.clone().into_json_string(), value.into_json()),
            }
        }
        call
    }
}

/// Turns messages into blocks, giving calls without an id their position.
#[derive(Debug, Default)]
pub(super) struct Unpacker {
    ordinal: u32,
    calls: u32,
    unanswered: VecDeque<u32>,
}

impl Unpacker {
    /// The blocks of the next message.
    pub(super) fn blocks(&mut self, message: Message<'_>) -> Vec<Block> {
        let author = Author::from_word(&message.role);
        let is_result = message.is_result();
        let own = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let content = message.content.into_owned();
        let mut extra = message.extra;
        let mut key = MessageKey {
            ordinal: self.ordinal,
            id: own(message.id).map(MessageId::new),
            time: own(message.time).map(Time::new),
            ..MessageKey::default()
        };
        self.ordinal += 1;
        let mut blocks = Vec::with_capacity(1 + message.calls.len());
        if is_result {
            let result = self.result(own(message.call_id), own(message.name), content, &mut extra);
            blocks.push(Block::new(author, result));
        } else {
            key.name = own(message.name);
            if let Some(id) = message.call_id {
                extra.fields.set("tool_call_id", id.into_owned());
            }
            if !content.is_empty() || message.calls.is_empty() {
                blocks.push(Block::new(author.clone(), Text { text: content }));
            }
            blocks.extend(message.calls.into_iter().map(|call| self.call(author.clone(), call)));
        }
        for block in &mut blocks {
            block.message = key.clone();
        }
        if let Some(first) = blocks.first_mut() {
            first.message.extra.keep(FORMAT, extra);
        }
        blocks
    }

    fn call(&mut self, author: Author, call: Call<'_>) -> Block {
        let position = self.calls;
        self.calls += 1;
        let id = if call.id.is_empty() {
            self.unanswered.push_back(position);
            CallId::Minted(position)
        } else {
            CallId::given(call.id.into_owned())
        };
        let (name, arguments) = (call.name.into_owned(), call.arguments.into_owned());
        let mut block = Block::new(author, ToolCall { call: id, name, arguments });
        let mut part = ExtraPart { fields: call.unknown, ..ExtraPart::default() };
        if let Some(status) = call.status {
            part.spelling.set("status", status.into_owned());
        }
        block.extra.keep(FORMAT, part);
        block
    }

    fn result(&mut self, id: Option<String>, name: Option<String>, text: String, extra: &mut ExtraPart) -> Body {
        let call = match id {
            Some(id) if !id.is_empty() => CallId::given(id),
            other => {
                if other.is_some() {
                    extra.spelling.set("tool_call_id", "");
                }
                CallId::Minted(self.unanswered.pop_front().unwrap_or(self.calls))
            }
        };
        let parts = vec![Part::Text(Text { text })];
        ToolResult { call, name, parts, error: None, is_error: None, outcome: None }.into()
    }
}

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
