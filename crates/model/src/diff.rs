//! How two sessions differ, place by place.

use crate::json::{Json, JsonString, Object, TreeSink};
use crate::session::Session;
use crate::shape::Shape;

/// One place where two sessions differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The place, as in `turns[3].blocks[1].signature`.
    pub at: String,
    /// What stood there before, if anything did.
    pub before: Option<Json>,
    /// What stands there now, if anything does.
    pub after: Option<Json>,
}

/// Every place where `b` differs from `a`.
///
/// Only the order of messages counts, not the numbers that say it.
pub fn diff(a: &Session, b: &Session) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(&tree(a), &tree(b), &mut String::new(), &mut changes);
    changes
}

/// A session as a native JSON value, its messages numbered without gaps.
fn tree(session: &Session) -> Json {
    let mut session = session.clone();
    number_densely(&mut session);
    let mut sink = TreeSink::default();
    session.write(&mut sink);
    sink.into_json()
}

/// Renumbers the messages of a session without gaps, keeping their order.
pub fn number_densely(session: &mut Session) {
    let mut ordinals: Vec<u32> = session.blocks().map(|(_, block)| block.message.ordinal).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        let rank = ordinals.partition_point(|ordinal| *ordinal < block.message.ordinal);
        block.message.ordinal = u32::try_from(rank).unwrap_or(u32::MAX);
    }
}

fn compare(a: &Json, b: &Json, at: &mut String, changes: &mut Vec<Change>) {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) if !a.has_duplicates() && !b.has_duplicates() => {
            compare_objects(a, b, at, changes);
        }
        (Json::Array(a), Json::Array(b)) => compare_arrays(a, b, at, changes),
        (a, b) if a == b => {}
        (a, b) => changes.push(change(at, Some(a), Some(b))),
    }
}

fn compare_objects(a: &Object, b: &Object, at: &mut String, changes: &mut Vec<Change>) {
    for (key, value) in a.iter() {
        within_key(at, &key.to_str_lossy(), |at| match value_of(b, key) {
            Some(other) => compare(value, other, at, changes),
            None => changes.push(change(at, Some(value), None)),
        });
    }
    for (key, value) in b.iter() {
        if value_of(a, key).is_none() {
            within_key(at, &key.to_str_lossy(), |at| changes.push(change(at, None, Some(value))));
        }
    }
}

/// The value under a key, also where no Rust string can hold that key.
fn value_of<'a>(object: &'a Object, wanted: &JsonString) -> Option<&'a Json> {
    object.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value)
}

fn compare_arrays(a: &[Json], b: &[Json], at: &mut String, changes: &mut Vec<Change>) {
    for index in 0..a.len().max(b.len()) {
        let length = at.len();
        at.push_str(&format!("[{index}]"));
        match (a.get(index), b.get(index)) {
            (Some(a), Some(b)) => compare(a, b, at, changes),
            (a, b) => changes.push(change(at, a, b)),
        }
        at.truncate(length);
    }
}

fn within_key(at: &mut String, key: &str, visit: impl FnOnce(&mut String)) {
    let length = at.len();
    if length > 0 {
        at.push('.');
    }
    at.push_str(key);
    visit(at);
    at.truncate(length);
}

fn change(at: &str, before: Option<&Json>, after: Option<&Json>) -> Change {
    Change { at: at.to_owned(), before: before.cloned(), after: after.cloned() }
}
