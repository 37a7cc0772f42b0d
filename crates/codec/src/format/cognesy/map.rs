//! Maps of this family's documents.
//!
//! PHP has one type for maps and lists, so `[]` stands for an empty map, and of keys that stand twice the last counts. All
//! else is as in every format: a map is read and written by its [`Form`] ([`crate::fields`]).

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Extra, ExtraPart, Time};

use super::FORMAT;
use crate::fields::{Fields, Kept, Writer, is_text, note_key, plain_count};
pub(super) use crate::fields::{Form, KeyRule};

/// Whether nothing is said: null, zero, false or empty, or made only of that.
pub(super) fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(value) => !value,
        Json::Number(number) => number.as_str() == "0",
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(object) => object.iter().all(|(_, value)| is_blank(value)),
    }
}

/// The note on the keys of an empty list that stands for a map; that of an empty map has no keys.
const LIST: &str = "[]";

/// A map that is being read.
#[derive(Debug)]
pub(super) struct Map {
    fields: Fields,
    /// How it was spelled, where it is empty and that has to be noted.
    empty: Option<Json>,
}

impl Map {
    /// Opens an object, or an empty list that stands for one; gives back what is neither.
    pub(super) fn open(value: Json, form: Form) -> Result<Map, Json> {
        let (object, empty) = match value {
            Json::Array(items) if items.is_empty() => {
                let is_usual = form.iter().all(|(_, rule)| *rule == KeyRule::Optional);
                (Object::new(), (!is_usual).then(|| Json::from(LIST)))
            }
            Json::Object(object) if object.is_empty() => (object, Some(Json::Array(Vec::new()))),
            Json::Object(object) if object.has_duplicates() => (unique(object), None),
            Json::Object(object) => (object, None),
            other => return Err(other),
        };
        Ok(Map { fields: Fields::new(object, form), empty })
    }

    /// Takes the value under `key` if `read` makes something of it.
    pub(super) fn take<T>(&mut self, key: &str, read: impl FnOnce(&Json) -> Option<T>) -> Option<T> {
        self.fields.read(key, read)
    }

    /// Takes whatever stands under `key`.
    pub(super) fn remove(&mut self, key: &str) -> Option<Json> {
        self.fields.take(key)
    }

    /// What stands under `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.fields.get(key)
    }

    /// Puts a value back.
    pub(super) fn restore(&mut self, key: &str, value: Json) {
        self.fields.put_back(key, value);
    }

    /// Takes a text that says something.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.fields.take_if(key, |value| is_text(value) && !is_blank(value)).and_then(into_text)
    }

    /// Takes a time.
    pub(super) fn time(&mut self, key: &str) -> Option<Time> {
        self.text(key).map(Time::new)
    }

    /// Takes a whole number that is not zero.
    pub(super) fn count(&mut self, key: &str) -> Option<u64> {
        self.fields.read(key, |value| whole(value).filter(|count| *count != 0))
    }

    /// Takes a number.
    pub(super) fn number(&mut self, key: &str) -> Option<Number> {
        self.fields.number(key)
    }

    /// Takes a map that holds something.
    pub(super) fn object(&mut self, key: &str) -> Option<Object> {
        match self.fields.take_if(key, |value| value.as_object().is_some_and(|object| !object.is_empty()))? {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Opens the map under `key`; what is not a map stays.
    pub(super) fn open_at(&mut self, key: &str, form: Form) -> Option<Map> {
        let value = self.fields.take(key)?;
        Map::open(value, form).map_err(|other| self.fields.put_back(key, other)).ok()
    }

    /// Drops what stands under `key` if it follows from the rest.
    pub(super) fn derived(&mut self, key: &str, value: &Json) {
        self.fields.derived(key, value);
    }

    /// Takes a list that holds something.
    pub(super) fn list(&mut self, key: &str) -> Option<Vec<Json>> {
        self.fields.items(key)
    }

    /// Whether its keys stand otherwise than the form says.
    pub(super) fn is_odd(&self) -> bool {
        self.empty.is_some() || !self.fields.is_usual()
    }

    /// What is left, and how its keys stood where that differs from the form.
    pub(super) fn close(self) -> (Object, Option<Json>) {
        let (left, _, orders) = self.fields.close();
        (left, self.empty.or_else(|| orders.into_iter().next().map(|(_, order)| order)))
    }

    /// Leaves what is left in `part`, at `path` of its node.
    pub(super) fn leave(self, part: &mut ExtraPart, path: &str) {
        let (left, note) = self.close();
        keep_fields(part, path, left);
        keep_keys(part, path, note);
    }
}

/// Keeps fields that were not taken from the object at `path`.
pub(super) fn keep_fields(part: &mut ExtraPart, path: &str, left: Object) {
    if left.is_empty() {
        return;
    }
    if path.is_empty() {
        return left.into_iter().for_each(|(key, value)| part.fields.push(key, value));
    }
    set_at(&mut part.fields, path, Json::Object(left));
}

/// Keeps how the keys of the object at `path` stood.
pub(super) fn keep_keys(part: &mut ExtraPart, path: &str, note: Option<Json>) {
    if let Some(note) = note {
        part.spelling.set(&note_key(path), note);
    }
}

fn set_at(object: &mut Object, path: &str, value: Json) {
    let Some((first, rest)) = path.split_once('.') else {
        return match (object.get(path), value) {
            (Some(Json::Object(held)), Json::Object(more)) => {
                let all = held.clone().into_iter().chain(more).collect::<Object>();
                object.set(path, all);
            }
            (_, value) => object.set(path, value),
        };
    };
    let mut inner = match object.remove(first) {
        Some(Json::Object(inner)) => inner,
        _ => Object::new(),
    };
    set_at(&mut inner, rest, value);
    object.set(first, inner);
}

/// The fields that were left at `path`.
pub(super) fn left_at<'a>(part: Option<&'a ExtraPart>, path: &str) -> Option<&'a Object> {
    let mut object = &part?.fields;
    for key in path.split('.').filter(|key| !key.is_empty()) {
        object = object.get(key)?.as_object()?;
    }
    Some(object)
}

