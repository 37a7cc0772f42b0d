//! Appending and forking, inside a transaction of the writer.
//!
//! The compare-and-swap is decided before anything is written, because a transaction is shared with other appenders: work that
//! fails must have written nothing.

use std::borrow::Cow;

use rusqlite::params;
use turnkeep_model::{Seq, SessionId};

use super::db::Db;
use super::lineage::{SessionRow, key, signed};
use super::pack::{Packed, pack};
use super::schema::failed;
use crate::error::{Error, Result};
use crate::packed::prepared::spelling_number;
pub(super) use crate::packed::prepared::{PreparedBatch, hashes, prepare};
use crate::store::{no_such_place, taken};
use crate::summary::{Effects, Summary};

/// Appends, if the session is where the appender believes it to be. Nothing is written before that is known.
pub(super) fn append(db: &mut Db, prepared: &PreparedBatch) -> Result<Seq> {
    let session = &prepared.session;
    let session_row = match db.find(session)? {
        Some(session_row) if session_row.last != prepared.at => {
            return Err(Error::stale(session, prepared.at, session_row.last));
        }
        Some(session_row) => session_row,
        None if prepared.at != Seq::START => return Err(Error::unknown(session)),
        None => begin(db, session)?,
    };
    let summary = update(db, &session_row, &prepared.effects)?;
    insert(db, &session_row, &summary, prepared)?;
    super::search::lacks(db, session_row.sid)?;
    super::heads::note(db, session_row.sid, prepared)?;
    Ok(prepared.effects.last)
}

fn begin(db: &Db, session: &SessionId) -> Result<SessionRow> {
    db.connection
        .prepare_cached(
            "INSERT INTO session (id, last, turns, blocks, bytes, created, updated) VALUES (?1, 0, 0, 0, 0, 0, 0)",
        )
        .and_then(|mut insert| insert.execute([session.as_str()]))
        .map_err(failed)?;
    Ok(SessionRow { sid: db.connection.last_insert_rowid(), last: Seq::START, turns: 0, bytes: 0 })
}

fn update(db: &Db, session_row: &SessionRow, effects: &Effects) -> Result<Summary> {
    let mut summary = db.row_summary(session_row.sid)?;
    summary.apply(effects, db.clock.now());
    db.connection
        .prepare_cached(
            "UPDATE session SET last = ?2, turns = ?3, blocks = ?4, bytes = ?5, created = ?6, updated = ?7, \
             title = ?8, status = ?9 WHERE sid = ?1",
        )
        .and_then(|mut update| {
            update.execute(params![
                session_row.sid,
                signed(summary.last.0),
                signed(summary.turns),
                signed(summary.blocks),
                signed(summary.bytes),
                summary.created,
                summary.updated,
                summary.title,
                summary.status
            ])
        })
        .map_err(failed)?;
    if let Some(tags) = &effects.tags {
        set_tags(db, session_row.sid, tags)?;
    }
    Ok(summary)
}

pub(super) fn set_tags(db: &Db, sid: i64, tags: &[(String, String)]) -> Result<()> {
    let mut delete = db.connection.prepare_cached("DELETE FROM tag WHERE sid = ?1").map_err(failed)?;
    delete.execute([sid]).map_err(failed)?;
    let mut insert = db.connection.prepare_cached("INSERT INTO tag VALUES (?1, ?2, ?3, ?4)").map_err(failed)?;
    for (n, (key, value)) in tags.iter().enumerate() {
        insert.execute(params![sid, n as i64, key, value]).map_err(failed)?;
    }
    Ok(())
}

