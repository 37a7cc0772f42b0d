//! Deleting: the rows that nothing else reaches go with the session.
//!
//! The row of a session whose records forks share stays, without its id, and is cut to what they share. When the last of them
//! goes, it goes too, and so do its ancestors that only it kept.

use rusqlite::{OptionalExtension, params};
use turnkeep_model::{Seq, SessionId};

use super::db::Db;
use super::lineage::{key_up_to, signed, unsigned};
use super::schema::failed;
use crate::error::Result;
use crate::store::Deleted;

/// Deletes a session; what forks share with it stays until the last of them goes.
pub(super) fn delete(db: &mut Db, session: &SessionId) -> Result<Deleted> {
    let session_row = db.must_find(session)?;
    let shared = shared_until(db, session_row.sid)?;
    match shared {
        Some(until) => cut_to_shared(db, session_row.sid, until)?,
        None => remove(db, session_row.sid)?,
    }
    Ok(Deleted { shared: shared.unwrap_or_default() })
}

/// Up to where forks share the rows of this session, if any do.
pub(super) fn shared_until(db: &Db, sid: i64) -> Result<Option<Seq>> {
    let mut select = db.connection.prepare_cached("SELECT max(until) FROM session WHERE past = ?1").map_err(failed)?;
    let until: Option<i64> = select.query_row([sid], |row| row.get(0)).map_err(failed)?;
    Ok(until.map(|until| Seq(until.unsigned_abs())))
}

/// Takes the name off a session and removes what no fork shares.
fn cut_to_shared(db: &mut Db, sid: i64, until: Seq) -> Result<()> {
    remove_batches(db, sid, until)?;
    forget(db, sid)?;
    // Where its own past ends still matters to its forks.
    db.connection.execute("UPDATE fork SET title = NULL, status = NULL WHERE sid = ?1", [sid]).map_err(failed)?;
    db.connection
        .execute(
            "UPDATE session SET id = NULL, last = ?2, indexed = min(indexed, ?2), title = NULL, status = NULL, \
             lease_token = NULL, lease_until = NULL, lease_worker = NULL WHERE sid = ?1",
            params![sid, signed(until.0)],
        )
        .map(drop)
        .map_err(failed)
}

/// Removes a session row, and those deleted before whose past only it shared.
fn remove(db: &mut Db, sid: i64) -> Result<()> {
    let mut next = Some(sid);
    while let Some(sid) = next {
        let past: Option<i64> = db
            .connection
            .prepare_cached("SELECT past FROM session WHERE sid = ?1")
            .and_then(|mut select| select.query_row([sid], |row| row.get(0)))
            .map_err(failed)?;
        remove_batches(db, sid, Seq::START)?;
        forget(db, sid)?;
        db.connection.execute("DELETE FROM session WHERE sid = ?1", [sid]).map_err(failed)?;
        for table in ["unindexed", "fork"] {
            db.connection.execute(&format!("DELETE FROM {table} WHERE sid = ?1"), [sid]).map_err(failed)?;
        }
        next = match past {
            Some(past) => unshared_past(db, past)?,
            None => None,
        };
    }
    Ok(())
}

/// Whether a past has neither a name nor forks any more. One with forks is cut to what they share.
fn unshared_past(db: &mut Db, sid: i64) -> Result<Option<i64>> {
    let mut deleted =
        db.connection.prepare_cached("SELECT last FROM session WHERE sid = ?1 AND id IS NULL").map_err(failed)?;
    let last = deleted.query_row([sid], |row| row.get::<_, i64>(0)).optional().map_err(failed)?;
    drop(deleted);
    let Some(last) = last else {
        return Ok(None);
    };
    if is_shared_up_to(db, sid, last)? {
        return Ok(None);
    }
    match shared_until(db, sid)? {
        Some(until) => cut_to_shared(db, sid, until).map(|()| None),
        None => Ok(Some(sid)),
    }
}

/// Whether a fork shares the rows of this session up to `last`. A session may have thousands of forks, and the newest is
/// most likely to share most: the others are not looked at.
fn is_shared_up_to(db: &Db, sid: i64, last: i64) -> Result<bool> {
    let text = "SELECT 1 FROM session WHERE past = ?1 AND until >= ?2 ORDER BY sid DESC LIMIT 1";
    db.connection.prepare_cached(text).and_then(|mut select| select.exists([sid, last])).map_err(failed)
}

/// Removes what was derived from a session row.
fn forget(db: &mut Db, sid: i64) -> Result<()> {
    db.heads.remove(&sid);
    for table in ["head", "tag", "fork_tag"] {
        db.connection.execute(&format!("DELETE FROM {table} WHERE sid = ?1"), [sid]).map_err(failed)?;
    }
    Ok(())
}

/// Removes the batches after `until`, the bodies that only they used, and their words. Tells how many there were.
pub(super) fn remove_batches(db: &mut Db, sid: i64, until: Seq) -> Result<u64> {
    let (from, to) = (key_up_to(sid, until.next()), key_up_to(sid, Seq(u64::MAX)));
    let range = params![from, to];
    let mut select = db
        .connection
        .prepare_cached("SELECT bodies FROM batch WHERE at BETWEEN ?1 AND ?2 AND bodies IS NOT NULL")
        .map_err(failed)?;
    let bodies = select.query_map(range, |row| row.get::<_, Vec<u8>>(0)).map_err(failed)?;
    let bodies: Vec<Vec<u8>> = bodies.collect::<rusqlite::Result<_>>().map_err(failed)?;
    drop(select);
    for hashes in bodies {
        drop_bodies(db, &hashes)?;
    }
    let indexed = db
        .connection
        .query_row("SELECT indexed FROM session WHERE sid = ?1", [sid], |row| unsigned(row, 0))
        .map_err(failed)?;
    if indexed > until.0 {
        db.connection.execute("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2", range).map_err(failed)?;
    }
    let removed = db.connection.execute("DELETE FROM batch WHERE at BETWEEN ?1 AND ?2", range).map_err(failed)?;
    Ok(removed as u64)
}

/// Counts one use less of each of these bodies; those without any go.
pub(super) fn drop_bodies(db: &Db, hashes: &[u8]) -> Result<()> {
    for hash in hashes.chunks(32) {
        db.connection
            .prepare_cached("UPDATE body SET refs = refs - 1 WHERE hash = ?1")
            .and_then(|mut update| update.execute([hash]))
            .map_err(failed)?;
        db.connection
            .prepare_cached("DELETE FROM body WHERE hash = ?1 AND refs <= 0")
            .and_then(|mut delete| delete.execute([hash]))
            .map_err(failed)?;
    }
    Ok(())
}
