//! From messages to blocks.

use turnkeep_model::json::{Fields, Json, JsonSink, Layout, Node, Text, Value};
use turnkeep_model::{
    Author, Block, Body, CallId, Extra, ExtraPart, LossKind, Part, Text as TextBody, ToolCall, ToolResult,
};

use super::FORMAT;
use super::decode::{Decoder, Read, Refusal};
use super::tree::{self, Opened};
use crate::codec::Mode;

fn path(index: usize, inner: &str) -> String {
    format!("conversation.messages[{index}]{inner}")
}

impl Decoder {
    /// Reads the message at `index`.
    pub(super) fn message(&mut self, index: usize, node: Node<'_>) -> Read<()> {
        let at = node.at;
        let Value::Object(fields) = node.value else {
            return Err(Refusal::wrong(&node, path(index, ""), "an object"));
        };
        let kind = fields.iter().rev().find(|(key, _)| key.to_str_lossy() == "type").map(|(_, kind)| kind);
        let Some(kind) = kind else { return Err(missing(at, index, "", "type")) };
        match kind.as_str().as_deref() {
            Some("user") => self.plain(Author::User, at, index, fields),
            Some("system") => self.plain(Author::System, at, index, fields),
            Some("assistant") => self.assistant(at, index, fields),
            Some("tool") => self.tool(at, index, fields),
            Some(other) => {
                let what = format!("`{other}` is no type of message; expected user, system, assistant or tool");
                Err(Refusal::new(kind.at, path(index, ".type"), what))
            }
            None => Err(Refusal::wrong(kind, path(index, ".type"), "a string")),
        }
    }

    fn text(&mut self, text: Text<'_>, at: &str) -> String {
        let (text, verdict) = text.into_string_lossy();
        if let Err(lone) = verdict {
            self.lose_in_message(LossKind::Coerced, at, format!("{lone}; U+FFFD stands in its place"));
        }
        text
    }

    fn note_repeats<const N: usize>(&mut self, opened: &Opened<'_, N>) {
        if !opened.repeated.is_empty() {
            self.lose_in_message(LossKind::Dropped, "", "a key stands more than once; the last one counts");
        }
    }

    fn plain(&mut self, author: Author, at: u32, index: usize, fields: Fields<'_>) -> Read<()> {
        let mut opened = tree::open(fields, &["type", "content"]);
        self.note_repeats(&opened);
        let mut part = ExtraPart::default();
        tree::leave(&mut opened, &mut part);
        let [_, content] = opened.slots;
        let content = required_text(content, at, index, "content")?;
        let text = self.text(content, "text");
        let first_system = author == Author::System && self.ordinal == 0 && self.is_state();
        let mut block = Block::text(author, text);
        if first_system {
            // Else it would be taken for the system text that a state has apart.
            block.extra.part_mut(FORMAT).spelling.set("place", "conversation");
        }
        self.push([block], part);
        Ok(())
    }

    fn push(&mut self, blocks: impl IntoIterator<Item = Block>, mut part: ExtraPart) {
        for mut block in blocks {
            block.message.ordinal = self.ordinal;
            put(&mut block.message.extra, std::mem::take(&mut part));
            self.turns.push(block);
        }
    }

    fn assistant(&mut self, at: u32, index: usize, fields: Fields<'_>) -> Read<()> {
        let mut opened = tree::open(fields, &["type", "data"]);
        self.note_repeats(&opened);
        let mut part = ExtraPart::default();
        tree::leave(&mut opened, &mut part);
        let [_, data] = opened.slots;
        let data = data.ok_or_else(|| missing(at, index, "", "data"))?;
        let Value::Object(fields) = data.value else {
            return Err(Refusal::wrong(&data, path(index, ".data"), "an object"));
        };
        let mut opened = tree::open(fields, &["contentOpt", "toolCalls"]);
        self.note_repeats(&opened);
        tree::leave_under(&mut opened, "data", &mut part);
        let [content, calls] = opened.slots;
        let content = self.content(content, &mut part);
        let mut blocks: Vec<Block> = content.map(|text| Block::text(Author::Assistant, text)).into_iter().collect();
        self.tool_calls(calls, index, &mut part, &mut blocks)?;
        if blocks.is_empty() {
            let mut empty = Block::text(Author::Assistant, "");
            empty.extra.part_mut(FORMAT).spelling.set("contentOpt", Json::Null);
            blocks.push(empty);
        }
        self.turns.begin_answer();
        self.push(blocks, part);
        Ok(())
    }

    fn content(&mut self, node: Option<Node<'_>>, part: &mut ExtraPart) -> Option<String> {
        match node {
            None => {
                tree::note_absent(part, "contentOpt");
                None
            }
            Some(Node { value: Value::Null, .. }) => None,
            Some(Node { value: Value::Text(text), .. }) => Some(self.text(text, "text")),
            Some(node) => {
                let what = format!("`contentOpt` is {}; it is read as null, and kept aside", node.kind());
                self.lose_in_message(LossKind::Coerced, "", what);
                let mut data = part.fields.get("data").and_then(Json::as_object).cloned().unwrap_or_default();
                data.set("contentOpt", node.into_json());
                part.fields.set("data", data);
                None
            }
        }
    }

