//! Whether the search index says what the journals say.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::{Client, GenericClient};
use turnkeep_model::Seq;

use super::base::Base;
use super::fault::failed;
use super::lineage::{Segment, batches};
use super::schema::alone;
use super::search::lexemes;
use super::sql::{execute, get, query, query_one, signed, unsigned};
use crate::error::{ErrorKind, Result};
use crate::search_text::text_of;
use crate::verify::Finding;

/// How much of a journal is looked at at once.
const STEP: u64 = 200;

/// Words by the record and the row they stand in.
type Words = BTreeMap<(u64, i32), BTreeSet<String>>;

pub(super) async fn check(client: &impl GenericClient, base: &Base) -> Result<Option<Finding>> {
    let wrong = wrong(client, base).await?.len();
    let what = format!("the search index has other words than {wrong} journals");
    Ok((wrong > 0).then_some(Finding::Stale { what }))
}

/// Drops the words that are wrong; they are made anew before the next search.
pub(super) async fn repair(client: &mut Client, base: &Base) -> Result<()> {
    let transaction = client.transaction().await.map_err(failed)?;
    alone(&transaction).await?;
    let wrong = wrong(&transaction, base).await?;
    forget(&transaction, &wrong).await?;
    transaction.commit().await.map_err(failed)
}

/// Drops the words of these session rows.
pub(super) async fn forget(client: &impl GenericClient, sids: &[i64]) -> Result<()> {
    execute(client, "UPDATE session SET indexed = 0 WHERE sid = ANY($1)", &[&sids]).await?;
    execute(client, "DELETE FROM words WHERE sid = ANY($1)", &[&sids]).await.map(drop)
}

/// The session rows that are indexed otherwise than they should be.
async fn wrong(client: &impl GenericClient, base: &Base) -> Result<Vec<i64>> {
    let mut wrong = Vec::new();
    for row in query(client, "SELECT sid, until, last, indexed FROM session", &[]).await? {
        let (sid, last, indexed) = (get(&row, 0)?, unsigned(&row, 2)?, unsigned(&row, 3)?);
        let own = Segment { sid, after: Seq(unsigned(&row, 1)?), until: Seq(indexed) };
        if indexed > last || is_wrong(client, base, own).await? {
            wrong.push(sid);
        }
    }
    Ok(wrong)
}

async fn is_wrong(client: &impl GenericClient, base: &Base, own: Segment) -> Result<bool> {
    let mut part = Segment { until: own.after, ..own };
    while part.until < own.until {
        part = Segment { after: part.until, until: Seq(part.until.0.saturating_add(STEP)).min(own.until), ..part };
        let told = match told(client, base, part).await {
            Ok(told) => told,
            // Whoever reads the journal says what is wrong with it.
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(false),
            Err(error) => return Err(error),
        };
        let end = told.last_key_value().map_or(part.until.0, |((seq, _), _)| part.until.0.max(*seq));
        part.until = Seq(end);
        if told != there(client, part).await? {
            return Ok(true);
        }
    }
    let beyond = "SELECT EXISTS (SELECT 1 FROM words WHERE sid = $1 AND (seq > $2 OR seq <= $3))";
    let (until, after) = (signed(own.until.0.max(own.after.0)), signed(own.after.0));
    get(&query_one(client, beyond, &[&own.sid, &until, &after]).await?, 0)
}

/// The words of the batches that begin within a part.
async fn told(client: &impl GenericClient, base: &Base, part: Segment) -> Result<Words> {
    let mut told = Words::new();
    for batch in batches(client, base, part).await? {
        for (entry, seq) in batch.events.iter().zip(batch.seq.0..) {
            let rows = text_of(&entry.event).map(|text| lexemes(&text)).unwrap_or_default();
            let words = |row: String| row.split(' ').map(str::to_owned).collect();
            told.extend((0..).zip(rows).map(|(part, row)| ((seq, part), words(row))));
        }
    }
    Ok(told)
}

/// The words of the index within a part.
async fn there(client: &impl GenericClient, part: Segment) -> Result<Words> {
    let text = "SELECT seq, part, tsvector_to_array(lexemes) FROM words WHERE sid = $1 AND seq > $2 AND seq <= $3";
    let rows = query(client, text, &[&part.sid, &signed(part.after.0), &signed(part.until.0)]).await?;
    let read = |row: &tokio_postgres::Row| {
        Ok(((unsigned(row, 0)?, get(row, 1)?), get::<Vec<String>>(row, 2)?.into_iter().collect()))
    };
    rows.iter().map(read).collect()
}
