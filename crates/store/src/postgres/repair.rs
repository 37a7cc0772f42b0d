//! What is wrong inside the database, and saving what can be saved.

use deadpool_postgres::{GenericClient, Transaction};
use turnkeep_model::{Batch, Seq, SessionId};

use super::base::Base;
use super::chain::{Segment, begun, lines, must_find, segments, segments_of};
use super::fault::failed;
use super::nul::hide;
use super::remove::remove_batches;
use super::schema::alone;
use super::sql::{execute, get, query, query_opt, signed, unsigned};
use crate::error::Result;
use crate::power::Repaired;
use crate::summary::{Effects, Summary};
use crate::verify::Finding;
use crate::work::lock;

/// How often every body is used.
const USES: &str = "(SELECT h, count(*) AS n FROM batch, unnest(bodies) AS t (h) GROUP BY h)";

/// How much of a journal is looked at at once.
const STEP: u64 = 1000;

pub(super) async fn check(base: &Base, session: Option<&SessionId>) -> Result<Vec<Finding>> {
    let client = base.client().await?;
    let Some(session) = session else {
        return check_bodies(&client).await;
    };
    let place = must_find(&client, session).await?;
    let end = segments(&client, &place).await?.last().map_or(Seq::START, |segment| segment.until);
    if end == place.last {
        return Ok(Vec::new());
    }
    Ok(vec![Finding::Gap { session: session.clone(), due: end.next(), found: place.last }])
}

async fn check_bodies(client: &impl GenericClient) -> Result<Vec<Finding>> {
    let text = format!(
        "SELECT coalesce(u.n, 0), coalesce(b.refs, 0), b.hash IS NULL FROM body b FULL JOIN {USES} u ON u.h = b.hash \
         WHERE b.refs IS DISTINCT FROM u.n"
    );
    let mut findings = Vec::new();
    for row in query(client, &text, &[]).await? {
        let (used, counted) = (unsigned(&row, 0)?, unsigned(&row, 1)?);
        findings.push(if get(&row, 2)? {
            let what = format!("a large body that is used {used} times is missing");
            Finding::Damaged { session: None, seq: None, what }
        } else {
            Finding::Stale { what: format!("a body is used {used} times and counted {counted}") }
        });
    }
    Ok(findings)
}

/// Keeps of every damaged journal what comes before the damage, and makes anew what is derived.
pub(super) async fn repair(base: &Base) -> Result<Vec<Repaired>> {
    let mut client = base.awaited().await?;
    let rows = query(&client, "SELECT sid, id, last, until FROM session ORDER BY sid", &[]).await?;
    let mut repaired = Vec::new();
    for row in rows {
        let (sid, id): (i64, Option<String>) = (get(&row, 0)?, get(&row, 1)?);
        let (last, after) = (Seq(unsigned(&row, 2)?), Seq(unsigned(&row, 3)?));
        let good = good_end(&client, base, Segment { sid, after, until: last }).await?;
        if good < last {
            let transaction = client.transaction().await.map_err(failed)?;
            cut(&transaction, sid, good).await?;
            transaction.commit().await.map_err(failed)?;
            let lost = format!("records {} to {last}", good.next());
            repaired.extend(id.map(|id| Repaired { session: SessionId::new(id), last: good, lost }));
        }
        let transaction = client.transaction().await.map_err(failed)?;
        list_anew(&transaction, base, sid).await?;
        transaction.commit().await.map_err(failed)?;
    }
    let transaction = client.transaction().await.map_err(failed)?;
    recount(&transaction).await?;
    transaction.commit().await.map_err(failed)?;
    lock(&base.heads).clear();
    Ok(repaired)
}

/// The last record of a segment up to which every batch is whole and in order.
async fn good_end(client: &impl GenericClient, base: &Base, segment: Segment) -> Result<Seq> {
    let mut good = segment.after;
    while good < segment.until {
        let until = Seq(good.0.saturating_add(STEP)).min(segment.until);
        let rows = begun(client, Segment { sid: segment.sid, after: good, until }).await?;
        if rows.is_empty() {
            return Ok(good);
        }
        for (line, row) in lines(client, base, &rows).await?.into_iter().zip(&rows) {
            let batch = line.ok().and_then(|line| Batch::from_line_spelled(&line, row.spelling).ok());
            match batch {
                Some(batch) if batch.seq == good.next() && batch.last() == row.last => good = row.last,
                _ => return Ok(good),
            }
        }
    }
    Ok(good)
}

/// Cuts a session off after `good`.
async fn cut(transaction: &Transaction<'_>, sid: i64, good: Seq) -> Result<()> {
    alone(transaction).await?;
    execute(transaction, "SELECT 1 FROM session WHERE sid = $1 FOR UPDATE", &[&sid]).await?;
    remove_batches(transaction, sid, good).await?;
    let text = "UPDATE session SET last = $2, indexed = least(indexed, $2), epoch = epoch + 1 WHERE sid = $1";
    execute(transaction, text, &[&sid, &signed(good.0)]).await.map(drop)
}

/// Makes anew what listings show of a session: its counts, and what it is called unless a fork has that from its parent.
async fn list_anew(transaction: &Transaction<'_>, base: &Base, sid: i64) -> Result<()> {
    let Some(row) = query_opt(transaction, "SELECT last FROM session WHERE sid = $1 FOR UPDATE", &[&sid]).await? else {
        return Ok(());
    };
    let last = Seq(unsigned(&row, 0)?);
    let mut summary = Summary::new(SessionId::new(""));
    for segment in segments_of(transaction, sid, last).await? {
        let rows = begun(transaction, segment).await?;
        for (line, row) in lines(transaction, base, &rows).await?.into_iter().zip(&rows) {
            let line = line?;
            let batch = Batch::from_line_spelled(&line, row.spelling)?;
            summary.apply(&Effects::of(&batch, line.len()), 0);
        }
    }
    let text = "UPDATE session SET turns = $2, blocks = $3, bytes = $4 WHERE sid = $1";
    let counts = [summary.turns, summary.blocks, summary.bytes].map(signed);
    let [turns, blocks, bytes] = &counts;
    execute(transaction, text, &[&sid, turns, blocks, bytes]).await?;
    let text = "UPDATE session SET title = $2, status = $3, tag_keys = $4, tag_values = $5 \
         WHERE sid = $1 AND past IS NULL AND id IS NOT NULL";
    let (title, status) = (summary.title.as_deref().map(hide), summary.status.as_deref().map(hide));
    let (keys, values): (Vec<_>, Vec<_>) = summary.tags.iter().map(|(key, value)| (hide(key), hide(value))).unzip();
    execute(transaction, text, &[&sid, &title, &status, &keys, &values]).await.map(drop)
}

/// Counts the uses of bodies anew, and drops cached heads.
async fn recount(transaction: &Transaction<'_>) -> Result<()> {
    // Appenders wait: what they add must be counted, too.
    transaction.batch_execute("LOCK TABLE batch, body IN SHARE ROW EXCLUSIVE MODE").await.map_err(failed)?;
    let counted = format!("UPDATE body SET refs = u.n FROM {USES} u WHERE u.h = body.hash AND refs <> u.n");
    execute(transaction, &counted, &[]).await?;
    let unused = format!("DELETE FROM body WHERE NOT EXISTS (SELECT 1 FROM {USES} u WHERE u.h = body.hash)");
    execute(transaction, &unused, &[]).await?;
    execute(transaction, "DELETE FROM head", &[]).await.map(drop)
}