    fn tool_calls(
        &mut self,
        node: Option<Node<'_>>,
        index: usize,
        part: &mut ExtraPart,
        blocks: &mut Vec<Block>,
    ) -> Read<()> {
        match node {
            None => tree::note_absent(part, "toolCalls"),
            Some(Node { value: Value::Null, .. }) if self.mode == Mode::Compat => {
                part.spelling.set("toolCalls", Json::Null);
            }
            Some(Node { value: Value::Null, .. }) => {
                self.lose_in_message(LossKind::Repaired, "", "`toolCalls` is null; it is read as none");
            }
            Some(Node { value: Value::Array(calls), .. }) => {
                for (place, call) in calls.into_iter().enumerate() {
                    blocks.push(self.tool_call(call, index, place)?);
                }
            }
            Some(node) => return Err(Refusal::wrong(&node, path(index, ".data.toolCalls"), "an array")),
        }
        Ok(())
    }

    fn tool_call(&mut self, node: Node<'_>, index: usize, place: usize) -> Read<Block> {
        let inner = || format!(".data.toolCalls[{place}]");
        let at = node.at;
        let Value::Object(fields) = node.value else {
            return Err(Refusal::wrong(&node, path(index, &inner()), "an object"));
        };
        let mut opened = tree::open(fields, &["id", "name", "arguments"]);
        self.note_repeats(&opened);
        let mut part = ExtraPart::default();
        tree::leave(&mut opened, &mut part);
        let [id, name, arguments] = opened.slots;
        let id = id.ok_or_else(|| missing(at, index, &inner(), "id"))?;
        let name = name.ok_or_else(|| missing(at, index, &inner(), "name"))?;
        let arguments = arguments.ok_or_else(|| missing(at, index, &inner(), "arguments"))?;
        let wrong =
            |key: &str, node: &Node<'_>| Refusal::wrong(node, path(index, &format!("{}.{key}", inner())), "a string");
        let id = self.word(id, "id", &mut part).map_err(|node| wrong("id", &node))?;
        let name = self.word(name, "name", &mut part).map_err(|node| wrong("name", &node))?;
        let call = match id {
            Some(id) => {
                self.known.insert(id.clone());
                CallId::given(id)
            }
            None => CallId::Minted(self.calls),
        };
        self.calls += 1;
        let body = ToolCall { call, name: name.unwrap_or_default(), arguments: compact(&arguments) };
        let mut block = Block::new(Author::Assistant, body);
        put(&mut block.extra, part);
        Ok(block)
    }

    /// A text; the library makes one of a number or a truth value too, and takes null.
    fn word<'a>(&mut self, node: Node<'a>, key: &str, part: &mut ExtraPart) -> Result<Option<String>, Node<'a>> {
        let text = match node.value {
            Value::Text(text) => return Ok(Some(self.text(text, key))),
            Value::Null => None,
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(ref text) => Some(text.to_string()),
            Value::Array(_) | Value::Object(_) => return Err(node),
        };
        self.lose_in_message(LossKind::Coerced, "", format!("`{key}` of a call is {}, not a string", node.kind()));
        part.spelling.set(key, node.into_json());
        Ok(text)
    }

    fn tool(&mut self, at: u32, index: usize, fields: Fields<'_>) -> Read<()> {
        let mut opened = tree::open(fields, &["type", "toolCallId", "content"]);
        self.note_repeats(&opened);
        let mut part = ExtraPart::default();
        tree::leave(&mut opened, &mut part);
        let [_, id, content] = opened.slots;
        let content = required_text(content, at, index, "content")?;
        let id = required_text(id, at, index, "toolCallId")?;
        let (mut id, mut content) = (self.text(id, "call"), self.text(content, "parts"));
        let swapped = !self.known.contains(&id) && self.known.contains(&content);
        if swapped && self.mode == Mode::Faithful {
            std::mem::swap(&mut id, &mut content);
            let what = "`toolCallId` and `content` had changed places, as old versions of llm4s left them";
            self.lose_in_message(LossKind::Repaired, "", what);
        }
        let result = ToolResult {
            call: CallId::given(id),
            name: None,
            parts: vec![Part::Text(TextBody { text: content })],
            error: None,
            is_error: None,
            outcome: None,
        };
        self.push([Block::new(Author::Tool, Body::ToolResult(result))], part);
        Ok(())
    }
}

fn put(extra: &mut Extra, part: ExtraPart) {
    if part != ExtraPart::default() {
        *extra.part_mut(FORMAT) = part;
    }
}

fn missing(at: u32, index: usize, inner: &str, key: &str) -> Refusal {
    Refusal::new(at, path(index, inner), format!("the field `{key}` is missing"))
}

fn required_text<'a>(node: Option<Node<'a>>, at: u32, index: usize, key: &str) -> Read<Text<'a>> {
    match node {
        None => Err(missing(at, index, "", key)),
        Some(Node { value: Value::Text(text), .. }) => Ok(text),
        Some(node) => Err(Refusal::wrong(&node, path(index, &format!(".{key}")), "a string")),
    }
}

/// A value on one line, spelled as it stood.
fn compact(node: &Node<'_>) -> String {
    let mut sink = JsonSink::new(Layout::Compact);
    tree::write(node, &mut sink);
    sink.into_text()
}
