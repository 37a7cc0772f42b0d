//! A parsed document, borrowed from its source, with the place of every value.

use std::borrow::Cow;

use super::escape::{self, LoneSurrogate};
use super::{Json, JsonString, Number, Object};

/// A value of a parsed document and where it stands in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// The byte where it stands.
    pub at: u32,
    /// What stands there.
    pub value: Value<'a>,
}

/// The pairs of an object node.
pub type Fields<'a> = Vec<Field<'a>>;

/// One pair of an object node.
pub type Field<'a> = (Text<'a>, Node<'a>);

/// What a [`Node`] holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written.
    Number(Cow<'a, str>),
    /// A string.
    Text(Text<'a>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object, duplicates included.
    Object(Fields<'a>),
}

/// A string of a parsed document.
#[derive(Debug, Clone)]
pub enum Text<'a> {
    /// The content itself.
    Plain(&'a str),
    /// A JSON spelling with escapes in it.
    Escaped(&'a str),
    /// A content that does not stand in the source as such.
    Owned(Box<str>),
    /// A JSON spelling with escapes that does not stand in the source as such.
    OwnedEscaped(Box<str>),
    /// An unquoted scalar of a YAML text that JSON has no type for, such as a timestamp: text here, and written to YAML
    /// without quotes again.
    Bare(Box<str>),
}

impl<'a> Text<'a> {
    /// The content, or why no Rust string can hold it.
    pub fn to_str(&self) -> Result<Cow<'_, str>, LoneSurrogate> {
        match self {
            Text::Plain(text) => Ok(Cow::Borrowed(text)),
            Text::Bare(text) => Ok(Cow::Borrowed(text)),
            Text::Owned(text) => Ok(Cow::Borrowed(text)),
            Text::Escaped(_) | Text::OwnedEscaped(_) => {
                let (text, verdict) = escape::decode_lossy(self.spelling());
                verdict.map(|()| Cow::Owned(text))
            }
        }
    }

    /// The content, with U+FFFD for half of a surrogate pair.
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        match self {
            Text::Plain(text) => Cow::Borrowed(text),
            Text::Bare(text) => Cow::Borrowed(text),
            Text::Owned(text) => Cow::Borrowed(text),
            Text::Escaped(_) | Text::OwnedEscaped(_) => Cow::Owned(escape::decode_lossy(self.spelling()).0),
        }
    }

    /// Whether it holds this text.
    pub fn is(&self, text: &str) -> bool {
        match self {
            Text::Plain(own) => *own == text,
            Text::Bare(own) | Text::Owned(own) => **own == *text,
            Text::Escaped(_) | Text::OwnedEscaped(_) => self.to_str().is_ok_and(|own| own == text),
        }
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.spelling().is_empty()
    }

    /// Whether it holds nothing but white space. Texts that begin with something else are not decoded for it.
    pub fn is_blank(&self) -> bool {
        let start = self.spelling().trim_start();
        match self {
            Text::Escaped(_) | Text::OwnedEscaped(_) if start.starts_with('\\') => {
                self.to_str_lossy().trim().is_empty()
            }
            _ => start.is_empty(),
        }
    }

    /// Whether a Rust string can hold it: it has no half of a surrogate pair.
    pub fn is_whole(&self) -> bool {
        match self {
            Text::Escaped(_) | Text::OwnedEscaped(_) => !self.spelling().contains("\\u") || self.to_str().is_ok(),
            Text::Plain(_) | Text::Bare(_) | Text::Owned(_) => true,
        }
    }

    /// The text as it is held.
    fn spelling(&self) -> &str {
        match self {
            Text::Plain(text) | Text::Escaped(text) => text,
            Text::Owned(text) | Text::OwnedEscaped(text) | Text::Bare(text) => text,
        }
    }

    /// The same, no longer borrowed.
    pub fn into_owned(self) -> Text<'static> {
        match self {
            Text::Plain(text) => Text::Owned(text.into()),
            Text::Escaped(text) => Text::OwnedEscaped(text.into()),
            Text::Owned(text) => Text::Owned(text),
            Text::OwnedEscaped(text) => Text::OwnedEscaped(text),
            Text::Bare(text) => Text::Bare(text),
        }
    }

    /// The content, borrowed where it stands in the source as such, with U+FFFD for half of a surrogate pair.
    pub fn into_cow_lossy(self) -> Cow<'a, str> {
        match self {
            Text::Plain(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.into_string_lossy().0),
        }
    }

    /// The content as an owned string, and whether half a surrogate pair had to be replaced.
    pub fn into_string_lossy(self) -> (String, Result<(), LoneSurrogate>) {
        match self {
            Text::Plain(text) => (text.to_owned(), Ok(())),
            Text::Bare(text) => (text.into_string(), Ok(())),
            Text::Owned(text) => (text.into_string(), Ok(())),
            Text::Escaped(_) | Text::OwnedEscaped(_) => escape::decode_lossy(self.spelling()),
        }
    }

    /// The string as an owned JSON string, spelled as it was.
    pub fn into_json_string(self) -> JsonString {
        match self {
            Text::Plain(text) => text.into(),
            Text::Bare(text) => text.into_string().into(),
            Text::Owned(text) => text.into_string().into(),
            Text::Escaped(_) | Text::OwnedEscaped(_) => JsonString::spelled(self.spelling()),
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Text<'_>) -> bool {
        if let (Text::Plain(a), Text::Plain(b)) = (self, other) {
            return a == b;
        }
        match (self.to_str(), other.to_str()) {
            (Ok(a), Ok(b)) => a == b,
            _ => self.spelling() == other.spelling(),
        }
    }
}

