//! Objects read field by field, so that what is not taken survives where it stood and in its order.

use turnkeep_model::json::{Json, JsonString, Number, Object};
use turnkeep_model::{Extra, ExtraPart};

use crate::take;

/// An object being read: what is taken leaves it, what is left goes to an [`Extra`].
#[derive(Debug)]
pub(crate) struct Fields {
    left: Object,
    order: Option<Json>,
    notes: Object,
}

impl Fields {
    /// The fields of an object, whose usual order is `usual`; unknown ones come last.
    pub(crate) fn new(object: Object, usual: &[&str]) -> Fields {
        let order = spelled_order(&object, usual);
        Fields { left: object, order, notes: Object::new() }
    }

    /// What is left.
    pub(crate) fn left(&self) -> &Object {
        &self.left
    }

    /// Takes a field whatever it holds.
    pub(crate) fn take(&mut self, key: &str) -> Option<Json> {
        self.left.remove(key)
    }

    /// Takes a string.
    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        take::text(&mut self.left, key)
    }

    /// Takes a number.
    pub(crate) fn number(&mut self, key: &str) -> Option<Number> {
        take::number(&mut self.left, key)
    }

    /// Takes a count.
    pub(crate) fn count(&mut self, key: &str) -> Option<u64> {
        take::count(&mut self.left, key)
    }

    /// Takes a truth value.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        let flag = self.left.get(key)?.as_bool()?;
        self.left.remove(key);
        Some(flag)
    }

    /// Takes an array that is not empty.
    pub(crate) fn items(&mut self, key: &str) -> Option<Vec<Json>> {
        self.left.get(key)?.as_array().filter(|items| !items.is_empty())?;
        take::array(&mut self.left, key)
    }

    /// Takes an object.
    pub(crate) fn object(&mut self, key: &str) -> Option<Object> {
        take::object(&mut self.left, key)
    }

    /// Takes a field that always holds the same word; notes it where it is absent.
    pub(crate) fn constant(&mut self, key: &str, word: &str) {
        match self.left.get(key) {
            None => self.note_absent(key),
            Some(value) if value.as_str().as_deref() == Some(word) => drop(self.left.remove(key)),
            Some(_) => {}
        }
    }

    /// Puts a field back, or what is left of it.
    pub(crate) fn put_back(&mut self, key: &str, value: impl Into<Json>) {
        self.left.set(key, value);
    }

    /// Notes how the source spelled something.
    pub(crate) fn note(&mut self, key: &str, value: impl Into<Json>) {
        self.notes.set(key, value);
    }

    /// Notes that a field is not there, though it always is.
    pub(crate) fn note_absent(&mut self, key: &str) {
        let mut absent = match self.notes.remove("absent") {
            Some(Json::Array(items)) => items,
            _ => Vec::new(),
        };
        absent.push(key.into());
        self.notes.set("absent", absent);
    }

    /// Gives what is left, and the notes, to an extra.
    pub(crate) fn keep(self, wire: &str, extra: &mut Extra) {
        let Fields { left, order, mut notes } = self;
        if let Some(order) = order {
            notes.set("order", order);
        }
        if left.is_empty() && notes.is_empty() {
            return;
        }
        let part = extra.part_mut(wire);
        left.into_iter().for_each(|(key, value)| part.fields.push(key, value));
        notes.into_iter().for_each(|(key, value)| part.spelling.push(key, value));
    }
}

/// How the keys of an object are ordered, if not as usual: `"sorted"`, or the keys.
pub(crate) fn spelled_order(object: &Object, usual: &[&str]) -> Option<Json> {
    let mut last = 0;
    let ascending = object.iter().all(|(key, _)| {
        let rank = rank(key, usual);
        std::mem::replace(&mut last, rank) <= rank
    });
    if ascending {
        return None;
    }
    let keys: Vec<_> = object.iter().map(|(key, _)| key.to_str_lossy()).collect();
    if keys.is_sorted() {
        return Some("sorted".into());
    }
    Some(Json::Array(keys.iter().map(|key| Json::from(&**key)).collect()))
}

fn rank(key: &JsonString, usual: &[&str]) -> usize {
    let key = key.to_str_lossy();
    usual.iter().position(|known| *known == key).unwrap_or(usual.len())
}

/// An object being written: what is set, then what a source had beyond that, in the source's order.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    object: Object,
    part: Option<&'a ExtraPart>,
}

impl<'a> Writing<'a> {
    /// An object that holds what `extra` keeps of `wire`.
    pub(crate) fn new(wire: &str, extra: &'a Extra) -> Writing<'a> {
        Writing { object: Object::new(), part: extra.part(wire) }
    }

    /// A note on how the source spelled something.
    pub(crate) fn noted(&self, key: &str) -> Option<&'a Json> {
        self.part?.spelling.get(key)
    }

    /// A note that is a word.
    pub(crate) fn noted_as(&self, key: &str, word: &str) -> bool {
        self.noted(key).and_then(Json::as_str).is_some_and(|noted| noted == word)
    }

    /// What the source kept under a key.
    pub(crate) fn kept(&self, key: &str) -> Option<&'a Json> {
        self.part?.fields.get(key)
    }

    /// Whether the source did not have a field that always is there.
    pub(crate) fn lacks(&self, key: &str) -> bool {
        let absent = self.noted("absent").and_then(Json::as_array).unwrap_or_default();
        absent.iter().any(|name| name.as_str().as_deref() == Some(key))
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.object.push(key, value);
    }

    /// Sets a field if there is something to set.
    pub(crate) fn set_some(&mut self, key: &str, value: Option<impl Into<Json>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets a field that always holds the same word, unless the source had another or none.
    pub(crate) fn constant(&mut self, key: &str, word: &str) {
        if !self.lacks(key) && self.kept(key).is_none() {
            self.set(key, word);
        }
    }

    /// The object, in the source's order or the usual one.
    pub(crate) fn finish(mut self, usual: &[&str]) -> Object {
        let own = self.object.len();
        if let Some(part) = self.part {
            for (key, value) in part.fields.iter() {
                let taken = self.object.iter().take(own).any(|(known, _)| known == key);
                if !taken {
                    self.object.push(key.clone(), value.clone());
                }
            }
        }
        in_order(self.object, self.part.and_then(|part| part.spelling.get("order")), usual)
    }
}

/// The object with its keys in the noted order, or the usual one.
pub(crate) fn in_order(object: Object, noted: Option<&Json>, usual: &[&str]) -> Object {
    let mut pairs: Vec<(JsonString, Json)> = object.into_iter().collect();
    match noted {
        Some(Json::Array(keys)) => {
            let place = |key: &JsonString| keys.iter().position(|known| matches!(known, Json::String(k) if k == key));
            pairs.sort_by_key(|(key, _)| place(key).unwrap_or(keys.len()));
        }
        Some(_) => pairs.sort_by(|(a, _), (b, _)| a.to_str_lossy().cmp(&b.to_str_lossy())),
        None => pairs.sort_by_key(|(key, _)| rank(key, usual)),
    }
    pairs.into_iter().collect()
}
