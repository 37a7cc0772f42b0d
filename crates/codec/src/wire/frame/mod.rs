//! How streams are cut into events: server-sent events, JSON lines, JSON arrays, AWS event-stream frames.

pub mod aws;
mod event;
mod framer;
mod lines;
mod sse;
mod values;

pub use event::{Event, Framing};
pub use framer::Framer;
pub use sse::{SseEvent, SseFramer};
pub use values::ValueFramer;

use turnkeep_model::json::{self, Json, Nan, Node};
use turnkeep_model::{Error, Result};

/// The events of a recorded stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frames {
    /// The events in order.
    pub events: Vec<Json>,
    /// Whether it ends in the middle of an event.
    pub torn: bool,
}

/// The events of a recorded stream, if `bytes` look like one: an event stream of AWS, server-sent events, JSON lines, or
/// a JSON array of events.
///
/// # Errors
/// `Corrupt` where it looks like a stream and an event in its middle is not JSON.
pub fn frames(bytes: &[u8]) -> Result<Option<Frames>> {
    if aws::looks_like(bytes) {
        return aws::events(bytes).map(Some);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().bytes().next() {
        Some(b'[') => Ok(array(text)),
        Some(b'{') => lines::events(text),
        Some(_) if sse::looks_like(text) => framer::events(text.as_bytes()).map(Some),
        _ => Ok(None),
    }
}

/// The objects of an array, which may be cut off anywhere.
fn array(text: &str) -> Option<Frames> {
    let mut framer = ValueFramer::default();
    let events = framer.push(text.as_bytes()).ok().filter(|events| !events.is_empty())?;
    let torn = framer.is_torn() || !text.trim_end().ends_with(']');
    Some(Frames { events, torn })
}

/// Parses one event's JSON.
pub(crate) fn event(text: &str) -> Result<Json> {
    json::parse_with(text, Nan::Accept)
        .map(Node::into_json)
        .map_err(|error| Error::new(error.kind(), error.what().to_owned()))
}