impl<'a> Node<'a> {
    /// The same, no longer borrowed.
    pub fn into_owned(self) -> Node<'static> {
        let value = match self.value {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Number(text) => Value::Number(Cow::Owned(text.into_owned())),
            Value::Text(text) => Value::Text(text.into_owned()),
            Value::Array(items) => Value::Array(items.into_iter().map(Node::into_owned).collect()),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, node)| (key.into_owned(), node.into_owned())).collect())
            }
        };
        Node { at: self.at, value }
    }

    /// The owned value.
    pub fn into_json(self) -> Json {
        match self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(value),
            Value::Number(text) => Json::Number(Number::trusted(&text)),
            Value::Text(text) => Json::String(text.into_json_string()),
            Value::Array(items) => Json::Array(items.into_iter().map(Node::into_json).collect()),
            Value::Object(fields) => Json::Object(into_object(fields)),
        }
    }

    /// The last value under `key`, if this is an object.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        match &self.value {
            Value::Object(fields) => fields.iter().rev().find(|(own, _)| own.is(key)).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The string's content, if this is a string that a Rust string can hold.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        match &self.value {
            Value::Text(text) => text.to_str().ok(),
            _ => None,
        }
    }

    /// The string under `key`, if this is an object with one that a Rust string can hold.
    pub fn get_str(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key)?.as_str()
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<Number> {
        match &self.value {
            Value::Number(text) => Some(Number::trusted(text)),
            _ => None,
        }
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    /// The string, if this is one.
    pub fn as_text(&self) -> Option<&Text<'a>> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Node<'a>]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The pairs, if this is an object.
    pub fn as_object(&self) -> Option<&[(Text<'a>, Node<'a>)]> {
        match &self.value {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Takes the elements of the only array under `key` and leaves it empty.
    pub fn take_items(&mut self, key: &str) -> Vec<Node<'a>> {
        let Value::Object(fields) = &mut self.value else { return Vec::new() };
        let mut found = fields.iter_mut().filter(|(own, _)| own.is(key));
        match (found.next(), found.next()) {
            (Some((_, Node { value: Value::Array(items), .. })), None) => std::mem::take(items),
            _ => Vec::new(),
        }
    }

    /// The place of the first value that is nested deeper than `limit` levels.
    pub fn deeper_than(&self, limit: usize) -> Option<u32> {
        if limit == 0 && matches!(self.value, Value::Array(_) | Value::Object(_)) {
            return Some(self.at);
        }
        match &self.value {
            Value::Array(items) => items.iter().find_map(|item| item.deeper_than(limit - 1)),
            Value::Object(fields) => fields.iter().find_map(|(_, node)| node.deeper_than(limit - 1)),
            _ => None,
        }
    }

    /// What kind of value this is, as a person would say it.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}

impl Json {
    /// The same tree, borrowed: every value stands at byte 0 of no source.
    pub fn to_node(&self) -> Node<'_> {
        let value = match self {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Number(Cow::Borrowed(number.as_str())),
            Json::String(text) => Value::Text(text.to_text()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_node).collect()),
            Json::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.to_text(), value.to_node())).collect())
            }
        };
        Node { at: 0, value }
    }
}

/// The owned object of some pairs.
pub(super) fn into_object(fields: Fields<'_>) -> Object {
    fields.into_iter().map(|(key, node)| (key.into_json_string(), node.into_json())).collect()
}
