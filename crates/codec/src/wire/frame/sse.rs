//! Server-sent events, as they come.

use turnkeep_model::{Error, ErrorKind, Result};

use super::{Frames, event};

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
    rest: Vec<u8>,
    /// How much of the rest is known to hold no end of a line.
    seen: usize,
    event: SseEvent,
    has_data: bool,
    began: bool,
}

impl SseFramer {
    /// Takes the next bytes and gives the events that are complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut start = 0;
        while let Some((line, next)) = self.next_line(start) {
            let text = String::from_utf8_lossy(self.rest.get(start..line).unwrap_or_default()).into_owned();
            start = next;
            events.extend(self.line(&text));
        }
        self.rest.drain(..start);
        // A CR at the very end may be half of a CR LF.
        self.seen = self.rest.len().saturating_sub(1);
        events
    }

    /// What was begun and not ended.
    pub fn finish(mut self) -> Option<SseEvent> {
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned();
        let last = self.line(&text);
        last.or_else(|| self.has_data.then_some(self.event))
    }

    /// The end of the line that begins at `start`, and where the next one begins. A CR at the very end may be half of a
    /// CR LF, so it waits for what follows.
    fn next_line(&self, start: usize) -> Option<(usize, usize)> {
        let from = if start == 0 { self.seen } else { start };
        let rest = self.rest.get(from..)?;
        let at = from + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        match (self.rest.get(at), self.rest.get(at + 1)) {
            (Some(b'\r'), Some(b'\n')) => Some((at, at + 2)),
            (Some(b'\r'), None) => None,
            _ => Some((at, at + 1)),
        }
    }

    fn line(&mut self, line: &str) -> Option<SseEvent> {
        let line =
            if std::mem::replace(&mut self.began, true) { line } else { line.trim_start_matches(['\u{feff}', ' ']) };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.event.name),
            _ => {}
        }
        None
    }
}

/// Whether a text begins as server-sent events do.
pub(super) fn looks_like(text: &str) -> bool {
    let fields = ["data:", "event:", "id:", "retry:", ":"];
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim_start();
    fields.iter().any(|field| first.starts_with(field))
        && text.lines().any(|line| line.trim_start().starts_with("data:"))
}

/// The JSON events of a text of server-sent events; `[DONE]` ends it.
pub(super) fn events(text: &str) -> Result<Frames> {
    let mut framer = SseFramer::default();
    let mut events = framer.push(text.as_bytes());
    let whole = events.len();
    events.extend(framer.finish());
    let mut frames = Frames::default();
    for (index, sse) in events.iter().enumerate() {
        if sse.data.trim().is_empty() || sse.data.trim() == "[DONE]" {
            continue;
        }
        match event(&sse.data) {
            Ok(value) => frames.events.push(value),
            // The last event of a stream that was cut off is half an event.
            Err(_) if index >= whole => frames.torn = true,
            Err(error) => {
                let why = format!("event {index} is not JSON: {}", error.what());
                return Err(Error::new(ErrorKind::Corrupt, why).hint("the recording is damaged; record it again"));
            }
        }
    }
    Ok(frames)
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
