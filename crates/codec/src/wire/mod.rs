//! Vendors' wires: what is common to them.
//!
//! A wire is spoken in four kinds of documents: a request body, a response body, an exchange of both, and a recorded
//! stream. Each vendor implements [`Wire`]; [`WireCodec`] makes a codec of it. A stream is assembled into the response
//! body that the vendor would have sent without streaming, so that there is one decoder of answers.

mod codec;
pub(crate) mod degrade;
pub(crate) mod dialogue;
pub(crate) mod fields;
pub mod frame;
mod kind;
pub(crate) mod messages;
pub(crate) mod order;
pub(crate) mod prefix;
mod ready;
pub mod repair;
pub(crate) mod rule;
pub mod speak;
mod stream;
pub(crate) mod taken;
pub(crate) mod view;

pub(crate) use codec::shortened;
pub use codec::{Wire, WireCodec, next_request};
pub use kind::{Kind, Parts};
pub use rule::{Evidence, Rule};
pub(crate) use stream::Beside;
pub use stream::{Assembled, Assembler, Delta, assemble};
