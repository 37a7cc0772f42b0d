//! From a serialized session to a text.

use turnkeep_model::json::{Json, JsonSink, JsonString, Object, Sink, TextStyle};

use super::document::{Document, ITEM_KEYS, Item, PART_KEYS, Part, SESSION_KEYS, Side, known, spelled};

/// The text of a session.
pub(super) fn text(document: &Document) -> Vec<u8> {
    let layout = document.layout;
    let line_end = if layout.crlf { "\r\n" } else { "\n" };
    let pretty = TextStyle { line_end, blank_in_empty: true, ..TextStyle::PRETTY };
    let style = if layout.compact { TextStyle::COMPACT } else { pretty };
    let mut sink = JsonSink::styled(style, Vec::with_capacity(text_size(document)));
    Writer { upper: document.upper }.document(document, &mut sink);
    let mut bytes = sink.into_bytes();
    if !layout.unended {
        bytes.extend_from_slice(line_end.as_bytes());
    }
    bytes
}

/// How much room the texts of a session take, so that the output does not have to move while it grows.
fn text_size(document: &Document) -> usize {
    let side = |side: &Side| match side {
        // A little more than the text, for its escapes.
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
