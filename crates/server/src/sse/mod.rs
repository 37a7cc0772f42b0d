//! Server-sent events: one session, or several on one connection.
//!
//! `id:` is the place after which to go on; a browser sends it back as `Last-Event-ID`. Pieces of answers have none. A comment
//! comes every 15 seconds, so that nobody between takes the connection for dead.

mod multiplexed;
mod single;
mod writer;

pub(crate) use multiplexed::{__path_events, events};
pub(crate) use single::{__path_session_events, session_events};
