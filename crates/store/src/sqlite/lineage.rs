//! From a session to its rows: its own, and those of the pasts it shares.
//!
//! A fork's row names the row of its parent (`past`) and the last record that they share (`until`). Following these gives the
//! segments of a journal, oldest first. A batch is the row `sid << 32 | first record`, so a segment is one range of keys.

use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use turnkeep_model::{Batch, Seq, SessionId, Spelling};

use super::db::Db;
use super::dictionary::{Dictionaries, Dictionary};
use super::pack::{Unpacker, damaged, join, unpacked, whole};
use super::schema::failed;
use crate::error::{Error, ErrorKind, Result};
use crate::packed::prepared::Written;

/// A query for rows of batches.
macro_rules! concat_columns {
    ($rest:literal) => {
        concat!("SELECT at, last, turns_before, spelling, dictionary, raw, bodies, data FROM batch ", $rest)
    };
}

pub(super) use crate::packed::segment::Segment;
pub(super) use concat_columns;

/// The rows between two keys.
const RANGE: &str = concat_columns!("WHERE at >= ?1 AND at <= ?2 ORDER BY at");

/// A session row.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionRow {
    pub(super) sid: i64,
    pub(super) last: Seq,
    pub(super) turns: u64,
    pub(super) bytes: u64,
}

/// The key of the batch that begins at `first`.
pub(super) fn key(sid: i64, first: Seq) -> Result<i64> {
    let first = u32::try_from(first.0).map_err(|_| Error::new(ErrorKind::TooLarge, "the journal is too long"))?;
    Ok(sid << 32 | i64::from(first))
}

/// The key for the end of an open range.
pub(super) fn key_up_to(sid: i64, last: Seq) -> i64 {
    sid << 32 | i64::from(u32::try_from(last.0).unwrap_or(u32::MAX))
}

pub(super) fn seq_of(key: i64) -> Seq {
    Seq((key & 0xffff_ffff) as u64)
}

pub(super) fn unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(index).map(|number| u64::try_from(number).unwrap_or_default())
}

