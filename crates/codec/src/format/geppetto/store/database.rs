//! Rows from the bytes of a database that nobody vouches for.

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

use super::rows::{ALGORITHM, BlockKey, BlockRow, MemberRow, Rows, SnapshotKey, TurnKey, TurnRow};

/// How every SQLite database begins.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// The tables of a store with the columns that must be there.
const TABLES: [(&str, &[&str]); 3] = [
    ("turns", &["conv_id", "session_id", "turn_id"]),
    ("blocks", &["block_id", "content_hash", "kind"]),
    (
        "turn_block_membership",
        &["conv_id", "session_id", "turn_id", "phase", "snapshot_created_at_ms", "ordinal", "block_id", "content_hash"],
    ),
];

/// Columns that need not be there, known by every version that was read.
const OPTIONAL: [&str; 14] = [
    "turn_created_at_ms",
    "created_at_ms",
    "turn_metadata_json",
    "turn_data_json",
    "runtime_key",
    "inference_id",
    "updated_at_ms",
    "hash_algorithm",
    "role",
    "payload_json",
    "block_metadata_json",
    "first_seen_at_ms",
    "phase",
    "payload",
];

/// An open store whose schema was found to be plain tables.
pub(super) struct Database {
    connection: Connection,
    columns: [Vec<String>; 3],
    /// Tables and columns that are not part of a store.
    unknown: Vec<String>,
}

impl Database {
    /// Opens the bytes of a database without trusting it: nothing in its schema is run, nothing is written, and the
    /// work is bounded by its size.
    pub(super) fn open(mut bytes: Vec<u8>) -> Result<Database> {
        if !bytes.starts_with(MAGIC) {
            return Err(Error::new(ErrorKind::NotThisFormat, "it is not an SQLite database"));
        }
        // A database in memory has no log: its header must not ask for one.
        for mark in bytes.get_mut(18..20).into_iter().flatten() {
            *mark = 1;
        }
        let connection = guarded(&bytes).map_err(|error| damaged(&error))?;
        let mut database = Database { connection, columns: Default::default(), unknown: Vec::new() };
        database.check_schema()?;
        Ok(database)
    }

    fn check_schema(&mut self) -> Result<()> {
        let found = self.schema().map_err(|error| damaged(&error))?;
        let mut columns = Vec::new();
        for (table, wanted) in TABLES {
            let Some((kind, _, sql)) = found.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(table)) else {
                return Err(Error::new(ErrorKind::NotThisFormat, format!("the table `{table}` is missing"))
                    .hint("a turn store has `turns`, `blocks` and `turn_block_membership`; open an older one with pinocchio once, which migrates it"));
            };
            if kind != "table" || !is_plain_table(sql) {
                return Err(Error::new(ErrorKind::Corrupt, format!("`{table}` is not a plain table"))
                    .hint("do not trust this file: a turn store has no views and no virtual tables"));
            }
            columns.push(self.columns_of(table, wanted)?);
        }
        let known = |name: &str| TABLES.iter().any(|(table, _)| table.eq_ignore_ascii_case(name));
        let others = found.iter().filter(|(kind, name, _)| kind != "index" && !known(name));
        self.unknown.extend(others.map(|(kind, name, _)| format!("the {kind} `{name}`")));
        self.columns = columns.try_into().unwrap_or_default();
        Ok(())
    }

    fn schema(&self) -> rusqlite::Result<Vec<(String, String, String)>> {
        let mut statement = self.connection.prepare("SELECT type, name, sql FROM sqlite_master")?;
        let rows = statement.query_map([], |row| Ok((text(row, 0)?, text(row, 1)?, text(row, 2)?)))?;
        rows.collect()
    }

    fn columns_of(&mut self, table: &str, wanted: &[&str]) -> Result<Vec<String>> {
        let columns = self.table_info(table).map_err(|error| damaged(&error))?;
        if columns.iter().any(|(_, hidden)| *hidden != 0) {
            return Err(Error::new(ErrorKind::Corrupt, format!("`{table}` has columns that are computed"))
                .hint("do not trust this file: a turn store has plain columns"));
        }
        let names: Vec<String> = columns.into_iter().map(|(name, _)| name.to_lowercase()).collect();
        if let Some(missing) = wanted.iter().find(|column| !names.iter().any(|name| name == *column)) {
            return Err(Error::new(
                ErrorKind::NotThisFormat,
                format!("the column `{missing}` of `{table}` is missing"),
            )
            .hint("open the store with pinocchio once, which migrates it"));
        }
        let unknown = |name: &&String| !wanted.contains(&name.as_str()) && !OPTIONAL.contains(&name.as_str());
        self.unknown.extend(names.iter().filter(unknown).map(|name| format!("the column `{name}` of `{table}`")));
        Ok(names)
    }

    fn table_info(&self, table: &str) -> rusqlite::Result<Vec<(String, i64)>> {
        let mut statement = self.connection.prepare(&format!("PRAGMA table_xinfo({table})"))?;
        let rows = statement.query_map([], |row| Ok((text(row, 1)?, whole(row, 6)?)))?;
        rows.collect()
    }

    /// Every row, and what is not read.
    pub(super) fn rows(&self) -> Result<(Rows, Vec<Loss>)> {
        let rows = self.read().map_err(|error| damaged(&error))?;
        let what = |what: &String| Loss::decode(LossKind::Dropped, "", format!("{what} is not part of a turn store"));
        Ok((rows, self.unknown.iter().map(what).collect()))
    }

    fn read(&self) -> rusqlite::Result<Rows> {
        let [turns, blocks, _] = &self.columns;
        Ok(Rows {
            turns: self.select(
                "turns",
                &[
                    "conv_id".into(),
                    "session_id".into(),
                    "turn_id".into(),
                    first_of(turns, &["turn_created_at_ms", "created_at_ms"], "0"),
                    first_of(turns, &["updated_at_ms", "turn_created_at_ms", "created_at_ms"], "0"),
                    first_of(turns, &["turn_metadata_json"], "'{}'"),
                    first_of(turns, &["turn_data_json"], "'{}'"),
                    first_of(turns, &["runtime_key"], "''"),
                    first_of(turns, &["inference_id"], "''"),
                ],
                turn_row,
            )?,
            blocks: self.select(
                "blocks",
                &[
                    "block_id".into(),
                    "content_hash".into(),
                    first_of(blocks, &["hash_algorithm"], &format!("'{ALGORITHM}'")),
                    "kind".into(),
                    first_of(blocks, &["role"], "''"),
                    first_of(blocks, &["payload_json"], "'{}'"),
                    first_of(blocks, &["block_metadata_json"], "'{}'"),
                    first_of(blocks, &["first_seen_at_ms"], "0"),
                ],
                block_row,
            )?,
            members: self.select(
                "turn_block_membership",
                &TABLES[2].1.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>(),
                member_row,
            )?,
        })
    }

    /// Rows in the order they were written. `NOT INDEXED`: an index of a damaged file may disagree with its table.
    fn select<T>(
        &self,
        table: &str,
        columns: &[String],
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let sql = format!("SELECT {} FROM {table} NOT INDEXED ORDER BY rowid", columns.join(", "));
        let mut statement = self.connection.prepare(&sql)?;
        statement.query_map([], read)?.collect()
    }
}

