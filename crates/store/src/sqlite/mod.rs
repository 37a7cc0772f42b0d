//! `sqlite:PATH` — one SQLite file, the default.
//!
//! One thread writes, and commits what many appenders ask for in one transaction with one sync; others read in
//! parallel. A batch is one row of compressed bytes under `session << 32 | first record`, so that one tree holds the
//! journals and reading a range is one scan. Large bodies are stored once, under their BLAKE3 hash.

mod account;
mod append;
mod chain;
mod check;
mod damage;
mod desk;
mod erase;
mod gc;
mod heads;
mod lease;
mod list;
mod log;
mod place;
mod registry;
mod remove;
mod repair;
mod schema;
mod search;
mod shared;
mod sound;
mod store;
mod tail;
mod words;

use crate::packed::{dictionary, pack};

pub use store::SqliteStore;
