//! `openai.chat`: OpenAI's chat completions, and the dialects of the vendors that speak them.
//!
//! A message is some blocks: thinking, content parts, calls. What the model has no place for stays with the node where
//! it stood, in the part named after this wire; so does how the source spelled what the model took. Vendors differ in
//! data only: the table of profiles.

mod body;
mod contract;
mod growing;
pub(crate) mod head;
mod media;
mod message;
mod mock;
pub(crate) mod options;
mod part;
mod profile;
pub(crate) mod request;
mod restore;
mod rules;
mod sniff;
mod stream;
mod usage;
mod wire;

pub(crate) use media::media;
pub(crate) use mock::error;
pub(crate) use wire::ChatWire;

/// The id of the wire, under which it keeps what the model has no place for.
pub(crate) const ID: &str = "openai.chat";
