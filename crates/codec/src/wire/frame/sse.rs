//! Server-sent events, as they come.

use turnkeep_model::json::Json;
use turnkeep_model::{Error, ErrorKind, Result};

use super::event;

/// One server-sent event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The event's name, empty where it has none.
    pub name: String,
    /// Its data, lines joined.
    pub data: String,
}

/// Cuts bytes into server-sent events, in pieces of any size. Lines may end in CR, LF or both; comments are passed over.
#[derive(Debug, Default)]
pub struct SseFramer {
    /// A line that was begun and not ended.
    rest: Vec<u8>,
    /// Whether the last line ended in CR: an LF that follows belongs to it.
    after_cr: bool,
    event: SseEvent,
    has_data: bool,
    began: bool,
}

impl SseFramer {
    /// Takes the next bytes and gives the events that are complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        self.feed(bytes, &mut |event| events.push(event.clone()));
        events
    }

    /// The same without copies of events.
    pub(super) fn feed(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(&SseEvent)) {
        loop {
            if self.after_cr && !bytes.is_empty() {
                self.after_cr = false;
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) else { break };
            let (line, rest) = bytes.split_at(at);
            self.after_cr = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            if self.rest.is_empty() {
                self.line(line, each);
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                self.line(&whole, each);
                whole.clear();
                self.rest = whole;
            }
        }
        self.rest.extend_from_slice(bytes);
    }

    /// What was begun and not ended.
    pub fn finish(mut self) -> Option<SseEvent> {
        let mut last = None;
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.line(&rest, &mut |event| last = Some(event.clone()));
        }
        last.or_else(|| self.has_data.then_some(self.event))
    }

    fn line(&mut self, line: &[u8], each: &mut dyn FnMut(&SseEvent)) {
        let line = String::from_utf8_lossy(line);
        let line = match std::mem::replace(&mut self.began, true) {
            true => &*line,
            false => line.trim_start_matches(['\u{feff}', ' ']),
        };
        match Line::of(line) {
            Line::End => {
                if std::mem::take(&mut self.has_data) {
                    each(&self.event);
                }
                self.event.data.clear();
                self.event.name.clear();
            }
            Line::Data(data) => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(data);
            }
            Line::Name(name) => name.clone_into(&mut self.event.name),
            Line::Other => {}
        }
    }
}

/// What a line says.
enum Line<'a> {
    /// The event before it is complete.
    End,
    Data(&'a str),
    Name(&'a str),
    /// A comment, or a field that is of no use here.
    Other,
}

impl Line<'_> {
    fn of(line: &str) -> Line<'_> {
        if line.is_empty() {
            return Line::End;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => Line::Data(value),
            "event" => Line::Name(value),
            _ => Line::Other,
        }
    }
}

/// Whether a text begins as server-sent events do.
pub(super) fn looks_like(text: &str) -> bool {
    let fields = ["data:", "event:", "id:", "retry:", ":"];
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim_start();
    fields.iter().any(|field| first.starts_with(field))
        && text.lines().any(|line| line.trim_start().starts_with("data:"))
}

/// The JSON of an event; the event that says that there are no more is none.
pub(super) fn json_of(data: &str, index: usize) -> Result<Option<Json>> {
    if matches!(data.trim(), "" | "[DONE]") {
        return Ok(None);
    }
    event(data).map(Some).map_err(|error| {
        let why = format!("event {index} is not JSON: {}", error.what());
        Error::new(ErrorKind::Corrupt, why).hint("the recording is damaged; record it again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &[u8], size: usize) -> Vec<SseEvent> {
        let mut framer = SseFramer::default();
        let mut events: Vec<_> = text.chunks(size).flat_map(|chunk| framer.push(chunk)).collect();
        events.extend(framer.finish());
        events
    }

    #[test]
    fn the_size_of_pieces_does_not_matter() {
        let text = "\u{feff}: hi\r\nevent: a\r\ndata: one\r\ndata: zwei ü\r\n\r\nid: 7\rdata:three\r\rdata: {\"x\":1}\n\ndata: cut".as_bytes();
        let expected = framed(text, text.len());

        assert_eq!(expected.len(), 4);
        assert_eq!(expected[0], SseEvent { name: "a".into(), data: "one\nzwei ü".into() });
        assert_eq!(expected[3].data, "cut");
        for size in 1..text.len() {
            assert_eq!(framed(text, size), expected, "{size}");
        }
    }
}
