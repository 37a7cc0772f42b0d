//! Full-text search: the index is caught up in small steps, and knows only where words are. Snippets are cut from the
//! journal itself. Words are cut here and not by the server, so that every server finds the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::GenericClient;
use futures_util::FutureExt;
use tokio_postgres::types::ToSql;
use turnkeep_model::{Batch, Seq, SessionId};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::base::Base;
use super::fault::failed;
use super::lineage::{Segment, batches, must_find, parse, row_with, segments};
use super::schema::alone;
use super::sql::{execute, get, query, query_one, query_opt, signed, unsigned};
use crate::capability::{Hit, SearchQuery};
use crate::error::Result;
use crate::search_text::{text_of, words};
use crate::snippet;

/// How many records one step takes, of however many sessions.
const STEP: u64 = 500;

/// Sessions that are not wholly indexed, from a row on: whoever catches up looks at every row once.
const UNINDEXED: &str = "SELECT sid, greatest(indexed, until), last FROM session WHERE indexed < last AND sid > $1 \
     ORDER BY sid LIMIT 500";

/// How many bytes a word of the index has at most, and all words of one row: PostgreSQL takes no more.
const LONGEST: usize = 255;
const ROW: usize = 512 << 10;

const USUAL_LIMIT: usize = 20;

/// The most hits there can be: PostgreSQL takes no larger limit.
const MOST: usize = i32::MAX as usize;

/// How long nobody must append before the index is caught up beside everything else.
const IDLE: Duration = Duration::from_millis(400);

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Every session up to this row is indexed.
    pub(super) until: i64,
    /// How many sessions were caught up.
    pub(super) caught_up: u64,
}

/// Catches up whenever nobody has appended for a while, for as long as the store is open.
pub(super) async fn keep_up(base: Arc<Base>) {
    loop {
        base.stirred.notified().await;
        // Nobody is woken by an append meanwhile: whether there was one is seen afterwards.
        loop {
            tokio::time::sleep(IDLE).await;
            if base.stirred.notified().now_or_never().is_none() {
                break;
            }
        }
        let mut until = 0;
        // A fault of the index is found, and told, by whoever searches.
        while let Ok(Some(step)) = index_some(&base, until).await {
            until = step.until;
        }
    }
}

/// How many sessions are not wholly indexed.
pub(super) async fn behind(base: &Base) -> Result<u64> {
    let client = base.client().await?;
    unsigned(&query_one(&client, "SELECT count(*) FROM session WHERE indexed < last", &[]).await?, 0)
}

/// Indexes some of what is not indexed yet of the sessions after a row, in a transaction of its own.
pub(super) async fn index_some(base: &Base, after: i64) -> Result<Option<Step>> {
    let mut client = base.client().await?;
    if query_opt(&client, &format!("SELECT 1 FROM ({UNINDEXED}) AS s LIMIT 1"), &[&after]).await?.is_none() {
        return Ok(None);
    }
    let transaction = client.transaction().await.map_err(failed)?;
    alone(&transaction).await?;
    let (mut step, mut room) = (Step { until: after, caught_up: 0 }, STEP);
    for row in query(&transaction, UNINDEXED, &[&after]).await? {
        let (sid, from, last) = (get(&row, 0)?, Seq(unsigned(&row, 1)?), Seq(unsigned(&row, 2)?));
        let until = Seq(from.0.saturating_add(room)).min(last);
        let end = index_part(&transaction, base, Segment { sid, after: from, until }).await?;
        room = room.saturating_sub(end.0.saturating_sub(from.0).max(1));
        if end < last {
            break;
        }
        step = Step { until: sid, caught_up: step.caught_up + 1 };
        if room == 0 {
            break;
        }
    }
    transaction.commit().await.map_err(failed)?;
    Ok(Some(step))
}

