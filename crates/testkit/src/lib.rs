//! Proof: generators of sessions and journals, the laws of codecs, and golden files.
//!
//! A law is a named function over a trait object that panics, with the smallest case it found, where the law does not
//! hold. Whoever writes a codec runs all of them with [`codec_laws!`]; nobody can forget one. What stands outside this
//! repository is held to the same laws: [`own_store_laws!`], [`own_codec_laws!`], [`own_model_laws!`] and
//! [`check_broadcaster`](laws::broadcast::check_broadcaster) take a store, a codec, a model or a broadcaster of your own.
//!
//! The number of generated cases is multiplied by the environment variable `TURNKEEP_CASES` (default 1); the seed is
//! `TURNKEEP_SEED` (default 0), so that a run can be repeated.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `postgres` | tests of stores in PostgreSQL |

pub mod disk;
pub mod generate;
pub mod golden;
mod home;
pub mod keys;
pub mod laws;
#[cfg(unix)]
pub mod postgres_server;
mod property;
#[cfg(unix)]
pub mod vfs;

pub use golden::golden_section;
pub use home::{Home, OpenOwn, POSTGRES};
pub use property::{cases, for_all, kills, seed};
