//! `ollama.chat`: Ollama's `/api/chat`.
//!
//! Contents are plain text with images beside them, arguments are objects, and results may name no call: they answer
//! the open calls in order.

mod body;
mod contract;
mod message;
mod mock;
mod request;
mod restore;
mod rules;
mod sniff;
mod stream;
mod wire;

pub(crate) use wire::OllamaWire;

/// The id of the wire, under which it keeps what the model has no place for.
const ID: &str = "ollama.chat";
