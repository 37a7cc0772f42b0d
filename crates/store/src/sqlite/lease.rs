//! Leases: claiming a session appends `run.started`, which fences off whoever ran it before.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};
use turnkeep_model::SessionId;

use super::append::{append, ready};
use super::chain::signed;
use super::desk::Desk;
use super::schema::failed;
use crate::claim::{held, millis, passed, started};
use crate::error::Result;
use crate::power::{Claim, Lease};

/// Sessions that wait for a worker: unfinished, and held by nobody.
const WAITING: &str = "SELECT id FROM session WHERE id IS NOT NULL \
     AND status IN ('pending', 'in_progress', 'waiting_for_tools') \
     AND (lease_until IS NULL OR lease_until <= ?1) ORDER BY updated, sid LIMIT 1";

pub(super) fn claim_next(desk: &mut Desk, claim: &Claim) -> Result<Option<Lease>> {
    let now = desk.clock.now();
    let mut select = desk.connection.prepare_cached(WAITING).map_err(failed)?;
    let found: Option<String> = select.query_row([now], |row| row.get(0)).optional().map_err(failed)?;
    drop(select);
    found.map(|id| grant(desk, &SessionId::new(id), claim, now)).transpose()
}

pub(super) fn claim(desk: &mut Desk, session: &SessionId, claim: &Claim) -> Result<Lease> {
    let now = desk.clock.now();
    let place = desk.must_find(session)?;
    let busy: bool = desk
        .connection
        .query_row("SELECT coalesce(lease_until > ?2, 0) FROM session WHERE sid = ?1", params![place.sid, now], |row| {
            row.get(0)
        })
        .map_err(failed)?;
    if busy {
        return Err(held(session));
    }
    grant(desk, session, claim, now)
}

fn grant(desk: &mut Desk, session: &SessionId, claim: &Claim, now: i64) -> Result<Lease> {
    let place = desk.must_find(session)?;
    let batch = started(place.last, claim, now);
    let ready = ready(session, place.last, &batch, usize::MAX, &desk.dictionaries)?;
    let token = append(desk, &ready)?;
    let until = now.saturating_add(millis(claim.time));
    desk.connection
        .prepare_cached("UPDATE session SET lease_token = ?2, lease_until = ?3, lease_worker = ?4 WHERE sid = ?1")
        .and_then(|mut update| update.execute(params![place.sid, signed(token.0), until, claim.worker]))
        .map_err(failed)?;
    Ok(Lease { session: session.clone(), token, worker: claim.worker.clone(), until })
}

pub(super) fn renew(desk: &Desk, lease: &Lease, time: Duration) -> Result<Lease> {
    let until = desk.clock.now().saturating_add(millis(time));
    let renewed = desk
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

pub(super) fn release(desk: &Desk, lease: &Lease) -> Result<()> {
    desk.connection
        .prepare_cached("UPDATE session SET lease_until = NULL WHERE id = ?1 AND lease_token = ?2")
        .and_then(|mut update| update.execute(params![lease.session.as_str(), signed(lease.token.0)]))
        .map(drop)
        .map_err(failed)
}
