//! Saving what can be saved, and making anew what is derived.

use deadpool_postgres::Transaction;
use turnkeep_model::{Batch, Seq, SessionId};

use super::base::Base;
use super::check::{Seen, fold, lineage_matches};
use super::fault::failed;
use super::index_check;
use super::integrity::recount;
use super::lineage::{Segment, begun, lines};
use super::list::row_summary;
use super::nul::hide;
use super::remove::remove_batches;
use super::schema::alone;
use super::sql::{execute, get, query, query_one, query_opt, signed, unsigned};
use crate::capability::Repaired;
use crate::error::Result;
use crate::packed::prepared::Spelled;
use crate::summary::Summary;
use crate::thread_pool::lock;

/// How much of a journal is looked at at once.
const STEP: u64 = 1000;

/// Keeps of every damaged journal what comes before the damage, and makes anew what is derived.
pub(super) async fn repair(base: &Base) -> Result<Vec<Repaired>> {
    let mut client = base.awaited().await?;
    let rows = query(&client, "SELECT sid, id FROM session ORDER BY sid", &[]).await?;
    let mut repaired = Vec::new();
    // A fork comes after what it is forked from.
    for row in rows {
        let (sid, id): (i64, Option<String>) = (get(&row, 0)?, get(&row, 1)?);
        let transaction = client.transaction().await.map_err(failed)?;
        alone(&transaction).await?;
        let mended = repair_session(&transaction, base, sid).await?;
        transaction.commit().await.map_err(failed)?;
        if let (Some(id), Some(mended)) = (id, mended) {
            repaired.push(Repaired { session: SessionId::new(id), ..mended });
        }
    }
    let transaction = client.transaction().await.map_err(failed)?;
    recount(&transaction).await?;
    transaction.commit().await.map_err(failed)?;
    index_check::repair(&mut client, base).await?;
    lock(&base.heads).clear();
    Ok(repaired)
}

/// Mends one session row; tells what was wrong, if anything was.
async fn repair_session(transaction: &Transaction<'_>, base: &Base, sid: i64) -> Result<Option<Repaired>> {
    let text = "SELECT last FROM session WHERE sid = $1 FOR UPDATE";
    if query_opt(transaction, text, &[&sid]).await?.is_none() {
        return Ok(None);
    }
    let (mut lost, mut anew) = (None, Vec::new());
    if !lineage_matches(transaction, sid).await? {
        repair_lineage(transaction, sid).await?;
        anew.push("the name of its parent".to_owned());
    }
    let last = last_of(transaction, sid).await?;
    let after = shared_end(transaction, sid).await?;
    let good = good_end(transaction, base, sid, after).await?;
    if good < last {
        lost = Some(format!("records {} to {last}", good.next()));
    } else if good > last {
        anew.push("its end".to_owned());
    }
    if good != last {
        end_at(transaction, sid, good).await?;
    }
    anew.extend(make_anew(transaction, base, sid).await?);
    let repaired = Repaired { session: SessionId::new(""), last: good, lost, anew };
    Ok((repaired.lost.is_some() || !repaired.anew.is_empty()).then_some(repaired))
}

async fn last_of(transaction: &Transaction<'_>, sid: i64) -> Result<Seq> {
    Ok(Seq(unsigned(&query_one(transaction, "SELECT last FROM session WHERE sid = $1", &[&sid]).await?, 0)?))
}

/// What a fork was given says where its past is, unless nothing is there.
async fn repair_lineage(transaction: &Transaction<'_>, sid: i64) -> Result<()> {
    let given = "UPDATE session SET past = f.past, until = f.until, origin = f.origin FROM fork f \
         WHERE session.sid = $1 AND f.sid = $1 AND f.past IN (SELECT sid FROM session) AND f.past < $1";
    if execute(transaction, given, &[&sid]).await? > 0 {
        return Ok(());
    }
    execute(transaction, "DELETE FROM fork WHERE sid = $1", &[&sid]).await?;
    execute(transaction, "UPDATE session SET until = 0, origin = NULL WHERE sid = $1 AND past IS NULL", &[&sid])
        .await?;
    let keep = "INSERT INTO fork SELECT sid, past, until, origin, created, updated, title, status, tag_keys, tag_values \
         FROM session WHERE sid = $1 AND past IS NOT NULL AND origin IS NOT NULL";
    execute(transaction, keep, &[&sid]).await.map(drop)
}

