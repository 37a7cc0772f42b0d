//! Anthropic's Messages, also as Amazon Bedrock and Google Vertex host them.
//!
//! A body is read into a session and given back as it was: what the model has no place for stays in `Extra`, on the
//! node where it stood, and so does the order of fields. System text is the first message; results of tools join the
//! turn of their call.

mod block;
mod decode;
mod limits;
mod lint;
mod request;
mod restore;
mod rules;
mod settings;
mod speak;
mod stream;
mod wire;

pub(crate) use block::media;
pub use lint::{RULES, lint};
pub use wire::Messages;

/// The wire's id, and the name of its part of an `Extra`.
const WIRE: &str = "anthropic.messages";
