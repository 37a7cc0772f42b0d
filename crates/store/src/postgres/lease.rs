//! Leases: claiming a session appends `run.started`, which fences off whoever ran it before.
//!
//! Workers run on many machines, so the time is that of the database, unless the store was given a clock of its own.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use turnkeep_model::{Seq, SessionId};

use super::append::put;
use super::base::{Base, random};
use super::fault::failed;
use super::heads;
use super::list::Conditions;
use super::nul::hide;
use super::sql::{execute, get, query_opt, signed, unsigned};
use crate::capability::{Claim, Lease};
use crate::claim::{held, millis, passed, started};
use crate::error::{Error, Result};
use crate::packed::prepared::prepare;

/// The time of the database, or the one that is given.
macro_rules! now {
    ($given:literal) => {
        concat!("coalesce(", $given, "::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)")
    };
}

/// The session that has waited longest: unfinished, and held by nobody. One that another worker is just claiming is
/// passed over.
const WAITING: &str = concat!(
    "SELECT id, sid, last, ",
    now!("$1"),
    " FROM session WHERE id IS NOT NULL AND status IN ('pending', 'in_progress', 'waiting_for_tools') \
     AND (lease_until IS NULL OR lease_until <= ",
    now!("$1"),
    ")"
);

pub(super) async fn claim_next(base: &Arc<Base>, claim: &Claim) -> Result<Option<Lease>> {
    let mut client = base.awaited().await?;
    let transaction = client.transaction().await.map_err(failed)?;
    let carrying = Conditions::of_tags(Box::new(base.options.clock.own()), &claim.tags);
    let text = format!("{WAITING}{} ORDER BY hour, updated, sid LIMIT 1 FOR UPDATE SKIP LOCKED", carrying.text);
    let Some(row) = query_opt(&transaction, &text, &carrying.values()).await? else {
        return Ok(None);
    };
    let session = SessionId::new(get::<String>(&row, 0)?);
    grant(base, transaction, session, &row, claim).await.map(Some)
}

pub(super) async fn claim(base: &Arc<Base>, session: &SessionId, claim: &Claim) -> Result<Lease> {
    let mut client = base.awaited().await?;
    let transaction = client.transaction().await.map_err(failed)?;
    let text = concat!(
        "SELECT id, sid, last, ",
        now!("$2"),
        ", coalesce(lease_until > ",
        now!("$2"),
        ", false) FROM session WHERE id = $1 FOR UPDATE"
    );
    let row = query_opt(&transaction, text, &[&session.as_str(), &base.options.clock.own()]).await?;
    let row = row.ok_or_else(|| Error::unknown(session))?;
    if get(&row, 4)? {
        return Err(held(session));
    }
    grant(base, transaction, session.clone(), &row, claim).await
}

/// Grants the lease of a row that is locked.
async fn grant(
    base: &Arc<Base>,
    transaction: Transaction<'_>,
    session: SessionId,
    row: &Row,
    claim: &Claim,
) -> Result<Lease> {
    let (sid, last, now): (i64, _, i64) = (get(row, 1)?, Seq(unsigned(row, 2)?), get(row, 3)?);
    let prepared = prepare(&session, last, &started(last, claim, now), usize::MAX, &base.dictionaries)?;
    let landed = put(&transaction, base, &prepared, random()).await?.ok_or_else(|| held(&session))?;
    let until = now.saturating_add(millis(claim.time));
    let token = prepared.effects.last;
    let text = "UPDATE session SET lease_token = $2, lease_until = $3, lease_worker = $4 WHERE sid = $1";
    execute(&transaction, text, &[&sid, &signed(token.0), &until, &hide(&claim.worker)]).await?;
    transaction.commit().await.map_err(failed)?;
    heads::note(base, landed, &prepared);
    base.stirred.notify_one();
    base.announcer.changed(&session, Some(token));
    Ok(Lease { session, token, worker: claim.worker.clone(), until })
}

pub(super) async fn renew(base: &Base, lease: &Lease, time: Duration) -> Result<Lease> {
    let text = concat!(
        "UPDATE session SET lease_until = ",
        now!("$3"),
        " + $4 WHERE id = $1 AND lease_token = $2 AND lease_until IS NOT NULL RETURNING lease_until"
    );
    let (id, token, own) = (lease.session.as_str(), signed(lease.token.0), base.options.clock.own());
    let row = query_opt(&base.client().await?, text, &[&id, &token, &own, &millis(time)]).await?;
    let row = row.ok_or_else(|| passed(&lease.session))?;
    Ok(Lease { until: get(&row, 0)?, ..lease.clone() })
}

pub(super) async fn release(base: &Base, lease: &Lease) -> Result<()> {
    let text = "UPDATE session SET lease_until = NULL WHERE id = $1 AND lease_token = $2";
    let token = signed(lease.token.0);
    execute(&base.client().await?, text, &[&lease.session.as_str(), &token]).await.map(drop)
}
