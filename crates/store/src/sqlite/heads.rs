//! Cached heads, and windows that need nothing else of the past.
//!
//! The writer keeps the heads of sessions that are appended to in memory, and saves one every so many batches: saving each time
//! would cost as much as the append. A reader takes the newest saved head of the lineage and replays what came after.

use rusqlite::{OptionalExtension, params};
use turnkeep_model::{Batch, Head, Seq, SessionId};

use super::append::PreparedBatch;
use super::db::{Db, Resident};
use super::lineage::{Segment, SessionRow, Stored, concat_columns, key_up_to, seq_of, signed, unsigned};
use super::schema::failed;
use crate::error::Result;
use crate::packed::cached_head::{self, Saved};
use crate::window::{TurnFold, Window, take_in};

/// After how many batches a head is saved again, at least.
const OFTEN: u32 = 16;

/// A reader that replayed more batches than this has the head saved: the next one will want it too.
const WORTH: u32 = 4;

/// A head of this many bytes is saved one batch later: saving costs about the same a batch, whatever a head's size.
const BYTES_A_BATCH: usize = 1024;

/// How many batches an appender replays at most to have a head at hand.
const REPLAY: u64 = 512;

/// How many heads are held in memory.
const RESIDENTS: usize = 512;

/// Takes a batch into the head in memory, and saves that now and then. A head that is not at hand is left to readers.
pub(super) fn note(db: &mut Db, sid: i64, prepared: &PreparedBatch) -> Result<()> {
    let Some(mut resident) = resident(db, sid, prepared.at)? else {
        return Ok(());
    };
    for (seq, event) in &prepared.notes {
        if resident.head.apply(*seq, event).is_err() {
            return Ok(());
        }
    }
    resident.head.seq = prepared.effects.last;
    resident.unsaved += 1;
    let due = OFTEN.max(u32::try_from(resident.weight / BYTES_A_BATCH).unwrap_or(u32::MAX));
    if resident.unsaved >= due {
        resident.weight = save(db, sid, &resident.head)?;
        resident.unsaved = 0;
    }
    if db.heads.len() >= RESIDENTS {
        db.heads.clear();
    }
    db.heads.insert(sid, resident);
    Ok(())
}

fn resident(db: &mut Db, sid: i64, at: Seq) -> Result<Option<Resident>> {
    if let Some(resident) = db.heads.remove(&sid).filter(|resident| resident.head.seq == at) {
        return Ok(Some(resident));
    }
    if at == Seq::START {
        return Ok(Some(Resident { head: Head::default(), unsaved: 0, weight: 0 }));
    }
    let segments = db.segments(sid, at)?;
    let head = newest(db, &segments)?.unwrap_or_default();
    if at.0 - head.seq.0 > REPLAY {
        return Ok(None);
    }
    let (head, replayed) = replay(db, &segments, head)?;
    Ok(Some(Resident { head, unsaved: replayed, weight: 0 }))
}

