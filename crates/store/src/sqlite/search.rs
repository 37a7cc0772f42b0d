//! Full-text search: the index is caught up in small steps, and knows only where words are. Snippets are cut from the
//! journal itself.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params, params_from_iter};
use turnkeep_model::{Batch, Seq, SessionId};

use super::db::{Db, transact};
use super::lineage::{key, key_up_to, seq_of, signed, unsigned};
use super::schema::failed;
use crate::capability::{Hit, SearchQuery};
use crate::error::Result;
use crate::search_text::{text_of, words};
use crate::snippet;

/// How many records one step takes, of however many sessions: whoever appends waits for one step at most, and a step
/// costs a sync of the disk, however little is in it.
const STEP: u64 = 500;

/// How many bytes of text end a step early.
const STEP_TEXT: usize = 1 << 20;

const USUAL_LIMIT: usize = 20;

/// The most hits there can be: SQLite takes no larger limit.
const MOST: usize = i32::MAX as usize;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// So many sessions were caught up, and there are more.
    More(u64),
    Done,
}

/// How much a step may still take.
struct Room {
    records: u64,
    text: usize,
}

/// A session of which the index lacks what comes after `from`.
struct Lacking {
    sid: i64,
    from: Seq,
    last: Seq,
}

/// Indexes some of what is not indexed yet, in a transaction of its own.
pub(super) fn index_some(db: &mut Db) -> Result<Progress> {
    if unindexed(db)?.is_none() {
        return Ok(Progress::Done);
    }
    transact(db, |db| {
        let (mut room, mut caught_up) = (Room { records: STEP, text: STEP_TEXT }, 0);
        while room.records > 0 && room.text > 0 {
            let Some(lacking) = unindexed(db)? else {
                break;
            };
            caught_up += u64::from(index_part(db, &lacking, &mut room)?);
        }
        Ok(Progress::More(caught_up))
    })
}

/// How many sessions are not wholly indexed.
pub(super) fn behind(db: &Db) -> Result<u64> {
    db.connection.query_row("SELECT count(*) FROM unindexed", [], |row| unsigned(row, 0)).map_err(failed)
}

fn unindexed(db: &Db) -> Result<Option<Lacking>> {
    let mut select = db
        .connection
        .prepare_cached("SELECT sid, max(indexed, until), last FROM unindexed JOIN session USING (sid) LIMIT 1")
        .map_err(failed)?;
    let row = select.query_row([], |row| {
        Ok(Lacking { sid: row.get(0)?, from: Seq(unsigned(row, 1)?), last: Seq(unsigned(row, 2)?) })
    });
    row.optional().map_err(failed)
}

/// Indexes as much of a session as there is room for; tells whether that was all of it.
fn index_part(db: &mut Db, lacking: &Lacking, room: &mut Room) -> Result<bool> {
    let Lacking { sid, from, last } = *lacking;
    // A step ends within a batch's range; the batch itself is taken whole.
    let until = Seq(from.0.saturating_add(room.records)).min(last);
    let end = db.row_with(sid, until)?.map_or(until, |row| row.last).min(last);
    for batch in db.batches(sid, from.next(), end)? {
        room.text = room.text.saturating_sub(index_batch(db, sid, &batch)?);
    }
    room.records = room.records.saturating_sub(end.0.saturating_sub(from.0).max(1));
    db.connection
        .prepare_cached("UPDATE session SET indexed = ?2 WHERE sid = ?1")
        .and_then(|mut update| update.execute(params![sid, signed(end.0)]))
        .map_err(failed)?;
    if end < last {
        return Ok(false);
    }
    note(db, sid, "DELETE FROM unindexed WHERE sid = ?1")?;
    Ok(true)
}

/// Indexes a batch; tells how many bytes of text that were.
fn index_batch(db: &Db, sid: i64, batch: &Batch) -> Result<usize> {
    let mut bytes = 0;
    for (entry, seq) in batch.events.iter().zip(batch.seq.0..) {
        if let Some(text) = text_of(&entry.event) {
            bytes += text.len();
            db.connection
                .prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")
                .and_then(|mut insert| insert.execute(params![key(sid, Seq(seq)).unwrap_or_default(), text]))
                .map_err(failed)?;
        }
    }
    Ok(bytes)
}

