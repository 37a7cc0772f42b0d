//! From sessions to snapshots.

use turnkeep_model::json::{Json, Node, Object, Text};
use turnkeep_model::{Session, Slice, SlicePolicy, Time};

use super::conversation::{self, Kind};
use super::decode::{PARENT_TAG, parent_place};
use super::document::{Entry, Snapshot, VERSION};
use super::message::{self, is_absent};
use super::{FORMAT, clock, python};
use crate::fields::kept_pairs;
use crate::tree;

/// Which conversation slice is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    /// The kind, if one is asked for.
    pub kind: Option<Kind>,
    /// Whether there must be one even for a session without turns.
    pub always: bool,
}

/// A slice to be written, and its policy.
#[derive(Debug)]
pub(super) struct Held<'s> {
    pub entry: Entry<'s>,
    pub policy: Option<SlicePolicy>,
}

/// The snapshot of a session; what is large is borrowed.
pub(super) fn snapshot(session: &Session, wanted: Wanted) -> Snapshot<'_> {
    let none = Object::new();
    let part = session.extra.part(FORMAT);
    let spelling = part.map_or(&none, |part| &part.spelling);
    let absent = |key: &str| is_absent(spelling, key);
    let mut slices: Vec<Held<'_>> = session.slices.iter().map(held).collect();
    conversation::pack(session, wanted.kind, wanted.always, &mut slices);
    slices.sort_by(|a, b| a.entry.slice_type.cmp(&b.entry.slice_type));
    let mut unknown = part.map(|part| part.fields.clone()).unwrap_or_default();
    unknown.remove(conversation::FIELDS);
    unknown.remove("conversation_slice");
    let policies = policies(&slices, unknown.remove("policies"));
    let (parent_id, tags) = identity(session);
    let children = children(session, spelling.get("free_children").is_some());
    Snapshot {
        version: spelling.get_str("version").map_or_else(|| VERSION.to_owned(), std::borrow::Cow::into_owned),
        created_at: taken_at(session),
        parent_id: (parent_id.is_some() || !absent("parent_id")).then_some(parent_id),
        children_ids: present(children, absent("children_ids")),
        slices: present(slices.into_iter().map(|held| sorted(held.entry)).collect(), absent("slices")),
        tags: present(tags, absent("tags")),
        policies: present(policies, absent("policies")),
        unknown: sorted_fields(unknown),
    }
}

fn sorted_fields(fields: Object) -> Object {
    let mut node = Json::Object(fields).to_node().into_owned();
    python::sort(&mut node);
    kept_pairs(message::into_fields(node))
}

fn present<T>(list: Vec<T>, unless_empty: bool) -> Option<Vec<T>> {
    (!list.is_empty() || !unless_empty).then_some(list)
}

/// When the snapshot was taken. Every snapshot says so: where the session does not, the epoch stands for "unknown".
fn taken_at(session: &Session) -> String {
    let readable = |time: &&Time| clock::isoformat(time.as_str()).is_some();
    let free = session.extra.spelling(FORMAT, "created_at").is_some();
    if let Some(own) = session.timing.updated.as_ref().filter(|time| free || readable(time)) {
        return own.to_string();
    }
    let spoken = session.blocks().filter_map(|(_, block)| block.message.time.as_ref());
    let known = session.timing.created.iter().chain(spoken).filter(readable).last();
    known.map_or_else(|| "1970-01-01T00:00:00+00:00".to_owned(), ToString::to_string)
}

/// The parent's field and the tags, the session's id and its parent's among them.
fn identity(session: &Session) -> (Option<String>, Vec<(String, String)>) {
    let mut tags: Vec<(String, String)> = Vec::new();
    session.tags.iter().for_each(|(key, value)| set_tag(&mut tags, key, value));
    if let Some(id) = &session.id {
        set_tag(&mut tags, "session_id", id.as_str());
    }
    let mut field = None;
    if let Some(parent) = &session.parent {
        let id = parent.session.as_str();
        let noted = parent.extra.spelling(FORMAT, "in").and_then(Json::as_str);
        let place = noted.as_deref().unwrap_or(parent_place(id));
        if place != "tag" {
            field = Some(id.to_owned());
        }
        if place != "field" {
            set_tag(&mut tags, PARENT_TAG, id);
        }
    }
    (field, tags)
}

fn set_tag(tags: &mut Vec<(String, String)>, key: &str, value: &str) {
    tags.retain(|(name, _)| name != key);
    tags.push((key.to_owned(), value.to_owned()));
}

/// Children are UUIDs for the original, which refuses a snapshot that names others.
fn children(session: &Session, any: bool) -> Vec<String> {
    let ids = session.children.iter().map(turnkeep_model::SessionId::as_str);
    ids.filter(|id| any || python::uuid(id).is_some()).map(str::to_owned).collect()
}

fn policies(slices: &[Held<'_>], others: Option<Json>) -> Vec<(String, String)> {
    let known = |held: &&Held<'_>| matches!(held.policy, Some(SlicePolicy::State | SlicePolicy::Log));
    let word = |held: &Held<'_>| {
        (held.entry.slice_type.clone(), held.policy.as_ref().map(ToString::to_string).unwrap_or_default())
    };
    let mut policies: Vec<(String, String)> = Vec::new();
    for pair in slices.iter().filter(known).map(word) {
        if policies.last().is_none_or(|(name, _)| *name != pair.0) {
            policies.push(pair);
        }
    }
    if let Some(Json::Object(others)) = others {
        let text = |(name, word): (_, &Json)| {
            let name: &turnkeep_model::JsonString = name;
            Some((name.to_str_lossy().into_owned(), word.as_str()?.into_owned()))
        };
        let others: Vec<_> = others.iter().filter_map(text).collect();
        for (name, word) in others {
            if !policies.iter().any(|(known, _)| *known == name) && matches!(word.as_str(), "state" | "log") {
                policies.push((name, word));
            }
        }
    }
    policies
}

/// A slice as it is written.
pub(super) fn held(slice: &Slice) -> Held<'_> {
    let part = slice.extra.part(FORMAT);
    let bare = part.is_some_and(|part| part.spelling.get("items").is_some());
    let entry = Entry {
        item_type: slice.item_type.clone().unwrap_or_else(|| slice.name.clone()),
        unknown: part.map(|part| part.fields.clone()).unwrap_or_default(),
        slice_type: slice.name.clone(),
        items: present(slice.items.iter().map(as_object).collect(), bare),
    };
    Held { entry, policy: slice.policy.clone() }
}

/// The entry as a reader of its text finds it.
fn sorted(mut entry: Entry<'_>) -> Entry<'_> {
    entry.items.iter_mut().flatten().for_each(python::sort);
    Entry { unknown: sorted_fields(entry.unknown), ..entry }
}

/// An item as the original accepts it: what is no object is wrapped in one.
pub(super) fn as_object(item: &Json) -> Node<'_> {
    match item {
        Json::Object(_) => item.to_node(),
        other => tree::object(vec![(Text::Plain("value"), other.to_node())]),
    }
}
