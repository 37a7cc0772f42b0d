//! From log records to sessions.

use std::collections::VecDeque;

use turnkeep_model::json::{Json, JsonString, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Data, Parent, Part, PromptId, Reasoning, Session, SessionId, Text, Time, ToolCall,
    ToolResult, Turn,
};

use super::detail::DetailTemplate;
use super::entry::Entry;
use super::write::own_words;
use crate::format::wink::FORMAT;
use crate::turns::TurnBuilder;

/// The source of the main conversation.
pub(super) const MAIN: &str = "main";

/// The kind of a block that is a whole log record.
pub(super) const RECORD: &str = "log";

/// What one source said.
pub(super) struct SourceReader {
    source: String,
    session: Session,
    turns: TurnBuilder,
    is_open: bool,
    entries: u64,
    calls: u32,
    unanswered: VecDeque<u32>,
}

impl SourceReader {
    pub(super) fn new(source: &str) -> SourceReader {
        SourceReader {
            source: source.to_owned(),
            session: Session::default(),
            turns: TurnBuilder::default(),
            is_open: false,
            entries: 0,
            calls: 0,
            unanswered: VecDeque::new(),
        }
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Adds a record that is no entry.
    pub(super) fn record(&mut self, raw: Json, ordinal: u32) {
        let block = Block::new(Author::Other(RECORD.to_owned()), Body::Other { kind: RECORD.to_owned(), raw });
        self.aside(block.in_message(ordinal));
    }

    /// Adds an entry.
    pub(super) fn entry(&mut self, entry: Entry, ordinal: u32) {
        self.entries += 1;
        if self.entries == 1 {
            self.session.id = entry.session_id.clone().map(SessionId::new);
            let key = entry.prompt_name.clone();
            self.session.prompt = (!key.is_empty()).then(|| PromptId { key, ..PromptId::default() });
        }
        let mut block = self.block(&entry).in_message(ordinal);
        self.dress(&mut block, &entry);
        block.extra.part_mut(FORMAT).spelling.set("adapter", entry.adapter.as_str());
        let is_aside = matches!(block.body, Body::Other { .. });
        if is_aside {
            self.aside(block);
        } else {
            self.say(block);
        }
        self.usage(&entry);
    }

    fn say(&mut self, block: Block) {
        self.is_open = true;
        self.turns.push(block);
    }

    /// Adds a block that opens no turn, unless it is the first.
    fn aside(&mut self, block: Block) {
        if self.is_open {
            self.turns.current().blocks.push(block);
        } else {
            self.say(block);
        }
    }

    fn block(&mut self, entry: &Entry) -> Block {
        let Some(Json::Object(detail)) = &entry.detail else { return other(entry) };
        let mut template = DetailTemplate::new(detail.clone());
        let (author, body) = match entry.kind.as_str() {
            "user_message" => (Author::User, text(&mut template)),
            "assistant_message" => (Author::Assistant, text(&mut template)),
            "system_event" if detail.len() == 1 => (Author::System, own_text(&mut template)),
            "thinking" => (Author::Assistant, thinking(&mut template)),
            "tool_use" => (Author::Assistant, self.call(&mut template)),
            "tool_result" => (Author::Tool, self.result(&mut template)),
            _ => (Author::System, None),
        };
        let Some(body) = body else { return other(entry) };
        let mut block = Block::new(author, body);
        if own_words(&block.body).is_none_or(|own| own != template) {
            let part = block.extra.part_mut(FORMAT);
            part.spelling.set("holes", template.note());
            part.fields.set("detail", template.detail);
        }
        block
    }

    fn call(&mut self, template: &mut DetailTemplate) -> Option<Body> {
        let name = template.take_text("name", &["name", "tool_name", "tool", "sdk_entry.name"])?;
        let position = self.calls;
        self.calls += 1;
        let id = template.take_text("id", &["tool_use_id", "id", "call_id", "sdk_entry.id"]);
        let call = match id {
            Some(id) => CallId::given(id),
            None => {
                self.unanswered.push_back(position);
                CallId::Minted(position)
            }
        };
        let is_input = |value: &Json| matches!(value, Json::Object(_) | Json::Array(_));
        let input = template.take("input", &["input", "arguments", "params", "sdk_entry.input"], is_input);
        Some(
            ToolCall { call, name, arguments: input.map(|input| unescaped(input).to_text()).unwrap_or_default() }
                .into(),
        )
    }

    fn result(&mut self, template: &mut DetailTemplate) -> Option<Body> {
        let id = template.take_text("id", &["tool_use_id", "id", "call_id", "sdk_entry.tool_use_id"]);
        let call = match id {
            Some(id) => CallId::given(id),
            None => CallId::Minted(self.unanswered.pop_front().unwrap_or(self.calls)),
        };
        let content = template.take("content", &["content", "output", "result", "sdk_entry.content"], |_| true);
        let parts = match content {
            None => Vec::new(),
            Some(content) => vec![match content.as_str() {
                Some(text) => Part::Text(Text { text: text.into_owned() }),
                None => Part::Data(Data { json: content }),
            }],
        };
        let is_error =
            template.take("is_error", &["is_error", "sdk_entry.is_error"], |value| value.as_bool().is_some());
        let is_error = is_error.and_then(|value| value.as_bool());
        Some(ToolResult { call, name: None, parts, error: None, is_error, outcome: None }.into())
    }

    /// Notes what of the entry is not as one would expect from its place.
    fn dress(&mut self, block: &mut Block, entry: &Entry) {
        block.message.time = entry.time.clone().map(Time::new);
        let part = block.extra.part_mut(FORMAT);
        if entry.sequence != self.entries {
            part.spelling.set("sequence", entry.sequence);
        }
        if entry.session_id.as_deref() != self.session.id.as_ref().map(turnkeep_model::SessionId::as_str) {
            part.spelling.set("session_id", entry.session_id.as_deref().map_or(Json::Null, Json::from));
        }
        let prompt = self.session.prompt.as_ref().map(|prompt| prompt.key.as_str()).unwrap_or_default();
        if entry.prompt_name != prompt {
            part.spelling.set("prompt_name", entry.prompt_name.as_str());
        }
        if entry.logged != entry.time {
            part.fields.set("timestamp", entry.logged.as_deref().map_or(Json::Null, Json::from));
        }
        if let Some(raw) = &entry.raw {
            part.fields.set("raw", raw.as_str());
        }
        block.extra.tidy();
    }

    /// Counts tokens into the turn, leaving holes in the block that told of them.
    fn usage(&mut self, entry: &Entry) {
        let turn = self.turns.current();
        let Some(Block { body: Body::Other { raw: Json::Object(detail), .. }, extra, .. }) = turn.blocks.last_mut()
        else {
            return;
        };
        if entry.kind != "token_usage" || turn.usage != turnkeep_model::Usage::default() {
            return;
        }
        let mut template = DetailTemplate::new(std::mem::take(detail));
        turn.usage.input = template.take_count("input", &["input_tokens"]);
        turn.usage.output = template.take_count("output", &["output_tokens"]);
        turn.usage.cached_read = template.take_count("cached", &["cached_tokens"]);
        if !template.holes.is_empty() {
            extra.part_mut(FORMAT).spelling.set("holes", template.note());
        }
        *detail = template.detail;
    }

    /// The session, and the one it is a part of.
    pub(super) fn finish(self, main: Option<&SessionId>) -> Session {
        let mut session = self.session;
        session.turns = self.turns.finish();
        session.turns.iter_mut().for_each(settle_adapter);
        if self.source != MAIN {
            session.agent = Some(self.source);
            session.parent = main.map(|main| Parent { session: main.clone(), ..Parent::default() });
        }
        session
    }
}

/// The adapter of a turn is that of its first entry; others are noted where they differ.
fn settle_adapter(turn: &mut Turn) {
    let noted = |block: &Block| {
        block.extra.spelling(FORMAT, "adapter").and_then(Json::as_str).map(std::borrow::Cow::into_owned)
    };
    let first = turn.blocks.iter().find_map(noted).unwrap_or_default();
    for block in &mut turn.blocks {
        if noted(block).as_deref() == Some(&first) {
            block.extra.part_mut(FORMAT).spelling.remove("adapter");
            block.extra.tidy();
        }
    }
    turn.api = (!first.is_empty()).then_some(first);
}

/// A block of an entry that is kept as it is.
fn other(entry: &Entry) -> Block {
    let mut block = Block::new(
        Author::Other("transcript".to_owned()),
        Body::Other { kind: entry.kind.clone(), raw: entry.detail.clone().unwrap_or_default() },
    );
    if entry.detail == Some(Json::Null) {
        block.extra.part_mut(FORMAT).spelling.set("detail", "null");
    }
    block
}

fn text(template: &mut DetailTemplate) -> Option<Body> {
    let places = ["text", "content", "message", "sdk_entry.message.content"];
    let lone = template.detail.get("sdk_entry").and_then(parts_of) == Some(1);
    let part = if lone { &["sdk_entry.message.content.0.text"][..] } else { &[] };
    let text = template.take_text("text", &places).or_else(|| template.take_text("text", part));
    text.map(|text| Text { text }.into())
}

/// How many parts the content of a message has.
fn parts_of(sdk_entry: &Json) -> Option<usize> {
    let message = sdk_entry.as_object()?.get("message")?.as_object()?;
    Some(message.get("content")?.as_array()?.len())
}

fn own_text(template: &mut DetailTemplate) -> Option<Body> {
    template.take_text("text", &["text"]).map(|text| Text { text }.into())
}

fn thinking(template: &mut DetailTemplate) -> Option<Body> {
    let places = ["text", "thinking", "sdk_entry.thinking", "sdk_entry.message.content.0.thinking"];
    let text = template.take_text("text", &places)?;
    Some(Reasoning { text: Some(text), ..Reasoning::default() }.into())
}

/// The value with its strings spelled as they are: lines are written in ASCII, which is no part of what they say.
fn unescaped(value: Json) -> Json {
    let plain = |text: JsonString| text.to_str().map(|text| JsonString::from(&*text)).unwrap_or(text.clone());
    match value {
        Json::String(text) => Json::String(plain(text)),
        Json::Array(items) => Json::Array(items.into_iter().map(unescaped).collect()),
        Json::Object(object) => {
            Json::Object(object.into_iter().map(|(key, value)| (plain(key), unescaped(value))).collect())
        }
        scalar => scalar,
    }
}

/// The pairs of a detail in the order of their names.
pub(super) fn detail(pairs: &[(&'static str, Json)]) -> Object {
    pairs.iter().map(|(key, value)| (*key, value.clone())).collect()
}