/// A number as SQLite stores it.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Db {
    /// Finds a session.
    pub(super) fn find(&self, session: &SessionId) -> Result<Option<SessionRow>> {
        let mut select = self
            .connection
            .prepare_cached("SELECT sid, last, turns, bytes FROM session WHERE id = ?1")
            .map_err(failed)?;
        let session_row = |row: &Row<'_>| {
            Ok(SessionRow {
                sid: row.get(0)?,
                last: Seq(unsigned(row, 1)?),
                turns: unsigned(row, 2)?,
                bytes: unsigned(row, 3)?,
            })
        };
        select.query_row([session.as_str()], session_row).optional().map_err(failed)
    }

    /// Finds a session that must be there.
    pub(super) fn must_find(&self, session: &SessionId) -> Result<SessionRow> {
        self.find(session)?.ok_or_else(|| Error::unknown(session))
    }

    /// The parts of a journal, oldest first.
    pub(super) fn segments(&self, sid: i64, last: Seq) -> Result<Vec<Segment>> {
        let mut select =
            self.connection.prepare_cached("SELECT past, until FROM session WHERE sid = ?1").map_err(failed)?;
        let mut segments = Vec::new();
        let (mut next, mut until) = (Some(sid), last);
        while let Some(sid) = next {
            let (past, shared): (Option<i64>, u64) =
                select.query_row([sid], |row| Ok((row.get(0)?, unsigned(row, 1)?))).map_err(failed)?;
            let after = if past.is_some() { Seq(shared) } else { Seq::START };
            segments.push(Segment { sid, after, until });
            (next, until) = (past, after.min(until));
            if segments.len() > 100_000 {
                return Err(damaged("the forks of a session go round in a circle"));
            }
        }
        segments.retain(|segment| segment.after < segment.until);
        segments.reverse();
        Ok(segments)
    }

    /// The batches of a segment that begin in the range, in order.
    pub(super) fn batches(&mut self, sid: i64, first: Seq, until: Seq) -> Result<Vec<Batch>> {
        let mut batches = Vec::new();
        self.each_line(sid, first, until, |_, line, spelling| {
            batches.push(Batch::from_line_spelled(line, spelling)?);
            Ok(())
        })?;
        Ok(batches)
    }

    /// The batches that begin within a page, wherever they end. Whole journals are read this way: a line without large
    /// bodies is read where it was decompressed.
    pub(super) fn begun(&mut self, page: Segment) -> Result<Vec<Batch>> {
        let Db { connection, dictionaries, unpacker, .. } = self;
        let mut select = connection.prepare_cached(RANGE).map_err(failed)?;
        let range = params![key_up_to(page.sid, page.after.next()), key_up_to(page.sid, page.until)];
        let mut rows = select.query(range).map_err(failed)?;
        let mut batches = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let at = seq_of(row.get(0).map_err(failed)?);
            let batch = read_batch(row, connection, dictionaries, unpacker).map_err(|error| error.seq(at))?;
            batches.push(batch);
        }
        Ok(batches)
    }

    /// Every line of a segment whose batch begins in the range and does not end after it, in order.
    pub(super) fn each_line(
        &mut self,
        sid: i64,
        first: Seq,
        until: Seq,
        mut take: impl FnMut(Seq, &str, Spelling) -> Result<()>,
    ) -> Result<()> {
        let rows = self.rows(key_up_to(sid, first), key_up_to(sid, until))?;
        for row in rows {
            if row.last > until {
                break;
            }
            let at = seq_of(row.at);
            let line = self.line(&row).map_err(|error| error.seq(at))?;
            take(at, &line, row.spelling).map_err(|error| error.seq(at))?;
        }
        Ok(())
    }

    fn rows(&self, from: i64, to: i64) -> Result<Vec<Stored>> {
        let mut select = self.connection.prepare_cached(RANGE).map_err(failed)?;
        let rows = select.query_map(params![from, to], Stored::read).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The row of the batch that holds a record.
    pub(super) fn row_with(&self, sid: i64, seq: Seq) -> Result<Option<Stored>> {
        let mut select = self
            .connection
            .prepare_cached(concat_columns!("WHERE at > ?1 AND at <= ?2 ORDER BY at DESC LIMIT 1"))
            .map_err(failed)?;
        let row = select.query_row(params![sid << 32, key_up_to(sid, seq)], Stored::read).optional().map_err(failed)?;
        Ok(row.filter(|row| row.last >= seq))
    }

    /// The line of a row.
    pub(super) fn line(&mut self, row: &Stored) -> Result<String> {
        let Db { connection, dictionaries, unpacker, .. } = self;
        line(row, connection, dictionaries, unpacker)
    }

    /// A dictionary of this store.
    pub(super) fn dictionary(&self, id: i64) -> Result<Dictionary> {
        load_dictionary(&self.connection, id)
    }

    /// Whether what is compressed against this dictionary can be read back: it may have been retired meanwhile.
    pub(super) fn has_dictionary(&self, id: i64) -> Result<bool> {
        if id == 0 {
            return Ok(true);
        }
        let mut select =
            self.connection.prepare_cached("SELECT 1 FROM dictionary WHERE id = ?1 AND raw > 0").map_err(failed)?;
        select.exists([id]).map_err(failed)
    }

    pub(super) fn decompress(&mut self, dictionary: i64, raw: usize, data: &[u8]) -> Result<Vec<u8>> {
        let Db { connection, dictionaries, unpacker, .. } = self;
        let find = |id| find_dictionary(connection, dictionaries, id);
        unpacker.decompress(dictionary, raw, data, find).map(<[u8]>::to_vec)
    }
}

/// The batch of a row of [`RANGE`].
fn read_batch(
    row: &Row<'_>,
    connection: &Connection,
    dictionaries: &Dictionaries,
    unpacker: &mut Unpacker,
) -> Result<Batch> {
    let written = written(row).map_err(failed)?;
    let spelling = Spelling::from(written);
    if written == Written::ForeignChecksummed || !matches!(row.get_ref(6), Ok(ValueRef::Null)) {
        let stored = Stored::read(row).map_err(failed)?;
        return Ok(Batch::from_line_spelled(&line(&stored, connection, dictionaries, unpacker)?, spelling)?);
    }
    let (dictionary, raw) = (row.get(4).map_err(failed)?, unsigned(row, 5).map_err(failed)?);
    let data =
        row.get_ref(7).map_err(failed)?.as_blob().map_err(|error| damaged("a row has another shape").because(error))?;
    let find = |id| find_dictionary(connection, dictionaries, id);
    let plain = unpacker.decompress(dictionary, usize::try_from(raw).unwrap_or_default(), data, find)?;
    Ok(Batch::from_line_spelled(whole(plain)?, spelling)?)
}

