//! Tests of what only the facade brings together.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[cfg(all(feature = "formats", feature = "weakincentives"))]
mod wink;
