//! The event lines that geppetto's runner writes beside a turn.

mod line;
mod tell;

pub use line::{EventLine, TYPES, validate};
pub use tell::{Piece, event_lines, event_lines_with};
