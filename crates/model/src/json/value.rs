//! The owned JSON value.

use std::borrow::Cow;
use std::fmt;

use super::escape::{self, LoneSurrogate};
use super::inline::Inline;
use super::{JsonSink, Layout, Number, Sink, Text};

/// A JSON value that keeps order, duplicate keys and spelling.
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

/// A JSON string that keeps how it was escaped, so that half a surrogate pair survives.
///
/// Equality is of the content: `"\u00e9"` equals `"é"`.
#[derive(Clone)]
pub struct JsonString(Spelling);

#[derive(Clone)]
enum Spelling {
    Short(Inline),
    Plain(Box<str>),
    Escaped(Box<str>),
}

const _: () = assert!(size_of::<JsonString>() == 24, "a short text takes no more room than a pointer to a long one");

impl JsonString {
    /// A string from its checked spelling between the quotes. One that we would spell alike is kept by its content.
    pub(super) fn spelled(spelling: &str) -> JsonString {
        match escape::decode_usual(spelling) {
            Some(text) => text.into(),
            None => JsonString(Spelling::Escaped(spelling.into())),
        }
    }

    /// Whether it is `""`.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Spelling::Short(short) => short.as_str().is_empty(),
            // Every escape stands for something.
            Spelling::Plain(text) | Spelling::Escaped(text) => text.is_empty(),
        }
    }

    /// Whether a Rust string can hold it: it has no half of a surrogate pair.
    pub fn is_sound(&self) -> bool {
        match &self.0 {
            Spelling::Short(_) | Spelling::Plain(_) => true,
            Spelling::Escaped(spelling) => escape::is_sound(spelling),
        }
    }

    /// The content, or why no Rust string can hold it.
    pub fn to_str(&self) -> Result<Cow<'_, str>, LoneSurrogate> {
        match &self.0 {
            Spelling::Short(text) => Ok(Cow::Borrowed(text.as_str())),
            Spelling::Plain(text) => Ok(Cow::Borrowed(text)),
            Spelling::Escaped(spelling) => {
                let (text, verdict) = escape::decode_lossy(spelling);
                verdict.map(|()| Cow::Owned(text))
            }
        }
    }

    /// The content, or the string itself where no Rust string can hold it.
    ///
    /// # Errors
    /// The string, where it holds half a surrogate pair.
    pub fn into_string(self) -> Result<String, JsonString> {
        match self.0 {
            Spelling::Short(text) => Ok(text.as_str().to_owned()),
            Spelling::Plain(text) => Ok(text.into_string()),
            Spelling::Escaped(spelling) => match escape::decode_lossy(&spelling) {
                (text, Ok(())) => Ok(text),
                (_, Err(_)) => Err(JsonString(Spelling::Escaped(spelling))),
            },
        }
    }

    /// The content, with U+FFFD for half of a surrogate pair.
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        match &self.0 {
            Spelling::Short(text) => Cow::Borrowed(text.as_str()),
            Spelling::Plain(text) => Cow::Borrowed(text),
            Spelling::Escaped(spelling) => Cow::Owned(escape::decode_lossy(spelling).0),
        }
    }

    /// The content as an owned string, with U+FFFD for half of a surrogate pair.
    pub fn into_string_lossy(self) -> String {
        match self.0 {
            Spelling::Short(text) => text.as_str().to_owned(),
            Spelling::Plain(text) => text.into_string(),
            Spelling::Escaped(spelling) => escape::decode_lossy(&spelling).0,
        }
    }

    /// The spelling that must be kept as it is, if there is one.
    pub fn escaped(&self) -> Option<&str> {
        match &self.0 {
            Spelling::Short(_) | Spelling::Plain(_) => None,
            Spelling::Escaped(spelling) => Some(spelling),
        }
    }

    /// The same, borrowed.
    pub fn to_text(&self) -> Text<'_> {
        match &self.0 {
            Spelling::Short(text) => Text::Plain(text.as_str()),
            Spelling::Plain(text) => Text::Plain(text),
            Spelling::Escaped(spelling) => Text::Escaped(spelling),
        }
    }

    /// Whether it holds this text.
    pub fn is(&self, text: &str) -> bool {
        match &self.0 {
            Spelling::Short(short) => short.as_bytes() == text.as_bytes(),
            Spelling::Plain(plain) => **plain == *text,
            Spelling::Escaped(_) => self.to_str().is_ok_and(|own| own == text),
        }
    }
}

impl PartialEq for JsonString {
    fn eq(&self, other: &JsonString) -> bool {
        match (&self.0, &other.0) {
            (Spelling::Short(a), Spelling::Short(b)) => a.as_bytes() == b.as_bytes(),
            (Spelling::Plain(a), Spelling::Plain(b)) => a == b,
            (Spelling::Escaped(a), Spelling::Escaped(b)) if a == b => true,
            _ => match (self.to_str(), other.to_str()) {
                (Ok(a), Ok(b)) => a == b,
                _ => false,
            },
        }
    }
}

impl Eq for JsonString {}

impl PartialEq<&str> for JsonString {
    fn eq(&self, text: &&str) -> bool {
        self.is(text)
    }
}

impl fmt::Debug for JsonString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_str_lossy(), f)
    }
}

impl From<&str> for JsonString {
    fn from(text: &str) -> JsonString {
        JsonString(Inline::new(text).map_or_else(|| Spelling::Plain(text.into()), Spelling::Short))
    }
}

impl From<String> for JsonString {
    fn from(text: String) -> JsonString {
        JsonString(Inline::new(&text).map_or_else(|| Spelling::Plain(text.into()), Spelling::Short))
    }
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

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text.into())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        Json::Number(value.into())
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Json {
        Json::Number(value.into())
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Json {
        Json::Number(number)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Json {
        Json::Object(object)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Json {
        Json::Array(items)
    }
}
