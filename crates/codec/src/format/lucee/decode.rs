//! From a serialized session to a session.

use std::borrow::Cow;

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Author, Block, Extra, ExtraPart, Loss, LossKind, Session, Summary, Turn};

use super::FORMAT;
use super::document::{Document, Item, Layout, SESSION_KEYS, SUMMARY_QUESTION, Side, unset};
use super::part;
use crate::codec::Mode;

/// The session of a document, and what had to be changed.
pub(super) fn session(document: Document, mode: Mode) -> (Session, Vec<Loss>) {
    let mut decoder = Decoder { mode, ordinal: 0, losses: Vec::new(), fields: Object::new(), notes: Vec::new() };
    let session = decoder.session(document);
    (session, decoder.losses)
}

struct Decoder {
    mode: Mode,
    ordinal: u32,
    losses: Vec<Loss>,
    /// Values under known keys that mean nothing here.
    fields: Object,
    notes: Vec<(&'static str, Json)>,
}

impl Decoder {
    fn session(&mut self, mut document: Document) -> Session {
        let mut session = Session::default();
        let compat = self.mode == Mode::Compat;
        let settings = &mut document.settings;
        let warm = |value: f64| value > 0.0 || (value == 0.0 && !compat);
        session.options.temperature = self.number(settings, "temperature", warm);
        session.options.limits.exchanges = self.number(settings, "limit", |value| value > 0.0);
        session.options.connect_timeout_ms = self.number(settings, "connectionTimeout", |value| value >= 0.0);
        session.options.socket_timeout_ms = self.number(settings, "socketTimeout", |value| value >= 0.0);
        let system = self.system(settings);
        if compat {
            self.ignored(settings);
        } else {
            self.tags(settings, &mut session);
            self.metadata(settings, &mut session);
        }
        session.turns = self.turns(system, document.history);
        self.layout(document.layout, document.upper);
        let unknown = std::mem::take(&mut self.fields).into_iter().chain(document.unknown).collect();
        keep(&mut session.extra, document.keys, unknown, std::mem::take(&mut self.notes), self.mode);
        session
    }

    /// What other programs put into a session, and Lucee drops.
    fn ignored(&mut self, settings: &mut Object) {
        for key in ["tags", "metadata"] {
            if settings.remove(key).is_some() {
                self.loss(LossKind::Dropped, key, "Lucee ignores it");
            }
        }
    }

    /// A setting that is a number for which `counts` holds; anything else leaves it to the endpoint.
    fn number(&mut self, settings: &mut Object, key: &'static str, counts: impl Fn(f64) -> bool) -> Option<Number> {
        let value = settings.remove(key)?;
        let number = match &value {
            Json::Number(number) => Some(number.clone()),
            Json::String(text) => Number::parse(&text.to_str_lossy()),
            _ => None,
        };
        let is_number = number.is_some();
        if let Some(number) = number.filter(|number| counts(number.as_f64())) {
            if let Json::String(_) = value {
                self.notes.push((key, Json::from("text")));
                self.loss(LossKind::Coerced, place_of(key), "a text that holds a number is read as that number");
            }
            return Some(number);
        }
        if !is_number && value != Json::Null {
            self.loss(LossKind::Coerced, place_of(key), "it is not a number; the endpoint decides");
        }
        if value != unset(key) {
            self.fields.push(key, value);
        }
        None
    }

    fn system(&mut self, settings: &mut Object) -> Option<Block> {
        let value = settings.remove("systemMessage")?;
        let text = match scalar(&value) {
            Some((text, kind)) => {
                self.notes.push(("systemMessage", Json::from(kind)));
                self.losses.push(part::scalar_loss("turns[0].blocks[0]", kind));
                text
            }
            None => value.as_str().map(Cow::into_owned).unwrap_or_default(),
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            if value != Json::Null {
                self.fields.push("systemMessage", value);
            }
            return None;
        }
        if trimmed.len() != text.len() {
            let start = text.len() - text.trim_start().len();
            let around = [text.get(..start), text.get(start + trimmed.len()..)];
            let around = around.map(|space| Json::from(space.unwrap_or_default()));
            self.notes.push(("systemMessage", Json::Array(around.into())));
        }
        Some(Block::text(Author::System, trimmed))
    }

    fn tags(&mut self, settings: &mut Object, session: &mut Session) {
        let Some(value) = settings.remove("tags") else { return };
        let text = |value: &Json| value.as_str().map(Cow::into_owned);
        let pairs: Option<Vec<(String, String)>> = match &value {
            Json::Object(map) => {
                map.iter().map(|(key, value)| Some((key.to_str().ok()?.into_owned(), text(value)?))).collect()
            }
            Json::Array(items) => items.iter().map(|item| Some((text(item)?, String::new()))).collect(),
            _ => None,
        };
        match pairs.filter(|pairs| !pairs.is_empty()) {
            Some(pairs) => {
                if let Json::Array(_) = value {
                    self.notes.push(("tags", Json::from("list")));
                }
                session.tags = pairs;
            }
            None => self.fields.push("tags", value),
        }
    }

    fn metadata(&mut self, settings: &mut Object, session: &mut Session) {
        match settings.remove("metadata") {
            Some(Json::Object(map)) if !map.is_empty() => session.metadata = map,
            Some(value) => self.fields.push("metadata", value),
            None => {}
        }
    }

