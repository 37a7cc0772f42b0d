//! An answer on its way, and an answer that came whole: what a client of a vendor reads.

use turnkeep_model::json::Json;
use turnkeep_model::{Loss, LossKind, Result, Turn};

use super::codec::{Wire, mark};
use super::frame::{Framer, Frames};
use super::kind::Parts;
use super::stream::{Assembled, Assembler, Delta};
use crate::sniff::Confidence;

/// An answer on its way: bytes in pieces of any size in, what a screen can show out, the answer at the end. A recorded
/// stream in a file takes the same way.
///
/// ```
/// use turnkeep_codec::{format, wire::{Delta, End, Incoming}};
///
/// let mut incoming = Incoming::new(format::wire("ollama.chat").unwrap());
/// let deltas = incoming.push(b"{\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"done\":false}\n").unwrap();
/// assert_eq!(deltas, [Delta::Text { block: 0, text: "Hi".into() }]);
///
/// let received = incoming.finish().unwrap();
/// assert_eq!(received.end, End::Interrupted);
/// assert_eq!(received.turn.blocks[0].body.as_text(), Some("Hi"));
/// ```
pub struct Incoming {
    wire: &'static dyn Wire,
    framer: Framer,
    assembler: Box<dyn Assembler>,
    /// The one body that came although a stream was asked for.
    whole: Option<Json>,
    count: usize,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As its vendor ended it.
    Complete,
    /// It was cut off; what came is there.
    Interrupted,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Received {
    /// Its blocks, why it ended, what it used, who answered, and errors that the vendor told.
    pub turn: Turn,
    /// The body; of a stream, the one that the vendor would have sent without streaming.
    pub body: Json,
    /// How it ended.
    pub end: End,
    /// What could not be kept.
    pub losses: Vec<Loss>,
}

impl Incoming {
    /// Waits for the first bytes.
    pub fn new(wire: &'static dyn Wire) -> Incoming {
        Incoming { wire, framer: Framer::default(), assembler: wire.assembler(), whole: None, count: 0 }
    }

    /// Takes the next bytes and says what a screen can show of them.
    ///
    /// # Errors
    /// `Corrupt` where they cannot belong to the wire. What came before stays, and [`Incoming::finish`] gives it.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>> {
        let mut deltas = Vec::new();
        for event in self.framer.push(bytes)? {
            deltas.extend(self.event(event)?);
        }
        Ok(deltas)
    }

    /// The answer so far: whole, or as much as came.
    ///
    /// # Errors
    /// Where what came makes up no answer of the wire.
    pub fn finish(mut self) -> Result<Received> {
        let Frames { events, torn } = std::mem::take(&mut self.framer).finish();
        for event in events {
            self.event(event)?;
        }
        if let Some(body) = self.whole {
            return received(self.wire, body);
        }
        let mut assembled = self.assembler.finish();
        assembled.complete &= !torn;
        answered(self.wire, assembled)
    }

    fn event(&mut self, event: Json) -> Result<Vec<Delta>> {
        let index = self.count;
        self.count += 1;
        let is_whole = |event: &Json| {
            let body = event.as_object();
            body.is_some_and(|body| self.wire.sniff_event(body).confidence == Confidence::No)
        };
        if index == 0 && self.framer.is_json() && is_whole(&event) {
            self.whole = Some(event);
            return Ok(Vec::new());
        }
        self.assembler.push(event).map_err(|error| error.path(format!("event {index}")))
    }
}

/// An answer that came whole.
///
/// # Errors
/// `Corrupt` where the body cannot be read at all.
pub fn received(wire: &dyn Wire, body: Json) -> Result<Received> {
    answered(wire, Assembled { body, complete: true, beside: Vec::new() })
}

fn answered(wire: &dyn Wire, assembled: Assembled) -> Result<Received> {
    let Assembled { body, complete, beside } = assembled;
    let (mut session, mut losses) = wire.decode(Parts { request: None, response: Some(body.clone()) })?;
    mark(wire.spec().id, &mut session, beside, complete);
    let end = if complete { End::Complete } else { End::Interrupted };
    if end == End::Interrupted {
        losses.push(Loss::decode(LossKind::Truncated, "turns", "the stream was cut off before its end"));
    }
    Ok(Received { turn: session.turns.pop().unwrap_or_default(), body, end, losses })
}
