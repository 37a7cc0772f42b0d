//! Saving what can be saved, and making anew what is derived.

use rusqlite::{OptionalExtension, params};
use turnkeep_model::{Batch, Seq, SessionId};

use super::append::{keep_given, set_tags};
use super::chain::{Segment, seq_of, signed, unsigned};
use super::check::{fold, listing, row_at, rows, same_kinship};
use super::desk::{Desk, transact};
use super::remove::remove_batches;
use super::schema::failed;
use super::{sound, words};
use crate::error::Result;
use crate::packed::ready::Spelled;
use crate::power::Repaired;
use crate::summary::Summary;

/// Keeps of every damaged journal what comes before the damage, and makes anew what is derived.
pub(super) fn repair(desk: &mut Desk) -> Result<Vec<Repaired>> {
    let mut select = desk.connection.prepare("SELECT sid, id FROM session ORDER BY sid").map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?)));
    let sessions: Vec<_> = rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)?;
    drop(select);
    let mut repaired = Vec::new();
    // A fork comes after what it is forked from.
    for (sid, id) in sessions {
        let (last, lost, anew) = transact(desk, |desk| mend(desk, sid))?;
        if let Some(id) = id.filter(|_| lost.is_some() || !anew.is_empty()) {
            repaired.push(Repaired { session: SessionId::new(id), last, lost, anew });
        }
    }
    transact(desk, sound::recount)?;
    if !words::check(desk)?.is_empty() {
        transact(desk, words::forget)?;
    }
    Ok(repaired)
}

/// Mends one session row: its last record, what was lost, and what was made anew.
fn mend(desk: &mut Desk, sid: i64) -> Result<(Seq, Option<String>, Vec<String>)> {
    let mut anew = Vec::new();
    if !same_kinship(desk, sid)? {
        mend_kinship(desk, sid)?;
        anew.push("the name of its parent".to_owned());
    }
    let (last, mut lost) = (last_of(desk, sid)?, None);
    let after = shared_end(desk, sid)?;
    let good = good_end(desk, Segment { sid, after, until: Seq(u64::MAX) })?;
    if good < last {
        lost = Some(format!("records {} to {last}", good.next()));
    } else if good > last {
        anew.push("its end".to_owned());
    }
    if good != last {
        end_at(desk, sid, good)?;
    }
    anew.extend(make_anew(desk, sid)?);
    Ok((good, lost, anew))
}

fn last_of(desk: &Desk, sid: i64) -> Result<Seq> {
    let last = desk.connection.query_row("SELECT last FROM session WHERE sid = ?1", [sid], |row| unsigned(row, 0));
    Ok(Seq(last.map_err(failed)?))
}

/// What a fork was given says where its past is, unless nothing is there.
fn mend_kinship(desk: &Desk, sid: i64) -> Result<()> {
    let taken = desk
        .connection
        .execute(
            "UPDATE session SET past = f.past, until = f.until, origin = f.origin FROM fork f \
             WHERE session.sid = ?1 AND f.sid = ?1 AND f.past IN (SELECT sid FROM session) AND f.past < ?1",
            [sid],
        )
        .map_err(failed)?;
    if taken > 0 {
        return Ok(());
    }
    let root = "UPDATE session SET until = 0, origin = NULL WHERE sid = ?1 AND past IS NULL";
    for statement in ["DELETE FROM fork WHERE sid = ?1", "DELETE FROM fork_tag WHERE sid = ?1", root] {
        desk.connection.execute(statement, [sid]).map_err(failed)?;
    }
    keep_given(desk, sid)
}

/// Where the past of a fork ends: earlier than it did, if some of it was lost.
fn shared_end(desk: &mut Desk, sid: i64) -> Result<Seq> {
    let text = "SELECT s.until, p.last FROM session s JOIN session p ON p.sid = s.past WHERE s.sid = ?1";
    let row = desk.connection.query_row(text, [sid], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)));
    let Some((until, end)) = row.optional().map_err(failed)? else {
        return Ok(Seq::START);
    };
    if until > end {
        remove_batches(desk, sid, Seq::START)?;
        for table in ["session", "fork"] {
            let text = format!("UPDATE {table} SET until = ?2 WHERE sid = ?1");
            desk.connection.execute(&text, params![sid, signed(end)]).map_err(failed)?;
        }
    }
    Ok(Seq(until.min(end)))
}