/// A connection to the bytes that runs nothing of theirs.
fn guarded(bytes: &[u8]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    // No value is longer than the file that holds it.
    let longest = i32::try_from(bytes.len()).unwrap_or(i32::MAX).max(1 << 20);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
    // A turn store has three small tables: a schema beyond these limits was made to hurt.
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COLUMN, 200)?;
    connection.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 100)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1)?;
    connection.deserialize_read_exact("main", bytes, bytes.len(), true)?;
    bound(&mut connection, bytes.len())?;
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA query_only = ON; PRAGMA mmap_size = 0")?;
    Ok(connection)
}

/// Interrupts work that no honest file of this size needs: damaged trees can be walked for ever.
fn bound(connection: &mut Connection, size: usize) -> rusqlite::Result<()> {
    const STEPS: i32 = 10_000;
    let mut left = 1_000 + size / 1_000;
    connection.progress_handler(
        STEPS,
        Some(move || {
            left = left.saturating_sub(1);
            left == 0
        }),
    )
}

fn is_plain_table(sql: &str) -> bool {
    let mut words = sql.split_ascii_whitespace().map(str::to_ascii_lowercase);
    words.next().as_deref() == Some("create") && words.next().as_deref() == Some("table")
}

fn first_of(columns: &[String], wanted: &[&str], otherwise: &str) -> String {
    let found = wanted.iter().find(|wanted| columns.iter().any(|column| column == *wanted));
    found.map_or_else(|| otherwise.to_owned(), |column| (*column).to_owned())
}

fn damaged(error: &rusqlite::Error) -> Error {
    let (kind, what) = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::OperationInterrupted) => {
            (ErrorKind::TooLarge, "reading the database takes more steps than its size explains")
        }
        Some(rusqlite::ErrorCode::TooBig) => (ErrorKind::TooLarge, "a value of the database is too large"),
        _ => (ErrorKind::Corrupt, "the SQLite database is damaged"),
    };
    Error::new(kind, what).hint("restore it, or recover what is left with `sqlite3 FILE .recover`")
}

/// A text, whatever type the value has: SQLite's columns do not insist on theirs.
fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => String::new(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => value.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

fn whole(row: &Row<'_>, index: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(index)? {
        ValueRef::Integer(value) => value,
        ValueRef::Real(value) => value as i64,
        ValueRef::Null | ValueRef::Blob(_) => 0,
        ValueRef::Text(_) => text(row, index)?.trim().parse().unwrap_or_default(),
    })
}

fn turn_key(row: &Row<'_>) -> rusqlite::Result<TurnKey> {
    Ok(TurnKey { conv: text(row, 0)?, session: text(row, 1)?, turn: text(row, 2)? })
}

fn turn_row(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    Ok(TurnRow {
        key: turn_key(row)?,
        created_ms: whole(row, 3)?,
        updated_ms: whole(row, 4)?,
        metadata: text(row, 5)?,
        data: text(row, 6)?,
        runtime_key: text(row, 7)?,
        inference_id: text(row, 8)?,
    })
}

fn block_row(row: &Row<'_>) -> rusqlite::Result<BlockRow> {
    Ok(BlockRow {
        key: BlockKey { id: text(row, 0)?, hash: text(row, 1)? },
        algorithm: text(row, 2)?,
        kind: text(row, 3)?,
        role: text(row, 4)?,
        payload: text(row, 5)?,
        metadata: text(row, 6)?,
        first_seen_ms: whole(row, 7)?,
    })
}

fn member_row(row: &Row<'_>) -> rusqlite::Result<MemberRow> {
    Ok(MemberRow {
        snapshot: SnapshotKey { turn: turn_key(row)?, phase: text(row, 3)?, created_ms: whole(row, 4)? },
        ordinal: whole(row, 5)?,
        block: BlockKey { id: text(row, 6)?, hash: text(row, 7)? },
    })
}
