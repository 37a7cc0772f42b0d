//! Saving what can be saved of damaged journals, and making anew what is derived from all of them.
//!
//! Sessions are repaired in the order of their rows, and a fork's row comes after its parent's: so a fork sees how much of its
//! past is left.

use rusqlite::{OptionalExtension, params};
use turnkeep_model::{Batch, Seq, SessionId};

use super::append::{keep_given, set_tags};
use super::check::{fold, lineage_matches, listing, row_at, rows};
use super::db::{Db, transact};
use super::lineage::{Segment, seq_of, signed, unsigned};
use super::remove::remove_batches;
use super::schema::failed;
use super::{index_check, integrity};
use crate::capability::Repaired;
use crate::error::Result;
use crate::packed::prepared::Spelled;
use crate::summary::Summary;

/// Keeps of every damaged journal what comes before the damage, and makes anew what is derived.
pub(super) fn repair(db: &mut Db) -> Result<Vec<Repaired>> {
    let mut select = db.connection.prepare("SELECT sid, id FROM session ORDER BY sid").map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?)));
    let sessions: Vec<_> = rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)?;
    drop(select);
    let mut repaired = Vec::new();
    // A fork comes after what it is forked from.
    for (sid, id) in sessions {
        let (last, lost, anew) = transact(db, |db| repair_session(db, sid))?;
        if let Some(id) = id.filter(|_| lost.is_some() || !anew.is_empty()) {
            repaired.push(Repaired { session: SessionId::new(id), last, lost, anew });
        }
    }
    transact(db, integrity::recount)?;
    if !index_check::check(db)?.is_empty() {
        transact(db, index_check::forget)?;
    }
    Ok(repaired)
}

/// Mends one session row: its last record, what was lost, and what was made anew.
fn repair_session(db: &mut Db, sid: i64) -> Result<(Seq, Option<String>, Vec<String>)> {
    let mut anew = Vec::new();
    if !lineage_matches(db, sid)? {
        repair_lineage(db, sid)?;
        anew.push("the name of its parent".to_owned());
    }
    let (last, mut lost) = (last_of(db, sid)?, None);
    let after = shared_end(db, sid)?;
    let good = good_end(db, Segment { sid, after, until: Seq(u64::MAX) })?;
    if good < last {
        lost = Some(format!("records {} to {last}", good.next()));
    } else if good > last {
        anew.push("its end".to_owned());
    }
    if good != last {
        end_at(db, sid, good)?;
    }
    anew.extend(make_anew(db, sid)?);
    Ok((good, lost, anew))
}

fn last_of(db: &Db, sid: i64) -> Result<Seq> {
    let last = db.connection.query_row("SELECT last FROM session WHERE sid = ?1", [sid], |row| unsigned(row, 0));
    Ok(Seq(last.map_err(failed)?))
}

/// What a fork was given says where its past is, unless nothing is there.
fn repair_lineage(db: &Db, sid: i64) -> Result<()> {
    let taken = db
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
        db.connection.execute(statement, [sid]).map_err(failed)?;
    }
    keep_given(db, sid)
}

/// Where the past of a fork ends: earlier than it did, if some of it was lost.
fn shared_end(db: &mut Db, sid: i64) -> Result<Seq> {
    let text = "SELECT s.until, p.last FROM session s JOIN session p ON p.sid = s.past WHERE s.sid = ?1";
    let row = db.connection.query_row(text, [sid], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)));
    let Some((until, end)) = row.optional().map_err(failed)? else {
        return Ok(Seq::START);
    };
    if until > end {
        remove_batches(db, sid, Seq::START)?;
        for table in ["session", "fork"] {
            let text = format!("UPDATE {table} SET until = ?2 WHERE sid = ?1");
            db.connection.execute(&text, params![sid, signed(end)]).map_err(failed)?;
        }
    }
    Ok(Seq(until.min(end)))
}

/// The last record of a segment up to which every batch is whole and in order.
fn good_end(db: &mut Db, segment: Segment) -> Result<Seq> {
    let mut good = segment.after;
    for row in rows(db, segment)? {
        let stored = row_at(db, row.at)?;
        let line = db.line(&stored).ok();
        let batch = line.and_then(|line| Batch::from_line_spelled(&line, stored.spelling).ok());
        match batch {
            Some(batch) if batch.seq == good.next() && batch.seq == seq_of(row.at) => good = batch.last(),
            _ => break,
        }
    }
    Ok(good)
}

/// Ends a session at `good`.
fn end_at(db: &mut Db, sid: i64, good: Seq) -> Result<()> {
    remove_batches(db, sid, good)?;
    let text = "UPDATE session SET last = ?2, indexed = min(indexed, ?2) WHERE sid = ?1";
    db.connection.execute(text, params![sid, signed(good.0)]).map(drop).map_err(failed)
}

/// Makes anew what is derived from a session's own batches: the counts of their rows, and what listings show. Tells what
/// had to be.
pub(super) fn make_anew(db: &mut Db, sid: i64) -> Result<Vec<String>> {
    let (listed, last) = (listing(db, sid)?, last_of(db, sid)?);
    let mut counts = 0u64;
    let told = fold(db, sid, last, |db, seen| {
        if (seen.row == seen.told && seen.spelled == Spelled::AsSaid) || seen.row.at >> 32 != sid {
            return Ok(());
        }
        counts += 1;
        let (at, before, mark) = (seen.row.at, seen.told.turns_before, seen.told.mark);
        let numbers = [before, mark.last.0, mark.turns, mark.blocks, mark.bytes].map(signed);
        let [before, last, turns, blocks, bytes] = numbers;
        let foreign = seen.spelled == Spelled::Otherwise;
        db.connection
            .prepare_cached(
                "UPDATE batch SET turns_before = ?2, last = ?3, turns = ?4, blocks = ?5, bytes = ?6, \
                 spelling = CASE WHEN ?7 THEN 1 ELSE spelling END WHERE at = ?1",
            )
            .and_then(|mut update| update.execute(params![at, before, last, turns, blocks, bytes, foreign]))
            .map(drop)
            .map_err(failed)
    })?;
    let told = told.with_times_of(&listed);
    let wrong = told.differs_in(&listed);
    let mut anew = Vec::new();
    anew.extend((counts > 0).then(|| format!("the counts of {counts} batches")));
    if !wrong.is_empty() {
        relist(db, sid, &told)?;
        anew.push(format!("the {} in the listing", wrong.join(", ")));
    }
    Ok(anew)
}

/// Puts a summary into the listing. A session that was deleted is counted, and has no name.
fn relist(db: &Db, sid: i64, told: &Summary) -> Result<()> {
    let [turns, blocks, bytes] = [told.turns, told.blocks, told.bytes].map(signed);
    let counts = params![sid, turns, blocks, bytes, told.created, told.updated];
    db.connection
        .execute(
            "UPDATE session SET turns = ?2, blocks = ?3, bytes = ?4, created = ?5, updated = ?6 WHERE sid = ?1",
            counts,
        )
        .map_err(failed)?;
    let text = "UPDATE session SET title = ?2, status = ?3 WHERE sid = ?1 AND id IS NOT NULL";
    if db.connection.execute(text, params![sid, told.title, told.status]).map_err(failed)? > 0 {
        set_tags(db, sid, &told.tags)?;
    }
    Ok(())
}
