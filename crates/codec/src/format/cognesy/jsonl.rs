//! The message storage: one record a line, branches in one file.

use std::collections::{HashMap, HashSet};

use turnkeep_model::json::{self, Json, Nan, Node};
use turnkeep_model::{Archive, Block, ExtraPart, Loss, LossKind, Parent, Session, SessionId};

use super::conversation::ConversationBuilder;
use super::map::{Form, KeyRule, Map, keep_as, text};
use super::message::SECTION;
use super::style;
use super::words::Generation;
use super::{FORMAT, verdict};
use crate::codec::Mode;

pub(super) const HEADER: Form = &[
    ("type", KeyRule::Derived),
    ("version", KeyRule::Derived),
    ("id", KeyRule::Null),
    ("createdAt", KeyRule::Null),
    ("leafId", KeyRule::Null),
];
pub(super) const RECORD: Form = &[
    ("type", KeyRule::Derived),
    ("id", KeyRule::Derived),
    ("parentId", KeyRule::Derived),
    ("section", KeyRule::Derived),
    ("timestamp", KeyRule::Derived),
    ("data", KeyRule::Derived),
];
pub(super) const LABEL: Form = &[
    ("type", KeyRule::Derived),
    ("id", KeyRule::Optional),
    ("parentId", KeyRule::Null),
    ("targetId", KeyRule::Derived),
    ("label", KeyRule::Derived),
    ("timestamp", KeyRule::Optional),
];

/// The version that is read and written.
pub(super) const VERSION: u64 = 1;

/// Where records that are no messages are kept: as the line says.
pub(super) const RECORDS: &str = "records";

/// The key under which the rest of a label's record is kept whose text and target are a tag of the session.
pub(super) const TAG: &str = "#tag";

/// The note on the order of the records.
pub(super) const ORDER: &str = "record_order";

/// The name under which the storage keeps what only it has.
pub(super) const PART: &str = "cognesy.jsonl";

/// One line that could be read.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Which line of the file, from 1.
    pub number: usize,
    pub record: Json,
}

/// The lines of a file that are JSON objects, and the loss of those that are not.
pub(super) fn lines(text: &str) -> (Vec<Line>, Vec<Loss>) {
    let mut lines = Vec::new();
    let mut losses = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match json::parse_with(line.trim(), Nan::Accept).map(Node::into_json) {
            Ok(record @ Json::Object(_)) => lines.push(Line { number: at + 1, record }),
            _ => {
                let what = format!("line {} is not a JSON object and was skipped", at + 1);
                losses.push(Loss::decode(LossKind::Dropped, "", what));
            }
        }
    }
    (lines, losses)
}

fn field<'a>(record: &'a Json, key: &str) -> Option<&'a Json> {
    record.as_object().and_then(|fields| fields.get(key))
}

fn field_text(record: &Json, key: &str) -> Option<String> {
    field(record, key).and_then(text).filter(|text| !text.is_empty())
}

/// A file while it is read.
#[derive(Debug, Default)]
struct Reading {
    /// Messages in the order of the file.
    messages: Vec<Json>,
    by_id: HashMap<String, usize>,
    /// Messages that could not be read, with their parents: paths go on past them.
    skipped: HashMap<String, Option<String>>,
    /// The names of the records in order: message ids, and places in `others`.
    order: Vec<Json>,
    others: Vec<Json>,
    labels: Vec<(String, String)>,
    header: Option<Json>,
    losses: Vec<Loss>,
}

/// The sessions of a file: one for each branch, the one that the file stands at being the main one.
pub(super) fn read(lines: Vec<Line>, mode: Mode) -> (Archive, Vec<Loss>) {
    let mut reading = Reading::default();
    for line in lines {
        reading.line(line, mode);
    }
    reading.archive()
}

impl Reading {
    fn line(&mut self, line: Line, mode: Mode) {
        let Line { number, record } = line;
        match field_text(&record, "type").as_deref() {
            Some("session") if self.header.is_none() => self.header = Some(record),
            Some("message") => self.message(number, record, mode),
            Some("label") => {
                self.label(&record);
                self.other(record);
            }
            // Records of other types are not for us.
            _ => self.other(record),
        }
    }

