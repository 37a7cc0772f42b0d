//! From messages to blocks.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Extra, ExtraPart, Loss, LossKind, MessageId, MessageKey, Part, Summary, Text,
    ToolResult,
};

use super::call::{self, Shape};
use super::map::{Form, KeyRule, Map, has_keys, is_blank, keep, keep_keys, text};
use super::style::Style;
use super::{content, words};

/// What of a message's metadata is not the application's.
pub(super) const METADATA: Form =
    &[("tool_calls", KeyRule::Optional), ("tool_call_id", KeyRule::Optional), ("tool_name", KeyRule::Optional)];

/// The result of a tool in a message.
pub(super) const RESULT: Form = &[
    ("content", KeyRule::Empty),
    ("call_id", KeyRule::Null),
    ("tool_name", KeyRule::Null),
    ("is_error", KeyRule::False),
];

/// The section in which a conversation stands.
pub(super) const SECTION: &str = "messages";

/// The section that stands for older messages.
pub(super) const SUMMARY: &str = "summary";

/// Reads the messages of one session in order.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The place of the next message.
    pub ordinal: u32,
    calls: u32,
    /// Calls without an id that have no result yet.
    open: std::collections::VecDeque<u32>,
    pub losses: Vec<Loss>,
}

/// A message while it is read.
struct Reading {
    map: Map,
    metadata: Object,
    notes: ExtraPart,
}

impl Messages {
    /// The blocks of the next message.
    pub(super) fn read(&mut self, message: Json, style: &Style, section: &str) -> Vec<Block> {
        let blocks = match Map::open(message, style.form) {
            Ok(map) => self.blocks(map, style, section),
            Err(raw) => vec![Block::new(Author::User, Body::Other { kind: "message".to_owned(), raw })],
        };
        let ordinal = self.ordinal;
        self.ordinal += 1;
        blocks.into_iter().map(|block| block.in_message(ordinal)).collect()
    }

    fn blocks(&mut self, map: Map, style: &Style, section: &str) -> Vec<Block> {
        let mut reading = Reading { map, metadata: Object::new(), notes: ExtraPart::default() };
        let key = self.key(&mut reading, style);
        let author = self.author(&mut reading);
        reading.open_metadata(style);
        let bodies = if author == Author::Tool {
            vec![(self.result(&mut reading, style).into(), Extra::NONE)]
        } else {
            self.bodies(&mut reading, style, section)
        };
        if section != SECTION {
            reading.notes.spelling.set("section", section);
        }
        let Reading { map, metadata, mut notes } = reading;
        map.leave(&mut notes, "");
        dress(bodies, author, key, metadata, notes)
    }

    fn key(&mut self, reading: &mut Reading, style: &Style) -> MessageKey {
        let id = reading.map.text("id");
        if style.uuids && id.as_deref().is_some_and(|id| !words::is_uuid(id)) {
            reading.notes.spelling.set("ids", "any");
        }
        MessageKey {
            ordinal: self.ordinal,
            id: id.map(MessageId::new),
            name: reading.map.text("name"),
            time: reading.map.time("createdAt"),
            extra: Extra::NONE,
        }
    }

    fn author(&mut self, reading: &mut Reading) -> Author {
        let at = format!("message {}", self.ordinal);
        match reading.map.text("role") {
            None => {
                reading.notes.spelling.set("role", "none");
                let what = format!("{at} has no role and is taken as the user's");
                self.losses.push(Loss::decode(LossKind::Synthesised, "turns", what));
                Author::User
            }
            Some(role) => Author::from_word(&role),
        }
    }

    fn bodies(&mut self, reading: &mut Reading, style: &Style, section: &str) -> Vec<(Body, Extra)> {
        let mut bodies = reading.content(section);
        let calls = self.calls(reading, style);
        let only_empty_text = matches!(bodies.as_slice(), [(Body::Text(text), _)] if text.text.is_empty());
        if only_empty_text && !calls.is_empty() && reading.notes.spelling.get("content").is_none() {
            bodies.clear();
        }
        bodies.extend(calls);
        bodies
    }

