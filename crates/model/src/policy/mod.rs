//! Reductions of sessions: each changes what it is given and says what it took away.
//!
//! A [`Policy`] is one reduction, a [`Pipeline`] several in written order. Every difference between what went in and what
//! came out has a [`Loss`](crate::Loss), and its place is a place of [`diff`](crate::diff).

pub mod condense;
mod encrypted;
mod pipeline;
mod places;

pub use encrypted::{placeholder, redact_encrypted};
pub use pipeline::{Pipeline, Policy};
