//! Where a value is written: a JSON text, a tree, or whatever else understands the events.

use super::escape::spell_into;
use super::{Json, JsonString, Number, Object};

/// Receives a value as a stream of events, in document order.
pub trait Sink {
    /// `null`
    fn null(&mut self);
    /// `true` or `false`
    fn bool(&mut self, value: bool);
    /// A number by its spelling.
    fn number(&mut self, text: &str);
    /// A string by its content.
    fn text(&mut self, text: &str);
    /// A string that may have to keep its spelling.
    fn string(&mut self, text: &JsonString);
    /// A string that YAML holds without quotes.
    fn bare(&mut self, text: &str) {
        self.text(text);
    }
    /// A whole value.
    fn json(&mut self, value: &Json)
    where
        Self: Sized,
    {
        value.write(self);
    }
    /// The start of an array.
    fn begin_array(&mut self);
    /// The end of the innermost array.
    fn end_array(&mut self);
    /// The start of an object.
    fn begin_object(&mut self);
    /// The key of the value that follows.
    fn key(&mut self, key: &str);
    /// A key that may have to keep its spelling.
    fn spelled_key(&mut self, key: &JsonString);
    /// The end of the innermost object.
    fn end_object(&mut self);
}

/// How a JSON text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// On one line, without spaces.
    Compact,
    /// One value a line, two spaces of indent.
    Pretty,
}

/// Writes a JSON text.
///
/// A number that JSON cannot spell (`NaN`, `Infinity`) is written as Python does, bare.
#[derive(Debug)]
pub struct JsonSink {
    out: Vec<u8>,
    layout: Layout,
    depth: usize,
    state: State,
}

#[derive(Debug, PartialEq, Clone, Copy)]
enum State {
    /// Nothing stands yet in the innermost container.
    First,
    /// A key stands and its value is due.
    Due,
    /// A value stands.
    Next,
}

impl JsonSink {
    /// A sink with nothing written.
    pub fn new(layout: Layout) -> JsonSink {
        JsonSink { out: Vec::new(), layout, depth: 0, state: State::Due }
    }

    /// The text written so far.
    pub fn into_text(self) -> String {
        // Everything written is either a &str or an ASCII escape.
        String::from_utf8(self.out).unwrap_or_default()
    }

    /// The bytes of the text written so far.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    fn before(&mut self) {
        match self.state {
            State::Due => {}
            State::First => self.new_line(),
            State::Next => {
                self.out.push(b',');
                self.new_line();
            }
        }
        self.state = State::Next;
    }

    fn new_line(&mut self) {
        if self.layout == Layout::Pretty {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * self.depth, b' ');
        }
    }

    fn scalar(&mut self, text: &[u8]) {
        self.before();
        self.out.extend_from_slice(text);
    }

    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        spell_into(text, &mut self.out);
        self.out.push(b'"');
    }

    fn quoted_json(&mut self, text: &JsonString) {
        match text.escaped() {
            None => self.quoted(&text.to_str_lossy()),
            Some(spelling) => {
                self.out.push(b'"');
                self.out.extend_from_slice(spelling.as_bytes());
                self.out.push(b'"');
            }
        }
    }

    fn begin(&mut self, bracket: u8) {
        self.before();
        self.out.push(bracket);
        self.depth += 1;
        self.state = State::First;
    }

    fn end(&mut self, bracket: u8) {
        self.depth = self.depth.saturating_sub(1);
        if self.state == State::Next {
            self.new_line();
        }
        self.out.push(bracket);
        self.state = State::Next;
    }

    fn after_key(&mut self) {
        self.out.push(b':');
        if self.layout == Layout::Pretty {
            self.out.push(b' ');
        }
        self.state = State::Due;
    }
}

impl Sink for JsonSink {
    fn null(&mut self) {
        self.scalar(b"null");
    }

    fn bool(&mut self, value: bool) {
        self.scalar(if value { b"true" } else { b"false" });
    }

    fn number(&mut self, text: &str) {
        self.scalar(text.as_bytes());
    }

    fn text(&mut self, text: &str) {
        self.before();
        self.quoted(text);
    }

    fn string(&mut self, text: &JsonString) {
        self.before();
        self.quoted_json(text);
    }

    fn begin_array(&mut self) {
        self.begin(b'[');
    }

    fn end_array(&mut self) {
        self.end(b']');
    }

    fn begin_object(&mut self) {
        self.begin(b'{');
    }

    fn key(&mut self, key: &str) {
        self.before();
        self.quoted(key);
        self.after_key();
    }

    fn spelled_key(&mut self, key: &JsonString) {
        self.before();
        self.quoted_json(key);
        self.after_key();
    }

    fn end_object(&mut self) {
        self.end(b'}');
    }
}

/// Builds a [`Json`] value.
#[derive(Debug, Default)]
pub struct TreeSink {
    open: Vec<Open>,
    done: Json,
}

#[derive(Debug)]
enum Open {
    Array(Vec<Json>),
    Object(Object, Option<JsonString>),
}

impl TreeSink {
    /// The value written.
    pub fn into_json(self) -> Json {
        self.done
    }

    fn put(&mut self, value: Json) {
        match self.open.last_mut() {
            None => self.done = value,
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Object(object, key)) => {
                let key = key.take().unwrap_or_else(|| "".into());
                object.push(key, value);
            }
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            None => {}
            Some(Open::Array(items)) => self.put(Json::Array(items)),
            Some(Open::Object(object, _)) => self.put(Json::Object(object)),
        }
    }
}

impl Sink for TreeSink {
    fn null(&mut self) {
        self.put(Json::Null);
    }

    fn bool(&mut self, value: bool) {
        self.put(Json::Bool(value));
    }

    fn number(&mut self, text: &str) {
        self.put(Json::Number(Number::trusted(text)));
    }

    fn text(&mut self, text: &str) {
        self.put(text.into());
    }

    fn string(&mut self, text: &JsonString) {
        self.put(Json::String(text.clone()));
    }

    fn begin_array(&mut self) {
        self.open.push(Open::Array(Vec::new()));
    }

    fn end_array(&mut self) {
        self.close();
    }

    fn begin_object(&mut self) {
        self.open.push(Open::Object(Object::new(), None));
    }

    fn key(&mut self, key: &str) {
        self.spelled_key(&key.into());
    }

    fn spelled_key(&mut self, key: &JsonString) {
        if let Some(Open::Object(_, slot)) = self.open.last_mut() {
            *slot = Some(key.clone());
        }
    }

    fn end_object(&mut self) {
        self.close();
    }
}