/// Where the past of a fork ends: earlier than it did, if some of it was lost.
async fn shared_end(transaction: &Transaction<'_>, sid: i64) -> Result<Seq> {
    let text = "SELECT s.until, p.last FROM session s JOIN session p ON p.sid = s.past WHERE s.sid = $1";
    let Some(row) = query_opt(transaction, text, &[&sid]).await? else {
        return Ok(Seq::START);
    };
    let (until, end) = (unsigned(&row, 0)?, unsigned(&row, 1)?);
    if until > end {
        remove_batches(transaction, sid, Seq::START).await?;
        for text in ["UPDATE session SET until = $2 WHERE sid = $1", "UPDATE fork SET until = $2 WHERE sid = $1"] {
            execute(transaction, text, &[&sid, &signed(end)]).await?;
        }
    }
    Ok(Seq(until.min(end)))
}

/// The last record of a session row up to which every batch is whole and in order.
async fn good_end(transaction: &Transaction<'_>, base: &Base, sid: i64, after: Seq) -> Result<Seq> {
    let mut good = after;
    loop {
        let rows = begun(transaction, Segment { sid, after: good, until: Seq(good.0.saturating_add(STEP)) }).await?;
        if rows.is_empty() {
            return Ok(good);
        }
        for (line, row) in lines(transaction, base, &rows).await?.into_iter().zip(&rows) {
            let batch = line.ok().and_then(|line| Batch::from_line_spelled(&line, row.spelling).ok());
            match batch {
                Some(batch) if batch.seq == good.next() && batch.seq == row.first => good = batch.last(),
                _ => return Ok(good),
            }
        }
    }
}

/// Ends a session at `good`.
async fn end_at(transaction: &Transaction<'_>, sid: i64, good: Seq) -> Result<()> {
    remove_batches(transaction, sid, good).await?;
    let text = "UPDATE session SET last = $2, indexed = least(indexed, $2), epoch = epoch + 1 WHERE sid = $1";
    execute(transaction, text, &[&sid, &signed(good.0)]).await.map(drop)
}

/// Makes anew what is derived from a session's own batches: the counts of their rows, and what listings show. Tells what
/// had to be.
pub(super) async fn make_anew(transaction: &Transaction<'_>, base: &Base, sid: i64) -> Result<Vec<String>> {
    let (listed, last) = (row_summary(transaction, sid).await?, last_of(transaction, sid).await?);
    let folded = fold(transaction, base, sid, last, |_| Ok(())).await?;
    let mut counts = 0;
    for seen in folded.seen.iter().filter(|seen| seen.sid == sid && !seen.is_right()) {
        count_anew(transaction, seen).await?;
        counts += 1;
    }
    let told = folded.summary.with_times_of(&listed);
    let wrong = told.differs_in(&listed);
    let mut anew = Vec::new();
    anew.extend((counts > 0).then(|| format!("the counts of {counts} batches")));
    if !wrong.is_empty() {
        relist(transaction, sid, &told).await?;
        anew.push(format!("the {} in the listing", wrong.join(", ")));
    }
    Ok(anew)
}

async fn count_anew(transaction: &Transaction<'_>, seen: &Seen) -> Result<()> {
    let text = "UPDATE batch SET turns_before = $3, last = $4, turns = $5, blocks = $6, bytes = $7, \
         spelling = CASE WHEN $8 THEN 1 ELSE spelling END WHERE sid = $1 AND first = $2";
    let mark = seen.told.mark;
    let numbers = [seen.row.first.0, seen.told.turns_before, mark.last.0, mark.turns, mark.blocks, mark.bytes];
    let [first, before, last, turns, blocks, bytes] = numbers.map(signed);
    let foreign = seen.spelled == Spelled::Otherwise;
    execute(transaction, text, &[&seen.sid, &first, &before, &last, &turns, &blocks, &bytes, &foreign]).await.map(drop)
}

/// Puts a summary into the listing. A session that was deleted is counted, and has no name.
async fn relist(transaction: &Transaction<'_>, sid: i64, told: &Summary) -> Result<()> {
    let text = "UPDATE session SET turns = $2, blocks = $3, bytes = $4, created = $5, updated = $6, \
         hour = $6::bigint / 3600000 WHERE sid = $1";
    let [turns, blocks, bytes] = [told.turns, told.blocks, told.bytes].map(signed);
    execute(transaction, text, &[&sid, &turns, &blocks, &bytes, &told.created, &told.updated]).await?;
    let text = "UPDATE session SET title = $2, status = $3, tag_keys = $4, tag_values = $5 \
         WHERE sid = $1 AND id IS NOT NULL";
    let (title, status) = (told.title.as_deref().map(hide), told.status.as_deref().map(hide));
    let (keys, values): (Vec<_>, Vec<_>) = told.tags.iter().map(|(key, value)| (hide(key), hide(value))).unzip();
    execute(transaction, text, &[&sid, &title, &status, &keys, &values]).await.map(drop)
}
