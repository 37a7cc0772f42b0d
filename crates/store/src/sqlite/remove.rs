//! Deleting: the rows that nothing else reaches go with the session.

use rusqlite::{OptionalExtension, params};
use turnkeep_model::{Seq, SessionId};

use super::chain::{key_up_to, signed, unsigned};
use super::desk::Desk;
use super::schema::failed;
use crate::error::Result;
use crate::store::Deleted;

/// Deletes a session; what forks share with it stays until the last of them goes.
pub(super) fn delete(desk: &mut Desk, session: &SessionId) -> Result<Deleted> {
    let place = desk.must_find(session)?;
    let shared = shared_until(desk, place.sid)?;
    match shared {
        Some(until) => bury(desk, place.sid, until)?,
        None => remove(desk, place.sid)?,
    }
    Ok(Deleted { shared: shared.unwrap_or_default() })
}

/// Up to where forks share the rows of this session, if any do.
pub(super) fn shared_until(desk: &Desk, sid: i64) -> Result<Option<Seq>> {
    let mut select =
        desk.connection.prepare_cached("SELECT max(until) FROM session WHERE past = ?1").map_err(failed)?;
    let until: Option<i64> = select.query_row([sid], |row| row.get(0)).map_err(failed)?;
    Ok(until.map(|until| Seq(until.unsigned_abs())))
}

/// Takes the name off a session and removes what no fork shares.
fn bury(desk: &mut Desk, sid: i64, until: Seq) -> Result<()> {
    remove_batches(desk, sid, until)?;
    forget(desk, sid)?;
    // Where its own past ends still matters to its forks.
    desk.connection.execute("UPDATE fork SET title = NULL, status = NULL WHERE sid = ?1", [sid]).map_err(failed)?;
    desk.connection
        .execute(
            "UPDATE session SET id = NULL, last = ?2, indexed = min(indexed, ?2), title = NULL, status = NULL, \
             lease_token = NULL, lease_until = NULL, lease_worker = NULL WHERE sid = ?1",
            params![sid, signed(until.0)],
        )
        .map(drop)
        .map_err(failed)
}

/// Removes a session row, and those buried before whose past only it shared.
fn remove(desk: &mut Desk, sid: i64) -> Result<()> {
    let mut next = Some(sid);
    while let Some(sid) = next {
        let past: Option<i64> = desk
            .connection
            .prepare_cached("SELECT past FROM session WHERE sid = ?1")
            .and_then(|mut select| select.query_row([sid], |row| row.get(0)))
            .map_err(failed)?;
        remove_batches(desk, sid, Seq::START)?;
        forget(desk, sid)?;
        desk.connection.execute("DELETE FROM session WHERE sid = ?1", [sid]).map_err(failed)?;
        for table in ["unindexed", "fork"] {
            desk.connection.execute(&format!("DELETE FROM {table} WHERE sid = ?1"), [sid]).map_err(failed)?;
        }
        next = match past {
            Some(past) => orphan(desk, past)?,
            None => None,
        };
    }
    Ok(())
}

/// Whether a past has neither a name nor forks any more. One with forks is cut to what they share.
fn orphan(desk: &mut Desk, sid: i64) -> Result<Option<i64>> {
    let mut buried =
        desk.connection.prepare_cached("SELECT last FROM session WHERE sid = ?1 AND id IS NULL").map_err(failed)?;
    let last = buried.query_row([sid], |row| row.get::<_, i64>(0)).optional().map_err(failed)?;
    drop(buried);
    let Some(last) = last else {
        return Ok(None);
    };
    if is_shared_up_to(desk, sid, last)? {
        return Ok(None);
    }
    match shared_until(desk, sid)? {
        Some(until) => bury(desk, sid, until).map(|()| None),
        None => Ok(Some(sid)),
    }
}

/// Whether a fork shares the rows of this session up to `last`. A session may have thousands of forks, and the newest is
/// most likely to share most: the others are not looked at.
fn is_shared_up_to(desk: &Desk, sid: i64, last: i64) -> Result<bool> {
    let text = "SELECT 1 FROM session WHERE past = ?1 AND until >= ?2 ORDER BY sid DESC LIMIT 1";
    desk.connection.prepare_cached(text).and_then(|mut select| select.exists([sid, last])).map_err(failed)
}

/// Removes what was derived from a session row.
fn forget(desk: &mut Desk, sid: i64) -> Result<()> {
    desk.heads.remove(&sid);
    for table in ["head", "tag", "fork_tag"] {
        desk.connection.execute(&format!("DELETE FROM {table} WHERE sid = ?1"), [sid]).map_err(failed)?;
    }
    Ok(())
}

/// Removes the batches after `until`, the bodies that only they used, and their words. Tells how many there were.
pub(super) fn remove_batches(desk: &mut Desk, sid: i64, until: Seq) -> Result<u64> {
    let (from, to) = (key_up_to(sid, until.next()), key_up_to(sid, Seq(u64::MAX)));
    let range = params![from, to];
    let mut select = desk
        .connection
        .prepare_cached("SELECT bodies FROM batch WHERE at BETWEEN ?1 AND ?2 AND bodies IS NOT NULL")
        .map_err(failed)?;
    let bodies = select.query_map(range, |row| row.get::<_, Vec<u8>>(0)).map_err(failed)?;
    let bodies: Vec<Vec<u8>> = bodies.collect::<rusqlite::Result<_>>().map_err(failed)?;
    drop(select);
    for hashes in bodies {
        drop_bodies(desk, &hashes)?;
    }
    let indexed = desk
        .connection
        .query_row("SELECT indexed FROM session WHERE sid = ?1", [sid], |row| unsigned(row, 0))
        .map_err(failed)?;
    if indexed > until.0 {
        desk.connection.execute("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2", range).map_err(failed)?;
    }
    let removed = desk.connection.execute("DELETE FROM batch WHERE at BETWEEN ?1 AND ?2", range).map_err(failed)?;
    Ok(removed as u64)
}

/// Counts one use less of each of these bodies; those without any go.
pub(super) fn drop_bodies(desk: &Desk, hashes: &[u8]) -> Result<()> {
    for hash in hashes.chunks(32) {
        desk.connection
            .prepare_cached("UPDATE body SET refs = refs - 1 WHERE hash = ?1")
            .and_then(|mut update| update.execute([hash]))
            .map_err(failed)?;
        desk.connection
            .prepare_cached("DELETE FROM body WHERE hash = ?1 AND refs <= 0")
            .and_then(|mut delete| delete.execute([hash]))
            .map_err(failed)?;
    }
    Ok(())
}
