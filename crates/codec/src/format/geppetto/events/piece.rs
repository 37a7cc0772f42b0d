//! What events tell of one piece of an answer.

use turnkeep_model::{Outcome, Part};

use super::writer::Piece;

pub(super) type PieceField = fn(&Piece) -> Option<&str>;

pub(super) fn text(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Text(text) => Some(text),
        Piece::Reasoning(_) | Piece::Arguments { .. } => None,
    }
}

pub(super) fn arguments(piece: &Piece, call: u32) -> Option<&str> {
    match piece {
        Piece::Arguments { index, text } if *index == call => Some(text),
        Piece::Arguments { .. } | Piece::Text(_) | Piece::Reasoning(_) => None,
    }
}

pub(super) fn reasoning(piece: &Piece) -> Option<&str> {
    match piece {
        Piece::Reasoning(text) => Some(text),
        Piece::Text(_) | Piece::Arguments { .. } => None,
    }
}

/// What an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventScope<'a> {
    Run,
    Call,
    Segment(&'a str),
    Tool(&'a str),
}

pub(super) fn status(outcome: Option<&Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Success) | None => "completed",
        Some(Outcome::Denied) => "denied",
        Some(Outcome::Interrupted) => "interrupted",
        Some(_) => "error",
    }
}

pub(super) fn part_text(part: &Part) -> String {
    match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        _ => String::new(),
    }
}

/// A digest in the form of a UUID of version 8, which anyone may make as they like.
pub(super) fn uuid(digest: &str) -> String {
    let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
