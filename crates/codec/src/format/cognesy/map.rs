//! Objects of a document, read field by field and written back with what was not understood.
//!
//! Each kind of object has a [`Form`]: its keys in the order in which the program writes them, and what stands there
//! when there is nothing to say. What a reader does not take stays with the node, and where the keys of a source differ
//! from its form, a note keeps them. So a writer gives back exactly what was read.

use turnkeep_model::json::{Json, JsonString, Number, Object};
use turnkeep_model::{Extra, ExtraPart, Time};

use super::FORMAT;

/// The keys of one kind of object, in the order of the program.
pub(super) type Form = &'static [(&'static str, Rule)];

/// What stands under a key when there is nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Nothing: the key is left out.
    Optional,
    /// What follows from the rest.
    Derived,
    /// `null`
    Null,
    /// `""`
    Empty,
    /// `[]`, also where a map is meant.
    List,
    /// `{}`
    Map,
    /// `0`
    Zero,
    /// `false`
    False,
}

impl Rule {
    fn value(self) -> Option<Json> {
        match self {
            Rule::Optional | Rule::Derived => None,
            Rule::Null => Some(Json::Null),
            Rule::Empty => Some(Json::from("")),
            Rule::List => Some(Json::Array(Vec::new())),
            Rule::Map => Some(Json::Object(Object::new())),
            Rule::Zero => Some(Json::from(0_u64)),
            Rule::False => Some(Json::Bool(false)),
        }
    }
}

fn rule(form: Form, key: &str) -> Option<(usize, Rule)> {
    form.iter().position(|(name, _)| *name == key).and_then(|at| form.get(at).map(|(_, rule)| (at, *rule)))
}

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

/// An object that is being read.
#[derive(Debug)]
pub(super) struct Map {
    left: Object,
    form: Form,
    note: Option<Json>,
}

impl Map {
    /// Opens an object, or an empty list that stands for one; gives back what is neither.
    pub(super) fn open(value: Json, form: Form) -> Result<Map, Json> {
        let all_optional = || form.iter().all(|(_, rule)| *rule == Rule::Optional);
        match value {
            Json::Array(items) if items.is_empty() => {
                let note = (!all_optional()).then(|| Json::from("[]"));
                Ok(Map { left: Object::new(), form, note })
            }
            Json::Object(object) if object.is_empty() => Ok(Map { left: object, form, note: Some(Json::from("{}")) }),
            Json::Object(object) => {
                let object = if object.has_duplicates() { unique(object) } else { object };
                let note = (!follows(&object, form)).then(|| keys_of(&object));
                Ok(Map { left: object, form, note })
            }
            other => Err(other),
        }
    }

    /// Takes the value under `key` if `read` makes something of it.
    pub(super) fn take<T>(&mut self, key: &str, read: impl FnOnce(&Json) -> Option<T>) -> Option<T> {
        let value = read(self.left.get(key)?)?;
        self.left.remove(key);
        Some(value)
    }

    /// Takes whatever stands under `key`.
    pub(super) fn remove(&mut self, key: &str) -> Option<Json> {
        self.left.remove(key)
    }