    fn message(&mut self, number: usize, record: Json, mode: Mode) {
        let id = field_text(&record, "id");
        let data = field(&record, "data").filter(|data| data.as_object().is_some());
        let reason = match (&id, data) {
            (None, _) => Some("it has no id".to_owned()),
            (_, None) => Some("it has no data".to_owned()),
            (Some(_), Some(data)) if mode == Mode::Compat => {
                verdict::message(data).err().map(|error| error.what().to_owned())
            }
            _ => None,
        };
        if let Some(reason) = reason {
            let what = format!("line {number} is a message that is not read: {reason}");
            self.losses.push(Loss::decode(LossKind::Dropped, "", what));
            if let Some(id) = id {
                self.skipped.insert(id, field_text(&record, "parentId"));
            }
            return self.other(record);
        }
        let id = id.unwrap_or_default();
        if let Some(earlier) = self.by_id.get(&id).copied() {
            let what = format!("line {number} replaces an earlier message with its id");
            self.losses.push(Loss::decode(LossKind::Dropped, "", what));
            if let Some(slot) = self.messages.get_mut(earlier) {
                *slot = record;
            }
            return;
        }
        self.order.push(Json::from(id.as_str()));
        self.by_id.insert(id, self.messages.len());
        self.messages.push(record);
    }

    /// A label without a text takes the label away.
    fn label(&mut self, record: &Json) {
        let Some(target) = field_text(record, "targetId") else { return };
        self.labels.retain(|(_, held)| *held != target);
        if let Some(label) = field(record, "label").and_then(text) {
            self.labels.push((label, target));
        }
    }

    fn other(&mut self, record: Json) {
        self.order.push(Json::from(self.others.len() as u64));
        self.others.push(record);
    }

    /// The message before another one, past those that could not be read.
    fn parent(&self, at: usize) -> Option<usize> {
        let mut parent = self.messages.get(at).and_then(|record| field_text(record, "parentId"))?;
        let mut seen = HashSet::new();
        loop {
            if let Some(at) = self.by_id.get(&parent) {
                return Some(*at);
            }
            if !seen.insert(parent.clone()) {
                return None;
            }
            parent = self.skipped.get(&parent)?.clone()?;
        }
    }

    /// The messages from the first to `leaf`. One that leads back to itself ends there.
    fn path(&self, leaf: usize) -> Vec<usize> {
        let mut seen = HashSet::new();
        let mut path = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next.filter(|at| seen.insert(*at)) {
            path.push(at);
            next = self.parent(at);
        }
        path.reverse();
        path
    }

    /// Where branches end, in the order of the file, and which of them the file stands at.
    fn leaves(&self) -> (Vec<usize>, usize) {
        let parents: HashSet<usize> = (0..self.messages.len()).filter_map(|at| self.parent(at)).collect();
        let named = self.header.as_ref().and_then(|header| field_text(header, "leafId"));
        let main = named.and_then(|id| self.by_id.get(&id).copied()).or(self.messages.len().checked_sub(1));
        let is_leaf = |at: &usize| !parents.contains(at) || Some(*at) == main;
        let leaves: Vec<usize> = (0..self.messages.len()).filter(is_leaf).collect();
        let place = leaves.iter().position(|leaf| Some(*leaf) == main).unwrap_or_default();
        (leaves, place)
    }

    fn archive(mut self) -> (Archive, Vec<Loss>) {
        let (leaves, main) = self.leaves();
        let mut archive = Archive { main: u32::try_from(main).unwrap_or_default(), ..Archive::default() };
        let head = self.head(leaves.get(main).copied());
        for (index, leaf) in leaves.iter().enumerate() {
            let mut session = if index == main { head.clone() } else { branch(&head) };
            let losses = self.branch(&mut session, *leaf);
            let prefix = archive.prefix(index);
            self.losses.extend(losses.into_iter().map(|loss| Loss { at: format!("{prefix}{}", loss.at), ..loss }));
            archive.sessions.push(session);
        }
        if leaves.is_empty() {
            archive.sessions.push(head);
        }
        let usual = super::jsonl_out::usual_order(&archive, self.others.len());
        if self.order != usual
            && let Some(session) = archive.sessions.get_mut(main)
        {
            session.extra.part_mut(PART).spelling.set(ORDER, Json::Array(self.order));
        }
        (archive, self.losses)
    }

