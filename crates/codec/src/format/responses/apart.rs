//! Taking an object apart and putting it together again.
//!
//! What is consumed goes into the model; the rest stays in an extra. Keys that do not stand in our own order are noted,
//! so that a body comes back with its fields where they were.

use std::borrow::Cow;

use turnkeep_model::json::{Json, JsonString, Number, Object};
use turnkeep_model::{Extra, ExtraPart};

use super::FORMAT;

/// Whether a field is written where no order of keys is noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Emit {
    /// Always: it says something.
    Value,
    /// Unless a noted order leaves it out.
    Usual,
    /// Only where a noted order names it.
    Noted,
}

/// A field of an object, in our own order, and when it is written.
pub(super) type Slot = (&'static str, Emit);

/// An object that is being read.
pub(super) struct Apart {
    pairs: Vec<(JsonString, Option<Json>)>,
    /// What is left of objects that were taken.
    rests: Object,
}

impl Apart {
    /// Begins to read an object.
    pub(super) fn new(object: Object) -> Apart {
        let pairs = object.into_iter().map(|(key, value)| (key, Some(value))).collect();
        Apart { pairs, rests: Object::new() }
    }

    /// What stands under a key and is not taken yet.
    pub(super) fn peek(&self, key: &str) -> Option<&Json> {
        self.pairs.iter().find(|(name, _)| is(name, key)).and_then(|(_, value)| value.as_ref())
    }

    /// Takes what stands under a key, if it is what the reader can keep.
    pub(super) fn take_if(&mut self, key: &str, fits: impl FnOnce(&Json) -> bool) -> Option<Json> {
        let (_, value) = self.pairs.iter_mut().find(|(name, _)| is(name, key))?;
        value.take_if(|value| fits(value))
    }

    /// Takes a text that a Rust string can hold.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let (_, slot) = self.pairs.iter_mut().find(|(name, _)| is(name, key))?;
        match slot.take_if(|value| matches!(value, Json::String(text) if text.is_sound()))? {
            Json::String(text) => text.into_string().ok(),
            _ => None,
        }
    }

    /// Takes a number.
    pub(super) fn number(&mut self, key: &str) -> Option<Number> {
        match self.take_if(key, |value| matches!(value, Json::Number(_)))? {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Takes a count that comes back with the same spelling.
    pub(super) fn count(&mut self, key: &str) -> Option<u64> {
        let taken = self.take_if(key, |value| value.as_number().is_some_and(is_count))?;
        taken.as_number().and_then(Number::as_u64)
    }

    /// Takes a truth value.
    pub(super) fn bool(&mut self, key: &str) -> Option<bool> {
        self.take_if(key, |value| value.as_bool().is_some())?.as_bool()
    }

    /// Takes the elements of an array.
    pub(super) fn array(&mut self, key: &str) -> Option<Vec<Json>> {
        match self.take_if(key, |value| matches!(value, Json::Array(_)))? {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Takes an object whose keys are all different.
    pub(super) fn object(&mut self, key: &str) -> Option<Object> {
        match self.take_if(key, |value| value.as_object().is_some_and(|object| !has_duplicates(object)))? {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Puts back what was taken and could not be kept.
    pub(super) fn put_back(&mut self, key: &str, value: impl Into<Json>) {
        if let Some((_, slot)) = self.pairs.iter_mut().find(|(name, _)| is(name, key)) {
            *slot = Some(value.into());
        }
    }

    /// Whether nothing was taken.
    pub(super) fn is_whole(&self) -> bool {
        self.pairs.iter().all(|(_, value)| value.is_some())
    }

    /// The object as far as it was not taken.
    pub(super) fn into_rest(self) -> Object {
        self.pairs.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    /// Keeps what is left of something that was taken.
    pub(super) fn leave(&mut self, key: &'static str, rest: impl Into<Json>) {
        self.rests.push(key, rest);
    }

    /// Reads an object inside this one with `read`. What is left of it stays here, with a note on the order of its keys.
    pub(super) fn within<T>(
        &mut self,
        key: &'static str,
        slots: &[Slot],
        notes: &mut Object,
        read: impl FnOnce(&mut Apart) -> T,
    ) -> Option<T> {
        let mut inner = Apart::new(self.object(key)?);
        let result = read(&mut inner);
        if inner.is_whole() {
            self.put_back(key, inner.into_rest());
            return Some(result);
        }
        let ExtraPart { fields, mut spelling, .. } = inner.finish(slots);
        if let Some(order) = spelling.remove("order") {
            notes.set(&nested(key), order);
        }
        if !fields.is_empty() {
            self.leave(key, fields);
        }
        Some(result)
    }

    /// What was not taken, and the order of the keys where it is not that of `slots`.
    pub(super) fn finish(self, slots: &[Slot]) -> ExtraPart {
        let mut part = ExtraPart::default();
        if let Some(order) = self.order_to_note(slots) {
            part.spelling.push("order", order);
        }
        let rest = self.pairs.into_iter().filter_map(|(key, value)| Some((key, value?)));
        part.fields = rest.chain(self.rests).collect();
        part
    }

    fn order_to_note(&self, slots: &[Slot]) -> Option<Json> {
        let taken = |slot: &Slot| self.pairs.iter().any(|(key, value)| value.is_none() && is(key, slot.0));
        let written = slots.iter().filter(|slot| match slot.1 {
            Emit::Value => taken(slot),
            Emit::Usual => true,
            Emit::Noted => false,
        });
        let rest = self.pairs.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| key.to_str_lossy());
        let usual = written.map(|slot| Cow::Borrowed(slot.0)).chain(rest);
        let found = self.pairs.iter().map(|(key, _)| key.to_str_lossy());
        (!usual.eq(found)).then(|| order_of(self.pairs.iter().map(|(key, _)| key)))
    }
}

/// A note on the order of keys: a text where none of them has a space, else a list.
pub(super) fn order_of<'a>(keys: impl Iterator<Item = &'a JsonString> + Clone) -> Json {
    let is_word = |key: &JsonString| {
        key.escaped().is_none() && !matches!(&*key.to_str_lossy(), key if key.is_empty() || key.contains(' '))
    };
    if !keys.clone().all(is_word) {
        return Json::Array(keys.map(|key| Json::String(key.clone())).collect());
    }
    let mut words = String::new();
    for key in keys {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&key.to_str_lossy());
    }
    Json::from(words)
}

/// The keys that a note on their order lists.
fn listed(order: &Json) -> Vec<JsonString> {
    match order {
        Json::Array(keys) => {
            keys.iter().filter_map(|key| if let Json::String(key) = key { Some(key.clone()) } else { None }).collect()
        }
        Json::String(words) => {
            words.to_str_lossy().split(' ').filter(|key| !key.is_empty()).map(JsonString::from).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether some key stands more than once; most objects are small.
pub(super) fn has_duplicates(object: &Object) -> bool {
    const FEW: usize = 12;
    if object.len() > FEW {
        return object.has_duplicates();
    }
    object.iter().enumerate().any(|(index, (key, _))| object.iter().take(index).any(|(other, _)| other == key))
}

/// Whether a value is a text that a Rust string can hold, without unescaping it where that is plain to see.
pub(super) fn is_text(value: Option<&Json>) -> bool {
    match value {
        Some(Json::String(text)) => text.is_sound(),
        _ => false,
    }
}

fn is(key: &JsonString, wanted: &str) -> bool {
    key.is(wanted)
}

fn is_count(number: &Number) -> bool {
    number.as_u64().is_some_and(|count| count.to_string() == number.as_str())
}

fn nested(key: &str) -> String {
    format!("order.{key}")
}

/// An object that is being written.
#[derive(Default)]
pub(super) struct Together {
    made: Vec<(&'static str, Json, Emit)>,
}

impl Together {
    /// Adds a field that says something.
    pub(super) fn put(&mut self, key: &'static str, value: impl Into<Json>) {
        self.made.push((key, value.into(), Emit::Value));
    }

    /// Adds a field that says something, if it is there.
    pub(super) fn put_some<T: Into<Json>>(&mut self, key: &'static str, value: Option<T>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Adds a field that is written as `emit` says.
    pub(super) fn put_as(&mut self, key: &'static str, value: impl Into<Json>, emit: Emit) {
        self.made.push((key, value.into(), emit));
    }

    /// Adds an object made of `inner` and what was left of it in `part`.
    pub(super) fn put_within(&mut self, key: &'static str, inner: Together, part: Option<&ExtraPart>) {
        if inner.made.is_empty() {
            return;
        }
        let rest = part.and_then(|part| part.fields.get(key)).and_then(Json::as_object);
        let order = part.and_then(|part| part.spelling.get(&nested(key)));
        self.put(key, inner.arrange(rest, order));
    }

    /// The object, with what an extra of this wire holds, in the order that it notes.
    pub(super) fn with(self, extra: &Extra) -> Object {
        self.with_part(extra.part(FORMAT))
    }

    /// The object, with what a part of an extra holds, in the order that it notes.
    pub(super) fn with_part(self, part: Option<&ExtraPart>) -> Object {
        self.arrange(part.map(|part| &part.fields), part.and_then(|part| part.spelling.get("order")))
    }

    fn arrange(self, rest: Option<&Object>, order: Option<&Json>) -> Object {
        let mut made: Vec<(&str, Option<Json>, Emit)> =
            self.made.into_iter().map(|(key, value, emit)| (key, Some(value), emit)).collect();
        let mut left: Vec<(&JsonString, Option<&Json>)> = rest
            .into_iter()
            .flat_map(Object::iter)
            .filter(|(key, _)| !made.iter().any(|(name, ..)| is(key, name)))
            .map(|(key, value)| (key, Some(value)))
            .collect();
        let mut object = Object::new();
        let listed = order.map(listed);
        for name in listed.iter().flatten() {
            if let Some((key, value, _)) = made.iter_mut().find(|(key, ..)| is(name, key)) {
                object_push(&mut object, *key, value.take());
            } else if let Some((key, value)) = left.iter_mut().find(|(key, value)| *key == name && value.is_some()) {
                object_push(&mut object, (*key).clone(), value.take().cloned());
            }
        }
        for (key, value, emit) in made {
            if emit == Emit::Value || emit == Emit::Usual && listed.is_none() {
                object_push(&mut object, key, value);
            }
        }
        left.into_iter().for_each(|(key, value)| object_push(&mut object, key.clone(), value.cloned()));
        object
    }
}

fn object_push(object: &mut Object, key: impl Into<JsonString>, value: Option<Json>) {
    if let Some(value) = value {
        object.push(key, value);
    }
}

/// Puts a part into an extra, unless it holds nothing.
pub(super) fn keep(extra: &mut Extra, part: ExtraPart) {
    if part != ExtraPart::default() {
        *extra.part_mut(FORMAT) = part;
    }
}
