//! Leases: claiming a session appends `run.started`, which fences off whoever ran it before.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};
use turnkeep_model::event::RunStarted;
use turnkeep_model::{Batch, Event, Run, Seq, SessionId, Time, Timing};

use super::append::{append, ready};
use super::chain::signed;
use super::desk::Desk;
use super::schema::failed;
use crate::error::{Error, ErrorKind, Result};
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
    let held: bool = desk
        .connection
        .query_row("SELECT coalesce(lease_until > ?2, 0) FROM session WHERE sid = ?1", params![place.sid, now], |row| {
            row.get(0)
        })
        .map_err(failed)?;
    if held {
        let what = "another worker holds the session";
        return Err(Error::new(ErrorKind::Conflict, what).session(session).hint("wait until it lets go"));
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

fn started(last: Seq, claim: &Claim, now: i64) -> Batch {
    let time = jiff::Timestamp::from_millisecond(now).ok().map(Time::from_instant);
    let timing = Timing { started: time.clone(), ..Timing::default() };
    let run = Run { id: Some(claim.run.clone()), timing, ..Run::default() };
    let mut batch = Batch::new(last.next(), vec![Event::from(RunStarted { run }).into()]);
    batch.time = time;
    batch.run = Some(claim.run.clone());
    batch
}

pub(super) fn renew(desk: &Desk, lease: &Lease, time: Duration) -> Result<Lease> {
    let until = desk.clock.now().saturating_add(millis(time));
    let renewed = desk
        .connection
        .prepare_cached("UPDATE session SET lease_until = ?3 WHERE id = ?1 AND lease_token = ?2")
        .and_then(|mut update| update.execute(params![lease.session.as_str(), signed(lease.token.0), until]))
        .map_err(failed)?;
    if renewed == 0 {
        let what = "the lease has passed to another worker";
        return Err(Error::new(ErrorKind::Conflict, what).session(&lease.session).hint("stop, and claim again"));
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

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
