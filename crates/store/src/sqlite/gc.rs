//! Retention, and giving space back.
//!
//! Sessions are deleted in groups, each a transaction: whoever appends waits for one group at most, and a full disk loses no
//! more than the group it hits.

use rusqlite::{Connection, params};
use turnkeep_model::{Seq, SessionId};

use super::db::{Db, transact};
use super::lineage::{signed, unsigned};
use super::remove::delete;
use super::schema::{failed, truncate_wal};
use crate::capability::{Freed, Retention};
use crate::error::Result;
use crate::retention::{Candidate, expired_of, unfinished};

/// How many sessions are deleted in one transaction: whoever appends waits for no more, and each one costs a sync.
const TOGETHER: usize = 50;

pub(super) fn gc(db: &mut Db, retention: &Retention) -> Result<Freed> {
    let before = size(&db.connection)?;
    let expired = expired(db, retention)?;
    if retention.rehearse {
        let sessions = expired.into_iter().map(|candidate| candidate.session).collect();
        return Ok(Freed { sessions, ..Freed::default() });
    }
    let counted = count(db)?;
    let (sessions, removed) = remove_all(db, &expired);
    let done = removed.and_then(|()| shrink(db));
    // Also where there was no room: what is left of the attempt in the log takes some. Where others read on, the file
    // becomes shorter when they are done.
    let emptied = truncate_wal(&mut db.connection);
    let bodies = done.and_then(|bodies| emptied.map(|_| bodies)).map_err(|error| unfinished(sessions.len(), error))?;
    let (left, after) = (count(db)?, size(&db.connection)?);
    Ok(Freed {
        sessions,
        batches: counted.0.saturating_sub(left.0),
        bodies: counted.1.saturating_sub(left.1) + bodies,
        bytes: before.saturating_sub(after),
    })
}

/// Deletes sessions, and gives those that are gone; also where it could not go on.
fn remove_all(db: &mut Db, expired: &[Candidate]) -> (Vec<SessionId>, Result<()>) {
    let mut sessions = Vec::new();
    for candidates in expired.chunks(TOGETHER) {
        match transact(db, |db| expire_all(db, candidates)) {
            Ok(gone) => sessions.extend(gone),
            Err(error) => return (sessions, Err(error)),
        }
    }
    (sessions, Ok(()))
}

/// Deletes these sessions; tells which.
fn expire_all(db: &mut Db, candidates: &[Candidate]) -> Result<Vec<SessionId>> {
    let mut sessions = Vec::new();
    for candidate in candidates {
        if expire(db, candidate)? {
            sessions.push(candidate.session.clone());
        }
    }
    Ok(sessions)
}

/// Removes what nothing reaches, and makes the file smaller.
fn shrink(db: &mut Db) -> Result<u64> {
    let bodies = transact(db, sweep)?;
    db.connection.execute_batch("VACUUM").map_err(failed)?;
    Ok(bodies)
}

/// Deletes a session, unless it was changed, claimed or deleted meanwhile; tells whether it did.
fn expire(db: &mut Db, candidate: &Candidate) -> Result<bool> {
    let same = "SELECT 1 FROM session WHERE id = ?1 AND last = ?2 AND coalesce(lease_until, 0) <= ?3";
    let values = params![candidate.session.as_str(), signed(candidate.last.0), db.clock.now()];
    let found = db.connection.prepare_cached(same).and_then(|mut select| select.exists(values)).map_err(failed)?;
    if found {
        delete(db, &candidate.session)?;
    }
    Ok(found)
}

/// The sessions that are no longer kept. Those that someone holds stay.
fn expired(db: &Db, retention: &Retention) -> Result<Vec<Candidate>> {
    let now = db.clock.now();
    let mut select = db
        .connection
        .prepare_cached(
            "SELECT id, updated, bytes, coalesce(lease_until > ?1, 0), last FROM session WHERE id IS NOT NULL \
             ORDER BY updated DESC, id",
        )
        .map_err(failed)?;
    let rows = select.query_map(params![now], |row| {
        let (id, updated, bytes): (String, _, _) = (row.get(0)?, row.get(1)?, unsigned(row, 2)?);
        let last = Seq(unsigned(row, 4)?);
        Ok(Candidate { session: SessionId::new(id), last, updated, bytes, held: row.get(3)? })
    });
    let candidates: Vec<Candidate> = rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)?;
    Ok(expired_of(candidates, retention, now))
}

/// Removes bodies that no batch speaks of; there are none unless something went wrong before.
fn sweep(db: &mut Db) -> Result<u64> {
    let removed = db.connection.execute("DELETE FROM body WHERE refs <= 0", []).map_err(failed)?;
    db.connection.execute("DELETE FROM head WHERE sid NOT IN (SELECT sid FROM session)", []).map_err(failed)?;
    Ok(removed as u64)
}

fn count(db: &Db) -> Result<(u64, u64)> {
    db.connection
        .query_row("SELECT (SELECT count(*) FROM batch), (SELECT count(*) FROM body)", [], |row| {
            Ok((unsigned(row, 0)?, unsigned(row, 1)?))
        })
        .map_err(failed)
}

/// How many bytes the database has.
pub(super) fn size(connection: &Connection) -> Result<u64> {
    connection
        .query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| unsigned(row, 0))
        .map_err(failed)
}