/// Saves a head; tells how long it is.
pub(super) fn save(db: &Db, sid: i64, head: &Head) -> Result<usize> {
    let text = cached_head::text(sid, head);
    let data = db.dictionaries.compress_plain(text.as_bytes())?;
    db.connection
        .prepare_cached("INSERT OR REPLACE INTO head VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut insert| insert.execute(params![sid, signed(head.seq.0), text.len() as i64, data]))
        .map_err(failed)?;
    Ok(text.len())
}

/// The newest saved head that speaks only of what these segments hold.
fn newest(db: &Db, segments: &[Segment]) -> Result<Option<Head>> {
    for segment in segments.iter().rev() {
        // A head that cannot be read is made anew.
        if let Some(Saved { seq, head: Some(head) }) = saved(db, segment.sid)?
            && seq <= segment.until
        {
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// The saved head of a session row.
pub(super) fn saved(db: &Db, sid: i64) -> Result<Option<Saved>> {
    let mut select = db.connection.prepare_cached("SELECT seq, raw, data FROM head WHERE sid = ?1").map_err(failed)?;
    let row = select.query_row([sid], |row| Ok((Seq(unsigned(row, 0)?), unsigned(row, 1)?, row.get::<_, Vec<u8>>(2)?)));
    let row = row.optional().map_err(failed)?;
    Ok(row.map(|(seq, raw, data)| Saved::of(sid, seq, raw, &data)))
}

/// Brings a head to the end of the segments; tells how many batches that took.
fn replay(db: &mut Db, segments: &[Segment], mut head: Head) -> Result<(Head, u32)> {
    let mut replayed = 0;
    let start = head.seq;
    for segment in segments.iter().filter(|segment| segment.until > start) {
        let from = segment.after.max(head.seq).next();
        for batch in db.batches(segment.sid, from, segment.until)? {
            take_in(&mut head, &batch)?;
            replayed += 1;
        }
    }
    Ok((head, replayed))
}

/// A head at the end of a session, and whether making it took so long that it should be saved.
pub(super) struct Made {
    pub(super) sid: i64,
    pub(super) head: Head,
    pub(super) worth: Worth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    Saving,
    Nothing,
}

pub(super) fn head(db: &mut Db, session: &SessionId) -> Result<Made> {
    let session_row = db.must_find(session)?;
    let segments = db.segments(session_row.sid, session_row.last)?;
    head_of(db, &session_row, &segments)
}

fn head_of(db: &mut Db, session_row: &SessionRow, segments: &[Segment]) -> Result<Made> {
    let start = newest(db, segments)?.unwrap_or_default();
    let (head, replayed) = replay(db, segments, start)?;
    Ok(Made { sid: session_row.sid, head, worth: worth(replayed) })
}

fn worth(replayed: u32) -> Worth {
    if replayed > WORTH { Worth::Saving } else { Worth::Nothing }
}

/// The head and the last turns. Batches are read from the end backwards, until enough turns have begun; those that the
/// head lacks too are read once for both.
pub(super) fn window(db: &mut Db, session: &SessionId, turns: u32) -> Result<(Window, Made)> {
    let session_row = db.must_find(session)?;
    let segments = db.segments(session_row.sid, session_row.last)?;
    let wanted = session_row.turns.saturating_sub(u64::from(turns));
    let (rows, open) = rows_since(db, &segments, wanted)?;
    let first = rows.last().map_or(session_row.last, |row| Seq(seq_of(row.at).0.saturating_sub(1)));
    let start = newest(db, &segments)?.unwrap_or_default();
    let (mut head, mut replayed) = replay(db, &until(&segments, first), start)?;
    let mut fold = TurnFold::after(u32::try_from(open).unwrap_or(u32::MAX));
    for row in rows.iter().rev() {
        let line = db.line(row)?;
        let batch = Batch::from_line_spelled(&line, row.spelling)?;
        if row.last > head.seq {
            take_in(&mut head, &batch)?;
            replayed += 1;
        }
        fold.apply(batch)?;
    }
    let made = Made { sid: session_row.sid, head: head.clone(), worth: worth(replayed) };
    let (last, first) = fold.last(turns);
    head.session.turns = last;
    Ok((Window { head, first }, made))
}

/// These segments up to a record.
fn until(segments: &[Segment], last: Seq) -> Vec<Segment> {
    let cut = segments.iter().map(|segment| Segment { until: segment.until.min(last), ..*segment });
    cut.filter(|segment| segment.after < segment.until).collect()
}

/// The rows from the end back to the one in which the turn `wanted` opened, and how many turns were open before that.
fn rows_since(db: &Db, segments: &[Segment], wanted: u64) -> Result<(Vec<Stored>, u64)> {
    let mut select =
        db.connection.prepare_cached(concat_columns!("WHERE at > ?1 AND at <= ?2 ORDER BY at DESC")).map_err(failed)?;
    let mut found = Vec::new();
    for segment in segments.iter().rev() {
        let range = params![key_up_to(segment.sid, segment.after), key_up_to(segment.sid, segment.until)];
        let rows = select.query_map(range, Stored::read).map_err(failed)?;
        for row in rows {
            let row = row.map_err(failed)?;
            let open = row.turns_before;
            found.push(row);
            if open <= wanted {
                return Ok((found, open));
            }
        }
    }
    Ok((found, 0))
}

pub(super) fn forget(db: &mut Db) -> Result<()> {
    db.heads.clear();
    db.connection.execute("DELETE FROM head", []).map(drop).map_err(failed)
}
