//! What the original program makes of a snapshot: its verdict, and its output.

use turnkeep_model::json::{Json, Nan, Node, Number, Object, parse_with};
use turnkeep_model::{Error, ErrorKind, Result};

use super::document::{Entry, Snapshot, VERSION};
use super::{clock, python};

/// The value of a text, refused in the original's words.
pub(super) fn loads<'a>(text: &'a str, words: &str) -> Result<Node<'a>> {
    parse_with(text, Nan::Accept).map_err(|_| Error::new(ErrorKind::Corrupt, words))
}

/// The same error with nothing but the original's words.
pub(super) fn bare(error: &Error) -> Error {
    Error::new(error.kind(), error.what())
}

/// Checks the values that the original's typed reader checks and its untyped one does not.
pub(super) fn check_values(snapshot: &Snapshot<'_>) -> Result<()> {
    let refuse = |words: &str, path: &str| Err(Error::new(ErrorKind::Corrupt, words).path(path));
    if snapshot.version != VERSION {
        let got = python::repr(&snapshot.version);
        let words = format!("Snapshot schema version mismatch: expected {VERSION}, got {got}");
        return refuse(&words, "version");
    }
    if clock::isoformat(&snapshot.created_at).is_none() {
        return refuse("Invalid created_at timestamp", "created_at");
    }
    let is_bad = |id: &String| python::uuid(id).is_none();
    if snapshot.parent_id.as_ref().and_then(Option::as_ref).is_some_and(is_bad) {
        return refuse("Invalid parent_id", "parent_id");
    }
    if snapshot.children_ids.iter().flatten().any(is_bad) {
        return refuse("Invalid children_ids entry", "children_ids");
    }
    Ok(())
}

/// The snapshot as the original writes it after reading it.
pub(super) fn rewritten(snapshot: Snapshot<'_>) -> Snapshot<'_> {
    let id = |id: String| python::uuid(&id).unwrap_or(id);
    Snapshot {
        version: VERSION.to_owned(),
        created_at: clock::isoformat(&snapshot.created_at).unwrap_or(snapshot.created_at),
        parent_id: Some(snapshot.parent_id.flatten().map(id)),
        children_ids: Some(snapshot.children_ids.unwrap_or_default().into_iter().map(id).collect()),
        slices: Some(slices(snapshot.slices.unwrap_or_default())),
        tags: Some(snapshot.tags.unwrap_or_default()),
        policies: Some(snapshot.policies.unwrap_or_default()),
        unknown: Object::new(),
    }
}

/// Of slices with one type the last counts.
fn slices(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut kept: Vec<Entry<'_>> = Vec::with_capacity(entries.len());
    for entry in entries {
        let items = entry.items.unwrap_or_default().into_iter().map(Node::into_json).map(without_type);
        let items = items.map(|item| item.to_node().into_owned()).collect();
        let entry = Entry { items: Some(items), unknown: Object::new(), ..entry };
        match kept.last_mut().filter(|last| last.slice_type == entry.slice_type) {
            Some(last) => *last = entry,
            None => kept.push(entry),
        }
    }
    kept
}

/// Releases from 0.23 on do not write the type into items.
fn without_type(item: Json) -> Json {
    match item {
        Json::Object(mut object) => {
            object.remove("__type__");
            last_wins(Json::Object(object))
        }
        other => other,
    }
}

/// Of keys that stand twice, the last value in the place of the first; and numbers as Python holds them.
fn last_wins(value: Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.into_iter().map(last_wins).collect()),
        Json::Object(object) if object.has_duplicates() => {
            let mut unique = Object::new();
            for (key, value) in object {
                unique.set(&key.to_str_lossy(), last_wins(value));
            }
            Json::Object(unique)
        }
        Json::Object(object) => Json::Object(object.into_iter().map(|(key, value)| (key, last_wins(value))).collect()),
        Json::Number(text) => Number::parse(&python::number(text.as_str())).unwrap_or(text).into(),
        scalar => scalar,
    }
}
