//! Leases: claiming a session appends `run.started`, which fences off whoever ran it before.

use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params, params_from_iter};
use turnkeep_model::SessionId;

use super::append::{append, prepare};
use super::db::Db;
use super::lineage::signed;
use super::list::carries;
use super::schema::failed;
use crate::capability::{Claim, Lease};
use crate::claim::{held, millis, passed, started};
use crate::error::Result;

/// Sessions that wait for a worker: unfinished, and held by nobody.
const WAITING: &str = "SELECT id FROM session s WHERE id IS NOT NULL \
     AND status IN ('pending', 'in_progress', 'waiting_for_tools') \
     AND (lease_until IS NULL OR lease_until <= ?)";

pub(super) fn claim_next(db: &mut Db, claim: &Claim) -> Result<Option<Lease>> {
    let now = db.clock.now();
    let (mut text, mut values) = (WAITING.to_owned(), vec![Value::from(now)]);
    for (key, value) in &claim.tags {
        let (condition, words) = carries(key, value.as_deref());
        text.push_str(" AND ");
        text.push_str(condition);
        values.extend(words);
    }
    text.push_str(" ORDER BY updated, sid LIMIT 1");
    let mut select = db.connection.prepare_cached(&text).map_err(failed)?;
    let found = select.query_row(params_from_iter(values), |row| row.get::<_, String>(0));
    let found = found.optional().map_err(failed)?;
    drop(select);
    found.map(|id| grant(db, &SessionId::new(id), claim, now)).transpose()
}

pub(super) fn claim(db: &mut Db, session: &SessionId, claim: &Claim) -> Result<Lease> {
    let now = db.clock.now();
    let session_row = db.must_find(session)?;
    let busy: bool = db
        .connection
        .query_row(
            "SELECT coalesce(lease_until > ?2, 0) FROM session WHERE sid = ?1",
            params![session_row.sid, now],
            |row| row.get(0),
        )
        .map_err(failed)?;
    if busy {
        return Err(held(session));
    }
    grant(db, session, claim, now)
}

fn grant(db: &mut Db, session: &SessionId, claim: &Claim, now: i64) -> Result<Lease> {
    let session_row = db.must_find(session)?;
    let batch = started(session_row.last, claim, now);
    let prepared = prepare(session, session_row.last, &batch, usize::MAX, &db.dictionaries)?;
    let token = append(db, &prepared)?;
    let until = now.saturating_add(millis(claim.time));
    db.connection
        .prepare_cached("UPDATE session SET lease_token = ?2, lease_until = ?3, lease_worker = ?4 WHERE sid = ?1")
        .and_then(|mut update| update.execute(params![session_row.sid, signed(token.0), until, claim.worker]))
        .map_err(failed)?;
    Ok(Lease { session: session.clone(), token, worker: claim.worker.clone(), until })
}

pub(super) fn renew(db: &Db, lease: &Lease, time: Duration) -> Result<Lease> {
    let until = db.clock.now().saturating_add(millis(time));
    let renewed = db
        .connection
        .prepare_cached(
            "UPDATE session SET lease_until = ?3 WHERE id = ?1 AND lease_token = ?2 AND lease_until IS NOT NULL",
        )
        .and_then(|mut update| update.execute(params![lease.session.as_str(), signed(lease.token.0), until]))
        .map_err(failed)?;
    if renewed == 0 {
        return Err(passed(&lease.session));
    }
    Ok(Lease { until, ..lease.clone() })
}

pub(super) fn release(db: &Db, lease: &Lease) -> Result<()> {
    db.connection
        .prepare_cached("UPDATE session SET lease_until = NULL WHERE id = ?1 AND lease_token = ?2")
        .and_then(|mut update| update.execute(params![lease.session.as_str(), signed(lease.token.0)]))
        .map(drop)
        .map_err(failed)
}
