//! Raw SQLite: one table, one row a batch, no more than it takes to keep the lines.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};
use turnkeep_model::Batch;
use turnkeep_store::Durability;

use crate::Outcome;

pub(super) fn open(file: &Path, durability: Durability) -> Outcome<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    let level = if durability == Durability::Power { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", level)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS line (session TEXT, seq INTEGER, body BLOB, PRIMARY KEY (session, seq))",
    )?;
    Ok(connection)
}

/// Inserts the line of a batch, and commits.
pub(super) fn insert(connection: &Connection, session: &str, batch: &Batch) -> Outcome<()> {
    let line = batch.to_line();
    let mut insert = connection.prepare_cached("INSERT INTO line VALUES (?1, ?2, ?3)")?;
    insert.execute(params![session, batch.seq.0 as i64, line.as_bytes()])?;
    Ok(())
}

/// Inserts the compressed line of a batch, and commits.
pub(super) fn insert_packed(connection: &Connection, session: &str, batch: &Batch) -> Outcome<()> {
    let line = zstd::bulk::compress(batch.to_line().as_bytes(), 3)?;
    let mut insert = connection.prepare_cached("INSERT INTO line VALUES (?1, ?2, ?3)")?;
    insert.execute(params![session, batch.seq.0 as i64, line])?;
    Ok(())
}
