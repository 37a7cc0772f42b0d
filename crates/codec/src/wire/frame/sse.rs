//! Server-sent events, as they come.

use std::borrow::Cow;

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
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut start = 0;
        while let Some((end, next)) = line_end(&rest, start.max(self.seen)) {
            let line = String::from_utf8_lossy(rest.get(start..end).unwrap_or_default());
            start = next;
            self.seen = 0;
            events.extend(self.line(&line));
        }
        rest.drain(..start);
        // A CR at the very end may be half of a CR LF.
        self.seen = rest.len().saturating_sub(1);
        self.rest = rest;
        events
    }

    /// What was begun and not ended.
    pub fn finish(mut self) -> Option<SseEvent> {
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned();
        let last = self.line(&text);
        last.or_else(|| self.has_data.then_some(self.event))
    }

    fn line(&mut self, line: &str) -> Option<SseEvent> {
        let line =
            if std::mem::replace(&mut self.began, true) { line } else { line.trim_start_matches(['\u{feff}', ' ']) };
        match Line::of(line) {
            Line::End => {
                let event = std::mem::take(&mut self.event);
                return std::mem::take(&mut self.has_data).then_some(event);
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
        None
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

/// The end of the line that goes on at `from`, and where the next one begins. A CR at the very end may be half of a
/// CR LF, so it waits for what follows.
fn line_end(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let at = from + memchr::memchr2(b'\n', b'\r', bytes.get(from..)?)?;
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some((at, at + 2)),
        (Some(b'\r'), None) => None,
        _ => Some((at, at + 1)),
    }
}

/// The data of the events of a whole text, borrowed where it stands in one line.
struct Events<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Events<'a> {
    /// The data of an event, and whether the event was ended.
    type Item = (Cow<'a, str>, bool);

    fn next(&mut self) -> Option<Self::Item> {
        let mut data: Option<Cow<'a, str>> = None;
        while let Some(line) = self.line() {
            match (Line::of(line), &mut data) {
                (Line::End, None) | (Line::Name(_) | Line::Other, _) => {}
                (Line::End, Some(_)) => return data.map(|data| (data, true)),
                (Line::Data(line), None) => data = Some(Cow::Borrowed(line)),
                (Line::Data(line), Some(data)) => {
                    let data = data.to_mut();
                    data.push('\n');
                    data.push_str(line);
                }
            }
        }
        data.map(|data| (data, false))
    }
}

impl<'a> Events<'a> {
    fn line(&mut self) -> Option<&'a str> {
        let from = self.at;
        if from >= self.text.len() {
            return None;
        }
        let (end, next) = line_end(self.text.as_bytes(), from).unwrap_or_else(|| {
            let end = self.text.len();
            (end - usize::from(self.text.ends_with('\r')), end)
        });
        self.at = next;
        self.text.get(from..end)
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
    let mut frames = Frames::default();
    let text = text.trim_start_matches(['\u{feff}', ' ']);
    for (index, (data, ended)) in (Events { text, at: 0 }).enumerate() {
        if matches!(data.trim(), "" | "[DONE]") {
            continue;
        }
        match event(&data) {
            Ok(value) => frames.events.push(value),
            // The last event of a stream that was cut off is half an event.
            Err(_) if !ended => frames.torn = true,
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
        let whole: Vec<_> = Events { text: std::str::from_utf8(text).unwrap().trim_start_matches('\u{feff}'), at: 0 }
            .map(|(data, _)| data.into_owned())
            .collect();
        assert_eq!(whole, expected.into_iter().map(|event| event.data).collect::<Vec<_>>());
    }
}
