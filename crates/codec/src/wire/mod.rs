//! Vendors' wires: what is common to them.
//!
//! A wire is spoken in four kinds of documents: a request body, a response body, an exchange of both, and a recorded
//! stream. Each vendor implements [`Wire`]; [`WireCodec`] makes a codec of it. A stream is assembled into the response
//! body that the vendor would have sent without streaming, so that there is one decoder of answers.

mod beyond;
pub(crate) mod cache;
mod codec;
pub(crate) mod degrade;
pub(crate) mod dialogue;
pub(crate) mod document;
pub(crate) mod fields;
pub mod frame;
mod incoming;
mod kind;
pub(crate) mod messages;
pub(crate) mod order;
mod outgoing;
mod portable;
pub(crate) mod prefix;
mod ready;
pub mod repair;
pub(crate) mod rule;
pub mod speak;
pub(crate) mod spoken;
mod stream;
pub(crate) mod taken;
pub(crate) mod view;

pub use codec::{Wire, WireCodec};
pub(crate) use codec::{origin, shortened};
pub use incoming::{End, Incoming, Received, received};
pub use kind::{Kind, Parts};
pub use outgoing::{Delivery, Naming, Outgoing};
pub use rule::{Evidence, Rule};
pub(crate) use stream::Beside;
pub use stream::{Assembled, Assembler, Delta, assemble};
