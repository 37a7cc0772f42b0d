//! The page against the library: what it folds, and that it is built from its sources.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fold;
