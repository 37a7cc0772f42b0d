//! `file:DIR` — one journal file a session, in the format `turnkeep.jsonl`.
//!
//! A file is only ever appended to, or replaced by one that is whole and on the disk. A fork's file names its parent's file in its
//! first line and holds only its own batches. `journal_dir.rs` has the operations that change one file, `read.rs`, `delete.rs`,
//! `erase.rs`, `gc.rs`, `repair.rs` and `account.rs` one task each; `store.rs` brings their blocking work to threads.

mod account;
mod delete;
mod erase;
mod gc;
mod journal_dir;
mod journal_index;
mod lines;
mod name;
mod read;
mod repair;
mod sharing;
mod store;
mod watch;

pub use store::FileStore;
