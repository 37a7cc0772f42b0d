//! The fields of an object in a script: every one is known, or an error with its line.

use std::time::Duration;

use turnkeep_model::json::{Json, Node, Value};
use turnkeep_model::{Error, ErrorKind, Result};

/// An object that is being read.
pub(super) struct Fields<'a> {
    at: u32,
    left: Vec<(String, Node<'a>)>,
    known: &'static [&'static str],
}

impl<'a> Fields<'a> {
    /// The fields of a node, which may be these.
    pub(super) fn of(node: Node<'a>, known: &'static [&'static str]) -> Result<Fields<'a>> {
        let at = node.at;
        let Value::Object(fields) = node.value else {
            return Err(wrong(at, format!("expected an object with {}", known.join(", "))));
        };
        let left = fields.into_iter().map(|(key, node)| (key.to_str_lossy().into_owned(), node)).collect();
        Ok(Fields { at, left, known })
    }

    pub(super) fn at(&self) -> u32 {
        self.at
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Node<'a>> {
        let index = self.left.iter().position(|(known, _)| known == key)?;
        Some(self.left.remove(index).1)
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>> {
        self.take(key).map(text).transpose()
    }

    pub(super) fn count(&mut self, key: &str) -> Result<Option<u64>> {
        self.take(key).map(|node| count(&node)).transpose()
    }

    /// A span of time: `250ms`, `2s`, or a number of milliseconds.
    pub(super) fn span(&mut self, key: &str) -> Result<Option<Duration>> {
        self.take(key).map(|node| span(&node)).transpose()
    }

    pub(super) fn items(&mut self, key: &str) -> Result<Vec<Node<'a>>> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Node { value: Value::Array(items), .. }) => Ok(items),
            Some(node) => Err(wrong(node.at, format!("`{key}` is a list"))),
        }
    }

    /// Nothing may be left.
    pub(super) fn end(self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some((key, node)) => Err(wrong(node.at, format!("there is no field `{key}` here"))
                .hint(format!("fields: {}", self.known.join(", ")))),
        }
    }
}

pub(super) fn text(node: Node<'_>) -> Result<String> {
    match node.as_str() {
        Some(text) => Ok(text.into_owned()),
        None => Err(wrong(node.at, format!("expected a text, found {}", node.kind()))),
    }
}

pub(super) fn count(node: &Node<'_>) -> Result<u64> {
    node.as_number().and_then(|number| number.as_u64()).ok_or_else(|| wrong(node.at, "expected a whole number"))
}

pub(super) fn span(node: &Node<'_>) -> Result<Duration> {
    let word =
        node.as_str().map_or_else(|| node.as_number().map(|n| n.as_str().to_owned()), |text| Some(text.into_owned()));
    let word = word.unwrap_or_default();
    let (digits, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    match (digits.parse().ok(), unit) {
        (Some(milliseconds), "ms" | "") => Ok(Duration::from_millis(milliseconds)),
        (Some(seconds), "s") => Ok(Duration::from_secs(seconds)),
        _ => Err(wrong(node.at, "expected a time as `250ms` or `2s`")),
    }
}

/// A value as a text: a text itself, anything else as JSON.
pub(super) fn json_text(node: Node<'_>) -> String {
    match node.into_json() {
        Json::String(text) => text.to_str_lossy().into_owned(),
        json => json.to_text(),
    }
}

pub(super) fn wrong(at: u32, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, what).offset(at as usize)
}
