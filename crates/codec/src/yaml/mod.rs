//! YAML at event level: scalars keep their text, errors their line.

mod read;
mod scalar;
mod write;

pub use read::{Notes, parse};
pub use scalar::{natural_order, resolve_as_go};
pub use write::{Style, YamlSink, write};
