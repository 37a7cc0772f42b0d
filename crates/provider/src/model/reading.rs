//! From the chunks of an answer to the body they make up.

use turnkeep_codec::Confidence;
use turnkeep_codec::wire::frame::Framer;
use turnkeep_codec::wire::{Assembler, Delta, Wire};
use turnkeep_model::json::Json;

use crate::address::Streaming;
use crate::fault::{FaultKind, Told};

/// The largest piece that cannot be read before it is whole: a body, or an event of a stream.
const LARGEST_PIECE: usize = 64 << 20;

/// Why an answer cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) kind: FaultKind,
    pub(super) told: Told,
}

impl Unreadable {
    fn new(kind: FaultKind, message: impl Into<String>) -> Unreadable {
        Unreadable { kind, told: Told { message: message.into(), class: None } }
    }
}

/// Reads an answer as it arrives. It holds what is answered, never what carries it.
pub(super) struct Reader {
    wire: &'static dyn Wire,
    /// What was asked for.
    streaming: Streaming,
    framer: Framer,
    assembler: Box<dyn Assembler>,
    /// The one body that came, where the vendor does not stream.
    whole: Option<Json>,
    /// How many events there were.
    count: usize,
    /// How many bytes came since the last one.
    held: usize,
}

impl Reader {
    /// A reader of an answer with this content type.
    pub(super) fn new(
        wire: &'static dyn Wire,
        streaming: Streaming,
        content_type: Option<&str>,
    ) -> Result<Reader, Unreadable> {
        let kind = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_other = ["text/html", "application/xhtml", "image/", "audio/", "video/"];
        if is_other.iter().any(|other| kind.starts_with(other)) {
            return Err(Unreadable::new(FaultKind::WrongContentType, format!("the answer is {kind}")));
        }
        Ok(Reader {
            wire,
            streaming,
            framer: Framer::default(),
            assembler: wire.assembler(),
            whole: None,
            count: 0,
            held: 0,
        })
    }

    /// Takes the next bytes, and says what a screen can show of them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, Unreadable> {
        if self.count == 0 && self.held == 0 && bytes.trim_ascii_start().starts_with(b"<") {
            return Err(Unreadable::new(FaultKind::WrongContentType, "the answer is a page, or XML"));
        }
        self.held += bytes.len();
        let mut deltas = Vec::new();
        for event in self.framer.push(bytes).map_err(garbled)? {
            self.held = 0;
            self.event(event, &mut deltas)?;
        }
        match self.held > LARGEST_PIECE {
            true => Err(too_large()),
            false => Ok(deltas),
        }
    }

    fn event(&mut self, event: Json, deltas: &mut Vec<Delta>) -> Result<(), Unreadable> {
        if let Some(told) = Told::of_event(&event) {
            return Err(Unreadable { kind: FaultKind::StreamError, told });
        }
        let is_first = self.count == 0;
        self.count += 1;
        let is_event = |event: &Json| {
            event.as_object().is_some_and(|event| self.wire.sniff_event(event).confidence != Confidence::No)
        };
        // A body and an event of it may look alike: what was asked for decides.
        if is_first && self.framer.is_json() && (self.streaming == Streaming::Off || !is_event(&event)) {
            self.whole = Some(event);
            return Ok(());
        }
        deltas.extend(self.assembler.push(event).map_err(garbled)?);
        Ok(())
    }

    /// The body that the vendor would have sent without streaming, now that there are no more bytes.
    pub(super) fn finish(mut self) -> Result<(Json, Vec<Delta>), Unreadable> {
        let mut deltas = Vec::new();
        let is_json = self.framer.is_json();
        let rest = std::mem::take(&mut self.framer).finish();
        for event in rest.events {
            self.event(event, &mut deltas)?;
        }
        if rest.torn {
            let is_half_a_body = is_json && self.count == 0;
            return Err(if is_half_a_body { half() } else { cut() });
        }
        if let Some(body) = self.whole {
            return Ok((body, deltas));
        }
        let assembled = self.assembler.finish();
        match assembled.complete {
            true => Ok((assembled.body, deltas)),
            false => Err(cut()),
        }
    }
}

/// The error's own words tell a place and what was expected there, never what stands there.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn garbled(error: turnkeep_model::Error) -> Unreadable {
    Unreadable::new(FaultKind::Malformed, format!("it is not the JSON of this wire: {}", error.what()))
}

fn half() -> Unreadable {
    Unreadable::new(FaultKind::Malformed, "it is not the JSON of this wire: it ends in its middle")
}

fn cut() -> Unreadable {
    Unreadable::new(FaultKind::Cut, "it ended before its end")
}

fn too_large() -> Unreadable {
    Unreadable::new(FaultKind::TooLarge, format!("more than {LARGEST_PIECE} bytes of it come in one piece"))
}
