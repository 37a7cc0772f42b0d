//! `postgres://…` — PostgreSQL, for many processes at once.
//!
//! An append is one statement and one round trip: an update of the session's row that only matches where the appender
//! believes the session to be, and, hanging from it, the row of the batch. Every append carries a mark of its own, so
//! that after a lost connection it is known whether it was recorded. The driver brings the small runtime it needs.

mod account;
mod address;
mod announce;
mod append;
mod base;
mod check;
mod erase;
mod fault;
mod fork;
mod gc;
mod heads;
mod index_check;
mod integrity;
mod lease;
mod lineage;
mod list;
mod notice;
mod nul;
mod remove;
mod repair;
mod schema;
mod search;
mod sql;
mod store;
mod tls;
mod watch;

pub use store::PostgresStore;
