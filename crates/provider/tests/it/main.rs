//! Models behind HTTP, against servers on this machine.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "tests say how much they tried")]
#![allow(clippy::result_large_err, reason = "a fault is told in full")]

mod agent;
mod endpoints;
mod fallback;
mod faults;
mod kit;
mod network;
mod recorded;
mod retries;
mod secrets;
mod server;
mod wires;
