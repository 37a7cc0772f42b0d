//! Whether what is derived from journals is what they say: counts, listings, heads and the numbers of rows.

use deadpool_postgres::GenericClient;
use turnkeep_model::{Batch, Seq, SessionId};

use super::base::Base;
use super::heads::saved;
use super::lineage::{Segment, begun, lines, must_find, segments, segments_of};
use super::list::row_summary;
use super::nul::show;
use super::sql::{get, query, query_one, query_opt, signed, unsigned};
use crate::error::{ErrorKind, Result};
use crate::packed::cached_head::HeadCheck;
use crate::packed::prepared::Spelled;
use crate::summary::{Effects, Mark, Origin, Summary};
use crate::verify::{Finding, stale_listing};

/// How much of a journal is looked at at once.
const STEP: u64 = 1000;

/// What the row of a batch says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) first: Seq,
    pub(super) turns_before: u64,
    pub(super) mark: Mark,
}

/// What the row of a batch says of it, and what the journal says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) sid: i64,
    pub(super) row: Counted,
    pub(super) told: Counted,
    pub(super) spelled: Spelled,
}

impl Seen {
    pub(super) fn is_right(&self) -> bool {
        self.row == self.told && self.spelled == Spelled::AsSaid
    }
}

/// A journal that was read.
pub(super) struct Folded {
    pub(super) summary: Summary,
    pub(super) seen: Vec<Seen>,
}

/// Checks a session: its rows, its listing, and its cached head.
pub(super) async fn check_session(
    client: &impl GenericClient,
    base: &Base,
    session: &SessionId,
) -> Result<Vec<Finding>> {
    let session_row = must_find(client, session).await?;
    let mut findings = Vec::new();
    let end = segments(client, &session_row).await?.last().map_or(Seq::START, |segment| segment.until);
    if end != session_row.last {
        findings.push(Finding::Gap { session: session.clone(), due: end.next(), found: session_row.last });
    }
    let beyond = "SELECT EXISTS (SELECT 1 FROM batch WHERE sid = $1 AND (first > $2 OR last > $2))";
    if get(&query_one(client, beyond, &[&session_row.sid, &signed(session_row.last.0)]).await?, 0)? {
        findings.push(Finding::Stale { what: "the listing ends before the journal".to_owned() });
    }
    if !lineage_matches(client, session_row.sid).await? {
        let what = "the listing names another parent than the fork was made from".to_owned();
        findings.push(Finding::Damaged { session: Some(session.clone()), seq: None, what });
    }
    let listing = row_summary(client, session_row.sid).await?;
    let mut heads = HeadCheck::new(saved(client, session_row.sid).await?);
    match fold(client, base, session_row.sid, session_row.last, |batch| heads.take(batch)).await {
        Ok(folded) => {
            if folded.summary.last != session_row.last {
                let (session, due) = (session.clone(), session_row.last.next());
                findings.push(Finding::Gap { session, due, found: folded.summary.last });
            }
            findings.extend(stale_listing(&folded.summary.misnamed(&listing)).filter(|_| listing.origin.is_some()));
            findings.extend(heads.finding());
            let wrong = folded.seen.iter().filter(|seen| !seen.is_right()).count();
            let what = format!("{wrong} batches are counted otherwise than they are");
            findings.extend((wrong > 0).then_some(Finding::Stale { what }));
        }
        // Whoever reads the journal says what is wrong with it.
        Err(error) if error.kind() == ErrorKind::Corrupt => {}
        Err(error) => return Err(error),
    }
    Ok(findings)
}

/// Whether a session's row and what it was given name the same past and the same parent, as do those whose past it shares.
pub(super) async fn lineage_matches(client: &impl GenericClient, sid: i64) -> Result<bool> {
    let text = "WITH RECURSIVE lineage (sid) AS (SELECT $1::bigint UNION SELECT s.past FROM session s JOIN lineage USING (sid) \
         WHERE s.past IS NOT NULL) SELECT NOT EXISTS (SELECT 1 FROM lineage JOIN session s USING (sid) \
         LEFT JOIN fork f USING (sid) WHERE NOT (s.past IS NOT DISTINCT FROM f.past \
         AND s.until = coalesce(f.until, 0) AND s.origin IS NOT DISTINCT FROM f.origin))";
    get(&query_one(client, text, &[&sid]).await?, 0)
}

