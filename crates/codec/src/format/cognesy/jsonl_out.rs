//! From sessions to the message storage.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Archive, Session};

use super::jsonl::{HEADER, LABEL, ORDER, PART, RECORD, RECORDS, TAG, VERSION};
use super::map::{Draft, has_note, left_at, note, note_word, text};
use super::message::SECTION;
use super::message_out::{self, Group};
use super::style;
use super::words;

/// A record of a message, and its id.
struct Written {
    id: String,
    record: Json,
}

/// The records of some sessions, one a line.
pub(super) fn write(archive: &Archive) -> Vec<Json> {
    let empty = Session::default();
    let main = archive.main_session().unwrap_or(&empty);
    let mut writing = Writing::of(archive);
    let mut leaf = None;
    for (index, session) in archive.sessions.iter().enumerate() {
        let last = writing.session(session);
        if index == archive.main as usize {
            leaf = last;
        }
    }
    let written = writing.written;
    let is_last = leaf.is_none() || leaf.as_deref() == written.last().map(|last| last.id.as_str());
    let mut records: Vec<Json> = header(main, leaf.filter(|_| !is_last)).into_iter().collect();
    let others = others(main, &written);
    records.extend(ordered(written, others, main.extra.spelling(PART, ORDER)));
    records
}

/// The order of records where nothing is noted: messages of each session in turn, then the others.
pub(super) fn usual_order(archive: &Archive, others: usize) -> Vec<Json> {
    let mut writing = Writing::of(archive);
    archive.sessions.iter().for_each(|session| {
        writing.session(session);
    });
    let messages = writing.written.into_iter().map(|written| Json::from(written.id));
    messages.chain((0..others).map(|at| Json::from(at as u64))).collect()
}

#[derive(Default)]
struct Writing {
    written: Vec<Written>,
    ids: HashSet<String>,
    made: u64,
    /// The ids that messages have: none of them is made for another.
    taken: HashSet<String>,
}

impl Writing {
    fn of(archive: &Archive) -> Writing {
        let blocks = archive.sessions.iter().flat_map(Session::blocks);
        let ids = blocks.filter_map(|(_, block)| block.message.id.as_ref());
        Writing { taken: ids.map(|id| id.as_str().to_owned()).collect(), ..Writing::default() }
    }

    /// Writes what is new of a session; gives the id of its last message.
    fn session(&mut self, session: &Session) -> Option<String> {
        let mut before: Option<String> = None;
        for group in message_out::groups(session, |_| false) {
            let (id, own) = self.id(&group);
            if !own || self.ids.insert(id.clone()) {
                let record = record(&group, &id, before.as_deref());
                self.written.push(Written { id: id.clone(), record });
            }
            before = Some(id);
        }
        before
    }

    /// The id of a message, and whether it is its own: the storage cannot do without.
    fn id(&mut self, group: &Group<'_>) -> (String, bool) {
        let first = group.first();
        let kept = first.and_then(|block| left_at(block.message.extra.part(PART), "")?.get("id").and_then(text));
        let any = first.is_some_and(|block| note(&block.message.extra, "ids").is_some());
        let own = first.and_then(|block| block.message.id.as_ref()).map(turnkeep_model::MessageId::as_str);
        match kept.or(own.filter(|id| any || words::is_uuid(id)).map(str::to_owned)) {
            Some(id) => (id, true),
            None => (self.make(), false),
        }
    }

    /// An id that no message has.
    fn make(&mut self) -> String {
        loop {
            self.made += 1;
            let id = format!("00000000-0000-4000-8000-{:012x}", self.made);
            if !self.taken.contains(&id) {
                return id;
            }
        }
    }
}

