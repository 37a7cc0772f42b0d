//! Proof: generators of sessions and journals, the laws of codecs, and golden files.
//!
//! A law is a named function over a trait object that panics, with the smallest case it found, where the law does not
//! hold. Whoever writes a codec runs all of them with [`codec_laws!`]; nobody can forget one.
//!
//! The number of generated cases is multiplied by the environment variable `TURNKEEP_CASES` (default 1); the seed is
//! `TURNKEEP_SEED` (default 0), so that a run can be repeated.

pub mod disk;
pub mod generate;
pub mod golden;
mod home;
pub mod laws;
mod run;
#[cfg(unix)]
pub mod server;
#[cfg(unix)]
pub mod vfs;

pub use golden::golden_section;
pub use home::{Home, POSTGRES};
pub use run::{cases, for_all, kills, seed};
