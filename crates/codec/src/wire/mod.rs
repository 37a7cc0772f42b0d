//! Vendors' wires: what is common to them.
//!
//! A wire is spoken in four kinds of documents: a request body, a response body, an exchange of both, and a recorded
//! stream. Each vendor implements [`Wire`]; [`WireCodec`] makes a codec of it. A stream is assembled into the response
//! body that the vendor would have sent without streaming, so that there is one decoder of answers.

mod beyond;
pub(crate) mod block_wire;
pub(crate) mod cache;
mod codec;
pub(crate) mod contract;
pub(crate) mod degrade;
pub(crate) mod dialogue;
pub(crate) mod document;
pub mod frame;
mod incoming;
mod kind;
pub(crate) mod message_wire;
pub(crate) mod messages;
pub mod mock;
mod normalise;
mod outgoing;
mod portable;
pub(crate) mod prefix;
pub mod repair;
mod stream;
pub(crate) mod tables;

pub use codec::{Wire, WireCodec};
pub(crate) use codec::{origin, shortened};
pub use contract::{Contract, Limits, Route};
pub use incoming::{End, Incoming, Received, received};
pub use kind::{Kind, Parts};
pub use outgoing::{Delivery, Naming, Outgoing};
pub use stream::{Assembled, Assembler, Delta, assemble};
pub(crate) use stream::{StreamExtras, arguments, block_index};
