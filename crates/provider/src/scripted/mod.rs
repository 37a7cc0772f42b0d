//! A vendor that plays from a script.
//!
//! [`Scripted`] is a [`Transport`](crate::Transport) that reads a vendor's requests and answers as the vendor would:
//! streamed or whole, with its ids and counts, its errors and its failures. A request whose history breaks a rule of
//! the wire gets the vendor's own words for it. The n-th answer of a conversation is the script's n-th, counted from
//! the history in the request, so it is the same in every process. The file is described in `docs/scripted.md`.

mod asked;
mod fields;
mod read;
mod refuse;
mod script;
mod vendor;

pub use script::{Failure, Matcher, Pauses, Said, Script, Signatures, When};
pub use vendor::Scripted;
