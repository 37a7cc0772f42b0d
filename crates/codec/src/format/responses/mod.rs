//! OpenAI's Responses wire, `openai.responses`, also as spoken by Azure, xAI, DeepSeek and others.
//!
//! A request's `input` and a response's `output` are lists of items. Messages, function calls with their outputs and
//! reasoning are read into blocks; every other item is kept whole. What the model has no place for stays in the part
//! `openai.responses` of the extra where it stood, together with the order of the keys where it is not ours, so that a
//! body can be given back as it was.

mod answer;
mod contract;
mod fit;
mod item;
mod message;
mod mock;
mod next;
mod options;
mod output;
mod part;
mod profile;
mod reasoning;
mod repair;
mod request;
mod rules;
mod stream;
mod tools;
mod usage;
mod wire;

pub(crate) use fit::is_strict;
pub(crate) use part::media;
pub use profile::Profile;
pub use stream::assembler;
pub(crate) use wire::Responses;

/// The name of the wire, under which its extras are kept.
const FORMAT: &str = "openai.responses";
