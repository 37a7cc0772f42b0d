//! The laws of JSON values, sessions, journals and policies.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod fold;
mod journal;
mod json;
mod policy;
#[cfg(feature = "serde")]
mod serde;
