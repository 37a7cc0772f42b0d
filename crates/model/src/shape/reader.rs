//! The state of one reading: where it is, and what it lost.

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Fields, Node, Text, Value};
use crate::loss::{Loss, LossKind};

/// Where a reading is and what it has lost so far.
#[derive(Debug, Default)]
pub struct ShapeReader {
    path: Vec<PathSegment>,
    /// What could not be kept.
    pub losses: Vec<Loss>,
}

const REPEATED: &str = "the key stands more than once; the last one counts";

#[derive(Debug, Clone)]
enum PathSegment {
    Key(&'static str),
    Index(usize),
}

impl ShapeReader {
    /// Reads inside the field `key`.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn within<T>(&mut self, key: &'static str, read: impl FnOnce(&mut ShapeReader) -> Result<T>) -> Result<T> {
        self.path.push(PathSegment::Key(key));
        let value = read(self);
        self.path.pop();
        value
    }

    /// Reads inside the element `index`.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn at<T>(&mut self, index: usize, read: impl FnOnce(&mut ShapeReader) -> Result<T>) -> Result<T> {
        self.path.push(PathSegment::Index(index));
        let value = read(self);
        self.path.pop();
        value
    }

    /// The path of the place being read.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.path {
            match step {
                PathSegment::Key(key) if path.is_empty() => path.push_str(key),
                PathSegment::Key(key) => {
                    path.push('.');
                    path.push_str(key);
                }
                PathSegment::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    /// An error at this place.
    pub fn error(&self, at: u32, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Corrupt, what).path(self.path()).offset(at as usize)
    }

    /// The error that `node` is not `wanted`.
    pub fn wrong(&self, node: &Node<'_>, wanted: &str) -> Error {
        self.error(node.at, format!("expected {wanted}, found {}", node.kind()))
    }

    /// The error that the field `key` is missing.
    pub fn missing(&self, key: &str) -> Error {
        let path = self.path();
        Error::new(ErrorKind::Corrupt, format!("the field `{key}` is missing")).path(path)
    }

    /// Records a loss at this place.
    pub fn lose(&mut self, kind: LossKind, what: impl Into<String>) {
        self.losses.push(Loss::decode(kind, self.path(), what));
    }

    /// The content of a string; half a surrogate pair is replaced and reported.
    pub fn string(&mut self, text: Text<'_>) -> String {
        let (text, verdict) = text.into_string_lossy();
        if let Err(lone) = verdict {
            self.lose(LossKind::Coerced, format!("{lone}; U+FFFD stands in its place"));
        }
        text
    }

    /// What `read` makes of the content of a string node, without a copy of it.
    ///
    /// # Errors
    /// `Corrupt` if the node is something else.
    pub fn word<T>(&mut self, node: Node<'_>, read: impl FnOnce(&str) -> T) -> Result<T> {
        let Value::Text(text) = node.value else {
            return Err(self.wrong(&node, "a string"));
        };
        if let Ok(word) = text.to_str() {
            return Ok(read(&word));
        }
        Ok(read(&self.string(text)))
    }

    /// The pairs of an object node.
    ///
    /// # Errors
    /// `Corrupt` if the node is something else.
    pub fn object<'a>(&self, node: Node<'a>) -> Result<Fields<'a>> {
        match node.value {
            Value::Object(fields) => Ok(fields),
            _ => Err(self.wrong(&node, "an object")),
        }
    }

    /// Takes the last field `key` out of `fields`; earlier ones are reported as lost.
    pub fn take<'a>(&mut self, fields: &mut Fields<'a>, key: &'static str) -> Option<Node<'a>> {
        let last = |fields: &Fields<'_>| fields.iter().rposition(|(name, _)| name.to_str_lossy() == key);
        let (_, taken) = fields.remove(last(fields)?);
        while let Some(earlier) = last(fields) {
            fields.remove(earlier);
            self.path.push(PathSegment::Key(key));
            self.lose(LossKind::Dropped, REPEATED);
            self.path.pop();
        }
        Some(taken)
    }

    /// Puts a value into its field's slot; an earlier one is reported as lost.
    pub fn fill<T>(&mut self, slot: &mut Option<T>, value: T) {
        if slot.replace(value).is_some() {
            self.lose(LossKind::Dropped, REPEATED);
        }
    }
}
