//! `sqlite:PATH` — one SQLite file, the default.
//!
//! One thread writes, and commits what many appenders ask for in one transaction with one sync; others read in
//! parallel. A batch is one row of compressed bytes under `session << 32 | first record`, so that one tree holds the
//! journals and reading a range is one scan. Large bodies are stored once, under their BLAKE3 hash.

mod account;
mod append;
mod check;
mod damage;
mod db;
mod erase;
mod gc;
mod heads;
mod index_check;
mod integrity;
mod lease;
mod lineage;
mod list;
mod location;
mod registry;
mod remove;
mod repair;
mod schema;
mod search;
mod shared;
mod store;
mod wal;
mod wal_scan;
mod watch;
mod writer;

use crate::packed::{dictionary, pack};

pub use store::SqliteStore;
