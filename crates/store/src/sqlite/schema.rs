//! The tables, their versions, and how a connection is opened.
//!
//! A version is never changed after its release: a store is brought to the newest one step by step, in one transaction. A file
//! of another program or of a newer version is refused before anything in it is changed.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::location::Location;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Durability, Options};

/// Every version of the schema: what it brought, and how to get there from the one before.
const VERSIONS: &[(&str, &str)] = &[
    ("The first: sessions, batches, bodies, heads, dictionaries and the search index.", V1),
    ("What the search index lacks is a table, so that an append touches one page less.", V2),
    ("What forks were given by their parents is kept, so that listings can be made anew; heads have sums.", V3),
];

const V1: &str = "
CREATE TABLE version (version INTEGER PRIMARY KEY, what TEXT NOT NULL);
CREATE TABLE session (
    sid INTEGER PRIMARY KEY,
    id TEXT UNIQUE,
    past INTEGER REFERENCES session (sid),
    until INTEGER NOT NULL DEFAULT 0,
    origin TEXT,
    last INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    title TEXT,
    status TEXT,
    indexed INTEGER NOT NULL DEFAULT 0,
    lease_token INTEGER,
    lease_until INTEGER,
    lease_worker TEXT
);
CREATE INDEX session_updated ON session (updated DESC, id);
CREATE INDEX session_created ON session (created DESC, id);
CREATE INDEX session_unindexed ON session (sid) WHERE indexed < last;
CREATE INDEX session_past ON session (past) WHERE past IS NOT NULL;
CREATE TABLE tag (sid INTEGER NOT NULL, n INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (sid, n)) WITHOUT ROWID;
CREATE INDEX tag_key ON tag (key, value, sid);
CREATE TABLE batch (
    at INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    turns_before INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    spelling INTEGER NOT NULL,
    dictionary INTEGER NOT NULL,
    raw INTEGER NOT NULL,
    bodies BLOB,
    data BLOB NOT NULL
);
CREATE TABLE body (bid INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, refs INTEGER NOT NULL,
    dictionary INTEGER NOT NULL, raw INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE head (sid INTEGER PRIMARY KEY, seq INTEGER NOT NULL, raw INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE dictionary (id INTEGER PRIMARY KEY, raw INTEGER NOT NULL, data BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2');
";

const V2: &str = "
DROP INDEX session_unindexed;
CREATE TABLE unindexed (sid INTEGER PRIMARY KEY);
INSERT INTO unindexed SELECT sid FROM session WHERE indexed < last;
";

// What a fork's own batches have changed since is said by them: it does not matter here.
const V3: &str = "
CREATE TABLE fork (sid INTEGER PRIMARY KEY, past INTEGER NOT NULL, until INTEGER NOT NULL, origin TEXT NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL, title TEXT, status TEXT);
CREATE TABLE fork_tag (sid INTEGER NOT NULL, n INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (sid, n)) WITHOUT ROWID;
INSERT INTO fork SELECT sid, past, until, origin, created, updated, title, status FROM session
    WHERE past IS NOT NULL AND origin IS NOT NULL;
INSERT INTO fork_tag SELECT tag.* FROM tag JOIN fork USING (sid);
DELETE FROM head;
";

/// Marks the file as ours: `Turn`.
const APPLICATION: i32 = 0x5475_726e;

/// How SQLite opens the file: it must be there, and a connection belongs to one thread.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// How long to wait for another process before giving up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long to wait for those who open a file that has several names.
const NAMES: Duration = Duration::from_secs(1);

/// How long to wait for those who read; they are done in moments.
const READERS: Duration = Duration::from_secs(3);

/// Refuses a database that another process has open by another of its names. SQLite keeps a log beside each name, and two
/// logs of one database destroy it.
pub(super) fn check_names(location: &Location) -> Result<()> {
    if !location.has_other_names() || location.is_in_use() {
        return Ok(());
    }
    let connection = Connection::open_with_flags(&location.file, FLAGS).map_err(failed)?;
    connection.busy_timeout(NAMES).map_err(failed)?;
    // First of all: whatever reads before it leaves a file beside this name.
    pragma(&connection, "locking_mode", "EXCLUSIVE")?;
    // Whoever uses this name has files beside it by now.
    match connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(failed) {
        Err(error) if error.kind() == ErrorKind::Unavailable && location.is_in_use() => Ok(()),
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            let what = "another process has the store open by another name of its file (a hard link)";
            Err(Error::new(ErrorKind::Unavailable, what).hint("open it by that name; a store should have only one"))
        }
        done => done,
    }
}

/// Opens the file for the one who writes, and brings it to the newest version.
pub(super) fn open_writer(file: &Path, options: &Options) -> Result<Connection> {
    patiently(|| try_writer(file, options))
}

fn try_writer(file: &Path, options: &Options) -> Result<Connection> {
    let mut connection = connect(file)?;
    // SQLite opens a file that it may not write to all the same.
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(failed)? {
        return Err(Error::new(ErrorKind::Io, "the store may not be written to").hint("check the rights of the file"));
    }
    // Whether the content of the file is ours must be known before anything in it is changed.
    check_owner(&connection).map_err(|error| error.file(file))?;
    pragma(&connection, "journal_mode", "WAL")?;
    set_durability(&connection, options.durability)?;
    pragma(&connection, "secure_delete", "FAST")?;
    migrate(&mut connection).map_err(|error| error.file(file))?;
    Ok(connection)
}

/// Commits survive what this level says from now on.
pub(super) fn set_durability(connection: &Connection, durability: Durability) -> Result<()> {
    let synchronous = match durability {
        Durability::Power => "FULL",
        Durability::Process => "NORMAL",
    };
    pragma(connection, "synchronous", synchronous)
}

/// Opens the file for someone who only reads.
pub(super) fn open_reader(file: &Path) -> Result<Connection> {
    patiently(|| {
        let connection = connect(file)?;
        pragma(&connection, "query_only", "ON")?;
        Ok(connection)
    })
}

fn connect(file: &Path) -> Result<Connection> {
    let mut connection = Connection::open_with_flags(file, FLAGS).map_err(failed)?;
    connection.busy_handler(Some(wait)).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(64);
    pragma(&connection, "cache_size", "-8192")?;
    pragma(&connection, "temp_store", "MEMORY")?;
    Ok(connection)
}

/// Opens again while another process holds the file. SQLite does not ask its busy handler where waiting could be
/// a deadlock: when two processes turn a new file to WAL at once, one of them is refused outright.
fn patiently<T>(open: impl Fn() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        match open() {
            Err(error) if error.kind() == ErrorKind::Unavailable && start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}

/// Waits a little while another process writes. Short waits of uneven length: SQLite's own grow to 100 ms, and the one
/// who waits longest loses most often.
fn wait(tries: i32) -> bool {
    let pause = Duration::from_micros(300 + u64::from(tries.unsigned_abs() % 7) * 170);
    if pause.saturating_mul(tries.unsigned_abs()) > PATIENCE {
        return false;
    }
    std::thread::sleep(pause);
    true
}

/// Whether the log could be emptied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Emptied {
    Yes,
    /// Someone still reads what was there before.
    No,
}

/// Writes the log back into the file and empties it, unless someone keeps reading what was there before.
pub(super) fn truncate_wal(connection: &mut Connection) -> Result<Emptied> {
    connection.busy_timeout(READERS).map_err(failed)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    connection.busy_handler(Some(wait)).map_err(failed)?;
    Ok(if busy.map_err(failed)? == 0 { Emptied::Yes } else { Emptied::No })
}

fn pragma(connection: &Connection, name: &str, value: &str) -> Result<()> {
    connection.pragma_update(None, name, value).map_err(failed)
}

fn number(connection: &Connection, name: &str) -> Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0)).map_err(failed)
}

