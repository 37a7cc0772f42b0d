//! The event lines that geppetto's runner writes beside a turn.

mod line;
mod piece;
mod writer;

pub use line::{EventLine, TYPES, validate};
pub use writer::{Piece, event_lines, event_lines_with};
