//! YAML at event level: scalars keep their text, errors their line.

mod read;
mod scalar;
mod write;

pub use read::{DuplicateKey, Notes, parse};
pub use scalar::{is_bare, natural_order, resolve_as_go};
pub use write::{Style, YamlSink, write};