fn check_owner(connection: &Connection) -> Result<()> {
    // In this order: another process may make the tables between two of these.
    let empty = number(connection, "schema_version")? == 0;
    let (owner, version) = (number(connection, "application_id")?, number(connection, "user_version")?);
    if !empty && owner != i64::from(APPLICATION) {
        let what = "the file is an SQLite database of another program";
        return Err(Error::new(ErrorKind::Unsupported, what).hint("name another file"));
    }
    if version > VERSIONS.len() as i64 {
        let what = format!("the store has version {version}; this program knows up to {}", VERSIONS.len());
        return Err(Error::new(ErrorKind::Unsupported, what).hint("use a newer turnkeep"));
    }
    Ok(())
}

/// Brings the schema to the newest version, in one transaction that others wait for.
pub(super) fn migrate(connection: &mut Connection) -> Result<()> {
    if number(connection, "user_version")? == VERSIONS.len() as i64 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have done it while this one waited.
    let from = number(&transaction, "user_version")?;
    for (index, (what, statements)) in VERSIONS.iter().enumerate().skip(usize::try_from(from).unwrap_or(0)) {
        transaction.execute_batch(statements).map_err(failed)?;
        let version = index as i64 + 1;
        transaction.execute("INSERT INTO version VALUES (?1, ?2)", (version, what)).map_err(failed)?;
        transaction.pragma_update(None, "user_version", version).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// What SQLite says, as one of our kinds.
pub(super) fn failed(error: rusqlite::Error) -> Error {
    use rusqlite::Error as Said;
    use rusqlite::ErrorCode as Code;
    let shape = matches!(
        error,
        Said::InvalidColumnType(..) | Said::FromSqlConversionFailure(..) | Said::IntegralValueOutOfRange(..)
    );
    if shape {
        return super::pack::damaged("a row has another shape").because(error);
    }
    let extended = error.sqlite_error().map(|said| said.extended_code);
    let (kind, hint) = match error.sqlite_error_code() {
        // Whoever opens a database, if only to read, makes an index of its log beside it.
        Some(_) if extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
            (ErrorKind::Io, "the disk is full, and to open the store takes a little room; make room and try again")
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => {
            (ErrorKind::Unavailable, "another process holds the store; try again")
        }
        Some(Code::DatabaseCorrupt) => (ErrorKind::Corrupt, "run `turnkeep verify`, then repair or restore the store"),
        // Nothing of it can be read, so there is nothing to verify.
        Some(Code::NotADatabase) => (ErrorKind::Corrupt, "name the file of a store, or restore it from a copy"),
        Some(Code::DiskFull) => (ErrorKind::Io, "nothing was recorded; make room and try again"),
        Some(Code::TooBig) => (ErrorKind::TooLarge, "keep large data elsewhere"),
        _ => (ErrorKind::Io, "nothing was recorded; check the file and its rights"),
    };
    Error::new(kind, "the store's database failed").hint(hint).because(error)
}
