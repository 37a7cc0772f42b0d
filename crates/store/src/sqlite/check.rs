//! Whether what is derived from journals is what they say: counts, listings, heads and the numbers of rows.

use rusqlite::{OptionalExtension, params};
use turnkeep_model::{Batch, Seq, SessionId};

use super::db::Db;
use super::heads::saved;
use super::lineage::{Segment, Stored, concat_columns, key_up_to, seq_of, unsigned};
use super::pack::damaged;
use super::schema::failed;
use crate::error::{ErrorKind, Result};
use crate::packed::cached_head::HeadCheck;
use crate::packed::prepared::Spelled;
use crate::summary::{Effects, Mark, Origin, Summary};
use crate::verify::{Finding, stale_listing};

/// What the row of a batch says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) at: i64,
    pub(super) turns_before: u64,
    pub(super) mark: Mark,
}

/// A batch that was read, what its row says of it, and what the journal says.
pub(super) struct Seen<'a> {
    pub(super) row: Counted,
    pub(super) told: Counted,
    pub(super) batch: &'a Batch,
    pub(super) spelled: Spelled,
}

/// Checks a session: its rows, its listing, and its cached head.
pub(super) fn check_session(db: &mut Db, session: &SessionId) -> Result<Vec<Finding>> {
    let session_row = db.must_find(session)?;
    let mut findings = Vec::new();
    findings.extend(check_end(db, session, session_row.sid, session_row.last)?);
    if !lineage_matches(db, session_row.sid)? {
        let what = "the listing names another parent than the fork was made from".to_owned();
        findings.push(Finding::Damaged { session: Some(session.clone()), seq: None, what });
    }
    let listing = listing(db, session_row.sid)?;
    let (mut wrong, mut heads) = (0u64, HeadCheck::new(saved(db, session_row.sid)?));
    let told = fold(db, session_row.sid, session_row.last, |_, seen| {
        wrong += u64::from(seen.row != seen.told || seen.spelled == Spelled::Otherwise);
        heads.take(seen.batch)
    });
    match told {
        Ok(told) => {
            if told.last != session_row.last {
                let (session, due) = (session.clone(), session_row.last.next());
                findings.push(Finding::Gap { session, due, found: told.last });
            }
            findings.extend(stale_listing(&told.misnamed(&listing)).filter(|_| listing.origin.is_some()));
            findings.extend(heads.finding());
        }
        // Whoever reads the journal says what is wrong with it.
        Err(error) if error.kind() == ErrorKind::Corrupt => {}
        Err(error) => return Err(error),
    }
    if wrong > 0 {
        findings.push(Finding::Stale { what: format!("{wrong} batches are counted otherwise than they are") });
    }
    Ok(findings)
}

/// Whether the rows of a session end where it does.
fn check_end(db: &Db, session: &SessionId, sid: i64, last: Seq) -> Result<Option<Finding>> {
    let end = db.segments(sid, last)?.last().map_or(Seq::START, |segment| segment.until);
    let own = rows(db, Segment { sid, after: Seq::START, until: Seq(u64::MAX) })?.last().map(|row| row.mark.last);
    if end != last {
        return Ok(Some(Finding::Gap { session: session.clone(), due: end.next(), found: last }));
    }
    let what = "the listing ends before the journal".to_owned();
    Ok(own.filter(|own| *own > last).map(|_| Finding::Stale { what }))
}

/// Whether a session's row and what it was given name the same past and the same parent, as do those whose past it shares.
pub(super) fn lineage_matches(db: &Db, sid: i64) -> Result<bool> {
    let mut select = db
        .connection
        .prepare_cached(
            "WITH RECURSIVE lineage (sid) AS (SELECT ?1 UNION SELECT s.past FROM session s JOIN lineage USING (sid) \
             WHERE s.past IS NOT NULL) SELECT 1 FROM lineage JOIN session s USING (sid) LEFT JOIN fork f USING (sid) \
             WHERE NOT (s.past IS f.past AND s.until = coalesce(f.until, 0) AND s.origin IS f.origin)",
        )
        .map_err(failed)?;
    select.exists([sid]).map(|otherwise| !otherwise).map_err(failed)
}