fn line(row: &Stored, connection: &Connection, dictionaries: &Dictionaries, unpacker: &mut Unpacker) -> Result<String> {
    let hashes = row.bodies.as_deref().unwrap_or_default().chunks(32);
    let bodies: Vec<Vec<u8>> = hashes.map(|hash| body(connection, unpacker, hash)).collect::<Result<_>>()?;
    let find = |id| find_dictionary(connection, dictionaries, id);
    row.written.given(join(unpacker.decompress(row.dictionary, row.raw, &row.data, find)?, &bodies)?)
}

fn body(connection: &Connection, unpacker: &mut Unpacker, hash: &[u8]) -> Result<Vec<u8>> {
    let mut select = connection.prepare_cached("SELECT raw, data FROM body WHERE hash = ?1").map_err(failed)?;
    let mut rows = select.query([hash]).map_err(failed)?;
    let row = rows.next().map_err(failed)?.ok_or_else(|| damaged("a large body is missing"))?;
    let raw = usize::try_from(unsigned(row, 0).map_err(failed)?).unwrap_or_default();
    let data = row.get_ref(1).map_err(failed)?.as_blob();
    unpacker.body(raw, data.map_err(|error| damaged("a row has another shape").because(error))?)
}

fn find_dictionary(connection: &Connection, dictionaries: &Dictionaries, id: i64) -> Result<Arc<Dictionary>> {
    match dictionaries.get(id) {
        Some(known) => Ok(known),
        // Another process trained it.
        None => Ok(dictionaries.adopt(load_dictionary(connection, id)?)),
    }
}

fn load_dictionary(connection: &Connection, id: i64) -> Result<Dictionary> {
    let mut select =
        connection.prepare_cached("SELECT raw, data FROM dictionary WHERE id = ?1 AND raw > 0").map_err(failed)?;
    let found = select.query_row([id], |row| Ok((unsigned(row, 0)?, row.get::<_, Vec<u8>>(1)?)));
    let (raw, data) = found.optional().map_err(failed)?.ok_or_else(|| damaged("a dictionary is missing"))?;
    let bytes = unpacked(raw, &data).ok_or_else(|| damaged("a dictionary cannot be read"))?;
    Ok(Dictionary { id, bytes })
}

/// The newest dictionary of the store, if one was trained.
pub(super) fn newest_dictionary(connection: &Connection) -> Result<Option<Dictionary>> {
    let newest: Option<i64> =
        connection.query_row("SELECT max(id) FROM dictionary WHERE raw > 0", [], |row| row.get(0)).map_err(failed)?;
    newest.map(|id| load_dictionary(connection, id)).transpose()
}

/// A row of the table of batches.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) at: i64,
    pub(super) last: Seq,
    pub(super) turns_before: u64,
    pub(super) spelling: Spelling,
    written: Written,
    pub(super) dictionary: i64,
    pub(super) raw: usize,
    pub(super) bodies: Option<Vec<u8>>,
    pub(super) data: Vec<u8>,
}

impl Stored {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
        let written = written(row)?;
        Ok(Stored {
            at: row.get(0)?,
            last: Seq(unsigned(row, 1)?),
            turns_before: unsigned(row, 2)?,
            spelling: written.into(),
            written,
            dictionary: row.get(4)?,
            raw: usize::try_from(unsigned(row, 5)?).unwrap_or_default(),
            bodies: row.get(6)?,
            data: row.get(7)?,
        })
    }
}

fn written(row: &Row<'_>) -> rusqlite::Result<Written> {
    let number = row.get(3)?;
    Written::from_number(number).ok_or(rusqlite::Error::IntegralValueOutOfRange(3, number))
}
