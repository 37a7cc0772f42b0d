//! Amazon Bedrock's Converse.
//!
//! Blocks are objects with one key that names them. Streams come as AWS event-stream frames, whose bytes are read, or
//! as a recorded list of their events.

mod block;
mod contract;
mod decode;
mod media;
mod mock;
mod request;
mod restore;
mod rules;
mod settings;
mod stream;
mod wire;

pub(crate) use media::media;
pub use wire::Converse;

/// The wire's id, and the name of its part of an `Extra`.
pub(crate) const WIRE: &str = "bedrock.converse";
