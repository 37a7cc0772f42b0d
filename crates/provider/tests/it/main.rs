//! Models behind HTTP, against servers on this machine, cassettes and scripts.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "tests say how much they tried")]
#![allow(clippy::result_large_err, reason = "a fault is told in full")]

mod agent;
mod cassette;
mod endpoints;
mod fallback;
mod faults;
mod kit;
mod mock;
mod network;
mod recorded;
mod retries;
mod scripted;
mod secrets;
mod server;
mod stage;
mod switch;
mod wires;
