//! Retention, and giving space back.

use deadpool_postgres::Client;
use turnkeep_model::SessionId;

use super::account::{TABLES, size};
use super::base::Base;
use super::fault::failed;
use super::remove::delete;
use super::sql::{execute, get, query, query_one, unsigned};
use crate::error::{ErrorKind, Result};
use crate::power::{Freed, Retention};
use crate::retention::{Candidate, expired_of};

pub(super) async fn gc(base: &Base, retention: &Retention) -> Result<Freed> {
    let client = base.awaited().await?;
    let sessions = expired(&client, base, retention).await?;
    if retention.rehearse {
        return Ok(Freed { sessions, ..Freed::default() });
    }
    let (before, counted) = (size(&client).await?, count(&client).await?);
    for session in &sessions {
        match delete(base, session).await {
            // Someone else was faster.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => drop(done?),
        }
    }
    execute(&client, "DELETE FROM body WHERE refs <= 0", &[]).await?;
    client.batch_execute(&format!("VACUUM {}", TABLES.join(", "))).await.map_err(failed)?;
    let (after, left) = (size(&client).await?, count(&client).await?);
    Ok(Freed {
        sessions,
        batches: counted.0.saturating_sub(left.0),
        bodies: counted.1.saturating_sub(left.1),
        bytes: before.saturating_sub(after),
    })
}

/// The sessions that are no longer kept.
async fn expired(client: &Client, base: &Base, retention: &Retention) -> Result<Vec<SessionId>> {
    let now = base.options.clock.now();
    let text = "SELECT id, updated, bytes, coalesce(lease_until > $1, false) FROM session WHERE id IS NOT NULL \
         ORDER BY updated DESC, id";
    let mut candidates = Vec::new();
    for row in query(client, text, &[&now]).await? {
        let session = SessionId::new(get::<String>(&row, 0)?);
        candidates.push(Candidate { session, updated: get(&row, 1)?, bytes: unsigned(&row, 2)?, held: get(&row, 3)? });
    }
    Ok(expired_of(candidates, retention, now))
}

async fn count(client: &Client) -> Result<(u64, u64)> {
    let row = query_one(client, "SELECT (SELECT count(*) FROM batch), (SELECT count(*) FROM body)", &[]).await?;
    Ok((unsigned(&row, 0)?, unsigned(&row, 1)?))
}
