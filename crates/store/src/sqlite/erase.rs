//! Taking a secret out of journals, bodies, the index and caches.

use rusqlite::params;
use turnkeep_model::{Seq, SessionId};

use super::append::{hashes, put_bodies, repacked};
use super::db::Db;
use super::lineage::Stored;
use super::remove::drop_bodies;
use super::repair::make_anew;
use super::schema::{Emptied, failed, truncate_wal};
use super::{heads, index_check};
use crate::capability::Erased;
use crate::error::{Error, ErrorKind, Result};
use crate::scrub::{MARK, check_needle, without};

pub(super) fn erase(db: &mut Db, session: &SessionId, seq: Option<Seq>, needle: &str) -> Result<Erased> {
    check_needle(needle)?;
    let session_row = db.must_find(session)?;
    let mut erased = Erased::default();
    for segment in db.segments(session_row.sid, session_row.last)? {
        for first in firsts(db, segment.sid, segment.after, segment.until)? {
            let Some(row) = db.row_with(segment.sid, first)? else {
                continue;
            };
            if seq.is_none_or(|seq| first <= seq && seq <= row.last) {
                erase_row(db, &row, seq, needle, &mut erased)?;
            }
        }
    }
    if !erased.records.is_empty() {
        let related = related(db, session_row.sid)?;
        retire_dictionaries(db, needle)?;
        heads::forget(db)?;
        index_check::forget(db)?;
        for (sid, _) in &related {
            scrub_given(db, *sid, needle)?;
            make_anew(db, *sid)?;
        }
        let others = related.into_iter().filter(|(sid, _)| *sid != session_row.sid);
        erased.shared_with = others.filter_map(|(_, id)| id.map(SessionId::new)).collect();
        erased.shared_with.sort();
    }
    Ok(erased)
}

fn firsts(db: &Db, sid: i64, after: Seq, until: Seq) -> Result<Vec<Seq>> {
    let mut select =
        db.connection.prepare_cached("SELECT at FROM batch WHERE at > ?1 AND at <= ?2 ORDER BY at").map_err(failed)?;
    let range = params![super::lineage::key_up_to(sid, after), super::lineage::key_up_to(sid, until)];
    let rows = select.query_map(range, |row| row.get::<_, i64>(0)).map_err(failed)?;
    rows.map(|at| at.map(super::lineage::seq_of)).collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Rewrites one batch without the needle, if it holds it.
fn erase_row(db: &mut Db, row: &Stored, only: Option<Seq>, needle: &str, erased: &mut Erased) -> Result<()> {
    let line = db.line(row)?;
    let first = super::lineage::seq_of(row.at);
    let Some((line, records)) = without(&line, first, only, needle)? else {
        return Ok(());
    };
    let packed = repacked(db, &line)?;
    put_bodies(db, &packed)?;
    drop_bodies(db, row.bodies.as_deref().unwrap_or_default())?;
    let changed = params![row.at, packed.dictionary, packed.raw as i64, hashes(&packed), packed.data];
    db.connection
        .execute(
            "UPDATE batch SET spelling = 0, dictionary = ?2, raw = ?3, bodies = ?4, data = ?5 WHERE at = ?1",
            changed,
        )
        .map_err(failed)?;
    erased.records.extend(records);
    Ok(())
}

/// The rows that share a past with this one, itself included, with their ids; forks after what they are forked from.
fn related(db: &Db, sid: i64) -> Result<Vec<(i64, Option<String>)>> {
    let mut select = db
        .connection
        .prepare_cached(
            "WITH RECURSIVE root (sid, past) AS (SELECT sid, past FROM session WHERE sid = ?1 UNION ALL \
             SELECT s.sid, s.past FROM session s, root WHERE s.sid = root.past), \
             related (sid) AS (SELECT sid FROM root WHERE past IS NULL UNION ALL \
             SELECT s.sid FROM session s, related WHERE s.past = related.sid) \
             SELECT sid, id FROM session WHERE sid IN related ORDER BY sid",
        )
        .map_err(failed)?;
    let rows = select.query_map([sid], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Replaces the needle in what a fork was given.
fn scrub_given(db: &Db, sid: i64, needle: &str) -> Result<()> {
    let fork = "UPDATE fork SET title = replace(title, ?2, ?3), status = replace(status, ?2, ?3) WHERE sid = ?1";
    let tags = "UPDATE fork_tag SET key = replace(key, ?2, ?3), value = replace(value, ?2, ?3) WHERE sid = ?1";
    for statement in [fork, tags] {
        db.connection.execute(statement, params![sid, needle, MARK]).map_err(failed)?;
    }
    Ok(())
}

/// How much of a needle in a dictionary is too much: training takes texts apart.
const PIECE: usize = 8;

/// Removes trained dictionaries that hold some of the needle, once nothing is compressed against them any more.
fn retire_dictionaries(db: &mut Db, needle: &str) -> Result<()> {
    db.dictionaries.forget_samples();
    let mut select = db.connection.prepare("SELECT id FROM dictionary WHERE raw > 0").map_err(failed)?;
    let ids = select.query_map([], |row| row.get::<_, i64>(0)).map_err(failed)?;
    let ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>().map_err(failed)?;
    drop(select);
    for id in ids {
        if holds_piece(&db.dictionary(id)?.bytes, needle.as_bytes()) {
            repack(db, id)?;
            // The row stays, so that its number is never given to another.
            db.connection.execute("UPDATE dictionary SET raw = 0, data = x'' WHERE id = ?1", [id]).map_err(failed)?;
            db.dictionaries.retire(id);
        }
    }
    Ok(())
}

fn holds_piece(bytes: &[u8], needle: &[u8]) -> bool {
    let piece = needle.len().min(PIECE);
    needle.windows(piece).any(|part| bytes.windows(piece).any(|window| window == part))
}

/// Compresses what was compressed against this dictionary against the built-in one.
fn repack(db: &mut Db, id: i64) -> Result<()> {
    let mut select = db.connection.prepare("SELECT at, raw, data FROM batch WHERE dictionary = ?1").map_err(failed)?;
    let rows = select.query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(failed)?;
    let rows: Vec<(i64, i64, Vec<u8>)> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
    drop(select);
    for (at, raw, data) in rows {
        let plain = db.decompress(id, usize::try_from(raw).unwrap_or_default(), &data)?;
        let packed = db.dictionaries.compress_built_in(&plain)?;
        db.connection
            .execute("UPDATE batch SET dictionary = 0, data = ?2 WHERE at = ?1", params![at, packed])
            .map_err(failed)?;
    }
    Ok(())
}

/// Overwrites what was freed, and empties the log, so that no file holds the bytes any more. It is done even where nothing
/// was found: an erasure may have been cut off before it came to this.
pub(super) fn scrub_file(db: &mut Db) -> Result<()> {
    db.connection.execute_batch("VACUUM").map_err(failed)?;
    match truncate_wal(&mut db.connection)? {
        Emptied::Yes => Ok(()),
        Emptied::No => {
            let what = "others read the store: its files hold what was erased until they are done";
            Err(Error::new(ErrorKind::Unavailable, what)
                .hint("the journal is changed; erase it again when nobody reads"))
        }
    }
}
