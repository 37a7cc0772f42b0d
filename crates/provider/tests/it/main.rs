//! Tests.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod cassette;
mod scripted;
mod stage;
mod switch;
