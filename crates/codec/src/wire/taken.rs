//! Reading an object field by field, keeping what is not understood and how it was spelled.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Extra, ExtraPart};

/// An object that is being read: what is taken is understood, what is left is kept as it is.
pub(crate) struct Fields {
    rest: Object,
    /// Notes on how the source spelled what was taken.
    pub(crate) notes: Object,
}

impl Fields {
    /// Begins to read an object whose fields usually stand in the order `usual`.
    pub(crate) fn new(object: Object, usual: &[&str]) -> Fields {
        let mut notes = Object::new();
        if let Some(order) = order_of(&object, usual) {
            notes.set("order", order);
        }
        Fields { rest: object, notes }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.rest.get(key)
    }

    /// Takes a field of any type. One that stands twice is not understood.
    pub(crate) fn take(&mut self, key: &str) -> Option<Json> {
        self.take_if(key, |_| true)
    }

    /// Takes a field if it is as wanted.
    pub(crate) fn take_if(&mut self, key: &str, wanted: impl Fn(&Json) -> bool) -> Option<Json> {
        let mut found = None;
        for (own, value) in self.rest.iter() {
            if own.is(key) && found.replace(value).is_some() {
                return None;
            }
        }
        let is_wanted = found.is_some_and(wanted);
        if is_wanted { self.rest.remove(key) } else { None }
    }

    /// Takes a string that a Rust string can hold.
    pub(crate) fn string(&mut self, key: &str) -> Option<String> {
        match self.take_if(key, is_string)? {
            Json::String(text) => text.into_string().ok(),
            _ => None,
        }
    }

    pub(crate) fn object(&mut self, key: &str) -> Option<Object> {
        match self.take_if(key, |value| value.as_object().is_some())? {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn array(&mut self, key: &str) -> Option<Vec<Json>> {
        match self.take_if(key, |value| value.as_array().is_some())? {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn number(&mut self, key: &str) -> Option<Number> {
        match self.take_if(key, |value| value.as_number().is_some())? {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Takes a count that is spelled as we would.
    pub(crate) fn count(&mut self, key: &str) -> Option<u64> {
        let plain = |value: &Json| value.as_number().and_then(plain_count).is_some();
        self.take_if(key, plain)?.as_number().and_then(plain_count)
    }

    pub(crate) fn bool(&mut self, key: &str) -> Option<bool> {
        self.take_if(key, |value| value.as_bool().is_some())?.as_bool()
    }

    /// Puts a field back: it was not understood after all.
    pub(crate) fn put(&mut self, key: &str, value: impl Into<Json>) {
        self.rest.push(key, value);
    }

    pub(crate) fn note(&mut self, key: &str, value: impl Into<Json>) {
        self.notes.set(key, value);
    }

    /// Notes of an object inside this one, under `key`.
    pub(crate) fn inner(&mut self, key: &str, inner: Fields) {
        let Fields { rest, notes } = inner;
        if !rest.is_empty() {
            self.rest.push(key, rest);
        }
        if !notes.is_empty() {
            self.notes.set(key, notes);
        }
    }

    pub(crate) fn into_rest(self, usual: &[&str]) -> Object {
        arranged(self.rest, usual, self.notes.get("order"))
    }

    /// Leaves what was not taken, and the notes, with a node of the session.
    pub(crate) fn leave(self, format: &str, extra: &mut Extra) {
        if self.rest.is_empty() && self.notes.is_empty() {
            return;
        }
        *extra.part_mut(format) = ExtraPart { fields: self.rest, spelling: self.notes, newer: Object::new() };
    }
}

pub(crate) fn is_string(value: &Json) -> bool {
    matches!(value, Json::String(text) if text.is_sound())
}

pub(crate) fn plain_count(number: &Number) -> Option<u64> {
    number.as_u64().filter(|count| count.to_string() == number.as_str())
}

/// The order of an object's fields, if it is not the usual one with unknown fields last.
fn order_of(object: &Object, usual: &[&str]) -> Option<String> {
    let mut last = 0;
    let usual_order = object.iter().all(|(key, _)| {
        let rank = usual.iter().position(|known| key.is(known)).unwrap_or(usual.len());
        let follows = rank >= last;
        last = rank;
        follows
    });
    if usual_order {
        return None;
    }
    let keys: Vec<_> = object.iter().map(|(key, _)| key.to_str_lossy()).collect();
    Some(keys.join(" "))
}

/// An object with its fields in the order of a note, or the usual one.
pub(crate) fn arranged(object: Object, usual: &[&str], order: Option<&Json>) -> Object {
    let order = order.and_then(Json::as_str);
    let noted: Vec<&str> = order.as_deref().map(|order| order.split(' ').collect()).unwrap_or_default();
    let rank = |key: &str| {
        let place = |list: &[&str]| list.iter().position(|known| *known == key);
        place(&noted).unwrap_or_else(|| noted.len() + place(usual).unwrap_or(usual.len()))
    };
    let mut pairs: Vec<_> = object.into_iter().map(|pair| (rank(&pair.0.to_str_lossy()), pair)).collect();
    pairs.sort_by_key(|(rank, _)| *rank);
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

/// What a format noted on a node, to write it as it was.
#[derive(Clone, Copy)]
pub(crate) struct Notes<'a> {
    part: Option<&'a ExtraPart>,
}

impl<'a> Notes<'a> {
    pub(crate) fn of(extra: &'a Extra, format: &str) -> Notes<'a> {
        Notes { part: extra.part(format) }
    }

    pub(crate) fn get(self, key: &str) -> Option<&'a Json> {
        self.part?.spelling.get(key)
    }

    pub(crate) fn word(self, key: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.get(key)?.as_str()
    }

    pub(crate) fn is(self, key: &str, word: &str) -> bool {
        self.word(key).is_some_and(|own| own == word)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.part.is_none_or(|part| part.fields.is_empty() && part.spelling.is_empty())
    }

    pub(crate) fn field(self, key: &str) -> Option<&'a Json> {
        self.part?.fields.get(key)
    }

    /// The object as it stood: what was not understood put back, in its order. Fields named in `apart` are the writer's.
    pub(crate) fn complete(self, mut object: Object, usual: &[&str], apart: &[&str]) -> Object {
        let Some(part) = self.part else { return arranged(object, usual, None) };
        for (key, value) in part.fields.iter().filter(|(key, _)| !apart.contains(&&*key.to_str_lossy())) {
            object.push(key.clone(), value.clone());
        }
        arranged(object, usual, part.spelling.get("order"))
    }

    /// The same for an object inside, whose leftovers and notes stand under `key`.
    pub(crate) fn complete_inner(self, key: &str, mut object: Object, usual: &[&str]) -> Object {
        for (key, value) in self.field(key).and_then(Json::as_object).into_iter().flat_map(Object::iter) {
            object.push(key.clone(), value.clone());
        }
        let notes = self.get(key).and_then(Json::as_object);
        arranged(object, usual, notes.and_then(|notes| notes.get("order")))
    }

    pub(crate) fn inner_word(self, key: &str, note: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.get(key)?.as_object()?.get(note)?.as_str()
    }
}
