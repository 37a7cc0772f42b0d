//! The owned JSON value.

use std::borrow::Cow;
use std::fmt;

use super::{JsonSink, JsonString, Layout, Number, Sink};

/// A JSON value that keeps order, duplicate keys and spelling.
///
/// ```
/// use turnkeep_model::Json;
///
/// let json: Json = r#"{"id": 9007199254740993, "price": 1.0}"#.parse()?;
///
/// assert_eq!(json["id"], Json::from(9_007_199_254_740_993_u64));
/// assert_eq!(json["price"].to_string(), "1.0");
/// # Ok::<(), turnkeep_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written.
    Number(Number),
    /// A string.
    String(JsonString),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Object),
}

/// The pairs of a JSON object in order, duplicates included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object(Vec<(JsonString, Json)>);

impl Object {
    /// An object without pairs.
    pub const fn new() -> Object {
        Object(Vec::new())
    }

    /// The last value under `key`: where keys repeat, the last one counts.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().rev().find(|(k, _)| k.is(key)).map(|(_, v)| v)
    }

    /// The string under `key`, if there is one that a Rust string can hold.
    pub fn get_str(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key)?.as_str()
    }

    /// Sets `key`, replacing every earlier value in the place of the first.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        let value = value.into();
        match self.0.iter().position(|(k, _)| k.is(key)) {
            None => self.0.push((key.into(), value)),
            Some(at) => {
                let mut index = 0;
                self.0.retain(|(k, _)| {
                    index += 1;
                    index - 1 <= at || !k.is(key)
                });
                if let Some(pair) = self.0.get_mut(at) {
                    pair.1 = value;
                }
            }
        }
    }

    /// Appends a pair, also when the key is there already.
    pub fn push(&mut self, key: impl Into<JsonString>, value: impl Into<Json>) {
        self.0.push((key.into(), value.into()));
    }

    /// Removes every pair under `key` and returns the last value.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().rposition(|(k, _)| k.is(key))?;
        if !self.0.iter().take(at).any(|(k, _)| k.is(key)) {
            return Some(self.0.remove(at).1);
        }
        let mut last = None;
        self.0.retain_mut(|(k, v)| {
            if !k.is(key) {
                return true;
            }
            last = Some(std::mem::take(v));
            false
        });
        last
    }

    /// Whether `key` is there.
    pub fn contains(&self, key: &str) -> bool {
        self.0.iter().any(|(k, _)| k.is(key))
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&JsonString, &Json)> + DoubleEndedIterator {
        self.0.iter().map(|(k, v)| (k, v))
    }

    /// The pairs in order, values changeable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&JsonString, &mut Json)> {
        self.0.iter_mut().map(|(k, v)| (&*k, v))
    }

    /// Keeps only the pairs for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&JsonString, &Json) -> bool) {
        self.0.retain(|(k, v)| keep(k, v));
    }

    /// Whether every syntax can hold it: no key stands twice and no string holds half a surrogate pair, at any depth.
    pub fn is_plain(&self) -> bool {
        !self.has_duplicates() && self.iter().all(|(key, value)| key.is_sound() && value.is_plain())
    }

    /// Whether some key stands more than once.
    pub fn has_duplicates(&self) -> bool {
        const FEW: usize = 16;
        if self.0.len() <= FEW {
            let repeats = |(at, (key, _)): (usize, &(JsonString, Json))| self.0.iter().take(at).any(|(k, _)| k == key);
            return self.0.iter().enumerate().any(repeats);
        }
        let mut keys: Vec<_> = self.0.iter().map(|(k, _)| k.to_str_lossy()).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| matches!(pair, [a, b] if a == b))
    }
}

impl FromIterator<(JsonString, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (JsonString, Json)>>(pairs: I) -> Object {
        Object(pairs.into_iter().collect())
    }
}

impl<'a> FromIterator<(&'a str, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (&'a str, Json)>>(pairs: I) -> Object {
        pairs.into_iter().map(|(k, v)| (JsonString::from(k), v)).collect()
    }
}

impl IntoIterator for Object {
    type Item = (JsonString, Json);
    type IntoIter = std::vec::IntoIter<(JsonString, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Json {
    /// The string's content, if this is a string that a Rust string can hold.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        match self {
            Json::String(text) => text.to_str().ok(),
            _ => None,
        }
    }

    /// The object, if this is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether every syntax can hold it: no key stands twice and no string holds half a surrogate pair, at any depth.
    pub fn is_plain(&self) -> bool {
        match self {
            Json::Null | Json::Bool(_) | Json::Number(_) => true,
            Json::String(text) => text.is_sound(),
            Json::Array(items) => items.iter().all(Json::is_plain),
            Json::Object(object) => object.is_plain(),
        }
    }

    /// What kind of value this is, as a person would say it.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// Writes the value into `sink`.
    pub fn write(&self, sink: &mut impl Sink) {
        match self {
            Json::Null => sink.null(),
            Json::Bool(value) => sink.bool(*value),
            Json::Number(number) => sink.number(number.as_str()),
            Json::String(text) => sink.string(text),
            Json::Array(items) => {
                sink.begin_array();
                items.iter().for_each(|item| item.write(sink));
                sink.end_array();
            }
            Json::Object(object) => object.write(sink),
        }
    }

    /// The value as a compact JSON text.
    pub fn to_text(&self) -> String {
        let mut sink = JsonSink::new(Layout::Compact);
        self.write(&mut sink);
        sink.into_text()
    }
}

impl Object {
    /// Writes the object into `sink`.
    pub fn write(&self, sink: &mut impl Sink) {
        sink.begin_object();
        for (key, value) in self.iter() {
            sink.spelled_key(key);
            value.write(sink);
        }
        sink.end_object();
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}