fn insert(db: &Db, session_row: &SessionRow, summary: &Summary, prepared: &PreparedBatch) -> Result<()> {
    let packed = &readable(db, prepared)?;
    put_bodies(db, packed)?;
    db.connection
        .prepare_cached("INSERT INTO batch VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
        .and_then(|mut insert| {
            insert.execute(params![
                key(session_row.sid, prepared.first).unwrap_or_default(),
                signed(prepared.effects.last.0),
                signed(session_row.turns),
                signed(summary.turns),
                signed(summary.blocks),
                signed(summary.bytes),
                spelling_number(prepared.spelling),
                packed.dictionary,
                packed.raw as i64,
                hashes(packed),
                packed.data
            ])
        })
        .map(drop)
        .map_err(failed)
}

/// What is stored; packed anew if its dictionary was retired meanwhile, by whatever process.
fn readable<'a>(db: &Db, prepared: &'a PreparedBatch) -> Result<Cow<'a, Packed>> {
    if db.has_dictionary(prepared.packed.dictionary)? {
        return Ok(Cow::Borrowed(&prepared.packed));
    }
    repacked(db, &prepared.line).map(Cow::Owned)
}

/// A line, packed against a dictionary that is in the store.
pub(super) fn repacked(db: &Db, line: &str) -> Result<Packed> {
    let packed = pack(line, &db.dictionaries)?;
    if db.has_dictionary(packed.dictionary)? {
        return Ok(packed);
    }
    db.dictionaries.retire(packed.dictionary);
    pack(line, &db.dictionaries)
}

/// Stores the bodies that are new, and counts one more use of each.
pub(super) fn put_bodies(db: &Db, packed: &Packed) -> Result<()> {
    for body in &packed.bodies {
        db.connection
            .prepare_cached(
                "INSERT INTO body (hash, refs, dictionary, raw, data) VALUES (?1, 1, -1, ?2, ?3) \
                 ON CONFLICT (hash) DO UPDATE SET refs = refs + 1",
            )
            .and_then(|mut insert| insert.execute(params![body.hash.as_slice(), body.raw as i64, body.data]))
            .map_err(failed)?;
    }
    Ok(())
}

/// Makes a session that shares the past of another.
pub(super) fn fork(db: &mut Db, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
    let session_row = db.must_find(session)?;
    if db.find(child)?.is_some() {
        return Err(taken(child));
    }
    let holder =
        db.segments(session_row.sid, session_row.last)?.into_iter().find(|part| part.after < at && at <= part.until);
    let row = holder.map(|part| Ok::<_, Error>((part.sid, db.row_with(part.sid, at)?))).transpose()?;
    let Some((holder, Some(row))) = row.filter(|(_, row)| row.as_ref().is_some_and(|row| row.last == at)) else {
        return Err(no_such_place(session, at));
    };
    let same = at == session_row.last;
    db.connection
        .prepare_cached(
            "INSERT INTO session (id, past, until, origin, last, indexed, turns, blocks, bytes, created, updated, title, status) \
             SELECT ?1, ?2, ?3, ?4, ?3, ?3, batch.turns, batch.blocks, batch.bytes, s.created, s.updated, s.title, \
             CASE WHEN ?5 THEN s.status END FROM session s, batch WHERE s.sid = ?6 AND batch.at = ?7",
        )
        .and_then(|mut insert| {
            insert.execute(params![child.as_str(), holder, signed(at.0), session.as_str(), same, session_row.sid, row.at])
        })
        .map_err(failed)?;
    let sid = db.connection.last_insert_rowid();
    db.connection
        .prepare_cached("INSERT INTO tag SELECT ?1, n, key, value FROM tag WHERE sid = ?2")
        .and_then(|mut insert| insert.execute([sid, session_row.sid]))
        .map_err(failed)?;
    keep_given(db, sid)
}

/// Keeps what a fork was given, as its listing says it now.
pub(super) fn keep_given(db: &Db, sid: i64) -> Result<()> {
    let given = "INSERT OR REPLACE INTO fork SELECT sid, past, until, origin, created, updated, title, status \
         FROM session WHERE sid = ?1 AND past IS NOT NULL AND origin IS NOT NULL";
    for statement in [given, "INSERT OR REPLACE INTO fork_tag SELECT * FROM tag WHERE sid = ?1"] {
        db.connection.prepare_cached(statement).and_then(|mut insert| insert.execute([sid])).map_err(failed)?;
    }
    Ok(())
}
