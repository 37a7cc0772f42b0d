//! Changes to a recorded body, which stands in chunks.

use std::collections::BTreeMap;
use std::ops::Range;

use turnkeep_model::json::{self, Json, Node};

use super::exchange::Chunk;
use crate::scrub::{Pieces, Scrubber};

/// What stands in the place of some bytes of a body.
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) bytes: Vec<u8>,
}

/// The bytes of all chunks.
pub(super) fn whole(chunks: &[Chunk]) -> Vec<u8> {
    chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect()
}

/// The chunks with edits made, which are in order. What an edit brings stands in the chunk where it begins.
pub(super) fn edited(mut chunks: Vec<Chunk>, edits: &[Edit]) -> Vec<Chunk> {
    if edits.is_empty() {
        return chunks;
    }
    let whole = whole(&chunks);
    let mut end = 0;
    for chunk in &mut chunks {
        let (from, to) = (end, end + chunk.bytes.len());
        end = to;
        let (mut bytes, mut at) = (Vec::new(), from);
        for Edit { range, bytes: new } in edits.iter().filter(|edit| edit.range.end > from && edit.range.start < to) {
            bytes.extend_from_slice(whole.get(at..range.start.max(at)).unwrap_or_default());
            if range.start >= from {
                bytes.extend_from_slice(new);
            }
            at = range.end;
        }
        bytes.extend_from_slice(whole.get(at.min(to)..to).unwrap_or_default());
        chunk.bytes = bytes;
    }
    chunks
}

/// An event of a stream that stands on a line of its own.
struct Event {
    range: Range<usize>,
    json: Json,
    changed: bool,
}

/// The fields by which events say which of several texts they go on with.
const STREAM: &[&str] = &["type", "item_id", "output_index", "index"];

/// Takes out keys that a stream says in several events: the texts of one place, one after the other, make them up. A
/// recording would say them again when it is replayed.
pub(super) fn split_over_events(whole: &[u8], keys: &Scrubber) -> Vec<Edit> {
    let mut events = events(whole);
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    for event in &mut events {
        event.texts(&mut |place, text| said.entry(place.to_owned()).or_default().push_str(text));
    }
    said.retain(|_, text| keys.finds(text));
    let mut pieces: BTreeMap<String, Pieces> = said.into_keys().map(|place| (place, Pieces::default())).collect();
    for event in &mut events {
        event.texts(&mut |place, text| {
            if let Some(pieces) = pieces.get_mut(place) {
                *text = pieces.push(text, keys);
            }
        });
    }
    for event in events.iter_mut().rev() {
        event.texts(&mut |place, text| {
            if let Some(mut pieces) = pieces.remove(place) {
                text.push_str(&pieces.finish());
            }
        });
    }
    let changed = events.into_iter().filter(|event| event.changed);
    changed.map(|event| Edit { range: event.range, bytes: event.json.to_text().into_bytes() }).collect()
}

/// The events of a stream of text: a JSON object each, behind the word of its field or alone on its line.
fn events(whole: &[u8]) -> Vec<Event> {
    let (mut events, mut at) = (Vec::new(), 0);
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        at += line.len();
        let event = std::str::from_utf8(line).ok().and_then(|line| {
            let lead = line.find('{')?;
            let text = line.get(lead..)?.trim_end();
            let json = json::parse(text).ok().map(Node::into_json)?;
            Some(Event { range: start + lead..start + lead + text.len(), json, changed: false })
        });
        events.extend(event);
    }
    events
}

impl Event {
    /// Shows every text with its place, and takes it back as it is then.
    fn texts(&mut self, each: &mut dyn FnMut(&str, &mut String)) {
        let of = |key: &&str| self.json.as_object().and_then(|event| event.get(key)).map(Json::to_text);
        let stream: String = STREAM.iter().filter_map(of).collect();
        self.changed |= texts(&mut self.json, &stream, each);
    }
}

fn texts(json: &mut Json, place: &str, each: &mut dyn FnMut(&str, &mut String)) -> bool {
    match json {
        Json::String(string) => {
            let before = string.to_str_lossy().into_owned();
            let mut after = before.clone();
            each(place, &mut after);
            let changed = before != after;
            if changed {
                *json = Json::from(after);
            }
            changed
        }
        Json::Array(items) => {
            let within = items.iter_mut().enumerate();
            within.fold(false, |changed, (index, item)| texts(item, &format!("{place}[{index}]"), each) | changed)
        }
        Json::Object(object) => object.iter_mut().fold(false, |changed, (key, value)| {
            texts(value, &format!("{place}.{}", key.to_str_lossy()), each) | changed
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
