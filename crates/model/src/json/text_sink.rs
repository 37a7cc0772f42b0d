//! JSON as text: one writer for every program whose files are written, by its style.

use super::escape::spell_into;
use super::node::into_object;
use super::number::is_non_finite;
use super::sink::Sink;
use super::{Fields, Json, JsonString, Node, Number, Object};

/// How a JSON text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// On one line, without spaces.
    Compact,
    /// One value a line, two spaces of indent.
    Pretty,
}

/// How a program lays out and spells its JSON.
#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    /// The spaces of a level; everything is on one line where there are none.
    pub indent: Option<usize>,
    /// What ends a line.
    pub line_end: &'static str,
    /// Whether a blank line stands inside what is empty.
    pub blank_in_empty: bool,
    /// Spells the content of a string.
    pub spell: fn(&str, &mut Vec<u8>),
    /// Whether a string keeps the escapes of its source; half a surrogate pair always does.
    pub keeps_escapes: bool,
}

impl TextStyle {
    /// [`Layout::Compact`].
    pub const COMPACT: TextStyle =
        TextStyle { indent: None, line_end: "\n", blank_in_empty: false, spell: spell_into, keeps_escapes: true };
    /// [`Layout::Pretty`].
    pub const PRETTY: TextStyle = TextStyle { indent: Some(2), ..TextStyle::COMPACT };
}

impl From<Layout> for TextStyle {
    fn from(layout: Layout) -> TextStyle {
        match layout {
            Layout::Compact => TextStyle::COMPACT,
            Layout::Pretty => TextStyle::PRETTY,
        }
    }
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
    style: TextStyle,
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
        JsonSink::styled(layout, Vec::new())
    }

    /// The same in the style of any program, written into a buffer.
    pub fn styled(style: impl Into<TextStyle>, out: Vec<u8>) -> JsonSink {
        JsonSink { out, style: style.into(), non_finite: NonFinite::Bare, depth: 0, state: State::Due }
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
        if let Some(spaces) = self.style.indent {
            self.out.extend_from_slice(self.style.line_end.as_bytes());
            self.out.resize(self.out.len() + spaces * self.depth, b' ');
        }
    }

    fn scalar(&mut self, text: &[u8]) {
        self.before();
        self.out.extend_from_slice(text);
    }

    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        (self.style.spell)(text, &mut self.out);
        self.out.push(b'"');
    }

    fn quoted_json(&mut self, text: &JsonString) {
        let keeps = |_: &&str| self.style.keeps_escapes || text.to_str().is_err();
        match text.escaped().filter(keeps) {
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
        if self.state == State::First && self.style.blank_in_empty {
            self.out.extend_from_slice(self.style.line_end.as_bytes());
        }
        if self.state == State::Next || self.style.blank_in_empty {
            self.new_line();
        }
        self.out.push(bracket);
        self.state = State::Next;
    }

    fn after_key(&mut self) {
        self.out.push(b':');
        if self.style.indent.is_some() {
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