/// Notes that the index lacks something of a session.
pub(super) fn lacks(db: &Db, sid: i64) -> Result<()> {
    note(db, sid, "INSERT OR IGNORE INTO unindexed VALUES (?1)")
}

fn note(db: &Db, sid: i64, statement: &str) -> Result<()> {
    db.connection.prepare_cached(statement).and_then(|mut prepared| prepared.execute([sid])).map(drop).map_err(failed)
}

/// All words must be there; the last may be the beginning of one.
fn expression(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("{}*", quoted.join(" AND "))
}

/// The hits of a query in what is indexed.
pub(super) fn search(db: &mut Db, query: &SearchQuery) -> Result<Vec<Hit>> {
    let words = words(&query.text);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut hits = Vec::new();
    let mut read = None;
    for rowid in matches(db, query, &words)? {
        hits.extend(hit(db, rowid, query.session.as_ref(), &words, &mut read)?);
    }
    Ok(hits)
}

/// The newest first: ranking would have to look at every match, and a common word has as many as there are blocks.
fn matches(db: &Db, query: &SearchQuery, words: &[String]) -> Result<Vec<i64>> {
    let limit = if query.limit == 0 { USUAL_LIMIT } else { query.limit.min(MOST) };
    let mut text = String::from("SELECT rowid FROM words WHERE words MATCH ?");
    let mut values = vec![Value::from(expression(words))];
    if let Some(session) = &query.session {
        let session_row = db.must_find(session)?;
        let mut ranges = Vec::new();
        for segment in db.segments(session_row.sid, session_row.last)? {
            ranges.push("rowid BETWEEN ? AND ?");
            values.push(Value::from(key_up_to(segment.sid, segment.after.next())));
            values.push(Value::from(key_up_to(segment.sid, segment.until)));
        }
        text.push_str(&format!(" AND ({})", ranges.join(" OR ")));
    }
    text.push_str(&format!(" ORDER BY rowid DESC LIMIT {limit}"));
    let mut select = db.connection.prepare_cached(&text).map_err(failed)?;
    let rows = select.query_map(params_from_iter(values), |row| row.get(0)).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// A hit; `read` is the batch of the one before, which is often the same.
fn hit(
    db: &mut Db,
    rowid: i64,
    asked: Option<&SessionId>,
    words: &[String],
    read: &mut Option<(i64, Batch)>,
) -> Result<Option<Hit>> {
    let (sid, seq) = (rowid >> 32, seq_of(rowid));
    let session = match asked {
        Some(session) => Some(session.clone()),
        None => db.name(sid, seq)?,
    };
    let same = |(at, batch): &(i64, Batch)| *at >> 32 == sid && batch.seq <= seq && seq <= batch.last();
    if !read.as_ref().is_some_and(same) {
        *read = match db.row_with(sid, seq)? {
            Some(row) => Some((row.at, Batch::from_line_spelled(&db.line(&row)?, row.spelling)?)),
            None => None,
        };
    }
    let (Some(session), Some((_, batch))) = (session, read.as_ref()) else {
        return Ok(None);
    };
    let entry = batch.events.iter().zip(batch.seq.0..).find(|(_, at)| Seq(*at) == seq);
    let text = entry.and_then(|(entry, _)| text_of(&entry.event)).unwrap_or_default();
    let (snippet, marks) = snippet::cut(&text, words);
    Ok(Some(Hit { session, seq, snippet, marks }))
}

impl Db {
    /// The id of a session row; of a deleted one, that of a fork that shares the record.
    fn name(&self, sid: i64, seq: Seq) -> Result<Option<SessionId>> {
        let mut select = self
            .connection
            .prepare_cached(
                "WITH RECURSIVE heirs (sid, id) AS (SELECT sid, id FROM session WHERE sid = ?1 UNION ALL \
                 SELECT s.sid, s.id FROM session s, heirs WHERE s.past = heirs.sid AND s.until >= ?2) \
                 SELECT id FROM heirs WHERE id IS NOT NULL LIMIT 1",
            )
            .map_err(failed)?;
        let found = select.query_row(params![sid, signed(seq.0)], |row| row.get::<_, String>(0));
        Ok(found.optional().map_err(failed)?.map(SessionId::new))
    }
}
