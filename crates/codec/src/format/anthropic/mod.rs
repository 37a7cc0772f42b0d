//! Anthropic's Messages, also as Amazon Bedrock and Google Vertex host them.
//!
//! A body is read into a session and given back as it was: what the model has no place for stays in `Extra`, on the
//! node where it stood, and so does the order of fields. System text is the first message; results of tools join the
//! turn of their call.

mod block;
mod contract;
mod decode;
mod limits;
mod mock;
mod request;
mod restore;
mod rules;
mod settings;
mod stream;
mod tools;
mod wire;

pub(crate) use block::media;
pub use wire::Messages;

/// The wire's id, and the name of its part of an `Extra`.
pub(crate) const WIRE: &str = "anthropic.messages";
