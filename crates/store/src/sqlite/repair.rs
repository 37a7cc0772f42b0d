//! What is wrong inside the database, and saving what can be saved.

use rusqlite::params;
use turnkeep_model::{Batch, Seq, SessionId};

use super::append::set_tags;
use super::chain::{Segment, key_up_to, seq_of, signed, unsigned};
use super::desk::{Desk, transact};
use super::remove::remove_batches;
use super::schema::failed;
use crate::error::Result;
use crate::power::Repaired;
use crate::summary::{Effects, Summary};
use crate::verify::Finding;

pub(super) fn check(desk: &mut Desk, session: Option<&SessionId>) -> Result<Vec<Finding>> {
    let Some(session) = session else {
        return check_all(desk);
    };
    let place = desk.must_find(session)?;
    let end = desk.segments(place.sid, place.last)?.last().map_or(Seq::START, |segment| segment.until);
    if end == place.last {
        return Ok(Vec::new());
    }
    Ok(vec![Finding::Gap { session: session.clone(), due: end.next(), found: place.last }])
}

fn check_all(desk: &mut Desk) -> Result<Vec<Finding>> {
    let stale = |what: String| Finding::Stale { what };
    let mut findings = Vec::new();
    let mut select = desk.connection.prepare("PRAGMA quick_check(20)").map_err(failed)?;
    let lines = select.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
    for line in lines {
        let what = line.map_err(failed)?;
        if what != "ok" {
            findings.push(Finding::Damaged { session: None, seq: None, what });
        }
    }
    drop(select);
    let uses = uses(desk)?;
    let mut select = desk.connection.prepare("SELECT hash, refs FROM body").map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, unsigned(row, 1)?))).map_err(failed)?;
    for row in rows {
        let (hash, refs) = row.map_err(failed)?;
        let used = uses.get(&hash).copied().unwrap_or_default();
        if used != refs {
            findings.push(stale(format!("a body is used {used} times and counted {refs}")));
        }
    }
    Ok(findings)
}

/// How often every body is used.
fn uses(desk: &Desk) -> Result<std::collections::HashMap<Vec<u8>, u64>> {
    let mut uses = std::collections::HashMap::new();
    let mut select = desk.connection.prepare("SELECT bodies FROM batch WHERE bodies IS NOT NULL").map_err(failed)?;
    let rows = select.query_map([], |row| row.get::<_, Vec<u8>>(0)).map_err(failed)?;
    for row in rows {
        for hash in row.map_err(failed)?.chunks(32) {
            *uses.entry(hash.to_vec()).or_insert(0) += 1;
        }
    }
    Ok(uses)
}

/// Keeps of every damaged journal what comes before the damage, and makes anew what is derived.
pub(super) fn repair(desk: &mut Desk) -> Result<Vec<Repaired>> {
    let mut select =
        desk.connection.prepare("SELECT sid, id, last, until FROM session ORDER BY sid").map_err(failed)?;
    let rows = select.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?, Seq(unsigned(row, 2)?), Seq(unsigned(row, 3)?)))
    });
    let sessions: Vec<_> = rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)?;
    drop(select);
    let mut repaired = Vec::new();
    for (sid, id, last, until) in sessions {
        let segment = Segment { sid, after: until, until: last };
        let good = good_end(desk, segment)?;
        if good < last {
            transact(desk, |desk| cut(desk, sid, good))?;
            let lost = format!("records {} to {last}", good.next());
            repaired.extend(id.map(|id| Repaired { session: SessionId::new(id), last: good, lost }));
        }
        transact(desk, |desk| list_anew(desk, sid, good))?;
    }
    transact(desk, recount)?;
    Ok(repaired)
}

/// The last record of a segment up to which every batch is whole and in order.
fn good_end(desk: &mut Desk, segment: Segment) -> Result<Seq> {
    let mut good = segment.after;
    for first in firsts(desk, segment)? {
        let row = desk.row_with(segment.sid, first)?;
        let batch = row.as_ref().and_then(|row| {
            let line = desk.line(row).ok()?;
            Batch::from_line_spelled(&line, row.spelling).ok()
        });
        match (batch, row) {
            (Some(batch), Some(row)) if batch.seq == good.next() && batch.last() == row.last => good = row.last,
            _ => break,
        }
    }
    Ok(good)
}

fn firsts(desk: &Desk, segment: Segment) -> Result<Vec<Seq>> {
    let mut select = desk
        .connection
        .prepare_cached("SELECT at FROM batch WHERE at > ?1 AND at <= ?2 ORDER BY at")
        .map_err(failed)?;
    let range = params![key_up_to(segment.sid, segment.after), key_up_to(segment.sid, segment.until)];
    let rows = select.query_map(range, |row| row.get::<_, i64>(0)).map_err(failed)?;
    rows.map(|at| at.map(seq_of)).collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Cuts a session off after `good`, with the forks that leave it later.
fn cut(desk: &mut Desk, sid: i64, good: Seq) -> Result<()> {
    remove_batches(desk, sid, good)?;
    let text = "UPDATE session SET last = ?2, indexed = min(indexed, ?2) WHERE sid = ?1";
    desk.connection.execute(text, params![sid, signed(good.0)]).map(drop).map_err(failed)
}

/// Makes anew what listings show of a session: its counts, and what it is called unless a fork has that from its parent.
fn list_anew(desk: &mut Desk, sid: i64, last: Seq) -> Result<()> {
    let mut summary = Summary::new(SessionId::new(""));
    for segment in desk.segments(sid, last)? {
        desk.each_line(segment.sid, segment.after.next(), segment.until, |_, line, spelling| {
            let batch = Batch::from_line_spelled(line, spelling)?;
            summary.apply(&Effects::of(&batch, line.len()), 0);
            Ok(())
        })?;
    }
    desk.connection
        .execute(
            "UPDATE session SET turns = ?2, blocks = ?3, bytes = ?4 WHERE sid = ?1",
            params![sid, signed(summary.turns), signed(summary.blocks), signed(summary.bytes)],
        )
        .map_err(failed)?;
    let text = "UPDATE session SET title = ?2, status = ?3 WHERE sid = ?1 AND past IS NULL AND id IS NOT NULL";
    if desk.connection.execute(text, params![sid, summary.title, summary.status]).map_err(failed)? > 0 {
        set_tags(desk, sid, &summary.tags)?;
    }
    Ok(())
}

/// Counts the uses of bodies anew, and drops cached heads.
fn recount(desk: &mut Desk) -> Result<()> {
    let uses = uses(desk)?;
    desk.connection.execute("UPDATE body SET refs = 0", []).map_err(failed)?;
    for (hash, count) in uses {
        let counted = params![hash, signed(count)];
        desk.connection.execute("UPDATE body SET refs = ?2 WHERE hash = ?1", counted).map_err(failed)?;
    }
    desk.connection.execute("DELETE FROM body WHERE refs = 0", []).map_err(failed)?;
    super::heads::forget(desk)
}