    /// What stands under `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.left.get(key)
    }

    /// Puts a value back.
    pub(super) fn restore(&mut self, key: &str, value: Json) {
        self.left.set(key, value);
    }

    /// Takes a text that says something.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        match self.left.get(key) {
            Some(Json::String(text)) if !text.is_empty() && text.is_sound() => {}
            _ => return None,
        }
        self.left.remove(key).and_then(into_text)
    }

    /// Takes a time.
    pub(super) fn time(&mut self, key: &str) -> Option<Time> {
        self.text(key).map(Time::new)
    }

    /// Takes a whole number that is not zero.
    pub(super) fn count(&mut self, key: &str) -> Option<u64> {
        self.take(key, |value| whole(value).filter(|count| *count != 0))
    }

    /// Takes a number.
    pub(super) fn number(&mut self, key: &str) -> Option<Number> {
        self.take(key, |value| value.as_number().cloned())
    }

    /// Takes a map that holds something.
    pub(super) fn object(&mut self, key: &str) -> Option<Object> {
        match self.left.get(key) {
            Some(Json::Object(object)) if !object.is_empty() => {}
            _ => return None,
        }
        match self.left.remove(key) {
            Some(Json::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Opens the map under `key`; what is not a map stays.
    pub(super) fn open_at(&mut self, key: &str, form: Form) -> Option<Map> {
        let value = self.left.remove(key)?;
        Map::open(value, form).map_err(|other| self.left.set(key, other)).ok()
    }

    /// Drops what stands under `key` if it follows from the rest.
    pub(super) fn derived(&mut self, key: &str, value: &Json) {
        if self.left.get(key) == Some(value) {
            self.left.remove(key);
        }
    }

    /// Takes a list that holds something.
    pub(super) fn list(&mut self, key: &str) -> Option<Vec<Json>> {
        match self.left.get(key) {
            Some(Json::Array(items)) if !items.is_empty() => {}
            _ => return None,
        }
        match self.left.remove(key) {
            Some(Json::Array(items)) => Some(items),
            _ => None,
        }
    }

    /// Whether its keys stand otherwise than the form says.
    pub(super) fn is_odd(&self) -> bool {
        self.note.is_some()
    }

    /// What is left, and how its keys stood where that differs from the form.
    pub(super) fn close(mut self) -> (Object, Option<Json>) {
        let form = self.form;
        self.left.retain(|key, value| match rule(form, &key.to_str_lossy()) {
            Some((_, rule)) => rule.value().as_ref() != Some(value),
            None => true,
        });
        (self.left, self.note)
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
    let Some(note) = note else { return };
    let mut keys = match part.spelling.remove(KEYS) {
        Some(Json::Object(keys)) => keys,
        _ => Object::new(),
    };
    keys.set(path, note);
    part.spelling.set(KEYS, keys);
}

const KEYS: &str = "keys";

/// The start of keys under which a part keeps fields of objects that do not stand in the one it speaks of.
pub(super) const APART: char = '#';

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
    let keys = part.and_then(|part| part.spelling.get(KEYS)).and_then(Json::as_object);
    keys.is_some_and(|keys| keys.contains(path))
}

/// Of keys that stand twice, the last value in the place of the first: as PHP reads them.
fn unique(object: Object) -> Object {
    let mut unique = Object::new();
    object.into_iter().for_each(|(key, value)| unique.set(&key.to_str_lossy(), value));
    unique
}

/// Whether the keys of an object stand as the form says: known ones in its order, then the others, none twice.
fn follows(object: &Object, form: Form) -> bool {
    let mut next = 0;
    let mut unknown = false;
    for (key, _) in object.iter() {
        let Ok(key) = key.to_str() else { return false };
        match rule(form, &key) {
            Some((at, _)) if unknown || at < next || !skips(form, next, at) => return false,
            Some((at, _)) => next = at + 1,
            None => unknown = true,
        }
    }
    skips(form, next, form.len())
}

/// Whether all keys of a stretch of the form may be left out.
fn skips(form: Form, from: usize, to: usize) -> bool {
    form.get(from..to).unwrap_or_default().iter().all(|(_, rule)| *rule == Rule::Optional)
}

fn keys_of(object: &Object) -> Json {
    Json::Array(object.iter().map(|(key, _)| Json::String(key.clone())).collect())
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
    let number = value.as_number()?;
    number.as_u64().filter(|count| count.to_string() == number.as_str())
}

/// An object that is being written.
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

    /// The object, with what was left of the one at `path` of the node.
    pub(super) fn finish(mut self, form: Form, part: Option<&ExtraPart>, path: &str) -> Json {
        let left = left_at(part, path);
        let note =
            part.and_then(|part| part.spelling.get(KEYS)).and_then(Json::as_object).and_then(|keys| keys.get(path));
        let mut out = Object::new();
        match note {
            Some(Json::String(empty)) if self.set.is_empty() && left.is_none_or(Object::is_empty) => {
                return if empty.to_str_lossy() == "{}" { Json::Object(out) } else { Json::Array(Vec::new()) };
            }
            Some(Json::Array(keys)) => {
                for key in keys.iter().filter_map(|key| match key {
                    Json::String(key) => Some(key),
                    _ => None,
                }) {
                    self.emit(key.clone(), form, left, &mut out);
                }
            }
            Some(_) => {}
            None => {
                for (key, _) in form {
                    self.emit(JsonString::from(*key), form, left, &mut out);
                }
            }
        }
        self.rest(left, &mut out);
        if out.is_empty() { Json::Array(Vec::new()) } else { Json::Object(out) }
    }

    fn emit(&mut self, key: JsonString, form: Form, left: Option<&Object>, out: &mut Object) {
        let name = key.to_str_lossy();
        let own = self.set.remove(&name);
        let spare = self.spare.remove(&name);
        let inner = self.inner.remove(&name);
        let is_rest = |kept: &&Json| inner.is_some() && matches!(kept, Json::Object(fields) if !fields.is_empty());
        let kept = || left.and_then(|left| left.get(&name)).filter(|kept| !is_rest(kept)).cloned();
        let value = own.or_else(kept).or(spare);
        let usual = || rule(form, &name).and_then(|(_, rule)| rule.value());
        let value = value.or(inner).or_else(usual);
        drop(name);
        if let Some(value) = value {
            out.push(key, value);
        }
    }

    /// What neither the form nor the note names.
    fn rest(mut self, left: Option<&Object>, out: &mut Object) {
        for (key, value) in left.into_iter().flat_map(Object::iter) {
            let name = key.to_str_lossy();
            let said = [&*out, &self.set, &self.spare, &self.inner].iter().any(|held| held.contains(&name));
            if !name.starts_with(APART) && !said {
                out.push(key.clone(), value.clone());
            }
        }
        for (key, value) in std::mem::take(&mut self.set) {
            out.push(key, value);
        }
    }
}

/// The part of this family, if the node has one.
pub(super) fn part(extra: &Extra) -> Option<&ExtraPart> {
    extra.part(FORMAT)
}

/// Keeps a part that holds something.
pub(super) fn keep(extra: &mut Extra, part: ExtraPart) {
    keep_as(extra, FORMAT, part);
}

/// Keeps a part that holds something, under the name of one of the formats.
pub(super) fn keep_as(extra: &mut Extra, name: &str, part: ExtraPart) {
    if part != ExtraPart::default() {
        *extra.part_mut(name) = part;
    }
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