    fn layout(&mut self, layout: Layout, upper: bool) {
        let Layout { compact, crlf, unended } = layout;
        let notes = [("compact", compact), ("crlf", crlf), ("unended", unended), ("upper", upper)];
        self.notes.extend(notes.into_iter().filter(|(_, is)| *is).map(|(key, is)| (key, Json::Bool(is))));
    }

    fn turns(&mut self, system: Option<Block>, history: Vec<Item>) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::with_capacity(history.len());
        let mut first = Turn::default();
        if let Some(block) = system {
            first.blocks.push(block);
            self.ordinal = 1;
        }
        if history.is_empty() && !first.blocks.is_empty() {
            turns.push(first);
            return turns;
        }
        for (index, item) in history.into_iter().enumerate() {
            turns.push(self.turn(std::mem::take(&mut first), index, item));
        }
        turns
    }

    fn turn(&mut self, mut turn: Turn, index: usize, item: Item) -> Turn {
        let item = match self.summary(item) {
            Ok(block) => {
                turn.blocks.push(block);
                return turn;
            }
            Err(item) => item,
        };
        let mut notes = Vec::new();
        if item.question == Side::Null {
            notes.push(("question", Json::from("null")));
            self.loss(LossKind::Coerced, format!("turns[{index}]"), "a question is null; it is read as none");
        }
        for (key, author, side) in
            [("question", Author::User, item.question), ("answer", Author::Assistant, item.answer)]
        {
            notes.extend(self.side(&mut turn, index, author, side).map(|kind| (key, Json::from(kind))));
        }
        keep(&mut turn.extra, item.keys, item.unknown, notes, self.mode);
        turn
    }

    /// The summary that an exchange stands for, if it was written as one; Lucee itself knows none.
    fn summary(&mut self, item: Item) -> Result<Block, Item> {
        let bare = item.keys.is_none() && item.unknown.is_empty() && self.mode == Mode::Faithful;
        match (item.question, item.answer) {
            (Side::Text(question), Side::Text(text)) if bare && question == SUMMARY_QUESTION => {
                let block = Block::new(Author::User, Summary { text, ..Summary::default() }).in_message(self.ordinal);
                self.ordinal += 1;
                Ok(block)
            }
            (question, answer) => Err(Item { question, answer, ..item }),
        }
    }

    /// Adds the blocks of a question or an answer; gives how it was spelled where that is not the usual way.
    fn side(&mut self, turn: &mut Turn, index: usize, author: Author, side: Side) -> Option<&'static str> {
        let from = turn.blocks.len();
        let at = |block: usize| format!("turns[{index}].blocks[{block}]");
        let ordinal = self.ordinal;
        let mut note = None;
        match side {
            Side::Null => return None,
            Side::Text(text) => turn.blocks.push(Block::text(author, text).in_message(ordinal)),
            Side::Scalar(value) => {
                let (text, kind) = scalar(&value)?;
                self.losses.push(part::scalar_loss(&at(from), kind));
                turn.blocks.push(Block::text(author, text).in_message(ordinal));
                note = Some(kind);
            }
            Side::Parts(parts) => {
                for part in parts {
                    let at = at(turn.blocks.len());
                    let block = part::block(part, author.clone(), self.mode, &at, &mut self.losses);
                    turn.blocks.push(block.in_message(ordinal));
                }
                let blocks = turn.blocks.get(from..).unwrap_or_default();
                note = (!blocks.iter().any(part::needs_part)).then_some("parts");
            }
        }
        self.ordinal += 1;
        note
    }

    fn loss(&mut self, kind: LossKind, at: impl Into<String>, what: &str) {
        self.losses.push(Loss::decode(kind, at, what));
    }
}

fn scalar(value: &Json) -> Option<(String, &'static str)> {
    part::scalar_text(value)
}

fn place_of(key: &str) -> &'static str {
    match key {
        "temperature" => "options.temperature",
        "limit" => "options.limits.exchanges",
        "connectionTimeout" => "options.connect_timeout_ms",
        _ => "options.socket_timeout_ms",
    }
}

/// Keeps what was not consumed and how it was spelled; Lucee itself would keep none of it but what it writes again.
pub(super) fn keep(
    extra: &mut Extra,
    keys: Option<Vec<String>>,
    unknown: Object,
    notes: Vec<(&str, Json)>,
    mode: Mode,
) {
    let mut part = ExtraPart::default();
    for (key, value) in notes {
        part.spelling.set(key, value);
    }
    if mode == Mode::Faithful {
        part.fields = unknown;
        if let Some(keys) = keys {
            part.spelling.set("keys", keys.into_iter().map(Json::from).collect::<Vec<_>>());
        }
    }
    extra.keep(FORMAT, part);
}

/// The keys of a node as spelled and in their order, where that was noted.
pub(super) fn key_list(extra: &Extra) -> Option<Vec<String>> {
    let keys = extra.spelling(FORMAT, "keys")?.as_array()?;
    keys.iter().map(|key| key.as_str().map(Cow::into_owned)).collect()
}

/// Whether a field that was kept stands under a key that the format knows.
pub(super) fn is_setting(key: &str) -> bool {
    SESSION_KEYS.contains(&key)
}
