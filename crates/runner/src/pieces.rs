//! The pieces in which answers arrive, kept: a journal has none of them.

use std::sync::{Mutex, PoisonError};

use turnkeep_codec::format::geppetto::Piece;
use turnkeep_runtime::port::Delta;

use crate::observer::{Observer, Progress};

/// One list of pieces for every time that a model was asked.
#[derive(Default)]
pub(crate) struct Pieces(Mutex<Vec<Vec<Piece>>>);

impl Pieces {
    /// What arrived so far.
    pub(crate) fn so_far(&self) -> Vec<Vec<Piece>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Pieces {
    fn observe(&self, progress: Progress<'_>) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Progress::Asked => answers.push(Vec::new()),
            Progress::Arrived(delta) => {
                if let Some(last) = answers.last_mut() {
                    last.extend(piece(delta));
                }
            }
            Progress::Answered(_) => {}
        }
    }
}

fn piece(delta: &Delta) -> Option<Piece> {
    match delta {
        Delta::Text(text) => Some(Piece::Text(text.clone())),
        Delta::Reasoning(text) => Some(Piece::Reasoning(text.clone())),
        Delta::Arguments { index, text } => Some(Piece::Arguments { index: *index, text: text.clone() }),
        _ => None,
    }
}
