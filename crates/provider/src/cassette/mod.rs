//! Cassettes: HTTP exchanges of a run, recorded once and replayed without a network.
//!
//! A [`Tape`] is the file; a [`Cassette`] is a [`Transport`](crate::Transport) that records another one on it, or answers
//! from it. [`RecordedClock`] and [`RecordedIds`] put the time and the ids of a run on the same tape, so that a replayed
//! run writes the same journal. Secrets never reach the file. The format is described in `docs/cassettes.md`.

mod content;
mod differ;
mod edit;
mod exchange;
mod file;
mod ports;
mod recorded;
mod scrub;
mod tape;
mod transport;
mod vcr;

pub use ports::{RecordedClock, RecordedIds};
pub use recorded::RecordedEndpoint;
pub use tape::{Mode, Pace, Tape};
pub use transport::Cassette;
