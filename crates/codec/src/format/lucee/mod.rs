//! Lucee's AI sessions: `lucee.session`, what SerializeAISession writes and LoadAISession reads.
//!
//! One exchange of theirs is a turn: the question is by the user, the answer by the assistant. The system message is
//! the first block. `tags` and `metadata` are keys of ours that Lucee passes over.

mod codec;
mod decode;
mod document;
mod encode;
mod load;
mod part;
mod read;
mod serialize;
mod write;

pub(super) use codec::SessionCodec;
pub use load::{Data, Endpoint, Endpoints, Loaded, load, load_or_new, resolve, trim};
pub use serialize::{Arguments, Condense, Condenser, Serialized, Wanted, arguments, serialize};

/// The name under which extras of this format are kept.
const FORMAT: &str = "lucee";