    /// What the header and the records beside the messages say.
    fn head(&mut self, main: Option<usize>) -> Session {
        let mut session = Session::default();
        let mut part = ExtraPart::default();
        match self.header.clone().map(|header| Map::open(header, HEADER)) {
            Some(Ok(mut map)) => {
                map.derived("type", &Json::from("session"));
                map.derived("version", &Json::from(VERSION));
                session.id = map.text("id").map(SessionId::new);
                session.timing.created = map.time("createdAt");
                let is_last = main.map(|at| at + 1) == Some(self.messages.len());
                if !is_last && map.get("leafId").is_some() {
                    map.remove("leafId");
                }
                map.leave(&mut part, "header");
            }
            _ => part.spelling.set("header", "none"),
        }
        session.tags = self.labels.clone();
        if !self.others.is_empty() {
            let records = self.others.iter().map(|record| self.without_label(record));
            part.fields.push(RECORDS, Json::Array(records.collect()));
        }
        keep_as(&mut session.extra, PART, part);
        session
    }

    /// What a record that is no message says beyond the tags of its session.
    fn without_label(&self, record: &Json) -> Json {
        let label = field(record, "label").and_then(text).zip(field_text(record, "targetId"));
        let is_tag = field_text(record, "type").as_deref() == Some("label")
            && label.is_some_and(|label| self.by_id.contains_key(&label.1) && self.labels.contains(&label));
        match Map::open(record.clone(), LABEL) {
            Ok(mut map) if is_tag && !map.is_odd() => {
                map.remove("label");
                map.remove("targetId");
                Json::Object([(TAG, Json::Object(map.close().0))].into_iter().collect())
            }
            _ => record.clone(),
        }
    }

    fn branch(&self, session: &mut Session, leaf: usize) -> Vec<Loss> {
        let mut conversation = ConversationBuilder::default();
        let mut before: Option<String> = None;
        for record in self.path(leaf).into_iter().filter_map(|at| self.messages.get(at)) {
            let id = field_text(record, "id");
            if let Some(Opened { section, message, record }) = opened(record, before.as_deref()) {
                conversation
                    .message_with(&section, message, &style::V2, |block| beside(block, record, before.as_deref()));
            }
            before = id;
        }
        conversation.finish(session, Generation::V2)
    }
}

/// A branch knows the session that it leaves.
fn branch(main: &Session) -> Session {
    let parent = main.id.clone().map(|session| Parent { session, ..Parent::default() });
    Session { parent, ..Session::default() }
}

/// A record, opened: the section and the message, and what is left to say of it.
struct Opened {
    section: String,
    message: Json,
    record: Map,
}

fn opened(record: &Json, before: Option<&str>) -> Option<Opened> {
    let mut record = Map::open(record.clone(), RECORD).ok()?;
    let message = record.remove("data")?;
    let section = match record.get("section").and_then(text).filter(|section| !section.is_empty()) {
        Some(section) => {
            record.remove("section");
            section
        }
        None => SECTION.to_owned(),
    };
    record.derived("type", &Json::from("message"));
    if let Some(id) = field(&message, "id") {
        record.derived("id", id);
    }
    record.derived("timestamp", field(&message, "createdAt").unwrap_or(&Json::Null));
    record.derived("parentId", &before.map_or(Json::Null, Json::from));
    Some(Opened { section, message, record })
}

/// Keeps with a message what its record says beside it. The parent that its place gives need not be kept.
fn beside(block: &mut Block, record: Map, before: Option<&str>) {
    record.leave(block.message.extra.part_mut(PART), "");
    let part = block.message.extra.part_mut(FORMAT);
    let own = part.fields.get("parentId").and_then(text);
    if own.as_deref() == before {
        part.fields.remove("parentId");
    } else if own.is_none() && before.is_some() && !part.fields.contains("parentId") {
        part.spelling.set("parent", "none");
    }
    block.message.extra.tidy();
}
