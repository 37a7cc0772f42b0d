//! Pieces of an answer, as chunks.

use jiff::Timestamp;
use turnkeep_model::policy::Redactor;

use super::event::{AgentEvent, Chunk};
use super::{Coalescer, EnvelopeOptions, Piece};
use crate::port::Delta;

/// Makes chunks of the pieces of an answer: joined in a window, numbered, the last one marked.
#[derive(Debug, Clone)]
pub(super) struct Chunks {
    wanted: Wanted,
    pieces: Coalescer,
    /// How many chunks of the answer were told.
    told: u64,
    /// What is held back until the answer has ended.
    whole: Option<Piece>,
}

/// Whether pieces are told, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Never,
    AsTheyCome,
    /// A secret may be split over two pieces: only the whole answer can be looked into.
    WhenWhole,
}

impl Chunks {
    pub(super) fn new(options: &EnvelopeOptions) -> Chunks {
        let wanted = match (options.detail.chunks, options.redact.looks_into_texts()) {
            (false, _) => Wanted::Never,
            (true, false) => Wanted::AsTheyCome,
            (true, true) => Wanted::WhenWhole,
        };
        Chunks { wanted, pieces: Coalescer::new(options.window), told: 0, whole: None }
    }

    pub(super) fn push(&mut self, delta: &Delta, now: Timestamp) -> Vec<AgentEvent> {
        if self.wanted == Wanted::Never || !matches!(delta, Delta::Text(text) if !text.is_empty()) {
            return Vec::new();
        }
        let pieces = self.pieces.push(now, delta);
        self.tell(pieces)
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        self.pieces.due()
    }

    pub(super) fn tick(&mut self, now: Timestamp) -> Vec<AgentEvent> {
        let pieces = self.pieces.tick(now);
        self.tell(pieces)
    }

    /// The answer has ended: what is left of it, in a last chunk that says so. An answer of which nobody heard a piece has
    /// none.
    pub(super) fn end(&mut self, redactor: &mut Redactor) -> Vec<AgentEvent> {
        let left: Vec<Piece> = self.whole.take().into_iter().chain(self.pieces.end()).collect();
        let told = std::mem::take(&mut self.told);
        if told == 0 && left.is_empty() {
            return Vec::new();
        }
        let text: String = left.iter().filter_map(text).collect();
        let tokens = left.iter().map(|piece| piece.tokens).fold(0, u64::saturating_add);
        vec![AgentEvent::Chunk(Chunk { text: redactor.text(&text), is_complete: true, tokens, index: told })]
    }

    fn tell(&mut self, pieces: Vec<Piece>) -> Vec<AgentEvent> {
        if self.wanted == Wanted::WhenWhole {
            pieces.into_iter().for_each(|piece| self.hold(piece));
            return Vec::new();
        }
        pieces.iter().filter_map(|piece| self.chunk(piece)).collect()
    }

    fn hold(&mut self, piece: Piece) {
        match (&mut self.whole, text(&piece)) {
            (Some(Piece { delta: Delta::Text(held), tokens }), Some(more)) => {
                held.push_str(more);
                *tokens = tokens.saturating_add(piece.tokens);
            }
            _ => self.whole = Some(piece),
        }
    }

    fn chunk(&mut self, piece: &Piece) -> Option<AgentEvent> {
        let index = self.told;
        self.told = self.told.saturating_add(1);
        let text = text(piece)?.to_owned();
        Some(AgentEvent::Chunk(Chunk { text, is_complete: false, tokens: piece.tokens, index }))
    }
}

fn text(piece: &Piece) -> Option<&str> {
    match &piece.delta {
        Delta::Text(text) => Some(text),
        _ => None,
    }
}
