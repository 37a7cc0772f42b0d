//! Reductions of sessions: each changes what it is given and says what it took away.
//!
//! A [`Policy`] is one reduction, a [`Pipeline`] several in written order. Every difference between what went in and what
//! came out has a [`Loss`](crate::Loss), and its place is a place of [`diff`](crate::diff).

pub mod condense;
mod edit;
mod encrypted;
mod finder;
mod original_paths;
mod pipeline;
mod redact;
mod secret;
pub mod tokens;
mod truncate;
mod window;

pub use encrypted::placeholder;
pub use original_paths::OriginalPaths;
pub use pipeline::{Pipeline, Policy};
pub use redact::{PieceOf, Redact, RedactTarget, Redactor};
pub use secret::{SecretKind, SecretMatch, scan};
pub use truncate::{Content, Truncate};
pub use window::{Adaptive, ContextWindow, Strategy, System, Unit, Window};