/// What the listing shows of a session row.
pub(super) fn listing(db: &Db, sid: i64) -> Result<Summary> {
    let tags = db.tags(sid)?;
    Ok(Summary { tags, ..db.row_summary(sid)? })
}

/// Reads the journal of a session row, and makes its summary anew: of a fork from what it was given.
pub(super) fn fold(
    db: &mut Db,
    sid: i64,
    last: Seq,
    mut see: impl FnMut(&Db, Seen<'_>) -> Result<()>,
) -> Result<Summary> {
    let mut given = given(db, sid)?;
    let mut summary = Summary::without_times(SessionId::new(""));
    for segment in db.segments(sid, last)? {
        if let Some(given) = given.take_if(|_| segment.sid == sid) {
            summary.give(&given);
        }
        for row in rows(db, segment)? {
            let stored = row_at(db, row.at)?;
            let line = db.line(&stored).map_err(|error| error.seq(seq_of(row.at)))?;
            let batch = Batch::from_line_spelled(&line, stored.spelling)?;
            let turns_before = summary.turns;
            summary.take(&Effects::of(&batch, line.len()));
            let at = segment.sid << 32 | key_up_to(0, batch.seq);
            let told = Counted { at, turns_before, mark: summary.mark() };
            let spelled = Spelled::of(&batch, &line, stored.spelling);
            see(db, Seen { row, told, batch: &batch, spelled })?;
        }
    }
    given.inspect(|given| summary.give(given));
    Ok(summary)
}

/// What the rows of a segment say of their batches.
pub(super) fn rows(db: &Db, segment: Segment) -> Result<Vec<Counted>> {
    let mut select = db
        .connection
        .prepare_cached(
            "SELECT at, turns_before, last, turns, blocks, bytes FROM batch WHERE at > ?1 AND at <= ?2 ORDER BY at",
        )
        .map_err(failed)?;
    let range = params![key_up_to(segment.sid, segment.after), key_up_to(segment.sid, segment.until)];
    let rows = select.query_map(range, |row| {
        let (last, turns, blocks, bytes) =
            (Seq(unsigned(row, 2)?), unsigned(row, 3)?, unsigned(row, 4)?, unsigned(row, 5)?);
        let mark = Mark { last, turns, blocks, bytes };
        Ok(Counted { at: row.get(0)?, turns_before: unsigned(row, 1)?, mark })
    });
    rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// The row of this key, whatever it says of itself.
pub(super) fn row_at(db: &Db, at: i64) -> Result<Stored> {
    let mut select = db.connection.prepare_cached(concat_columns!("WHERE at = ?1")).map_err(failed)?;
    let row = select.query_row([at], Stored::read).optional().map_err(failed)?;
    row.ok_or_else(|| damaged("a row is missing"))
}

/// What a fork was given by its parent.
fn given(db: &Db, sid: i64) -> Result<Option<Summary>> {
    let mut select = db
        .connection
        .prepare_cached("SELECT origin, until, created, updated, title, status FROM fork WHERE sid = ?1")
        .map_err(failed)?;
    let row = select.query_row([sid], |row| {
        let origin = Origin { session: SessionId::new(row.get::<_, String>(0)?), seq: Seq(unsigned(row, 1)?) };
        Ok(Summary {
            origin: Some(origin),
            created: row.get(2)?,
            updated: row.get(3)?,
            title: row.get(4)?,
            status: row.get(5)?,
            ..Summary::new(SessionId::new(""))
        })
    });
    let Some(summary) = row.optional().map_err(failed)? else {
        return Ok(None);
    };
    let mut select =
        db.connection.prepare_cached("SELECT key, value FROM fork_tag WHERE sid = ?1 ORDER BY n").map_err(failed)?;
    let tags = select.query_map([sid], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
    Ok(Some(Summary { tags: tags.collect::<rusqlite::Result<_>>().map_err(failed)?, ..summary }))
}
