//! pinocchio's turn store: `geppetto.store`, an SQLite database of turns and their blocks.
//!
//! A turn is saved in phases, and every snapshot of it is a session here; the latest `final` one is the main one. The
//! database is read from bytes, its log included, without trusting its schema.

mod codec;
mod database;
mod decode;
mod encode;
mod rows;
mod wal;
mod write;

pub(crate) use codec::StoreCodec;

/// The name under which what only the store has is kept.
const STORE: &str = "geppetto.store";
