//! `wink.transcript`: log records, of which some tell what was said and done.
//!
//! The original writes a transcript for observation. Entries of the main source are the conversation; those of a
//! subagent are a session of their own. Every other record stays where it stood, as a block that only this format knows.

mod codec;
mod detail;
mod entry;
mod read;
mod write;

pub(in crate::format) use codec::TranscriptCodec;
#[cfg(feature = "zip")]
pub(super) use codec::sessions_of;
