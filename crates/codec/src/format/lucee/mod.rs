//! Lucee's AI sessions: `lucee.session`, what SerializeAISession writes and LoadAISession reads.
//!
//! One exchange of theirs is a turn: the question is by the user, the answer by the assistant. The system message is
//! the first block. `tags` and `metadata` are keys of ours that Lucee passes over.

mod codec;
mod decode;
mod document;
mod encode;
mod part;
mod read;
mod write;

pub(super) use codec::SessionCodec;

/// The name under which extras of this format are kept.
const FORMAT: &str = "lucee";
