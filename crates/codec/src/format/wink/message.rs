//! Messages of a stored conversation, and the blocks they are.

use std::collections::{HashMap, VecDeque};

use turnkeep_model::json::{Json, Object};
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

/// Takes a text; fails where something else stands there.
pub(super) fn take_text(object: &mut Object, key: &str) -> Option<Option<String>> {
    match object.get(key) {
        None => Some(None),
        Some(value) => {
            let text = value.as_str()?.into_owned();
            object.remove(key);
            Some(Some(text))
        }
    }
}

/// Takes a text or null; a missing key is noted.
fn take_nullable(object: &mut Object, key: &str, missing: &mut Vec<Json>) -> Option<Option<String>> {
    match object.get(key) {
        None => missing.push(key.into()),
        Some(Json::Null) => {
            object.remove(key);
        }
        Some(_) => return take_text(object, key),
    }
    Some(None)
}

impl Message {
    /// Reads a message; `None` where it has another shape.
    pub(super) fn read(mut object: Object, name: NameKey) -> Option<Message> {
        if object.has_duplicates() {
            return None;
        }
        let mut missing = Vec::new();
        let role = take_text(&mut object, "role")??;
        let content = take_text(&mut object, "content")??;
        let calls = match object.remove("tool_calls") {
            None => {
                missing.push("tool_calls".into());
                Vec::new()
            }
            Some(Json::Array(calls)) => calls.into_iter().map(Call::read).collect::<Option<_>>()?,
            Some(_) => return None,
        };
        let call_id = take_nullable(&mut object, "tool_call_id", &mut missing)?;
        let tool = take_nullable(&mut object, name.0, &mut missing)?;
        let time = take_text(&mut object, "created_at")?;
        let id = take_text(&mut object, "message_id")?;
        let mut extra = ExtraPart { fields: object, ..ExtraPart::default() };
        if !missing.is_empty() {
            extra.spelling.set("absent", missing);
        }
        Some(Message { role, content, calls, call_id, name: tool, time, id, extra })
    }

    /// The message as it is written.
    pub(super) fn write(&self, name: NameKey) -> Object {
        let absent = |key: &str| is_absent(&self.extra.spelling, key);
        let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
        let mut object = self.extra.fields.clone();
        object.push("content", self.content.as_str());
        if let Some(time) = &self.time {
            object.push("created_at", time.as_str());
        }
        if let Some(id) = &self.id {
            object.push("message_id", id.as_str());
        }
        if self.name.is_some() || !absent(name.0) {
            object.push(name.0, text(&self.name));
        }
        object.push("role", self.role.as_str());
        if self.call_id.is_some() || !absent("tool_call_id") {
            object.push("tool_call_id", text(&self.call_id));
        }
        if !self.calls.is_empty() || !absent("tool_calls") {
            object.push("tool_calls", self.calls.iter().map(Call::write).collect::<Vec<_>>());
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
    fn read(value: Json) -> Option<Call> {
        let Json::Object(mut object) = value else { return None };
        if object.has_duplicates() {
            return None;
        }
        Some(Call {
            id: take_text(&mut object, "call_id")??,
            name: take_text(&mut object, "name")??,
            arguments: take_text(&mut object, "arguments")??,
            status: take_text(&mut object, "status")?.map(Json::from),
            implied: "",
            unknown: object,
        })
    }

    fn write(&self) -> Json {
        let mut object = self.unknown.clone();
        object.push("arguments", self.arguments.as_str());
        object.push("call_id", self.id.as_str());
        object.push("name", self.name.as_str());
        if let Some(status @ Json::String(_)) = &self.status {
            object.push("status", status.clone());
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
            *first.message.extra.part_mut(FORMAT) = extra;
            first.message.extra.tidy();
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
        let part = block.extra.part_mut(FORMAT);
        part.fields = call.unknown;
        if let Some(status) = call.status {
            part.spelling.set("status", status);
        }
        block.extra.tidy();
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
pub(super) struct Ends(HashMap<CallId, bool>);

impl Ends {
    pub(super) fn of(session: &Session) -> Ends {
        let end = |block: &Block| match &block.body {
            Body::ToolResult(result) => Some((result.call.clone(), result.is_error == Some(true))),
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
    pub(super) fn message(&self, ends: &Ends) -> Message {
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

fn put(block: &Block, message: &mut Message, ends: &Ends) {
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

fn outgoing_call(block: &Block, call: &ToolCall, ends: &Ends) -> Call {
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
        (parts, _) => parts.iter().map(text).collect::<Vec<_>>().join("\n"),
    }
}