fn record(group: &Group<'_>, id: &str, before: Option<&str>) -> Json {
    let Some(first) = group.first() else { return Json::Null };
    let notes = first.message.extra.part(PART);
    let mut data = message_out::write_after(group, &style::V2, Object::new(), before);
    if let Json::Object(fields) = &mut data
        && !fields.contains("id")
        && left_at(notes, "").is_none_or(|left| !left.contains("id"))
    {
        let rest = std::mem::take(fields);
        fields.push("id", id);
        rest.into_iter().for_each(|(key, value)| fields.push(key, value));
    }
    let mut draft = Draft::default();
    draft.derive("type", "message");
    draft.derive("id", id);
    draft.derive("parentId", before.map_or(Json::Null, Json::from));
    draft.derive("section", note_word(&first.message.extra, "section").as_deref().unwrap_or(SECTION));
    draft.derive("timestamp", first.message.time.as_ref().map_or(Json::Null, |time| Json::from(time.as_str())));
    draft.derive("data", data);
    draft.finish(RECORD, notes, "")
}

fn header(session: &Session, leaf: Option<String>) -> Option<Json> {
    let notes = session.extra.part(PART);
    if has_note(notes, "header") {
        return None;
    }
    let mut draft = Draft::default();
    draft.derive("type", "session");
    draft.derive("version", VERSION);
    draft.put_text("id", session.id.as_ref().map(turnkeep_model::SessionId::as_str));
    draft.put_time("createdAt", session.timing.created.as_ref());
    draft.put_some("leafId", leaf);
    Some(draft.finish(HEADER, notes, "header"))
}

/// Labels and what other records a file held.
fn others(session: &Session, written: &[Written]) -> Vec<Json> {
    let kept = left_at(session.extra.part(PART), "").and_then(|left| left.get(RECORDS)).and_then(Json::as_array);
    let ids: HashSet<&str> = written.iter().map(|written| written.id.as_str()).collect();
    let targets = |(_, target): &&(String, String)| ids.contains(target.as_str());
    let mut tags = session.tags.iter().filter(targets).filter(|tag| !is_whole(kept.unwrap_or_default(), tag));
    let mut records = Vec::new();
    for record in kept.unwrap_or_default() {
        match record.as_object().and_then(|fields| fields.get(TAG)).and_then(Json::as_object) {
            Some(fields) => records.extend(tags.next().map(|tag| label(tag, Some(fields)))),
            None => records.push(record.clone()),
        }
    }
    records.extend(tags.map(|tag| label(tag, None)));
    records
}

/// Whether a tag has a record that was kept whole.
fn is_whole(kept: &[Json], (label, target): &(String, String)) -> bool {
    kept.iter().filter_map(Json::as_object).any(|fields| {
        fields.get_str("targetId").as_deref() == Some(target) && fields.get_str("label").as_deref() == Some(label)
    })
}

fn label((label, target): &(String, String), kept: Option<&Object>) -> Json {
    let mut draft = Draft::default();
    draft.put("type", "label");
    draft.put("targetId", target.as_str());
    draft.put("label", label.as_str());
    for (key, value) in kept.into_iter().flat_map(Object::iter).filter(|(key, _)| key.to_str_lossy() != "type") {
        draft.put(&key.to_str_lossy(), value.clone());
    }
    draft.finish(LABEL, None, "")
}

/// Records in the order of a note: ids of messages, and places among the others.
fn ordered(written: Vec<Written>, others: Vec<Json>, order: Option<&Json>) -> Vec<Json> {
    let mut written: Vec<Option<Written>> = written.into_iter().map(Some).collect();
    let mut others: Vec<Option<Json>> = others.into_iter().map(Some).collect();
    let places: std::collections::HashMap<String, usize> = written
        .iter()
        .enumerate()
        .filter_map(|(at, record)| record.as_ref().map(|record| (record.id.clone(), at)))
        .collect();
    let mut records = Vec::new();
    for item in order.and_then(Json::as_array).unwrap_or_default() {
        let record = match item {
            Json::Number(at) => at.as_u64().and_then(|at| others.get_mut(at as usize)).and_then(Option::take),
            item => text(item)
                .and_then(|id| places.get(&id))
                .and_then(|at| written.get_mut(*at))
                .and_then(Option::take)
                .map(|written| written.record),
        };
        records.extend(record);
    }
    records.extend(written.into_iter().flatten().map(|written| written.record));
    records.extend(others.into_iter().flatten());
    records
}
