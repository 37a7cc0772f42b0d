//! An answer on its way, and an answer that came whole: what a client of a vendor reads.

use turnkeep_model::json::Json;
use turnkeep_model::{Loss, LossKind, Result, Turn};

use super::codec::{Wire, mark};
use super::frame::{Framer, Frames};
use super::kind::Parts;
use super::outgoing::Delivery;
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
    /// How the answer was asked for, where known.
    wanted: Option<Delivery>,
    framer: Framer,
    assembler: Box<dyn Assembler>,
    /// The one body that came, where the vendor does not stream.
    whole: Option<Json>,
    /// How many events came.
    count: usize,
    /// How many bytes came since the last one.
    pending: usize,
    /// Whether the bytes ended in the middle of an event.
    torn: bool,
    is_json: bool,
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
        Incoming {
            wire,
            wanted: None,
            framer: Framer::default(),
            assembler: wire.assembler(),
            whole: None,
            count: 0,
            pending: 0,
            torn: false,
            is_json: false,
        }
    }

    /// The same, of an answer that was asked for in this way: a body and an event of it may look alike.
    #[must_use]
    pub fn wanted(self, delivery: Delivery) -> Incoming {
        Incoming { wanted: Some(delivery), ..self }
    }

    /// Takes the next bytes and says what a screen can show of them.
    ///
    /// # Errors
    /// `Corrupt` where they cannot belong to the wire. What came before stays, and [`Incoming::finish`] gives it.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>> {
        let mut deltas = Vec::new();
        for event in self.frame(bytes)? {
            deltas.extend(self.event(event)?);
        }
        Ok(deltas)
    }

    /// The answer so far: whole, or as much as came.
    ///
    /// # Errors
    /// Where what came makes up no answer of the wire.
    pub fn finish(mut self) -> Result<Received> {
        for event in self.end() {
            self.event(event)?;
        }
        // Whatever follows a whole body is no part of it.
        self.torn &= self.whole.is_none();
        let wire = self.wire;
        answered(wire, self.assembled())
    }

    /// The first half of [`Incoming::push`]: the events that the next bytes complete, for who looks at events first.
    ///
    /// # Errors
    /// `Corrupt` where an event is damaged.
    pub fn frame(&mut self, bytes: &[u8]) -> Result<Vec<Json>> {
        self.pending += bytes.len();
        let events = self.framer.push(bytes)?;
        if !events.is_empty() {
            self.pending = 0;
        }
        self.is_json = self.framer.is_json();
        Ok(events)
    }

    /// The second half: takes an event and says what a screen can show of it.
    ///
    /// # Errors
    /// `Corrupt` where it cannot belong to the wire.
    pub fn event(&mut self, event: Json) -> Result<Vec<Delta>> {
        let index = self.count;
        self.count += 1;
        if index == 0 && self.is_json && self.is_whole(&event) {
            self.whole = Some(event);
            return Ok(Vec::new());
        }
        self.assembler.push(event).map_err(|error| error.path(format!("event {index}")))
    }

    /// The events that were begun and not ended, if they are whole all the same, now that there are no more bytes.
    pub fn end(&mut self) -> Vec<Json> {
        let Frames { events, torn } = std::mem::take(&mut self.framer).finish();
        self.torn = torn;
        events
    }

    /// The body that the events make up.
    pub fn assembled(self) -> Assembled {
        let mut assembled = match self.whole {
            Some(body) => Assembled { body, complete: true, extras: Vec::new() },
            None => self.assembler.finish(),
        };
        assembled.complete &= !self.torn;
        assembled
    }

    /// How many bytes came since the last event.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Whether all that came is the beginning of a body.
    pub fn is_half_a_body(&self) -> bool {
        self.torn && self.is_json && self.count == 0
    }

    /// Whether the first JSON value that came is the whole answer and no event of it.
    fn is_whole(&self, value: &Json) -> bool {
        let Some(body) = value.as_object() else { return self.wanted.is_some() };
        let event = self.wire.sniff_event(body).confidence;
        match self.wanted {
            Some(Delivery::Whole) => true,
            Some(Delivery::Stream) => event == Confidence::No,
            None => self.wire.sniff_response(body).confidence > event,
        }
    }
}

/// An answer that came whole.
///
/// # Errors
/// `Corrupt` where the body cannot be read at all.
pub fn received(wire: &dyn Wire, body: Json) -> Result<Received> {
    answered(wire, Assembled { body, complete: true, extras: Vec::new() })
}

fn answered(wire: &dyn Wire, assembled: Assembled) -> Result<Received> {
    let Assembled { body, complete, extras } = assembled;
    let (mut session, mut losses) = wire.decode(Parts { request: None, response: Some(body.clone()) })?;
    mark(wire.spec().id, &mut session, extras, complete);
    let end = if complete { End::Complete } else { End::Interrupted };
    if end == End::Interrupted {
        losses.push(Loss::decode(LossKind::Truncated, "turns", "the stream was cut off before its end"));
    }
    Ok(Received { turn: session.turns.pop().unwrap_or_default(), body, end, losses })
}
