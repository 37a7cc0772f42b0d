//! From snapshots to sessions.

use turnkeep_model::json::{Json, Node, Object};
use turnkeep_model::{Loss, LossKind, Parent, Session, SessionId, Slice, SlicePolicy, Time};

use super::document::{Entry, Snapshot, VERSION};
use super::{FORMAT, clock, conversation, python};

/// The session of a snapshot, its conversation as turns.
pub(super) fn session(snapshot: Snapshot<'_>, losses: &mut Vec<Loss>) -> Session {
    let mut session = Session::default();
    note_envelope(&snapshot, &mut session, losses);
    session.timing.updated = Some(Time::new(snapshot.created_at));
    let mut tags = snapshot.tags.unwrap_or_default();
    session.id = take_tag(&mut tags, "session_id").map(SessionId::new);
    session.parent = parent(snapshot.parent_id.flatten(), &mut tags);
    session.tags = tags;
    session.children = snapshot.children_ids.unwrap_or_default().into_iter().map(SessionId::new).collect();
    let mut policies = snapshot.policies.unwrap_or_default();
    let entries = snapshot.slices.unwrap_or_default();
    let (slices, mut items): (Vec<Slice>, Vec<_>) = entries.into_iter().map(|entry| slice(entry, &policies)).unzip();
    session.slices = slices;
    policies.retain(|(name, _)| !session.slices.iter().any(|slice| slice.name == *name));
    let part = session.extra.part_mut(FORMAT);
    part.fields = snapshot.unknown;
    if !policies.is_empty() {
        let left: Object = policies.iter().map(|(name, word)| (name.as_str(), Json::from(word.as_str()))).collect();
        part.fields.set("policies", left);
    }
    conversation::unpack(&mut session, &mut items);
    fill(&mut session, items);
    session.extra.tidy();
    session
}

/// Puts the items that are of no conversation into their slices.
pub(super) fn fill(session: &mut Session, items: Vec<Vec<Node<'_>>>) {
    for (slice, items) in session.slices.iter_mut().zip(items) {
        slice.items = items.into_iter().map(Node::into_json).collect();
    }
}

/// Notes what of the envelope is not as it is written by default.
fn note_envelope(snapshot: &Snapshot<'_>, session: &mut Session, losses: &mut Vec<Loss>) {
    let spelling = &mut session.extra.part_mut(FORMAT).spelling;
    let keys = [
        ("children_ids", snapshot.children_ids.is_none()),
        ("parent_id", snapshot.parent_id.is_none()),
        ("policies", snapshot.policies.is_none()),
        ("slices", snapshot.slices.is_none()),
        ("tags", snapshot.tags.is_none()),
    ];
    let absent: Vec<Json> = keys.iter().filter(|(_, absent)| *absent).map(|(key, _)| Json::from(*key)).collect();
    if !absent.is_empty() {
        spelling.set("absent", absent);
    }
    if snapshot.version != VERSION {
        spelling.set("version", snapshot.version.as_str());
        let what = format!("the snapshot's version is not {VERSION}; it was read as if it were");
        losses.push(Loss::decode(LossKind::Coerced, "extra.wink.spelling.version", what));
    }
    if clock::isoformat(&snapshot.created_at).is_none() {
        spelling.set("created_at", "free");
    }
    let children = snapshot.children_ids.as_deref().unwrap_or_default();
    if children.iter().any(|child| python::uuid(child).is_none()) {
        spelling.set("free_children", true);
    }
}

fn take_tag(tags: &mut Vec<(String, String)>, key: &str) -> Option<String> {
    let at = tags.iter().position(|(name, _)| name == key)?;
    Some(tags.remove(at).1)
}

/// The parent: it stands in a field and in a tag, unless it is no UUID, which only the tag can hold.
fn parent(field: Option<String>, tags: &mut Vec<(String, String)>) -> Option<Parent> {
    let tag = tags.iter().find(|(name, _)| name == PARENT_TAG).map(|(_, id)| id.clone());
    let (id, place) = match (field, tag) {
        (None, None) => return None,
        (Some(field), Some(tag)) if field == tag => (field, "both"),
        (Some(field), _) => (field, "field"),
        (None, Some(tag)) => (tag, "tag"),
    };
    if place != "field" {
        take_tag(tags, PARENT_TAG);
    }
    let mut parent = Parent { session: SessionId::new(id), ..Parent::default() };
    if place != parent_place(parent.session.as_str()) {
        parent.extra.part_mut(FORMAT).spelling.set("in", place);
    }
    Some(parent)
}

/// The tag that names the parent.
pub(super) const PARENT_TAG: &str = "parent_session_id";

/// Where a parent stands if nothing else is noted.
pub(super) fn parent_place(id: &str) -> &'static str {
    if python::uuid(id).is_some() { "both" } else { "tag" }
}

/// A slice without its items, and those.
fn slice<'a>(entry: Entry<'a>, policies: &[(String, String)]) -> (Slice, Vec<Node<'a>>) {
    let policy = policies.iter().find(|(name, _)| *name == entry.slice_type);
    let mut slice = Slice {
        item_type: (entry.item_type != entry.slice_type).then_some(entry.item_type),
        policy: policy.map(|(_, word)| SlicePolicy::from_word(word)),
        name: entry.slice_type,
        ..Slice::default()
    };
    let part = slice.extra.part_mut(FORMAT);
    part.fields = entry.unknown;
    if entry.items.is_none() {
        part.spelling.set("items", "absent");
    }
    slice.extra.tidy();
    (slice, entry.items.unwrap_or_default())
}
