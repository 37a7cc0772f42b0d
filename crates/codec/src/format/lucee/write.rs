//! From a serialized session to a text.

use turnkeep_model::json::{Json, JsonSink, JsonString, Layout as SinkLayout, Object, Sink, spell_into};

use super::document::{Document, ITEM_KEYS, Item, PART_KEYS, Part, SESSION_KEYS, Side, known, spelled};

/// The text of a session.
pub(super) fn text(document: &Document) -> Vec<u8> {
    let layout = document.layout;
    let mut bytes = if layout.compact {
        let mut sink = JsonSink::new(SinkLayout::Compact);
        Writer { upper: document.upper }.document(document, &mut sink);
        sink.into_bytes()
    } else {
        let mut sink = LuceeSink::new(if layout.crlf { "\r\n" } else { "\n" }, text_size(document));
        Writer { upper: document.upper }.document(document, &mut sink);
        sink.out
    };
    if !layout.unended {
        bytes.extend_from_slice(if layout.crlf { b"\r\n" } else { b"\n" });
    }
    bytes
}

/// How much room the texts of a session take, so that the output does not have to move while it grows.
fn text_size(document: &Document) -> usize {
    let side = |side: &Side| match side {
        Side::Text(text) => text.len() + text.len() / 16,
        Side::Null | Side::Scalar(_) | Side::Parts(_) => 0,
    };
    document.history.iter().map(|item| side(&item.question) + side(&item.answer) + 64).sum()
}

struct Writer {
    upper: bool,
}

impl Writer {
    fn document<S: Sink>(&self, document: &Document, out: &mut S) {
        self.map(&document.keys, &SESSION_KEYS, &document.unknown, out, |key, spelling, out| {
            if key == "history" {
                out.key(spelling);
                out.begin_array();
                document.history.iter().for_each(|item| self.item(item, out));
                out.end_array();
            } else if let Some(value) = document.settings.get(key) {
                out.key(spelling);
                out.json(value);
            }
        });
    }

    fn item<S: Sink>(&self, item: &Item, out: &mut S) {
        self.map(&item.keys, &ITEM_KEYS, &item.unknown, out, |key, spelling, out| {
            out.key(spelling);
            self.side(if key == "question" { &item.question } else { &item.answer }, out);
        });
    }

    fn side<S: Sink>(&self, side: &Side, out: &mut S) {
        match side {
            Side::Null => out.null(),
            Side::Text(text) => out.text(text),
            Side::Scalar(value) => out.json(value),
            Side::Parts(parts) => {
                out.begin_array();
                parts.iter().for_each(|part| self.part(part, out));
                out.end_array();
            }
        }
    }

    fn part<S: Sink>(&self, part: &Part, out: &mut S) {
        self.map(&part.keys, &PART_KEYS, &part.unknown, out, |key, spelling, out| {
            out.key(spelling);
            match key {
                "contenttype" => out.text(&part.content_type),
                "type" => out.text(&part.kind),
                _ => out.json(&part.content),
            }
        });
    }

    /// Writes a map in the order its keys stood in, then what they did not name.
    fn map<S: Sink>(
        &self,
        keys: &Option<Vec<String>>,
        known_keys: &[&'static str],
        unknown: &Object,
        out: &mut S,
        write: impl Fn(&str, &str, &mut S),
    ) {
        out.begin_object();
        let mut open: Vec<&'static str> = known_keys.to_vec();
        let mut rest: Vec<(&JsonString, &Json)> = unknown.iter().collect();
        for key in keys.iter().flatten() {
            if let Some(name) = known(known_keys, key) {
                open.retain(|open| *open != name);
                write(name, key, out);
            } else if let Some(at) = rest.iter().position(|(name, _)| name.to_str_lossy() == *key) {
                let (name, value) = rest.remove(at);
                out.spelled_key(name);
                out.json(value);
            }
        }
        for key in open {
            write(key, &spelled(key, self.upper), out);
        }
        for (name, value) in rest {
            out.spelled_key(name);
            out.json(value);
        }
        out.end_object();
    }
}

/// Lays a document out as Lucee does: two spaces, and a blank line inside what is empty.
struct LuceeSink {
    out: Vec<u8>,
    line_end: &'static str,
    depth: usize,
    state: State,
}

#[derive(PartialEq, Clone, Copy)]
enum State {
    First,
    Due,
    Next,
}

impl LuceeSink {
    fn new(line_end: &'static str, room: usize) -> LuceeSink {
        LuceeSink { out: Vec::with_capacity(room), line_end, depth: 0, state: State::Due }
    }

    fn new_line(&mut self) {
        self.out.extend_from_slice(self.line_end.as_bytes());
        self.out.resize(self.out.len() + 2 * self.depth, b' ');
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

    fn scalar(&mut self, text: &str) {
        self.before();
        self.out.extend_from_slice(text.as_bytes());
    }

    fn quoted(&mut self, text: &str) {
        self.before();
        self.out.push(b'"');
        spell_into(text, &mut self.out);
        self.out.push(b'"');
    }

    fn quoted_json(&mut self, text: &JsonString) {
        match text.escaped() {
            None => self.quoted(&text.to_str_lossy()),
            Some(spelling) => {
                self.before();
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
        if self.state == State::First {
            self.out.extend_from_slice(self.line_end.as_bytes());
        }
        self.new_line();
        self.out.push(bracket);
        self.state = State::Next;
    }

    fn after_key(&mut self) {
        self.out.extend_from_slice(b": ");
        self.state = State::Due;
    }
}

impl Sink for LuceeSink {
    fn null(&mut self) {
        self.scalar("null");
    }

    fn bool(&mut self, value: bool) {
        self.scalar(if value { "true" } else { "false" });
    }

    fn number(&mut self, text: &str) {
        self.scalar(text);
    }

    fn text(&mut self, text: &str) {
        self.quoted(text);
    }

    fn string(&mut self, text: &JsonString) {
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
        self.quoted(key);
        self.after_key();
    }

    fn spelled_key(&mut self, key: &JsonString) {
        self.quoted_json(key);
        self.after_key();
    }

    fn end_object(&mut self) {
        self.end(b'}');
    }
}
