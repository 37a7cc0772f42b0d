//! Taking a secret out of journals, bodies, the index, listings and caches.

use deadpool_postgres::{GenericClient, Transaction};
use turnkeep_model::{Seq, SessionId};

use super::append::Columns;
use super::base::Base;
use super::fault::failed;
use super::index_check;
use super::lineage::{Segment, Stored, begun, line_of, must_find, segments};
use super::nul::hide;
use super::remove::drop_bodies;
use super::repair::make_anew;
use super::schema::alone;
use super::sql::{execute, get, query, signed};
use crate::capability::Erased;
use crate::error::Result;
use crate::packed::pack::pack;
use crate::scrub::{MARK, check_needle, without};
use crate::thread_pool::lock;

pub(super) async fn erase(base: &Base, session: &SessionId, seq: Option<Seq>, needle: &str) -> Result<Erased> {
    check_needle(needle)?;
    let mut client = base.awaited().await?;
    let transaction = client.transaction().await.map_err(failed)?;
    alone(&transaction).await?;
    let session_row = must_find(&transaction, session).await?;
    let mut erased = Erased::default();
    for segment in segments(&transaction, &session_row).await? {
        for row in begun(&transaction, segment).await? {
            if seq.is_none_or(|seq| row.first <= seq && seq <= row.last) {
                erase_row(&transaction, base, segment, &row, seq, needle, &mut erased).await?;
            }
        }
    }
    if !erased.records.is_empty() {
        let related = related(&transaction, session_row.sid).await?;
        forget_derived(&transaction, &related.iter().map(|(sid, _)| *sid).collect::<Vec<_>>(), needle).await?;
        for (sid, _) in &related {
            make_anew(&transaction, base, *sid).await?;
        }
        let others = related.into_iter().filter(|(sid, _)| *sid != session_row.sid);
        erased.shared_with = others.filter_map(|(_, id)| id.map(SessionId::new)).collect();
        erased.shared_with.sort();
    }
    transaction.commit().await.map_err(failed)?;
    lock(&base.heads).clear();
    // The rows as they were are still in the tables' files; only a rewrite takes them out. It is done even where nothing
    // was found: an erasure may have been cut off before it came to this.
    client.batch_execute("VACUUM (FULL) batch, body, head, words, session, fork").await.map_err(failed)?;
    Ok(erased)
}

/// Rewrites one batch without the needle, if it holds it.
async fn erase_row(
    transaction: &Transaction<'_>,
    base: &Base,
    segment: Segment,
    row: &Stored,
    only: Option<Seq>,
    needle: &str,
    erased: &mut Erased,
) -> Result<()> {
    let line = line_of(transaction, base, row).await.map_err(|error| error.seq(row.first))?;
    let Some((line, records)) = without(&line, row.first, only, needle)? else {
        return Ok(());
    };
    let packed = pack(&line, &base.dictionaries)?;
    let columns = Columns::of(&packed);
    let put = "INSERT INTO body (hash, refs, raw, data) SELECT t.hash, t.refs, t.raw, t.data \
         FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bytea[]) AS t (hash, refs, raw, data) ORDER BY t.hash \
         ON CONFLICT (hash) DO UPDATE SET refs = body.refs + excluded.refs";
    execute(transaction, put, &[&columns.hashes, &columns.refs, &columns.raws, &columns.datas]).await?;
    drop_bodies(transaction, &row.bodies).await?;
    let hashes: Option<Vec<&[u8]>> =
        (!packed.bodies.is_empty()).then(|| packed.bodies.iter().map(|body| body.hash.as_slice()).collect());
    let change = "UPDATE batch SET spelling = 0, dictionary = $3, raw = $4, bodies = $5, data = $6 \
         WHERE sid = $1 AND first = $2";
    let (first, raw) = (signed(row.first.0), signed(packed.raw as u64));
    execute(transaction, change, &[&segment.sid, &first, &packed.dictionary, &raw, &hashes, &packed.data]).await?;
    erased.records.extend(records);
    Ok(())
}

/// The rows that share a past with this one, itself included, with their ids; forks after what they are forked from.
async fn related(client: &impl GenericClient, sid: i64) -> Result<Vec<(i64, Option<String>)>> {
    let text = "WITH RECURSIVE root (sid, past) AS (SELECT sid, past FROM session WHERE sid = $1 UNION ALL \
         SELECT s.sid, s.past FROM session s JOIN root ON s.sid = root.past), \
         related (sid) AS (SELECT sid FROM root WHERE past IS NULL UNION ALL \
         SELECT s.sid FROM session s JOIN related ON s.past = related.sid) \
         SELECT sid, id FROM session WHERE sid IN (SELECT sid FROM related) ORDER BY sid";
    let rows = query(client, text, &[&sid]).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
}

/// Drops what was derived from the journals, and takes the needle out of what forks were given: it is made anew without.
/// Heads that other processes hold are of an earlier epoch, and are not saved.
async fn forget_derived(transaction: &Transaction<'_>, sids: &[i64], needle: &str) -> Result<()> {
    let given = "UPDATE fork SET title = replace(title, $2, $3), status = replace(status, $2, $3), \
         tag_keys = ARRAY(SELECT replace(k, $2, $3) FROM unnest(tag_keys) WITH ORDINALITY AS t (k, n) ORDER BY n), \
         tag_values = ARRAY(SELECT replace(v, $2, $3) FROM unnest(tag_values) WITH ORDINALITY AS t (v, n) ORDER BY n) \
         WHERE sid = ANY($1)";
    execute(transaction, given, &[&sids, &hide(needle), &MARK]).await?;
    execute(transaction, "UPDATE session SET epoch = epoch + 1 WHERE sid = ANY($1)", &[&sids]).await?;
    execute(transaction, "DELETE FROM head WHERE sid = ANY($1)", &[&sids]).await?;
    index_check::forget(transaction, sids).await
}