    fn calls(&mut self, reading: &mut Reading, style: &Style) -> Vec<(Body, Extra)> {
        let beside = reading.map.list("tool_calls");
        let place = if beside.is_some() { Shape::Plain } else { Shape::Function };
        let items = match beside {
            Some(items) => Some(items),
            None => reading.take_inner("tool_calls"),
        };
        let Some(items) = items else { return Vec::new() };
        if place != style.calls {
            let word = if place == Shape::Plain { "message" } else { "metadata" };
            reading.notes.spelling.set("calls", word);
        }
        items.into_iter().map(|item| self.call(item, place)).collect()
    }

    fn call(&mut self, item: Json, usual: Shape) -> (Body, Extra) {
        let minted = || {
            self.calls += 1;
            self.open.push_back(self.calls - 1);
            CallId::Minted(self.calls - 1)
        };
        match call::read(item, usual, minted) {
            Ok((call, extra)) => {
                self.calls += u32::from(matches!(call.call, CallId::Given(_)));
                (call.into(), extra)
            }
            Err(raw) => (Body::Other { kind: "tool_call".to_owned(), raw }, Extra::NONE),
        }
    }

    /// The place of the next call in its session, for one that has no id.
    pub(super) fn mint(&mut self) -> CallId {
        self.calls += 1;
        CallId::Minted(self.calls - 1)
    }

    /// The id of the call that a result without one answers: the oldest open call without one.
    fn answered(&mut self) -> CallId {
        self.open.pop_front().map_or_else(|| self.mint(), CallId::Minted)
    }

    fn result(&mut self, reading: &mut Reading, style: &Style) -> ToolResult {
        let says = reading.map.get("content").is_some_and(|content| !is_blank(content));
        let content = if says { reading.map.remove("content") } else { None };
        let content = content.unwrap_or_else(|| Json::from(""));
        let mut parts = Vec::new();
        let is_text = matches!(&content, Json::String(text) if text.is_sound());
        if !is_text {
            parts = reading.parts(&content);
        }
        let mut result =
            ToolResult { call: CallId::Minted(0), name: None, parts, error: None, is_error: None, outcome: None };
        let id = match reading.map.open_at("tool_result", RESULT) {
            Some(map) => {
                if style.calls == Shape::Function {
                    reading.notes.spelling.set("result", "message");
                }
                inner_result(map, &content, &mut result, &mut reading.notes)
            }
            None => {
                if style.calls == Shape::Plain {
                    reading.notes.spelling.set("result", "metadata");
                }
                result.name = reading.take_inner_text("tool_name");
                reading.take_inner_text("tool_call_id")
            }
        };
        result.call = id.map_or_else(|| self.answered(), CallId::given);
        if is_text {
            result.parts = content::parts(content);
        }
        result
    }
}

fn inner_result(mut map: Map, content: &Json, result: &mut ToolResult, notes: &mut ExtraPart) -> Option<String> {
    let same = map.get("content") == Some(content);
    if same && matches!(content, Json::String(_)) {
        map.remove("content");
    } else {
        notes.spelling.set("result_content", "own");
    }
    result.name = map.text("tool_name");
    result.is_error = map.take("is_error", |value| value.as_bool().filter(|is_error| *is_error));
    let id = map.text("call_id");
    map.leave(notes, "tool_result");
    id
}

impl Reading {
    fn open_metadata(&mut self, style: &Style) {
        let Some(metadata) = self.map.object(style.metadata) else { return };
        self.metadata = metadata;
    }

    /// The parts of a content that is more than text; what they cannot stand for is noted.
    fn parts(&mut self, content: &Json) -> Vec<Part> {
        let parts = content::parts(content.clone());
        let as_list = matches!(content, Json::Array(_));
        if content::of_parts(&parts, as_list) != *content {
            self.map.restore("content", content.clone());
            self.notes.spelling.set("content", "own");
        } else if as_list && content::of_parts(&parts, false) != *content {
            self.notes.spelling.set("content", "parts");
        }
        parts
    }

    /// Takes what the program itself keeps in the metadata.
    fn take_inner(&mut self, key: &str) -> Option<Vec<Json>> {
        match self.metadata.get(key) {
            Some(Json::Array(items)) if !items.is_empty() => {}
            _ => return None,
        }
        self.note_order();
        match self.metadata.remove(key) {
            Some(Json::Array(items)) => Some(items),
            _ => None,
        }
    }

