//! From the chunks of an answer to the body they make up.

use turnkeep_codec::wire::{Assembled, Delta, Incoming, Wire};
use turnkeep_model::json::Json;

use crate::address::Streaming;
use crate::error::{ProviderErrorKind, VendorMessage};

/// The largest piece that cannot be read before it is whole: a body, or an event of a stream.
const LARGEST_PIECE: usize = 64 << 20;

/// Why an answer cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) kind: ProviderErrorKind,
    pub(super) told: VendorMessage,
}

impl Unreadable {
    fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Unreadable {
        Unreadable { kind, told: VendorMessage { message: message.into(), class: None } }
    }
}

/// Reads an answer as it arrives: the codec's reader, and what only a client of a vendor looks for. It holds what is
/// answered, never what carries it.
pub(super) struct Reader {
    incoming: Incoming,
    /// Whether anything came.
    began: bool,
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
            return Err(Unreadable::new(ProviderErrorKind::WrongContentType, format!("the answer is {kind}")));
        }
        Ok(Reader { incoming: Incoming::new(wire).wanted(streaming.into()), began: false })
    }

    /// Takes the next bytes, and says what a screen can show of them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, Unreadable> {
        if !self.began && bytes.trim_ascii_start().starts_with(b"<") {
            return Err(Unreadable::new(ProviderErrorKind::WrongContentType, "the answer is a page, or XML"));
        }
        self.began |= !bytes.is_empty();
        let events = self.incoming.frame(bytes).map_err(garbled)?;
        let deltas = self.events(events)?;
        match self.incoming.pending() > LARGEST_PIECE {
            true => Err(too_large()),
            false => Ok(deltas),
        }
    }

    fn events(&mut self, events: Vec<Json>) -> Result<Vec<Delta>, Unreadable> {
        let mut deltas = Vec::new();
        for event in events {
            if let Some(told) = VendorMessage::of_event(&event) {
                return Err(Unreadable { kind: ProviderErrorKind::StreamError, told });
            }
            deltas.extend(self.incoming.event(event).map_err(garbled)?);
        }
        Ok(deltas)
    }

    /// The body that the vendor would have sent without streaming, now that there are no more bytes.
    pub(super) fn finish(mut self) -> Result<(Json, Vec<Delta>), Unreadable> {
        let rest = self.incoming.end();
        let deltas = self.events(rest)?;
        let is_half_a_body = self.incoming.is_half_a_body();
        match self.incoming.assembled() {
            Assembled { complete: true, body, .. } => Ok((body, deltas)),
            _ if is_half_a_body => Err(half()),
            _ => Err(cut()),
        }
    }
}

/// The error's own words tell a place and what was expected there, never what stands there.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn garbled(error: turnkeep_model::Error) -> Unreadable {
    Unreadable::new(ProviderErrorKind::Malformed, format!("it is not the JSON of this wire: {}", error.what()))
}

fn half() -> Unreadable {
    Unreadable::new(ProviderErrorKind::Malformed, "it is not the JSON of this wire: it ends in its middle")
}

fn cut() -> Unreadable {
    Unreadable::new(ProviderErrorKind::Cut, "it ended before its end")
}

fn too_large() -> Unreadable {
    Unreadable::new(ProviderErrorKind::TooLarge, format!("more than {LARGEST_PIECE} bytes of it come in one piece"))
}
