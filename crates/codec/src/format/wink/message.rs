//! Messages of a stored conversation, and the blocks they are.

use std::collections::{HashMap, VecDeque};

use turnkeep_model::json::{Json, JsonString, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, ExtraPart, MessageId, MessageKey, Part, Session, Text, Time, ToolCall, ToolResult,
};

use super::FORMAT;

/// One message: `ConversationMessage`, or the part of an `InnerMessage` that is alike.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Message {
    pub role: String,
    pub content: String,
    pub calls: Vec<Call>,
    /// The call it answers; `None` where the key is null.
    pub call_id: Option<String>,
    pub name: Option<String>,
    pub time: Option<String>,
    pub id: Option<String>,
    /// Keys that are missing although the original writes them, and what else was there.
    pub extra: ExtraPart,
}

/// `ToolCallRecord`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    pub arguments: String,
    /// Its status; null where the key is missing although it should be there.
    pub status: Option<Json>,
    /// The status that follows from the conversation.
    pub implied: &'static str,
    pub unknown: Object,
}

/// The key of a tool's name: it differs between the two kinds of conversation slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NameKey(pub &'static str);

/// Whether a value is a text that a Rust string can hold.
pub(super) fn is_text(value: &Json) -> bool {
    matches!(value, Json::String(text) if text.is_sound())
}

/// Whether a text stands there.
pub(super) fn holds_text(object: &Object, key: &str) -> bool {
    object.get(key).is_some_and(is_text)
}

/// Whether a text stands there, or nothing.
pub(super) fn is_text_or_absent(object: &Object, key: &str) -> bool {
    object.get(key).is_none_or(is_text)
}

/// Takes a text, if one stands there.
pub(super) fn take_text(object: &mut Object, key: &str) -> Option<String> {
    object.remove(key).and_then(into_text)
}

/// The text of a value, if it is one.
pub(super) fn into_text(value: Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.into_string_lossy()),
        _ => None,
    }
}

impl Message {
    /// Whether an object is a message.
    pub(super) fn is_message(object: &Object, name: NameKey) -> bool {
        let fits = |(key, value): (&JsonString, &Json)| match key {
            key if *key == "role" || *key == "content" => is_text(value),
            key if *key == "created_at" || *key == "message_id" => is_text(value),
            key if *key == "tool_call_id" || *key == name.0 => *value == Json::Null || is_text(value),
            key if *key == "tool_calls" => value.as_array().is_some_and(|calls| calls.iter().all(Call::is_call)),
            _ => true,
        };
        !object.has_duplicates()
            && object.iter().all(fits)
            && ["role", "content"].into_iter().all(|key| object.contains(key))
    }

    /// Reads what [`Message::is_message`] accepts; what is no field of a message is `beside` it, unless that takes it.
    pub(super) fn read(
        object: Object,
        name: NameKey,
        mut beside: impl FnMut(JsonString, Json) -> Option<(JsonString, Json)>,
    ) -> Message {
        let mut message = Message::default();
        let (mut calls, mut call_id, mut tool) = (None, None, None);
        for (key, value) in object {
            match &key {
                key if *key == "role" => message.role = into_text(value).unwrap_or_default(),
                key if *key == "content" => message.content = into_text(value).unwrap_or_default(),
                key if *key == "created_at" => message.time = into_text(value),
                key if *key == "message_id" => message.id = into_text(value),
                key if *key == "tool_calls" => calls = Some(value),
                key if *key == "tool_call_id" => call_id = Some(value),
                key if *key == name.0 => tool = Some(value),
                _ => beside(key, value).into_iter().for_each(|(key, value)| message.extra.fields.push(key, value)),
            }
        }
        let missing = [("tool_calls", calls.is_none()), ("tool_call_id", call_id.is_none()), (name.0, tool.is_none())];
        let missing = missing.into_iter().filter(|(_, is_missing)| *is_missing).map(|(key, _)| Json::from(key));
        let missing: Vec<Json> = missing.collect();
        if !missing.is_empty() {
            message.extra.spelling.set("absent", missing);
        }
        if let Some(Json::Array(calls)) = calls {
            message.calls = calls.into_iter().map(Call::read).collect();
        }
        message.call_id = call_id.and_then(into_text);
        message.name = tool.and_then(into_text);
        message
    }

    /// The same, where all else stays with the message.
    pub(super) fn read_alone(object: Object, name: NameKey) -> Message {
        Message::read(object, name, |key, value| Some((key, value)))
    }

