//! Deleting: the rows that nothing else reaches go with the session.
//!
//! The row of a session whose records forks share stays, without its id, and is cut to what they share. When the last of them
//! goes, it goes too, and so do its ancestors that only it kept.

use deadpool_postgres::Transaction;
use tokio_postgres::types::ToSql;
use turnkeep_model::{Seq, SessionId};

use super::base::Base;
use super::fault::failed;
use super::schema::alone;
use super::sql::{execute, get, query, query_one, query_opt, signed};
use crate::error::{Error, Result};
use crate::retention::Candidate;
use crate::store::Deleted;
use crate::thread_pool::lock;

/// Deletes a session; what forks share with it stays until the last of them goes.
pub(super) async fn delete(base: &Base, session: &SessionId) -> Result<Deleted> {
    let text = "SELECT sid FROM session WHERE id = $1 FOR UPDATE";
    delete_found(base, session, text, &[&session.as_str()]).await
}

/// Deletes a session that is no longer kept. `NotFound` where it was changed, claimed or deleted meanwhile.
pub(super) async fn expire(base: &Base, candidate: &Candidate) -> Result<Deleted> {
    let text = "SELECT sid FROM session WHERE id = $1 AND last = $2 AND coalesce(lease_until, 0) <= $3 FOR UPDATE";
    let (last, now) = (signed(candidate.last.0), base.options.clock.now());
    delete_found(base, &candidate.session, text, &[&candidate.session.as_str(), &last, &now]).await
}

async fn delete_found(base: &Base, session: &SessionId, text: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Deleted> {
    let mut client = base.awaited().await?;
    let transaction = client.transaction().await.map_err(failed)?;
    alone(&transaction).await?;
    let row = query_opt(&transaction, text, values).await?.ok_or_else(|| Error::unknown(session))?;
    let sid = get(&row, 0)?;
    let shared = shared_until(&transaction, sid).await?;
    match shared {
        Some(until) => cut_to_shared(&transaction, sid, until).await?,
        None => remove(&transaction, sid).await?,
    }
    transaction.commit().await.map_err(failed)?;
    lock(&base.heads).remove(&sid);
    base.announcer.changed(session, None);
    Ok(Deleted { shared: shared.unwrap_or_default() })
}

/// Up to where forks share the rows of this session, if any do. Its row must be locked.
async fn shared_until(transaction: &Transaction<'_>, sid: i64) -> Result<Option<Seq>> {
    let row = query_one(transaction, "SELECT max(until) FROM session WHERE past = $1", &[&sid]).await?;
    Ok(get::<Option<i64>>(&row, 0)?.map(|until| Seq(until.unsigned_abs())))
}

/// Takes the name off a session and removes what no fork shares.
async fn cut_to_shared(transaction: &Transaction<'_>, sid: i64, until: Seq) -> Result<()> {
    remove_batches(transaction, sid, until).await?;
    execute(transaction, "DELETE FROM head WHERE sid = $1", &[&sid]).await?;
    // Where its own past ends still matters to its forks.
    let given = "UPDATE fork SET title = NULL, status = NULL, tag_keys = '{}', tag_values = '{}' WHERE sid = $1";
    execute(transaction, given, &[&sid]).await?;
    let text = "UPDATE session SET id = NULL, last = $2, indexed = least(indexed, $2), title = NULL, status = NULL, \
         tag_keys = '{}', tag_values = '{}', lease_token = NULL, lease_until = NULL, lease_worker = NULL, \
         epoch = epoch + 1 WHERE sid = $1";
    execute(transaction, text, &[&sid, &signed(until.0)]).await.map(drop)
}

/// Removes a session row, and those deleted before whose past only it shared.
async fn remove(transaction: &Transaction<'_>, sid: i64) -> Result<()> {
    let mut next = Some(sid);
    while let Some(sid) = next {
        remove_batches(transaction, sid, Seq::START).await?;
        let row = query_one(transaction, "DELETE FROM session WHERE sid = $1 RETURNING past", &[&sid]).await?;
        next = match get(&row, 0)? {
            Some(past) => unshared_past(transaction, past).await?,
            None => None,
        };
    }
    Ok(())
}

/// Whether a past has neither a name nor forks any more. One with forks is cut to what they share.
async fn unshared_past(transaction: &Transaction<'_>, sid: i64) -> Result<Option<i64>> {
    let deleted = "SELECT 1 FROM session WHERE sid = $1 AND id IS NULL FOR UPDATE";
    if query_opt(transaction, deleted, &[&sid]).await?.is_none() {
        return Ok(None);
    }
    match shared_until(transaction, sid).await? {
        Some(until) => cut_to_shared(transaction, sid, until).await.map(|()| None),
        None => Ok(Some(sid)),
    }
}

/// Removes the batches after `until`, the bodies that only they used, and their words.
pub(super) async fn remove_batches(transaction: &Transaction<'_>, sid: i64, until: Seq) -> Result<()> {
    let until = signed(until.0);
    let text = "SELECT unnest(bodies) FROM batch WHERE sid = $1 AND first > $2 AND bodies IS NOT NULL";
    let rows = query(transaction, text, &[&sid, &until]).await?;
    let hashes: Vec<Vec<u8>> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    drop_bodies(transaction, &hashes).await?;
    execute(transaction, "DELETE FROM words WHERE sid = $1 AND seq > $2", &[&sid, &until]).await?;
    execute(transaction, "DELETE FROM batch WHERE sid = $1 AND first > $2", &[&sid, &until]).await.map(drop)
}

/// Counts one use less of each of these bodies; those without any go.
pub(super) async fn drop_bodies(transaction: &Transaction<'_>, hashes: &[Vec<u8>]) -> Result<()> {
    if hashes.is_empty() {
        return Ok(());
    }
    // In the order in which appenders take them.
    execute(transaction, "SELECT 1 FROM body WHERE hash = ANY($1) ORDER BY hash FOR UPDATE", &[&hashes]).await?;
    let fewer = "UPDATE body SET refs = refs - u.n FROM (SELECT h, count(*) AS n FROM unnest($1::bytea[]) AS t (h) \
         GROUP BY h) AS u WHERE hash = u.h";
    execute(transaction, fewer, &[&hashes]).await?;
    execute(transaction, "DELETE FROM body WHERE hash = ANY($1) AND refs <= 0", &[&hashes]).await.map(drop)
}
