//! A connection to the database, with what is needed to make sense of its rows, and transactions on it.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use turnkeep_model::Head;

use super::dictionary::Dictionaries;
use super::pack::Unpacker;
use super::registry::Registration;
use super::schema::failed;
use super::wal::Wal;
use crate::error::{Error, Result};
use crate::options::Clock;

/// A connection, and what is needed to make sense of its rows.
pub(super) struct Db {
    pub(super) connection: Connection,
    pub(super) dictionaries: Arc<Dictionaries>,
    pub(super) unpacker: Unpacker,
    /// The clock of whoever asked for what is done now.
    pub(super) clock: Clock,
    /// Heads of sessions that are being appended to.
    pub(super) heads: HashMap<i64, Resident>,
    /// The log, where this is the one who writes.
    pub(super) wal: Option<Wal>,
    /// After the connection: it ends when that is closed.
    _registration: Arc<Registration>,
}

/// A head in memory, and how many batches it has taken in since it was saved.
pub(super) struct Resident {
    pub(super) head: Head,
    pub(super) unsaved: u32,
    pub(super) weight: usize,
}

impl Db {
    pub(super) fn new(connection: Connection, dictionaries: Arc<Dictionaries>, registration: Arc<Registration>) -> Db {
        Db {
            connection,
            dictionaries,
            unpacker: Unpacker::default(),
            clock: Clock::default(),
            heads: HashMap::new(),
            wal: None,
            _registration: registration,
        }
    }
}

/// Runs `work` in a transaction of its own. What fails is undone.
pub(super) fn transact<T>(db: &mut Db, work: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
    execute(&db.connection, "BEGIN IMMEDIATE")?;
    let done = work(db).and_then(|value| {
        if db.connection.is_autocommit() {
            // A full disk or a failing one makes SQLite roll back by itself.
            return Err(undone());
        }
        execute(&db.connection, "COMMIT")?;
        Ok(value)
    });
    if done.is_err() {
        // What was held in memory spoke of rows that are no longer there.
        db.heads.clear();
        if !db.connection.is_autocommit() {
            let _ = execute(&db.connection, "ROLLBACK");
        }
    }
    done
}

fn undone() -> Error {
    Error::new(crate::ErrorKind::Io, "the store's database undid the transaction")
        .hint("nothing was recorded; make room and try again")
}

pub(super) fn execute(connection: &Connection, statement: &str) -> Result<()> {
    connection.prepare_cached(statement).and_then(|mut prepared| prepared.execute([])).map(drop).map_err(failed)
}