    fn take_inner_text(&mut self, key: &str) -> Option<String> {
        let value = self.metadata.get(key).and_then(text).filter(|text| !text.is_empty())?;
        self.note_order();
        self.metadata.remove(key);
        Some(value)
    }

    /// Remembers the order of the metadata before the first of it is taken.
    fn note_order(&mut self) {
        if has_keys(Some(&self.notes), METADATA_NOTE) {
            return;
        }
        if let Ok(map) = Map::open(Json::Object(self.metadata.clone()), METADATA) {
            keep_keys(&mut self.notes, METADATA_NOTE, map.close().1);
        }
    }

    fn content(&mut self, section: &str) -> Vec<(Body, Extra)> {
        let plain = |body: Body| vec![(body, Extra::NONE)];
        let taken = |text: String| {
            if section == SUMMARY && !text.is_empty() {
                Body::Summary(Summary { text, ..Summary::default() })
            } else {
                Body::Text(Text { text })
            }
        };
        match self.map.get("content") {
            None | Some(Json::Null) => plain(taken(String::new())),
            Some(Json::Array(items)) if items.is_empty() => plain(taken(String::new())),
            Some(Json::String(text)) if text.is_empty() => plain(taken(String::new())),
            Some(Json::Array(_)) => self.composite(),
            Some(_) => match self.map.text("content") {
                Some(text) => plain(taken(text)),
                None => {
                    plain(Body::Other { kind: CONTENT.to_owned(), raw: self.map.remove("content").unwrap_or_default() })
                }
            },
        }
    }

    fn composite(&mut self) -> Vec<(Body, Extra)> {
        let items = self.map.list("content").unwrap_or_default();
        let bodies: Vec<_> = items.into_iter().map(text_or_body).collect();
        if let [(Body::Text(_), _)] = bodies.as_slice() {
            self.notes.spelling.set("content", "parts");
        }
        bodies
    }
}

/// The kind under which a content is kept that is neither text nor parts.
pub(super) const CONTENT: &str = "content";

const TEXT_PART: Form = &[("type", KeyRule::Optional), ("text", KeyRule::Optional)];

/// A part of a content. Text stays text, also with more fields beside it.
fn text_or_body(part: Json) -> (Body, Extra) {
    let is_text = |part: &Json| {
        let fields = part.as_object()?;
        (fields.get_str("type")? == "text" && fields.get("text").and_then(text).is_some()).then_some(())
    };
    if is_text(&part).is_none() {
        return (content::body(part), Extra::NONE);
    }
    let mut extra = Extra::NONE;
    let mut notes = ExtraPart::default();
    let text = match Map::open(part, TEXT_PART) {
        Ok(mut map) => {
            map.remove("type");
            let text = map.take("text", text).unwrap_or_default();
            map.leave(&mut notes, "");
            text
        }
        Err(_) => String::new(),
    };
    keep(&mut extra, notes);
    (Body::Text(Text { text }), extra)
}

/// The part of a text, with what stood beside it.
pub(super) fn text_part(block: &Block) -> Option<Json> {
    let text = block.body.as_text()?;
    let mut draft = super::map::Draft::default();
    draft.put("type", "text");
    draft.put("text", text);
    Some(draft.finish(TEXT_PART, super::map::part(&block.extra), ""))
}

/// Blocks of one message: what belongs to the message stands with the first.
fn dress(
    bodies: Vec<(Body, Extra)>,
    author: Author,
    key: MessageKey,
    metadata: Object,
    notes: ExtraPart,
) -> Vec<Block> {
    let mut metadata = Some(metadata);
    let mut notes = Some(notes);
    let dress = |(body, extra)| {
        let mut block = Block { message: key.clone(), extra, ..Block::new(author.clone(), body) };
        block.metadata = metadata.take().unwrap_or_default();
        keep(&mut block.message.extra, notes.take().unwrap_or_default());
        block
    };
    bodies.into_iter().map(dress).collect()
}

/// Where the order of a message's metadata is noted.
pub(super) const METADATA_NOTE: &str = "#metadata";