    /// The message as it is written.
    pub(super) fn write(self, name: NameKey) -> Object {
        let spelling = self.extra.spelling;
        let absent = |key: &str| is_absent(&spelling, key);
        let text = |text: Option<String>| text.map_or(Json::Null, Json::from);
        let mut object = self.extra.fields;
        object.push("content", self.content);
        if let Some(time) = self.time {
            object.push("created_at", time);
        }
        if let Some(id) = self.id {
            object.push("message_id", id);
        }
        if self.name.is_some() || !absent(name.0) {
            object.push(name.0, text(self.name));
        }
        object.push("role", self.role);
        if self.call_id.is_some() || !absent("tool_call_id") {
            object.push("tool_call_id", text(self.call_id));
        }
        if !self.calls.is_empty() || !absent("tool_calls") {
            object.push("tool_calls", self.calls.into_iter().map(Call::write).collect::<Vec<_>>());
        }
        object
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

impl Call {
    fn is_call(value: &Json) -> bool {
        let Json::Object(object) = value else { return false };
        !object.has_duplicates()
            && ["call_id", "name", "arguments"].into_iter().all(|key| holds_text(object, key))
            && is_text_or_absent(object, "status")
    }

    fn read(value: Json) -> Call {
        let mut object = match value {
            Json::Object(object) => object,
            _ => Object::new(),
        };
        let mut text = |key: &str| take_text(&mut object, key);
        let (id, name, arguments) = (text("call_id"), text("name"), text("arguments"));
        let status = text("status").map(Json::from);
        Call {
            id: id.unwrap_or_default(),
            name: name.unwrap_or_default(),
            arguments: arguments.unwrap_or_default(),
            status,
            implied: "",
            unknown: object,
        }
    }

    fn write(self) -> Json {
        let mut object = self.unknown;
        object.push("arguments", self.arguments);
        object.push("call_id", self.id);
        object.push("name", self.name);
        if let Some(status @ Json::String(_)) = self.status {
            object.push("status", status);
        }
        Json::Object(object)
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
    pub(super) fn blocks(&mut self, message: Message) -> Vec<Block> {
        let author = Author::from_word(&message.role);
        let is_result = message.is_result();
        let mut extra = message.extra;
        let mut key = MessageKey {
            ordinal: self.ordinal,
            id: message.id.map(MessageId::new),
            time: message.time.map(Time::new),
            ..MessageKey::default()
        };
        self.ordinal += 1;
        let mut blocks = Vec::new();
        if is_result {
            blocks.push(Block::new(author, self.result(message.call_id, message.name, message.content, &mut extra)));
        } else {
            key.name = message.name;
            if let Some(id) = message.call_id {
                extra.fields.set("tool_call_id", id);
            }
            if !message.content.is_empty() || message.calls.is_empty() {
                blocks.push(Block::new(author.clone(), Text { text: message.content }));
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

    fn call(&mut self, author: Author, call: Call) -> Block {
        let position = self.calls;
        self.calls += 1;
        let id = if call.id.is_empty() {
            self.unanswered.push_back(position);
            CallId::Minted(position)
        } else {
            CallId::given(call.id)
        };
        let mut block = Block::new(author, ToolCall { call: id, name: call.name, arguments: call.arguments });
        let mut part = ExtraPart { fields: call.unknown, ..ExtraPart::default() };
        if let Some(status) = call.status {
            part.spelling.set("status", status);
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
    blocks: Vec<&'a Block>,
}

/// The messages of a session, in order. What no message can hold is left out.
pub(super) fn groups(session: &Session) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (turn, _, block) in session.in_message_order().into_iter().filter(|(.., block)| is_holdable(&block.body)) {
        let role = role(block);
        match groups.last_mut() {
            Some(last) if last.role == role && last.takes(block) => last.blocks.push(block),
            _ => groups.push(Group { turn, role, blocks: vec![block] }),
        }
    }
    groups
}

impl Group<'_> {
    /// Whether the block is of the same message. A tool's answer is a message by itself.
    fn takes(&self, block: &Block) -> bool {
        let is_result = |block: &Block| matches!(block.body, Body::ToolResult(_));
        let first = self.blocks.first();
        first.is_some_and(|first| {
            first.message.ordinal == block.message.ordinal && !is_result(first) && !is_result(block)
        })
    }

    /// Whether it calls tools.
    pub(super) fn has_calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)))
    }

    /// The message to write.
    pub(super) fn message(&self, ends: &Ends<'_>) -> Message {
        let mut message = self.blocks.first().map(|block| head(block, self.role)).unwrap_or_default();
        self.blocks.iter().for_each(|block| put(block, &mut message, ends));
        message
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

fn head(block: &Block, role: &str) -> Message {
    let key = &block.message;
    let mut extra = key.extra.part(FORMAT).cloned().unwrap_or_default();
    let call_id = extra.fields.remove("tool_call_id").as_ref().and_then(Json::as_str).map(std::borrow::Cow::into_owned);
    Message {
        role: role.to_owned(),
        name: key.name.clone(),
        time: key.time.as_ref().map(ToString::to_string),
        id: key.id.as_ref().map(ToString::to_string),
        call_id,
        extra,
        ..Message::default()
    }
}

fn put(block: &Block, message: &mut Message, ends: &Ends<'_>) {
    match &block.body {
        Body::Text(text) => put_text(&text.text, message),
        Body::Summary(summary) => put_text(&summary.text, message),
        Body::ToolCall(call) => message.calls.push(outgoing_call(block, call, ends)),
        Body::ToolResult(result) => {
            let spelled = message.extra.spelling.remove("tool_call_id");
            message.call_id = result.call.as_given().map(str::to_owned).or(spelled.map(|_| String::new()));
            message.name.clone_from(&result.name);
            message.content = result_text(result);
        }
        _ => {}
    }
}

fn put_text(text: &str, message: &mut Message) {
    if !message.content.is_empty() {
        message.content.push('\n');
    }
    message.content.push_str(text);
}

fn outgoing_call(block: &Block, call: &ToolCall, ends: &Ends<'_>) -> Call {
    Call {
        id: call.call.as_given().unwrap_or_default().to_owned(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
        status: block.extra.spelling(FORMAT, "status").cloned(),
        implied: ends.status(&call.call),
        unknown: block.extra.fields(FORMAT).cloned().unwrap_or_default(),
    }
}

fn result_text(result: &ToolResult) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        Part::Other { raw, .. } => Json::Object(raw.clone()).to_text(),
        _ => String::new(),
    };
    match (result.parts.as_slice(), &result.error) {
        ([], Some(error)) => error.clone(),
        ([only], _) => text(only),
        (parts, _) => parts.iter().map(text).collect::<Vec<_>>().join("\n"),
    }
}
