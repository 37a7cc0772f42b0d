//! Tests of the broadcasters.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "tests say what they skip")]

mod kit;
mod ndjson;
#[cfg(feature = "http")]
mod peers;
mod pusher;
mod webhook;
