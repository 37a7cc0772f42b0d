//! `file:DIR` — one journal file a session, in the format `turnkeep.jsonl`.

mod account;
mod erase;
mod gc;
mod journal;
mod lines;
mod name;
mod repair;
mod sharing;
mod shelf;
mod store;

pub use store::FileStore;
