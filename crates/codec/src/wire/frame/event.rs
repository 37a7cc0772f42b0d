//! Events on their way out.

use turnkeep_model::json::Json;

use super::aws::Frame;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An event with a name, where the framing has room for one.
    Named(String, Json),
    /// An event without a name.
    Data(Json),
    /// An error in a framing that tells errors from events.
    Exception(String, Json),
    /// The word that ends a stream.
    Done,
}

impl Event {
    /// An event with a name.
    pub(crate) fn named(name: &str, data: Json) -> Event {
        Event::Named(name.to_owned(), data)
    }
}

/// How the events of a stream are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// A JSON text a line.
    Lines,
    /// Frames of AWS event streams.
    Aws,
}

impl Framing {
    /// The media type of such a stream.
    pub fn media_type(self) -> &'static str {
        match self {
            Framing::Sse => "text/event-stream; charset=utf-8",
            Framing::Lines => "application/x-ndjson",
            Framing::Aws => "application/vnd.amazon.eventstream",
        }
    }

    /// The same without its parameters, as a request asks for it.
    pub fn accept(self) -> &'static str {
        let media_type = self.media_type();
        media_type.split_once(';').map_or(media_type, |(bare, _)| bare)
    }

    /// The bytes of an event.
    pub fn bytes(self, event: &Event) -> Vec<u8> {
        match (self, event) {
            (Framing::Sse, Event::Named(name, data) | Event::Exception(name, data)) => {
                format!("event: {name}\ndata: {}\n\n", data.to_text()).into_bytes()
            }
            (Framing::Sse, Event::Data(data)) => format!("data: {}\n\n", data.to_text()).into_bytes(),
            (Framing::Sse, Event::Done) => b"data: [DONE]\n\n".to_vec(),
            (Framing::Lines | Framing::Aws, Event::Done) => Vec::new(),
            (Framing::Lines, Event::Named(_, data) | Event::Exception(_, data) | Event::Data(data)) => {
                format!("{}\n", data.to_text()).into_bytes()
            }
            (Framing::Aws, Event::Named(name, data)) => frame(":event-type", name, "event", data),
            (Framing::Aws, Event::Exception(name, data)) => frame(":exception-type", name, "exception", data),
            (Framing::Aws, Event::Data(data)) => frame(":event-type", "chunk", "event", data),
        }
    }
}

fn frame(key: &str, name: &str, kind: &str, data: &Json) -> Vec<u8> {
    let headers = [(key, name), (":content-type", "application/json"), (":message-type", kind)];
    let headers = headers.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Frame { headers, payload: data.to_text().into_bytes() }.to_bytes()
}
