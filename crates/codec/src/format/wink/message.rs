//! Messages of a stored conversation, and the blocks they are.

use std::borrow::Cow;
use std::collections::VecDeque;

use turnkeep_model::json::{Field, Fields, Json, Node, Object, Value};
use turnkeep_model::{
    Author, Block, Body, CallId, ExtraPart, MessageId, MessageKey, Part, Text, Time, ToolCall, ToolResult,
};

use super::{FORMAT, python};

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
    pub(super) fn as_str(self) -> &'static str {
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
