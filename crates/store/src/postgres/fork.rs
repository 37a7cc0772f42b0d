//! Forking: a row that names where the past is.

use turnkeep_model::{Seq, SessionId};

use super::base::Base;
use super::fault::failed;
use super::lineage::{find, must_find, row_with, segments};
use super::sql::{execute, query_opt, signed};
use crate::error::{Error, Result};
use crate::store::{no_such_place, taken};

/// Makes a session that shares the past of another.
pub(super) async fn fork(base: &Base, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
    let mut client = base.awaited().await?;
    let transaction = client.transaction().await.map_err(failed)?;
    let session_row = must_find(&transaction, session).await?;
    if find(&transaction, child).await?.is_some() {
        return Err(taken(child));
    }
    let parts = segments(&transaction, &session_row).await?;
    let holder = parts.into_iter().find(|part| part.after < at && at <= part.until).map(|part| part.sid);
    let holder = holder.ok_or_else(|| no_such_place(session, at))?;
    // Nobody may remove what is about to be shared.
    execute(&transaction, "SELECT 1 FROM session WHERE sid = $1 FOR KEY SHARE", &[&holder]).await?;
    let row = row_with(&transaction, holder, at).await?.filter(|row| row.last == at);
    let row = row.ok_or_else(|| no_such_place(session, at))?;
    let text = "WITH made AS (INSERT INTO session (id, past, until, origin, last, indexed, turns, blocks, bytes, created, updated, \
         hour, \
         title, status, tag_keys, tag_values) \
         SELECT $1, $2, $3, $4, $3, $3, b.turns, b.blocks, b.bytes, s.created, s.updated, s.hour, s.title, \
         CASE WHEN s.last = $3 THEN s.status END, s.tag_keys, s.tag_values \
         FROM session s, batch b WHERE s.sid = $5 AND b.sid = $2 AND b.first = $6 ON CONFLICT (id) DO NOTHING \
         RETURNING sid, past, until, origin, created, updated, title, status, tag_keys, tag_values) \
         INSERT INTO fork SELECT * FROM made RETURNING sid";
    let shared = at;
    let (at, first) = (signed(at.0), signed(row.first.0));
    let (id, origin) = (child.as_str(), session.as_str());
    if query_opt(&transaction, text, &[&id, &holder, &at, &origin, &session_row.sid, &first]).await?.is_none() {
        // Someone was faster: they made the child, or removed the parent.
        let made = find(&transaction, child).await?;
        return Err(made.map_or_else(|| Error::unknown(session), |_| taken(child)));
    }
    transaction.commit().await.map_err(failed)?;
    base.announcer.changed(child, Some(shared));
    Ok(())
}
