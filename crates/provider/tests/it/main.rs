//! Models behind HTTP, against servers on this machine, cassettes and scripts.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod agent;
mod cassette;
mod endpoints;
mod fallback;
mod faults;
mod kit;
mod network;
mod recorded;
mod retries;
mod scripted;
mod secrets;
mod server;
mod stage;
mod switch;
mod wires;
