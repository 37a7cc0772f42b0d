//! Durable homes of journals, behind one small trait.
//!
//! A [`Store`] keeps, for every session, an append-only journal without gaps. [`Store::append`] is the only way to
//! write: a compare-and-swap on the last place. [`StoreExt`] adds what follows from that for every store; what only
//! some can do ([`Search`], [`Leases`], [`HeadCache`], [`Accounting`], [`Maintenance`],
//! [`Watch`], [`Chunks`], [`Repair`]) are traits of their own.
//!
//! ```
//! use turnkeep_model::{Batch, Event, Seq, SessionId, event::LogAdded};
//! use turnkeep_store::{StoreExt, open};
//!
//! # pollster::block_on(async {
//! let store = open("memory:")?;
//! let id = SessionId::new("s1");
//! let event = Event::from(LogAdded { line: "hello".into() });
//!
//! let last = store.append(&id, Seq::START, &Batch::new(Seq(1), vec![event.into()])).await?;
//!
//! assert_eq!(last, Seq(1));
//! assert_eq!(store.load(&id).await?.session.logs, ["hello"]);
//! # Ok::<(), turnkeep_store::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `sqlite` | the store in one SQLite file |
//! | `postgres` | the store in PostgreSQL, for many machines |

mod capability;
mod checksum;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod claim;
mod copy;
pub mod disk;
pub mod driver;
mod error;
mod ext;
mod file;
mod import;
mod memory;
mod metadata;
mod options;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
#[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only SQLite trains dictionaries"))]
mod packed;
mod poll;
#[cfg(feature = "postgres")]
mod postgres;
mod query;
mod retention;
mod scrub;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod search_text;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod snippet;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod subscribers;
mod summary;
mod thread_pool;
mod turns;
pub mod url;
mod verify;
mod window;

pub use capability::{
    Accounting, Changed, Changes, Chunk, ChunkKind, ChunkStream, Chunks, Claim, Erased, Freed, HeadCache, Hit, Indexed,
    Lease, Leases, Maintenance, Repair, Repaired, Retention, Search, SearchQuery, SessionUse, Usage, Watch,
};
pub use copy::Copying;
pub use error::{Error, ErrorKind, Result};
pub use ext::{Loaded, StoreExt};
pub use file::FileStore;
pub use import::Imported;
pub use memory::MemoryStore;
pub use options::{Clock, Durability, Listener, Notice, Options};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use query::{Cursor, Page, Query, Sort};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::{Batches, BoxFuture, Deleted, Store};
pub use summary::{Origin, Summary};
pub use turns::{Condensed, Outline};
pub use url::{open, open_with};
pub use verify::{Finding, Verified};
pub use window::Window;
