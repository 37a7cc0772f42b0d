//! Taking a secret out of journals, bodies, the index and caches.

use rusqlite::params;
use turnkeep_model::{Seq, SessionId};

use super::append::{hashes, put_bodies};
use super::chain::Stored;
use super::desk::Desk;
use super::pack::pack;
use super::remove::drop_bodies;
use super::schema::failed;
use crate::error::Result;
use crate::power::Erased;
use crate::scrub::{check_needle, without};

pub(super) fn erase(desk: &mut Desk, session: &SessionId, seq: Option<Seq>, needle: &str) -> Result<Erased> {
    check_needle(needle)?;
    let place = desk.must_find(session)?;
    let mut erased = Erased::default();
    for segment in desk.segments(place.sid, place.last)? {
        for first in firsts(desk, segment.sid, segment.after, segment.until)? {
            let Some(row) = desk.row_with(segment.sid, first)? else {
                continue;
            };
            if seq.is_none_or(|seq| first <= seq && seq <= row.last) {
                erase_row(desk, &row, seq, needle, &mut erased)?;
            }
        }
    }
    if !erased.records.is_empty() {
        erased.shared_with = relatives(desk, session)?;
        forget_derived(desk)?;
    }
    Ok(erased)
}

fn firsts(desk: &Desk, sid: i64, after: Seq, until: Seq) -> Result<Vec<Seq>> {
    let mut select = desk
        .connection
        .prepare_cached("SELECT at FROM batch WHERE at > ?1 AND at <= ?2 ORDER BY at")
        .map_err(failed)?;
    let range = params![super::chain::key_up_to(sid, after), super::chain::key_up_to(sid, until)];
    let rows = select.query_map(range, |row| row.get::<_, i64>(0)).map_err(failed)?;
    rows.map(|at| at.map(super::chain::seq_of)).collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Rewrites one batch without the needle, if it holds it.
fn erase_row(desk: &mut Desk, row: &Stored, only: Option<Seq>, needle: &str, erased: &mut Erased) -> Result<()> {
    let line = desk.line(row)?;
    let first = super::chain::seq_of(row.at);
    let Some((line, records)) = without(&line, first, only, needle)? else {
        return Ok(());
    };
    let packed = pack(&line, &desk.dictionaries)?;
    put_bodies(desk, &packed)?;
    drop_bodies(desk, row.bodies.as_deref().unwrap_or_default())?;
    let changed = params![row.at, packed.dictionary, packed.raw as i64, hashes(&packed), packed.data];
    desk.connection
        .execute(
            "UPDATE batch SET spelling = 0, dictionary = ?2, raw = ?3, bodies = ?4, data = ?5 WHERE at = ?1",
            changed,
        )
        .map_err(failed)?;
    erased.records.extend(records);
    Ok(())
}

/// Sessions that share a past with this one.
fn relatives(desk: &Desk, session: &SessionId) -> Result<Vec<SessionId>> {
    let mut select = desk
        .connection
        .prepare_cached(
            "WITH RECURSIVE root (sid, past) AS (SELECT sid, past FROM session WHERE id = ?1 UNION ALL \
             SELECT s.sid, s.past FROM session s, root WHERE s.sid = root.past), \
             kin (sid) AS (SELECT sid FROM root WHERE past IS NULL UNION ALL \
             SELECT s.sid FROM session s, kin WHERE s.past = kin.sid) \
             SELECT id FROM session WHERE sid IN kin AND id IS NOT NULL AND id <> ?1 ORDER BY id",
        )
        .map_err(failed)?;
    let rows = select.query_map([session.as_str()], |row| row.get::<_, String>(0)).map_err(failed)?;
    rows.map(|id| id.map(SessionId::new)).collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Drops what was derived from the journals: it is made anew without the needle.
fn forget_derived(desk: &mut Desk) -> Result<()> {
    desk.heads.clear();
    let statements =
        "DELETE FROM head; INSERT INTO words (words) VALUES ('delete-all'); UPDATE session SET indexed = 0;";
    desk.connection.execute_batch(statements).map_err(failed)
}

/// Overwrites what was freed, and empties the log, so that no file holds the bytes any more.
pub(super) fn scour(desk: &mut Desk) -> Result<()> {
    desk.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);").map_err(failed)
}
