//! Pieces of an answer, joined so that a screen is not sent one message a token.

use std::time::Duration;

use jiff::Timestamp;
use turnkeep_model::policy::condense::estimate;

use crate::port::Delta;

/// Joins pieces of an answer: the first is sent at once, what follows within a window is sent together when the window
/// ends, and the end of the answer flushes. It is a function of the pieces and their times.
#[derive(Debug, Clone)]
pub struct Coalescer {
    window: Duration,
    held: Vec<Piece>,
    until: Option<Timestamp>,
}

/// A piece of an answer, and about how many tokens it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The piece.
    pub delta: Delta,
    /// An estimate: vendors count tokens when the answer has ended.
    pub tokens: u64,
}

impl Coalescer {
    /// The usual window: shorter than what an eye tells apart.
    pub const WINDOW: Duration = Duration::from_millis(40);

    /// Joins what arrives within a window; a window of no length joins nothing.
    pub fn new(window: Duration) -> Coalescer {
        Coalescer { window, held: Vec::new(), until: None }
    }

    /// Takes a piece, and gives what is to be sent now.
    pub fn push(&mut self, now: Timestamp, delta: &Delta) -> Vec<Piece> {
        self.join(delta);
        if self.is_open(now) { Vec::new() } else { self.release(now) }
    }

    /// What is to be sent now that time has passed.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Piece> {
        if self.is_open(now) || self.held.is_empty() { Vec::new() } else { self.release(now) }
    }

    /// When [`Coalescer::tick`] will have something to send.
    pub fn due(&self) -> Option<Timestamp> {
        self.until.filter(|_| !self.held.is_empty())
    }

    /// The answer has ended: what is left of it.
    pub fn end(&mut self) -> Vec<Piece> {
        self.until = None;
        std::mem::take(&mut self.held)
    }

    /// A clock that was set back does not hold pieces for longer than a window.
    fn is_open(&self, now: Timestamp) -> bool {
        let left = self.until.map(|until| until.duration_since(now));
        left.is_some_and(|left| left.is_positive() && left.unsigned_abs() <= self.window)
    }

    fn release(&mut self, now: Timestamp) -> Vec<Piece> {
        self.until = now.checked_add(self.window).ok();
        std::mem::take(&mut self.held)
    }

    fn join(&mut self, delta: &Delta) {
        let tokens = tokens(delta);
        let joined = self.held.last_mut().is_some_and(|last| {
            let is_one = append(&mut last.delta, delta);
            last.tokens = last.tokens.saturating_add(if is_one { tokens } else { 0 });
            is_one
        });
        if !joined {
            self.held.push(Piece { delta: delta.clone(), tokens });
        }
    }
}

/// Adds a piece to the one before, if both are of one text.
fn append(to: &mut Delta, more: &Delta) -> bool {
    match (to, more) {
        (Delta::Text(text), Delta::Text(more)) | (Delta::Reasoning(text), Delta::Reasoning(more)) => {
            text.push_str(more);
        }
        (Delta::Arguments { index, text }, Delta::Arguments { index: of, text: more }) if index == of => {
            text.push_str(more);
        }
        _ => return false,
    }
    true
}

fn tokens(delta: &Delta) -> u64 {
    match delta {
        Delta::Text(text) | Delta::Reasoning(text) | Delta::Arguments { text, .. } => estimate(text),
        Delta::Call { name, .. } => estimate(name),
    }
}
