//! The conversation slice of a snapshot: which one it is, and what stays of it.

use turnkeep_model::json::{Json, Node, Object};
use turnkeep_model::{PromptId, Session, Slice, SlicePolicy};

use super::document::Entry;
use super::encode::Held;
use super::group::{self, Group};
use super::message;
use super::{FORMAT, INNER_TYPE, STATE_TYPE, inner, state};

/// Where unconsumed fields of a `ConversationState` are kept on the session.
pub(super) const FIELDS: &str = "conversation";

/// Where it is noted how the conversation was stored.
const NOTE: &str = "conversation";

/// How a conversation is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One item that holds it all: the specification's.
    State,
    /// One item a message: the later one.
    Inner,
}

impl Kind {
    /// The kind's word, which is also its variant.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::State => "state",
            Kind::Inner => "inner",
        }
    }

    /// The kind of a word.
    pub(super) fn from_word(word: &str) -> Option<Kind> {
        [Kind::State, Kind::Inner].into_iter().find(|kind| kind.as_str() == word)
    }

    /// The type of its slice.
    pub(super) fn type_id(self) -> &'static str {
        match self {
            Kind::State => STATE_TYPE,
            Kind::Inner => INNER_TYPE,
        }
    }

    /// The kind of a slice, by the name of its type in whatever module.
    pub(super) fn of_type(type_id: &str) -> Option<Kind> {
        let name = type_id.rsplit(':').next()?;
        let is_kind = |kind: &Kind| kind.type_id().ends_with(&format!(":{name}"));
        [Kind::Inner, Kind::State].into_iter().find(is_kind)
    }
}

/// The prompt of a namespace and a key; two empty ones are none.
pub(super) fn prompt_of(ns: String, key: String) -> Option<PromptId> {
    (!(ns.is_empty() && key.is_empty())).then(|| PromptId { ns, key, ..PromptId::default() })
}

/// Makes turns of the conversation slice, if a session has one. Items of it that are not of the latest conversation
/// stay in the slice. `items` are those of every slice, in the order of the slices.
pub(super) fn unpack(session: &mut Session, items: &mut Vec<Vec<Node<'_>>>) {
    for kind in [Kind::Inner, Kind::State] {
        let candidates = 0..session.slices.len();
        let of_kind = |index: &usize| {
            session.slices.get(*index).is_some_and(|slice| Kind::of_type(item_type(slice)) == Some(kind))
        };
        for index in candidates.filter(of_kind).collect::<Vec<_>>() {
            if unpack_slice(session, items, index, kind).is_some() {
                return;
            }
        }
    }
}

fn item_type(slice: &Slice) -> &str {
    slice.item_type.as_deref().unwrap_or(&slice.name)
}

fn unpack_slice(session: &mut Session, items: &mut Vec<Vec<Node<'_>>>, index: usize, kind: Kind) -> Option<()> {
    let own = items.get_mut(index)?;
    let places = match kind {
        Kind::Inner => inner::latest(own),
        Kind::State => {
            let last = own.last().filter(|last| state::is_state(last)).map(|_| own.len() - 1);
            last.into_iter().collect()
        }
    };
    if places.is_empty() {
        return None;
    }
    let total = own.len();
    let (chosen, left) = pick(std::mem::take(own), &places);
    let mut note = Object::new();
    if !places.iter().copied().eq(left.len()..total) {
        note.set("places", places.iter().map(|place| Json::from(*place as u64)).collect::<Vec<_>>());
    }
    if left.is_empty() {
        items.remove(index);
        let slice = session.slices.remove(index);
        note_slice(&slice, kind, session, &mut note);
    } else {
        *own = left;
    }
    match kind {
        Kind::Inner => inner::unpack(chosen, session),
        Kind::State => chosen.into_iter().for_each(|item| state::unpack(item, session)),
    }
    if implied(session, &group::groups(session)) != Some(kind) {
        note.set("kind", kind.as_str());
    }
    if !note.is_empty() {
        session.extra.part_mut(FORMAT).spelling.set(NOTE, note);
    }
    Some(())
}

/// The items at some places, in the order of the places, and the others.
fn pick<'a>(items: Vec<Node<'a>>, places: &[usize]) -> (Vec<Node<'a>>, Vec<Node<'a>>) {
    if places.iter().copied().eq(0..items.len()) {
        return (items, Vec::new());
    }
    let mut rank = vec![None; items.len()];
    for (order, place) in places.iter().enumerate() {
        rank.get_mut(*place).into_iter().for_each(|rank| *rank = Some(order));
    }
    let (mut chosen, mut left) = (Vec::with_capacity(places.len()), Vec::new());
    for (item, rank) in items.into_iter().zip(rank) {
        match rank {
            Some(order) => chosen.push((order, item)),
            None => left.push(item),
        }
    }
    chosen.sort_by_key(|(order, _)| *order);
    (chosen.into_iter().map(|(_, item)| item).collect(), left)
}

