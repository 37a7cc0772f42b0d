//! Where a value is written: a JSON text, a tree, or whatever else understands the events.

use super::escape::spell_into;
use super::node::into_object;
use super::number::is_non_finite;
use super::{Fields, Json, JsonString, Node, Number, Object};

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

/// What a JSON text makes of a number that JSON cannot spell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NonFinite {
    /// It stands bare, as Python writes it.
    Bare,
    /// It is wrapped, as in `{"$number":"NaN"}`, so that the text stays JSON. An object of that very form gets one more
    /// `$`.
    Wrapped,
}

/// Writes a JSON text.
#[derive(Debug)]
pub struct JsonSink {
    out: Vec<u8>,
    layout: Layout,
    non_finite: NonFinite,
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
    /// A sink with nothing written. `NaN` and `Infinity` will stand bare, as Python writes them.
    pub fn new(layout: Layout) -> JsonSink {
        JsonSink { out: Vec::new(), layout, non_finite: NonFinite::Bare, depth: 0, state: State::Due }
    }

    /// A sink for native documents: what it writes is strict JSON.
    pub fn native(layout: Layout) -> JsonSink {
        JsonSink { non_finite: NonFinite::Wrapped, ..JsonSink::new(layout) }
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
        if self.non_finite == NonFinite::Bare || !is_non_finite(text) {
            return self.scalar(text.as_bytes());
        }
        self.begin_object();
        self.key(NUMBER);
        self.text(text);
        self.end_object();
    }

    fn text(&mut self, text: &str) {
        self.before();
        self.quoted(text);
    }

    fn json(&mut self, value: &Json) {
        match value {
            Json::Object(object) => {
                self.begin_object();
                for (key, value) in object.iter() {
                    if self.non_finite == NonFinite::Wrapped && object.len() == 1 && is_wrapping(&key.to_str_lossy()) {
                        self.key(&format!("${}", key.to_str_lossy()));
                    } else {
                        self.spelled_key(key);
                    }
                    self.json(value);
                }
                self.end_object();
            }
            Json::Array(items) => {
                self.begin_array();
                items.iter().for_each(|item| self.json(item));
                self.end_array();
            }
            scalar => scalar.write(self),
        }
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

/// The key that wraps a number which JSON cannot spell.
const NUMBER: &str = "$number";

/// Whether an object with this one key has, or could be taken to have, the form of a wrapped number.
fn is_wrapping(key: &str) -> bool {
    key.strip_suffix("number").is_some_and(|signs| !signs.is_empty() && signs.bytes().all(|b| b == b'$'))
}

/// The value of a native document.
pub(crate) fn read_value(node: Node<'_>) -> Json {
    unwrap_numbers(node.into_json())
}

/// The object of some pairs of a native document.
pub(crate) fn read_object(fields: Fields<'_>) -> Object {
    unwrap_values(into_object(fields))
}

/// Undoes what a native sink wraps.
fn unwrap_numbers(value: Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.into_iter().map(unwrap_numbers).collect()),
        Json::Object(object) => unwrap_object(object),
        scalar => scalar,
    }
}

fn unwrap_object(object: Object) -> Json {
    let wrapping = object.len() == 1 && object.iter().all(|(key, _)| is_wrapping(&key.to_str_lossy()));
    if !wrapping {
        return Json::Object(unwrap_values(object));
    }
    let number = object.get(NUMBER).and_then(Json::as_str).filter(|text| is_non_finite(text));
    if let Some(number) = number.and_then(|text| Number::parse(&text)) {
        return Json::Number(number);
    }
    let unsigned = |key: JsonString| match key.to_str_lossy().strip_prefix("$$") {
        Some(rest) => JsonString::from(format!("${rest}")),
        None => key,
    };
    Json::Object(object.into_iter().map(|(key, value)| (unsigned(key), unwrap_numbers(value))).collect())
}

/// Undoes what a native sink wraps, in the values of an object.
fn unwrap_values(object: Object) -> Object {
    object.into_iter().map(|(key, value)| (key, unwrap_numbers(value))).collect()
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