/// Indexes a part of a session; tells where it ended.
async fn index_part(client: &impl GenericClient, base: &Base, part: Segment) -> Result<Seq> {
    let Segment { sid, until, .. } = part;
    let batches = batches(client, base, part).await?;
    // The last batch of a step is taken whole, wherever it ends.
    let end = batches.last().map_or(until, Batch::last).max(until);
    let (mut seqs, mut parts, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for batch in &batches {
        for (entry, seq) in batch.events.iter().zip(batch.seq.0..) {
            let rows = text_of(&entry.event).map(|text| lexemes(&text)).unwrap_or_default();
            for (part, text) in (0i32..).zip(rows) {
                seqs.push(signed(seq));
                parts.push(part);
                texts.push(text);
            }
        }
    }
    let insert = "INSERT INTO words (sid, seq, part, lexemes) \
         SELECT $1, t.seq, t.part, array_to_tsvector(string_to_array(t.words, ' ')) \
         FROM unnest($2::bigint[], $3::integer[], $4::text[]) AS t (seq, part, words) ON CONFLICT DO NOTHING";
    execute(client, insert, &[&sid, &seqs, &parts, &texts]).await?;
    execute(client, "UPDATE session SET indexed = $2 WHERE sid = $1", &[&sid, &signed(end.0)]).await?;
    Ok(end)
}

/// A text without case and accents.
fn plain(text: &str) -> String {
    text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
}

/// The words of a text, each once, in rows of words between blanks.
pub(super) fn lexemes(text: &str) -> Vec<String> {
    let distinct: BTreeSet<String> = words(&plain(text)).into_iter().map(cut).collect();
    let mut rows = Vec::new();
    for word in distinct {
        match rows.last_mut() {
            Some(row) if String::len(row) < ROW => {
                row.push(' ');
                row.push_str(&word);
            }
            _ => rows.push(word),
        }
    }
    rows
}

fn cut(mut word: String) -> String {
    let end = (0..=word.len().min(LONGEST)).rev().find(|at| word.is_char_boundary(*at)).unwrap_or(0);
    word.truncate(end);
    word
}

/// All words must be there; the last may be the beginning of one.
fn expression(text: &str) -> String {
    let quoted: Vec<String> = words(&plain(text)).into_iter().map(|word| format!("'{}'", cut(word))).collect();
    if quoted.is_empty() { String::new() } else { format!("{}:*", quoted.join(" & ")) }
}

/// The hits of a query in what is indexed.
pub(super) async fn search(base: &Base, asked: &SearchQuery) -> Result<Vec<Hit>> {
    let (expression, words) = (expression(&asked.text), words(&asked.text));
    if expression.is_empty() {
        return Ok(Vec::new());
    }
    let client = base.client().await?;
    let mut hits = Vec::new();
    let mut read: Option<(i64, Batch)> = None;
    for (sid, seq) in matches(&client, asked, &expression).await? {
        let session = match &asked.session {
            Some(session) => Some(session.clone()),
            None => name(&client, sid, seq).await?,
        };
        let same = |(row, batch): &(i64, Batch)| *row == sid && batch.seq <= seq && seq <= batch.last();
        if !read.as_ref().is_some_and(same) {
            read = batch_with(&client, base, sid, seq).await?.map(|batch| (sid, batch));
        }
        if let (Some(session), Some((_, batch))) = (session, &read) {
            hits.push(hit(session, seq, batch, &words));
        }
    }
    Ok(hits)
}

async fn batch_with(client: &impl GenericClient, base: &Base, sid: i64, seq: Seq) -> Result<Option<Batch>> {
    let Some(row) = row_with(client, sid, seq).await? else {
        return Ok(None);
    };
    Ok(parse(client, base, std::slice::from_ref(&row)).await?.pop())
}

fn hit(session: SessionId, seq: Seq, batch: &Batch, words: &[String]) -> Hit {
    let entry = batch.events.iter().zip(batch.seq.0..).find(|(_, at)| Seq(*at) == seq);
    let text = entry.and_then(|(entry, _)| text_of(&entry.event)).unwrap_or_default();
    let (snippet, marks) = snippet::cut(&text, words);
    Hit { session, seq, snippet, marks }
}

/// The newest first: ranking would have to look at every match, and a common word has as many as there are blocks.
async fn matches(client: &impl GenericClient, asked: &SearchQuery, expression: &str) -> Result<Vec<(i64, Seq)>> {
    let mut text = String::from("SELECT DISTINCT sid, seq FROM words WHERE lexemes @@ $1::text::tsquery");
    let mut numbers = Vec::new();
    if let Some(session) = &asked.session {
        let session_row = must_find(client, session).await?;
        let mut ranges = Vec::new();
        for segment in segments(client, &session_row).await? {
            let n = numbers.len() + 2;
            ranges.push(format!("sid = ${n} AND seq > ${} AND seq <= ${}", n + 1, n + 2));
            numbers.extend([segment.sid, signed(segment.after.0), signed(segment.until.0)]);
        }
        text.push_str(&format!(" AND ({})", ranges.join(" OR ")));
    }
    let limit = if asked.limit == 0 { USUAL_LIMIT } else { asked.limit.min(MOST) };
    text.push_str(&format!(" ORDER BY sid DESC, seq DESC LIMIT {limit}"));
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&expression];
    values.extend(numbers.iter().map(|number| number as &(dyn ToSql + Sync)));
    let rows = query(client, &text, &values).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, Seq(unsigned(row, 1)?)))).collect()
}

/// The id of a session row; of a deleted one, that of a fork that shares the record.
async fn name(client: &impl GenericClient, sid: i64, seq: Seq) -> Result<Option<SessionId>> {
    let text = "WITH RECURSIVE heirs (sid, id) AS (SELECT sid, id FROM session WHERE sid = $1 UNION ALL \
         SELECT s.sid, s.id FROM session s JOIN heirs ON s.past = heirs.sid WHERE s.until >= $2) \
         SELECT id FROM heirs WHERE id IS NOT NULL LIMIT 1";
    let row = query_opt(client, text, &[&sid, &signed(seq.0)]).await?;
    row.map(|row| Ok(SessionId::new(get::<String>(&row, 0)?))).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_without_case_accents_and_signs() {
        assert_eq!(lexemes("Naïve, naive: foo_bar's"), ["bar foo naive s"]);
        assert_eq!(expression("the 'quick' FÖX"), "'the' & 'quick' & 'fox':*");
        assert_eq!(expression("' | !"), "");
    }

    #[test]
    fn very_many_words_take_several_rows_and_very_long_ones_are_cut() {
        let many: String = (0..100_000).map(|n| format!("word{n} ")).collect();

        assert!(lexemes(&many).iter().all(|row| row.len() < ROW + LONGEST + 2));
        assert!(lexemes(&many).len() > 1);
        assert_eq!(lexemes(&"é".repeat(1000))[0].len(), LONGEST);
    }
}
