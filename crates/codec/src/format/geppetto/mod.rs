//! geppetto's turn documents: `geppetto.turn`, `geppetto.fixture` and, with the feature `sqlite`, `geppetto.store`.
//!
//! A turn of theirs is a whole context, so it decodes to a session. The documents themselves, as the serde
//! specification describes them, are [`Turn`] and [`Block`] with the specification's helper functions beside them.

mod codec;
mod compat;
mod decode;
mod document;
mod encode;
mod events;
#[cfg(feature = "sqlite")]
mod hash;
mod image;
mod keys;
mod outcome;
mod read;
mod serde;
mod settings;
#[cfg(feature = "sqlite")]
mod store;
mod validate;
mod write;

pub use codec::lint;
pub(super) use codec::{FixtureCodec, TurnCodec};
pub use document::{Block, Content, Correlation, File, KIND_RAW, Kind, Turn};
pub use events::{EventLine, Piece, TYPES as EVENT_TYPES, event_lines, event_lines_with, validate as validate_event};
#[cfg(feature = "sqlite")]
pub use hash::block_hash;
pub use keys::{Key, as_nanoseconds, as_strings, get};
pub use outcome::{finish_class, inference_result, tool_definitions};
pub use serde::{Options, from_json, from_yaml, normalize, redact, redact_encrypted_content, to_json, to_yaml};
#[cfg(feature = "sqlite")]
pub(super) use store::StoreCodec;
pub use validate::validate;

/// The name under which extras of these formats are kept.
const FORMAT: &str = "geppetto";