/// The last record of a segment up to which every batch is whole and in order.
fn good_end(desk: &mut Desk, segment: Segment) -> Result<Seq> {
    let mut good = segment.after;
    for row in rows(desk, segment)? {
        let stored = row_at(desk, row.at)?;
        let line = desk.line(&stored).ok();
        let batch = line.and_then(|line| Batch::from_line_spelled(&line, stored.spelling).ok());
        match batch {
            Some(batch) if batch.seq == good.next() && batch.seq == seq_of(row.at) => good = batch.last(),
            _ => break,
        }
    }
    Ok(good)
}

/// Ends a session at `good`.
fn end_at(desk: &mut Desk, sid: i64, good: Seq) -> Result<()> {
    remove_batches(desk, sid, good)?;
    let text = "UPDATE session SET last = ?2, indexed = min(indexed, ?2) WHERE sid = ?1";
    desk.connection.execute(text, params![sid, signed(good.0)]).map(drop).map_err(failed)
}

/// Makes anew what is derived from a session's own batches: the counts of their rows, and what listings show. Tells what
/// had to be.
pub(super) fn make_anew(desk: &mut Desk, sid: i64) -> Result<Vec<String>> {
    let (listed, last) = (listing(desk, sid)?, last_of(desk, sid)?);
    let mut counts = 0u64;
    let told = fold(desk, sid, last, |desk, seen| {
        if (seen.row == seen.told && seen.spelled == Spelled::AsSaid) || seen.row.at >> 32 != sid {
            return Ok(());
        }
        counts += 1;
        let (at, before, mark) = (seen.row.at, seen.told.turns_before, seen.told.mark);
        let numbers = [before, mark.last.0, mark.turns, mark.blocks, mark.bytes].map(signed);
        let [before, last, turns, blocks, bytes] = numbers;
        let foreign = seen.spelled == Spelled::Otherwise;
        desk.connection
            .prepare_cached(
                "UPDATE batch SET turns_before = ?2, last = ?3, turns = ?4, blocks = ?5, bytes = ?6, \
                 spelling = CASE WHEN ?7 THEN 1 ELSE spelling END WHERE at = ?1",
            )
            .and_then(|mut update| update.execute(params![at, before, last, turns, blocks, bytes, foreign]))
            .map(drop)
            .map_err(failed)
    })?;
    let told = told.told_by(&listed);
    let wrong = told.differs_in(&listed);
    let mut anew = Vec::new();
    anew.extend((counts > 0).then(|| format!("the counts of {counts} batches")));
    if !wrong.is_empty() {
        relist(desk, sid, &told)?;
        anew.push(format!("the {} in the listing", wrong.join(", ")));
    }
    Ok(anew)
}

/// Puts a summary into the listing. A session that was deleted is counted, and has no name.
fn relist(desk: &Desk, sid: i64, told: &Summary) -> Result<()> {
    let [turns, blocks, bytes] = [told.turns, told.blocks, told.bytes].map(signed);
    let counts = params![sid, turns, blocks, bytes, told.created, told.updated];
    desk.connection
        .execute(
            "UPDATE session SET turns = ?2, blocks = ?3, bytes = ?4, created = ?5, updated = ?6 WHERE sid = ?1",
            counts,
        )
        .map_err(failed)?;
    let text = "UPDATE session SET title = ?2, status = ?3 WHERE sid = ?1 AND id IS NOT NULL";
    if desk.connection.execute(text, params![sid, told.title, told.status]).map_err(failed)? > 0 {
        set_tags(desk, sid, &told.tags)?;
    }
    Ok(())
}