/// Whether the keys of the object at `path` are noted.
pub(super) fn has_keys(part: Option<&ExtraPart>, path: &str) -> bool {
    Kept::of_part(part).at(path).order_note().is_some()
}

/// Of keys that stand twice, the last value in the place of the first: as PHP reads them.
fn unique(object: Object) -> Object {
    let mut unique = Object::new();
    object.into_iter().for_each(|(key, value)| unique.set(&key.to_str_lossy(), value));
    unique
}

/// The text of a string that a Rust string can hold.
pub(super) fn text(value: &Json) -> Option<String> {
    value.as_str().map(std::borrow::Cow::into_owned)
}

/// The same, without a copy.
pub(super) fn into_text(value: Json) -> Option<String> {
    match value {
        Json::String(text) => text.into_string().ok(),
        _ => None,
    }
}

/// A whole number that is spelled plainly.
pub(super) fn whole(value: &Json) -> Option<u64> {
    value.as_number().and_then(plain_count)
}

/// A map that is being written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What the session says.
    set: Object,
    /// What follows from the rest.
    spare: Object,
    /// Inner objects, of which the source's leftovers are already part.
    inner: Object,
}

impl Draft {
    /// Says a field.
    pub(super) fn put(&mut self, key: &str, value: impl Into<Json>) {
        self.set.set(key, value);
    }

    /// Says a field, if there is something to say.
    pub(super) fn put_some(&mut self, key: &str, value: Option<impl Into<Json>>) {
        if let Some(value) = value {
            self.set.set(key, value);
        }
    }

    /// Says a text, if there is one.
    pub(super) fn put_text(&mut self, key: &str, value: Option<&str>) {
        self.put_some(key, value.filter(|text| !text.is_empty()));
    }

    /// Says a time, if there is one.
    pub(super) fn put_time(&mut self, key: &str, value: Option<&Time>) {
        self.put_text(key, value.map(Time::as_str));
    }

    /// Says an inner value; one that says nothing gives way to what the source had.
    pub(super) fn nest(&mut self, key: &str, value: Json) {
        let home = if is_blank(&value) { &mut self.inner } else { &mut self.set };
        home.set(key, value);
    }

    /// Says an inner value that gives way where the source had something else than a map.
    pub(super) fn hold(&mut self, key: &str, value: Json) {
        self.inner.set(key, value);
    }

    /// Says what follows from the rest; it gives way to what the source had.
    pub(super) fn derive(&mut self, key: &str, value: impl Into<Json>) {
        self.spare.set(key, value);
    }

    /// Takes a field back.
    pub(super) fn forget(&mut self, key: &str) {
        self.set.remove(key);
    }

    /// Whether nothing was said.
    pub(super) fn is_blank(&self) -> bool {
        self.set.is_empty()
    }

    /// The map, with what was left of the one at `path` of the node.
    pub(super) fn finish(self, form: Form, part: Option<&ExtraPart>, path: &str) -> Json {
        let kept = Kept::of_part(part).at(path).without(|key| key.is(super::store::FIELDS));
        let mut writer = Writer::new(kept, form);
        self.set.into_iter().for_each(|(key, value)| writer.set(&key.to_str_lossy(), value));
        self.spare.into_iter().for_each(|(key, value)| writer.derive(&key.to_str_lossy(), value));
        self.inner.into_iter().for_each(|(key, value)| writer.hold(&key.to_str_lossy(), value));
        let object = writer.finish();
        if !object.is_empty() {
            return Json::Object(object);
        }
        match kept.order_note() {
            Some(Json::String(list)) if list.is(LIST) => Json::Array(Vec::new()),
            Some(_) => Json::Object(object),
            None => Json::Array(Vec::new()),
        }
    }
}

/// The part of this family, if the node has one.
pub(super) fn part(extra: &Extra) -> Option<&ExtraPart> {
    extra.part(FORMAT)
}

/// Keeps a part that holds something.
pub(super) fn keep(extra: &mut Extra, part: ExtraPart) {
    extra.keep(FORMAT, part);
}

/// Keeps a part that holds something, under the name of one of the formats.
pub(super) fn keep_as(extra: &mut Extra, name: &str, part: ExtraPart) {
    extra.keep(name, part);
}

/// The word of a part's note.
pub(super) fn word(part: Option<&ExtraPart>, key: &str) -> Option<String> {
    part.and_then(|part| part.spelling.get(key)).and_then(text)
}

/// Whether a part has a note.
pub(super) fn has_note(part: Option<&ExtraPart>, key: &str) -> bool {
    part.is_some_and(|part| part.spelling.contains(key))
}

/// A note of this family on how something was spelled.
pub(super) fn note<'a>(extra: &'a Extra, key: &str) -> Option<&'a Json> {
    extra.spelling(FORMAT, key)
}

/// The word of a note.
pub(super) fn note_word(extra: &Extra, key: &str) -> Option<String> {
    note(extra, key).and_then(text)
}
