//! Retention, and giving space back.

use deadpool_postgres::Client;
use turnkeep_model::{Seq, SessionId};

use super::account::{TABLES, size};
use super::base::Base;
use super::fault::failed;
use super::remove::expire;
use super::sql::{execute, get, query, query_one, unsigned};
use crate::capability::{Freed, Retention};
use crate::error::{ErrorKind, Result};
use crate::retention::{Candidate, expired_of, unfinished};

pub(super) async fn gc(base: &Base, retention: &Retention) -> Result<Freed> {
    let client = base.awaited().await?;
    let expired = expired(&client, base, retention).await?;
    if retention.rehearse {
        let sessions = expired.into_iter().map(|candidate| candidate.session).collect();
        return Ok(Freed { sessions, ..Freed::default() });
    }
    let (before, counted) = (size(&client).await?, count(&client).await?);
    let mut sessions = Vec::new();
    let removed = remove_all(base, &client, expired, &mut sessions).await;
    removed.map_err(|error| unfinished(sessions.len(), error))?;
    let (after, left) = (size(&client).await?, count(&client).await?);
    Ok(Freed {
        sessions,
        batches: counted.0.saturating_sub(left.0),
        bodies: counted.1.saturating_sub(left.1),
        bytes: before.saturating_sub(after),
    })
}

/// Deletes sessions, tells which are gone, and lets their space be used again.
async fn remove_all(
    base: &Base,
    client: &Client,
    expired: Vec<Candidate>,
    sessions: &mut Vec<SessionId>,
) -> Result<()> {
    for candidate in expired {
        match expire(base, &candidate).await {
            // Someone changed, claimed or deleted it meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => {
                done?;
                sessions.push(candidate.session);
            }
        }
    }
    execute(client, "DELETE FROM body WHERE refs <= 0", &[]).await?;
    client.batch_execute(&format!("VACUUM {}", TABLES.join(", "))).await.map_err(failed)
}

/// The sessions that are no longer kept.
async fn expired(client: &Client, base: &Base, retention: &Retention) -> Result<Vec<Candidate>> {
    let now = base.options.clock.now();
    let text = "SELECT id, updated, bytes, coalesce(lease_until > $1, false), last FROM session WHERE id IS NOT NULL \
         ORDER BY updated DESC, id";
    let mut candidates = Vec::new();
    for row in query(client, text, &[&now]).await? {
        let session = SessionId::new(get::<String>(&row, 0)?);
        let (updated, bytes, held, last) = (get(&row, 1)?, unsigned(&row, 2)?, get(&row, 3)?, Seq(unsigned(&row, 4)?));
        candidates.push(Candidate { session, last, updated, bytes, held });
    }
    Ok(expired_of(candidates, retention, now))
}

async fn count(client: &Client) -> Result<(u64, u64)> {
    let row = query_one(client, "SELECT (SELECT count(*) FROM batch), (SELECT count(*) FROM body)", &[]).await?;
    Ok((unsigned(&row, 0)?, unsigned(&row, 1)?))
}
