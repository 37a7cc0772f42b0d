//! Models behind HTTP, against servers on this machine, cassettes and scripts.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "tests say how much they tried")]
#![allow(clippy::result_large_err, reason = "a error is told in full")]

#[cfg(feature = "http")]
mod agent;
mod cassette;
mod endpoints;
#[cfg(feature = "http")]
mod errors;
#[cfg(feature = "http")]
mod fallback;
#[cfg(feature = "http")]
mod kit;
#[cfg(feature = "http")]
mod mock;
#[cfg(feature = "http")]
mod network;
#[cfg(feature = "http")]
mod recorded;
#[cfg(feature = "http")]
mod retries;
mod scripted;
#[cfg(feature = "http")]
mod secrets;
#[cfg(feature = "http")]
mod server;
mod stage;
mod switch;
#[cfg(all(unix, feature = "http"))]
mod threads;
#[cfg(feature = "http")]
mod wires;
