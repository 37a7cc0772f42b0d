//! Reductions of sessions: each changes what it is given and says what it took away.
//!
//! A [`Policy`] is one reduction, a [`Pipeline`] several in written order. Every difference between what went in and what
//! came out has a [`Loss`](crate::Loss), and its place is a place of [`diff`](crate::diff).

pub mod condense;
mod edit;
mod encrypted;
mod finder;
mod pipeline;
mod places;
mod redact;
mod secret;
pub mod tokens;
mod truncate;
mod window;

pub use encrypted::placeholder;
pub use pipeline::{Pipeline, Policy};
pub use places::Places;
pub use redact::{Hidden, Redact};
pub use secret::{Found, SecretKind, scan};
pub use truncate::{Content, Truncate};
pub use window::{Adaptive, ContextWindow, Strategy, System, Unit, Window};