/// Reads the journal of a session row, and makes its summary anew: of a fork from what it was given.
pub(super) async fn fold(
    client: &impl GenericClient,
    base: &Base,
    sid: i64,
    last: Seq,
    mut take: impl FnMut(&Batch) -> Result<()>,
) -> Result<Folded> {
    let mut given = given(client, sid).await?;
    let mut folded = Folded { summary: Summary::without_times(SessionId::new("")), seen: Vec::new() };
    for segment in segments_of(client, sid, last).await? {
        if let Some(given) = given.take_if(|_| segment.sid == sid) {
            folded.summary.give(&given);
        }
        for part in segment.pieces(STEP) {
            if fold_part(client, base, part, &mut folded, &mut take).await? == 0 {
                break;
            }
        }
    }
    given.inspect(|given| folded.summary.give(given));
    Ok(folded)
}

/// Takes in the batches that begin within a part; tells how many there are.
async fn fold_part(
    client: &impl GenericClient,
    base: &Base,
    part: Segment,
    folded: &mut Folded,
    take: &mut impl FnMut(&Batch) -> Result<()>,
) -> Result<usize> {
    let (counted, stored) = (rows(client, part).await?, begun(client, part).await?);
    let lines = lines(client, base, &stored).await?;
    for ((line, stored), row) in lines.into_iter().zip(&stored).zip(&counted) {
        let line = line.map_err(|error| error.seq(stored.first))?;
        let batch = Batch::from_line_spelled(&line, stored.spelling)?;
        let turns_before = folded.summary.turns;
        folded.summary.take(&Effects::of(&batch, line.len()));
        let told = Counted { first: batch.seq, turns_before, mark: folded.summary.mark() };
        let spelled = Spelled::of(&batch, &line, stored.spelling);
        folded.seen.push(Seen { sid: part.sid, row: *row, told, spelled });
        take(&batch)?;
    }
    Ok(counted.len())
}

async fn rows(client: &impl GenericClient, part: Segment) -> Result<Vec<Counted>> {
    let text = "SELECT first, turns_before, last, turns, blocks, bytes FROM batch \
         WHERE sid = $1 AND first > $2 AND first <= $3 ORDER BY first";
    let rows = query(client, text, &[&part.sid, &signed(part.after.0), &signed(part.until.0)]).await?;
    let counted = |row: &tokio_postgres::Row| {
        let (last, turns, blocks, bytes) =
            (Seq(unsigned(row, 2)?), unsigned(row, 3)?, unsigned(row, 4)?, unsigned(row, 5)?);
        let mark = Mark { last, turns, blocks, bytes };
        Ok(Counted { first: Seq(unsigned(row, 0)?), turns_before: unsigned(row, 1)?, mark })
    };
    rows.iter().map(counted).collect()
}

/// What a fork was given by its parent.
async fn given(client: &impl GenericClient, sid: i64) -> Result<Option<Summary>> {
    let text = "SELECT origin, until, created, updated, title, status, tag_keys, tag_values FROM fork WHERE sid = $1";
    let Some(row) = query_opt(client, text, &[&sid]).await? else {
        return Ok(None);
    };
    let (keys, values): (Vec<String>, Vec<String>) = (get(&row, 6)?, get(&row, 7)?);
    let origin = Origin { session: SessionId::new(get::<String>(&row, 0)?), seq: Seq(unsigned(&row, 1)?) };
    Ok(Some(Summary {
        origin: Some(origin),
        created: get(&row, 2)?,
        updated: get(&row, 3)?,
        title: get::<Option<String>>(&row, 4)?.map(show),
        status: get::<Option<String>>(&row, 5)?.map(show),
        tags: keys.into_iter().map(show).zip(values.into_iter().map(show)).collect(),
        ..Summary::new(SessionId::new(""))
    }))
}