/// Notes what of the slice is not as it is written by default.
fn note_slice(slice: &Slice, kind: Kind, session: &mut Session, note: &mut Object) {
    if slice.name != kind.type_id() {
        note.set("slice_type", slice.name.as_str());
    }
    if let Some(item_type) = &slice.item_type {
        note.set("item_type", item_type.as_str());
    }
    if slice.policy != default_policy(session) {
        note.set("policy", slice.policy.as_ref().map_or(Json::Null, |policy| policy.as_str().into()));
    }
    if let Some(fields) = slice.extra.fields(FORMAT).filter(|fields| !fields.is_empty()) {
        session.extra.part_mut(FORMAT).fields.set("conversation_slice", fields.clone());
    }
}

/// A conversation is state, in files that speak of policies at all.
fn default_policy(session: &Session) -> Option<SlicePolicy> {
    let spelling = session.extra.part(FORMAT).map(|part| &part.spelling);
    let none = spelling.is_some_and(|spelling| message::is_absent(spelling, "policies"));
    (!none).then_some(SlicePolicy::State)
}

/// The kind that a session's conversation is stored as if nothing else is asked for: the specification's where that
/// holds every message, else the later one, which also has a place for users. `None` where there is nothing to store.
fn implied(session: &Session, messages: &[Group<'_>]) -> Option<Kind> {
    if messages.is_empty() && session.prompt.is_none() && session.timing.created.is_none() {
        return None;
    }
    Some(if state::fits(session, messages) { Kind::State } else { Kind::Inner })
}

/// Puts the slice of a session's conversation among those that are written, and says of which kind it is.
pub(super) fn pack<'s>(
    session: &'s Session,
    wanted: Option<Kind>,
    always: bool,
    slices: &mut Vec<Held<'s>>,
) -> Option<Kind> {
    let messages = group::groups(session);
    let nothing = Object::new();
    let note = session.extra.spelling(FORMAT, NOTE).and_then(Json::as_object).unwrap_or(&nothing);
    let noted = note.get_str("kind").and_then(|word| Kind::from_word(&word));
    let fitting = noted.filter(|kind| *kind == Kind::Inner || state::fits(session, &messages));
    let has_one = slices.iter().any(|held| Kind::of_type(&held.entry.item_type).is_some());
    let fallback = if always && !has_one { Some(Kind::State) } else { None };
    let kind = wanted.or(fitting).or_else(|| implied(session, &messages)).or(fallback)?;
    // A slice without items would say nothing.
    let kind = if messages.is_empty() { Kind::State } else { kind };
    let items = match kind {
        Kind::State => vec![state::pack(session, &messages)],
        Kind::Inner => inner::pack(session, &messages),
    };
    let home = slices.iter_mut().find(|held| Kind::of_type(&held.entry.item_type) == Some(kind));
    match home {
        Some(held) => merge(held.entry.items.get_or_insert_default(), items, note),
        None => slices.push(new_slice(session, kind, note, items)),
    }
    Some(kind)
}

fn new_slice<'s>(session: &'s Session, kind: Kind, note: &Object, items: Vec<Node<'s>>) -> Held<'s> {
    let text = |key: &str| note.get_str(key).map(std::borrow::Cow::into_owned);
    let slice_type = text("slice_type").unwrap_or_else(|| kind.type_id().to_owned());
    let policy = match note.get("policy") {
        Some(Json::Null) => None,
        Some(word) => word.as_str().map(|word| SlicePolicy::from_word(&word)),
        None => default_policy(session),
    };
    let fields = session.extra.fields(FORMAT).and_then(|fields| fields.get("conversation_slice")?.as_object());
    let mut own = Vec::new();
    merge(&mut own, items, note);
    let entry = Entry {
        item_type: text("item_type").unwrap_or_else(|| slice_type.clone()),
        slice_type,
        items: Some(own),
        unknown: fields.cloned().unwrap_or_default(),
    };
    Held { entry, policy }
}

/// Puts the items of the conversation where they stood, else at the end.
fn merge<'s>(left: &mut Vec<Node<'s>>, items: Vec<Node<'s>>, note: &Object) {
    let places = note.get("places").and_then(Json::as_array).unwrap_or_default();
    let places: Vec<usize> =
        places.iter().filter_map(|place| usize::try_from(place.as_number()?.as_u64()?).ok()).collect();
    if places.len() != items.len() {
        return left.extend(items);
    }
    let mut placed: Vec<(usize, Node<'s>)> = places.into_iter().zip(items).collect();
    placed.sort_by_key(|(place, _)| *place);
    let mut others = std::mem::take(left).into_iter();
    for (place, item) in placed {
        let before = place.saturating_sub(left.len());
        left.extend(others.by_ref().take(before));
        left.push(item);
    }
    left.extend(others);
}
