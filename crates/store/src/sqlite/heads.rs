//! Cached heads, and windows that need nothing else of the past.

use rusqlite::{OptionalExtension, params};
use turnkeep_model::{Batch, Head, Seq, SessionId};

use super::append::Ready;
use super::chain::{Place, Segment, Stored, concat_columns, key_up_to, seq_of, signed, unsigned};
use super::desk::{Desk, Resident};
use super::schema::failed;
use crate::error::Result;
use crate::packed::cached::{self, Saved, take_in};
use crate::window::{TurnFold, Window};

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
pub(super) fn note(desk: &mut Desk, sid: i64, ready: &Ready) -> Result<()> {
    let Some(mut resident) = resident(desk, sid, ready.at)? else {
        return Ok(());
    };
    for (seq, event) in &ready.notes {
        if resident.head.apply(*seq, event).is_err() {
            return Ok(());
        }
    }
    resident.head.seq = ready.effects.last;
    resident.unsaved += 1;
    let due = OFTEN.max(u32::try_from(resident.weight / BYTES_A_BATCH).unwrap_or(u32::MAX));
    if resident.unsaved >= due {
        resident.weight = save(desk, sid, &resident.head)?;
        resident.unsaved = 0;
    }
    if desk.heads.len() >= RESIDENTS {
        desk.heads.clear();
    }
    desk.heads.insert(sid, resident);
    Ok(())
}

fn resident(desk: &mut Desk, sid: i64, at: Seq) -> Result<Option<Resident>> {
    if let Some(resident) = desk.heads.remove(&sid).filter(|resident| resident.head.seq == at) {
        return Ok(Some(resident));
    }
    if at == Seq::START {
        return Ok(Some(Resident { head: Head::default(), unsaved: 0, weight: 0 }));
    }
    let segments = desk.segments(sid, at)?;
    let head = newest(desk, &segments)?.unwrap_or_default();
    if at.0 - head.seq.0 > REPLAY {
        return Ok(None);
    }
    let (head, replayed) = replay(desk, &segments, head)?;
    Ok(Some(Resident { head, unsaved: replayed, weight: 0 }))
}

/// Saves a head; tells how long it is.
pub(super) fn save(desk: &Desk, sid: i64, head: &Head) -> Result<usize> {
    let text = cached::text(sid, head);
    let data = desk.dictionaries.compress_plain(text.as_bytes())?;
    desk.connection
        .prepare_cached("INSERT OR REPLACE INTO head VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut insert| insert.execute(params![sid, signed(head.seq.0), text.len() as i64, data]))
        .map_err(failed)?;
    Ok(text.len())
}

/// The newest saved head that speaks only of what these segments hold.
fn newest(desk: &Desk, segments: &[Segment]) -> Result<Option<Head>> {
    for segment in segments.iter().rev() {
        // A head that cannot be read is made anew.
        if let Some(Saved { seq, head: Some(head) }) = saved(desk, segment.sid)?
            && seq <= segment.until
        {
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// The saved head of a session row.
pub(super) fn saved(desk: &Desk, sid: i64) -> Result<Option<Saved>> {
    let mut select =
        desk.connection.prepare_cached("SELECT seq, raw, data FROM head WHERE sid = ?1").map_err(failed)?;
    let row = select.query_row([sid], |row| Ok((Seq(unsigned(row, 0)?), unsigned(row, 1)?, row.get::<_, Vec<u8>>(2)?)));
    let row = row.optional().map_err(failed)?;
    Ok(row.map(|(seq, raw, data)| Saved::of(sid, seq, raw, &data)))
}

/// Brings a head to the end of the segments; tells how many batches that took.
fn replay(desk: &mut Desk, segments: &[Segment], mut head: Head) -> Result<(Head, u32)> {
    let mut replayed = 0;
    let start = head.seq;
    for segment in segments.iter().filter(|segment| segment.until > start) {
        let from = segment.after.max(head.seq).next();
        for batch in desk.batches(segment.sid, from, segment.until)? {
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

pub(super) fn head(desk: &mut Desk, session: &SessionId) -> Result<Made> {
    let place = desk.must_find(session)?;
    let segments = desk.segments(place.sid, place.last)?;
    head_of(desk, &place, &segments)
}

fn head_of(desk: &mut Desk, place: &Place, segments: &[Segment]) -> Result<Made> {
    let start = newest(desk, segments)?.unwrap_or_default();
    let (head, replayed) = replay(desk, segments, start)?;
    Ok(Made { sid: place.sid, head, worth: worth(replayed) })
}

fn worth(replayed: u32) -> Worth {
    if replayed > WORTH { Worth::Saving } else { Worth::Nothing }
}

/// The head and the last turns. Batches are read from the end backwards, until enough turns have begun; those that the
/// head lacks too are read once for both.
pub(super) fn window(desk: &mut Desk, session: &SessionId, turns: u32) -> Result<(Window, Made)> {
    let place = desk.must_find(session)?;
    let segments = desk.segments(place.sid, place.last)?;
    let wanted = place.turns.saturating_sub(u64::from(turns));
    let (rows, open) = rows_since(desk, &segments, wanted)?;
    let first = rows.last().map_or(place.last, |row| Seq(seq_of(row.at).0.saturating_sub(1)));
    let start = newest(desk, &segments)?.unwrap_or_default();
    let (mut head, mut replayed) = replay(desk, &until(&segments, first), start)?;
    let mut fold = TurnFold::after(u32::try_from(open).unwrap_or(u32::MAX));
    for row in rows.iter().rev() {
        let line = desk.line(row)?;
        let batch = Batch::from_line_spelled(&line, row.spelling)?;
        if row.last > head.seq {
            take_in(&mut head, &batch)?;
            replayed += 1;
        }
        fold.apply(batch)?;
    }
    let made = Made { sid: place.sid, head: head.clone(), worth: worth(replayed) };
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
fn rows_since(desk: &Desk, segments: &[Segment], wanted: u64) -> Result<(Vec<Stored>, u64)> {
    let mut select = desk
        .connection
        .prepare_cached(concat_columns!("WHERE at > ?1 AND at <= ?2 ORDER BY at DESC"))
        .map_err(failed)?;
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

pub(super) fn forget(desk: &mut Desk) -> Result<()> {
    desk.heads.clear();
    desk.connection.execute("DELETE FROM head", []).map(drop).map_err(failed)
}
