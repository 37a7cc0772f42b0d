//! Amazon Bedrock's Converse.
//!
//! Blocks are objects with one key that names them. Streams come as AWS event-stream frames, whose bytes are read, or
//! as a recorded list of their events.

mod block;
mod decode;
mod lint;
mod media;
mod request;
mod restore;
mod rules;
mod settings;
mod speak;
mod stream;
mod wire;

pub use lint::lint;
pub(crate) use media::media;
pub use rules::RULES;
pub use wire::Converse;

/// The wire's id, and the name of its part of an `Extra`.
const WIRE: &str = "bedrock.converse";
