//! From the pieces of a stream to the body they make up.

use turnkeep_model::json::{self, Json, Nan, Node, Object};
use turnkeep_model::{Number, Result};

use super::frame::Frames;

/// Puts the events of one vendor's streams together, one at a time. It is a plain state machine: no clock, no sockets.
pub trait Assembler: Send {
    /// Takes the next event and says what a screen can show of it.
    ///
    /// # Errors
    /// `Corrupt` where the event cannot belong to the wire; what came before stays assembled.
    fn push(&mut self, event: Json) -> Result<Vec<Delta>>;

    /// The body so far. A stream may be cut anywhere.
    fn finish(self: Box<Self>) -> Assembled;
}

/// What a screen can show of a piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More text of the answer.
    Text {
        /// Which block of the answer, from 0.
        block: usize,
        /// The text to append.
        text: String,
    },
    /// More thinking.
    Reasoning {
        /// Which block of the answer, from 0.
        block: usize,
        /// The text to append.
        text: String,
    },
    /// A tool call began.
    CallStarted {
        /// Which block of the answer, from 0.
        block: usize,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments.
    Arguments {
        /// Which block of the answer, from 0.
        block: usize,
        /// The text to append.
        text: String,
    },
    /// The answer ended, with the vendor's word for why.
    Finished {
        /// The vendor's word.
        reason: String,
    },
}

/// What a stream made up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembled {
    /// The body that the vendor would have sent without streaming.
    pub body: Json,
    /// Whether the stream came to its end.
    pub complete: bool,
    /// What its events said that no response has a place for, verbatim and in order.
    pub extras: Vec<Json>,
}

/// What is left of events when the response has taken its part.
#[derive(Debug, Default)]
pub(crate) struct StreamExtras(Vec<Json>);

impl StreamExtras {
    /// Keeps what is left of an event, unless it is only what holds the stream together: the keys in `framing`.
    pub(crate) fn keep(&mut self, rest: Object, framing: &[&str]) {
        if rest.iter().any(|(key, _)| !framing.contains(&&*key.to_str_lossy())) {
            self.0.push(Json::Object(rest));
        }
    }

    /// Keeps a value that is no event at all.
    pub(crate) fn keep_value(&mut self, value: Json) {
        if value != Json::Null {
            self.0.push(value);
        }
    }

    /// Sets a field of which the last value counts, and keeps the one before where it was another.
    pub(crate) fn replace(&mut self, object: &mut Object, key: &str, value: Json) {
        let before = object.get(key).filter(|before| **before != value && **before != Json::Null);
        if let Some(before) = before {
            self.0.push(Json::Object([(key, before.clone())].into_iter().collect()));
        }
        object.set(key, value);
    }

    pub(crate) fn into_values(self) -> Vec<Json> {
        self.0
    }
}

/// The value that the pieces of a call's arguments make up; their text where they are no JSON.
pub(crate) fn arguments(text: String) -> Json {
    json::parse_with(&text, Nan::Accept).map(Node::into_json).unwrap_or_else(|_| text.into())
}

/// Which block an event speaks of, the first where it does not say.
pub(crate) fn block_index(event: &Object, key: &str) -> u64 {
    event.get(key).and_then(Json::as_number).and_then(Number::as_u64).unwrap_or_default()
}

/// Puts a whole recorded stream together.
///
/// # Errors
/// `Corrupt`, naming the event, where one cannot belong to the wire.
pub fn assemble(frames: Frames, mut assembler: Box<dyn Assembler>) -> Result<Assembled> {
    for (index, event) in frames.events.into_iter().enumerate() {
        assembler.push(event).map_err(|error| error.path(format!("event {index}")))?;
    }
    let mut assembled = assembler.finish();
    assembled.complete &= !frames.torn;
    Ok(assembled)
}
