//! Objects of a document: taken apart by known keys, and put together again.

use turnkeep_model::json::{Fields, Json, Node, Object, Text};
use turnkeep_model::{Extra, ExtraPart};

use super::FORMAT;
use crate::codec::Mode;
pub(super) use crate::fields::{Opened, open};
use crate::fields::{Places, note_key, order_note};
pub(super) use crate::tree::{array, null, number, object, owned, text, write};

/// The note on a key that the source left out although it usually stands.
const ABSENT: &str = "absent";

/// Leaves what was not consumed, and how the keys stood, in an extra.
pub(super) fn leave<const N: usize>(opened: &mut Opened<'_, N>, part: &mut ExtraPart) {
    for (key, value) in std::mem::take(&mut opened.rest) {
        part.fields.push(key.into_json_string(), value.into_json());
    }
    if let Some(order) = opened.order.take() {
        part.spelling.set(&note_key(""), order);
    }
}

/// The same for an object inside the one that the extra is of.
pub(super) fn leave_under<const N: usize>(opened: &mut Opened<'_, N>, key: &str, part: &mut ExtraPart) {
    let mut inner = ExtraPart::default();
    leave(opened, &mut inner);
    *part = nest(std::mem::take(part), key, inner);
}

/// What an extra keeps of an object and of one inside it, under `key`.
pub(super) fn nest(mut outer: ExtraPart, key: &str, inner: ExtraPart) -> ExtraPart {
    if !inner.fields.is_empty() {
        outer.fields.set(key, inner.fields);
    }
    for (name, note) in inner.spelling {
        let name = name.to_str_lossy();
        let own = note_key("");
        let path = name.strip_prefix(&*own).map(|path| format!("{key}{path}"));
        outer.spelling.set(&path.map_or(name, |path| note_key(&path)), note);
    }
    outer
}

/// Notes that the source left a key out.
pub(super) fn note_absent(part: &mut ExtraPart, key: &str) {
    part.spelling.set(key, ABSENT);
}

static NOTHING: Object = Object::new();

/// What an extra keeps of an object: its unconsumed pairs, and how it was spelled. The library itself keeps neither.
#[derive(Clone, Copy)]
pub(super) struct Kept<'s> {
    fields: &'s Object,
    spelling: &'s Object,
    mode: Mode,
    /// The key under which the object stands in the one that the extra is of.
    under: Option<&'static str>,
}

impl<'s> Kept<'s> {
    /// What `extra` keeps.
    pub(super) fn of(extra: &'s Extra, mode: Mode) -> Kept<'s> {
        let part = extra.part(FORMAT);
        let fields = part.filter(|_| mode == Mode::Faithful).map_or(&NOTHING, |part| &part.fields);
        Kept { fields, spelling: part.map_or(&NOTHING, |part| &part.spelling), mode, under: None }
    }

    /// What it keeps of the object under `key`.
    pub(super) fn under(self, key: &'static str) -> Kept<'s> {
        let fields = self.fields.get(key).and_then(Json::as_object).unwrap_or(&NOTHING);
        Kept { fields, under: Some(key), ..self }
    }

    /// The same without unconsumed pairs.
    pub(super) fn without_fields(self) -> Kept<'s> {
        Kept { fields: &NOTHING, ..self }
    }

    /// An unconsumed value.
    pub(super) fn field(self, key: &str) -> Option<&'s Json> {
        self.fields.get(key)
    }

    /// A note on how the source spelled something.
    pub(super) fn spelled(self, key: &str) -> Option<&'s Json> {
        self.spelling.get(key).filter(|_| self.mode == Mode::Faithful)
    }

    /// Whether the library took null for something, which it gives back.
    pub(super) fn is_null(self, key: &str) -> bool {
        self.spelling.get(key) == Some(&Json::Null)
    }

    fn order(self) -> Option<&'s Json> {
        order_note(self.spelling, self.under.unwrap_or_default()).filter(|_| self.mode == Mode::Faithful)
    }
}

/// Puts an object together.
pub(super) struct Maker<'s> {
    pairs: Fields<'s>,
    kept: Kept<'s>,
}

impl<'s> Maker<'s> {
    /// An object of which an extra keeps `kept`.
    pub(super) fn new(kept: Kept<'s>) -> Maker<'s> {
        Maker { pairs: Vec::new(), kept }
    }

    /// Adds a pair.
    pub(super) fn set(&mut self, key: &'s str, value: Node<'s>) {
        self.pairs.push((Text::Plain(key), value));
    }

    /// Adds a pair whose value may be missing: then what the source had there stands, or else `usual`, unless the
    /// source left the key out.
    pub(super) fn choose(&mut self, key: &'s str, value: Option<Node<'s>>, usual: Option<Node<'s>>) {
        let absent = || self.kept.spelled(key).and_then(Json::as_str).as_deref() == Some(ABSENT);
        let kept = || self.kept.field(key).map(Json::to_node);
        let value = value.or_else(kept).or_else(|| usual.filter(|_| !absent()));
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// The object.
    pub(super) fn finish(mut self) -> Node<'s> {
        let known = self.pairs.len();
        for (key, value) in self.kept.fields.iter() {
            let name = key.to_str_lossy();
            if !self.pairs.iter().take(known).any(|(own, _)| own.to_str_lossy() == name) {
                self.pairs.push((key.to_text(), value.to_node()));
            }
        }
        if let Some(Json::Array(order)) = self.kept.order() {
            let mut places = Places::new(order);
            let mut ranked: Vec<_> =
                self.pairs.into_iter().map(|pair| (places.next(&pair.0).unwrap_or(order.len()), pair)).collect();
            ranked.sort_by_key(|(place, _)| *place);
            self.pairs = ranked.into_iter().map(|(_, pair)| pair).collect();
        }
        object(self.pairs)
    }
}
