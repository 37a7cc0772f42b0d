//! The event lines that geppetto's runner writes beside a turn.

mod line;
mod tell;

pub use line::{EventLine, TYPES, validate};
pub use tell::event_lines;
