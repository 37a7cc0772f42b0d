//! Cached heads, and windows that need nothing else of the past.

use std::collections::HashMap;
use std::sync::Arc;

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use turnkeep_model::{Head, Seq, SessionId};

use super::append::Landed;
use super::base::Base;
use super::lineage::{Segment, SessionRow, Stored, batches, must_find, parse, rows, segments};
use super::sql::{execute, get, query, query_opt, signed, unsigned};
use crate::error::Result;
use crate::packed::cached_head::{self, Saved};
use crate::packed::prepared::PreparedBatch;
use crate::thread_pool::lock;
use crate::window::{TurnFold, Window, take_in};

/// After how many batches a head is saved again, at least.
const OFTEN: u32 = 16;

/// A head of this many bytes is saved one batch later: saving costs about the same a batch, whatever a head's size.
const BYTES_A_BATCH: usize = 1024;

/// How many heads are held in memory.
const RESIDENTS: usize = 512;

/// Heads of sessions that this process appends to or reads, by their rows.
pub(super) type Residents = HashMap<i64, Resident>;

/// A head in memory, and how many batches it has taken in since it was saved.
pub(super) struct Resident {
    head: Head,
    epoch: i64,
    unsaved: u32,
    weight: usize,
}

/// Takes a batch into the head in memory, and saves that now and then. A head that is not at hand is left to readers.
pub(super) fn note(base: &Arc<Base>, landed: Landed, prepared: &PreparedBatch) {
    let mut residents = lock(&base.heads);
    let resident = match residents.remove(&landed.sid) {
        Some(resident) if resident.head.seq == prepared.at && resident.epoch == landed.epoch => Some(resident),
        _ if prepared.at == Seq::START => {
            Some(Resident { head: Head::default(), epoch: landed.epoch, unsaved: 0, weight: 0 })
        }
        _ => None,
    };
    let Some(mut resident) = resident else {
        return;
    };
    if prepared.notes.iter().any(|(seq, event)| resident.head.apply(*seq, event).is_err()) {
        return;
    }
    resident.head.seq = prepared.effects.last;
    resident.unsaved += 1;
    if resident.unsaved >= OFTEN.max(u32::try_from(resident.weight / BYTES_A_BATCH).unwrap_or(u32::MAX)) {
        resident.unsaved = 0;
        resident.weight = save_aside(base, landed, &resident.head);
    }
    keep(&mut residents, landed.sid, resident);
}

fn keep(residents: &mut Residents, sid: i64, resident: Resident) {
    if residents.len() >= RESIDENTS {
        residents.clear();
    }
    residents.insert(sid, resident);
}

/// Saves a head beside everything else: nobody waits for a cache. Tells how long it is.
fn save_aside(base: &Arc<Base>, landed: Landed, head: &Head) -> usize {
    let (text, seq, base) = (cached_head::text(landed.sid, head), head.seq, Arc::clone(base));
    let weight = text.len();
    tokio::spawn(async move { save(&base, landed, seq, &text).await });
    weight
}

async fn save(base: &Base, landed: Landed, seq: Seq, text: &str) -> Result<()> {
    let data = base.dictionaries.compress_plain(text.as_bytes())?;
    let client = base.client().await?;
    // Not if the session was changed in another way since: the head may speak of what is no longer there. A cache need not
    // be on the disk before the next append may go on.
    let save = "WITH hasty AS (SELECT set_config('synchronous_commit', 'off', true)) INSERT INTO head (sid, seq, raw, data) \
         SELECT sid, $2, $3, $4 FROM session, hasty WHERE sid = $1 AND epoch = $5 FOR SHARE OF session \
         ON CONFLICT (sid) DO UPDATE SET seq = excluded.seq, raw = excluded.raw, data = excluded.data \
         WHERE head.seq < excluded.seq";
    let (seq, raw) = (signed(seq.0), signed(text.len() as u64));
    execute(&client, save, &[&landed.sid, &seq, &raw, &data, &landed.epoch]).await.map(drop)
}

/// The newest saved head that speaks only of what these segments hold.
async fn newest(client: &impl GenericClient, segments: &[Segment]) -> Result<Option<Head>> {
    let sids: Vec<i64> = segments.iter().map(|segment| segment.sid).collect();
    let rows = query(client, "SELECT sid, seq, raw, data FROM head WHERE sid = ANY($1)", &[&sids]).await?;
    for segment in segments.iter().rev() {
        let row = rows.iter().find(|row| get::<i64>(row, 0).is_ok_and(|sid| sid == segment.sid));
        // A head that cannot be read is made anew.
        if let Some(Saved { seq, head: Some(head) }) = row.map(read).transpose()?
            && seq <= segment.until
        {
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// The saved head of a session row.
pub(super) async fn saved(client: &impl GenericClient, sid: i64) -> Result<Option<Saved>> {
    let row = query_opt(client, "SELECT sid, seq, raw, data FROM head WHERE sid = $1", &[&sid]).await?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Saved> {
    Ok(Saved::of(get(row, 0)?, Seq(unsigned(row, 1)?), unsigned(row, 2)?, get(row, 3)?))
}

/// How much of a journal is replayed at once.
const STEP: u64 = 500;

/// Brings a head to the end of the segments; tells how many batches that took.
async fn replay(client: &impl GenericClient, base: &Base, segments: &[Segment], head: &mut Head) -> Result<u32> {
    let mut replayed = 0;
    for segment in segments {
        while head.seq < segment.until {
            let after = segment.after.max(head.seq);
            let until = Seq(after.0.saturating_add(STEP)).min(segment.until);
            let batches = batches(client, base, Segment { sid: segment.sid, after, until }).await?;
            if batches.is_empty() {
                break;
            }
            for batch in &batches {
                take_in(head, batch)?;
                replayed += 1;
            }
        }
    }
    Ok(replayed)
}

/// The head of a session at its end.
pub(super) async fn head(base: &Arc<Base>, session: &SessionId) -> Result<Head> {
    let client = base.client().await?;
    let session_row = must_find(&client, session).await?;
    let segments = segments(&client, &session_row).await?;
    head_of(&client, base, &session_row, &segments).await
}

async fn head_of(
    client: &impl GenericClient,
    base: &Arc<Base>,
    session_row: &SessionRow,
    segments: &[Segment],
) -> Result<Head> {
    let fits = |resident: &&Resident| resident.head.seq == session_row.last && resident.epoch == session_row.epoch;
    if let Some(head) = lock(&base.heads).get(&session_row.sid).filter(fits).map(|resident| resident.head.clone()) {
        return Ok(head);
    }
    let mut head = newest(client, segments).await?.unwrap_or_default();
    let replayed = replay(client, base, segments, &mut head).await?;
    let landed = Landed { sid: session_row.sid, epoch: session_row.epoch };
    let weight = if replayed > OFTEN { save_aside(base, landed, &head) } else { 0 };
    let resident = Resident { head: head.clone(), epoch: session_row.epoch, unsaved: 0, weight };
    keep(&mut lock(&base.heads), session_row.sid, resident);
    Ok(head)
}

/// The head and the last turns. Batches are read from the one in which the first of them opened.
pub(super) async fn window(base: &Arc<Base>, session: &SessionId, turns: u32) -> Result<Window> {
    let client = base.client().await?;
    let session_row = must_find(&client, session).await?;
    let segments = segments(&client, &session_row).await?;
    let mut head = head_of(&client, base, &session_row, &segments).await?;
    let wanted = session_row.turns.saturating_sub(u64::from(turns));
    let rows = rows_since(&client, &segments, wanted).await?;
    let open = rows.first().map_or(0, |row| row.turns_before);
    let mut fold = TurnFold::after(u32::try_from(open).unwrap_or(u32::MAX));
    for batch in parse(&client, base, &rows).await? {
        fold.apply(batch)?;
    }
    let (last, first) = fold.last(turns);
    head.session.turns = last;
    Ok(Window { head, first })
}

/// The rows from the one in which the turn `wanted` opened to the end.
async fn rows_since(client: &impl GenericClient, segments: &[Segment], wanted: u64) -> Result<Vec<Stored>> {
    let text = rows!(
        "WHERE sid = $1 AND first > $2 AND first <= $3 AND first >= coalesce((SELECT b.first FROM batch b \
         WHERE b.sid = $1 AND b.first > $2 AND b.first <= $3 AND b.turns_before <= $4 \
         ORDER BY b.first DESC LIMIT 1), 0) ORDER BY first"
    );
    let mut found = Vec::new();
    for segment in segments.iter().rev() {
        let (after, until) = (signed(segment.after.0), signed(segment.until.0));
        let rows = query(client, text, &[&segment.sid, &after, &until, &signed(wanted)]).await?;
        let mut part: Vec<Stored> = rows.iter().map(Stored::read).collect::<Result<_>>()?;
        part.append(&mut found);
        found = part;
        if found.first().is_some_and(|row| row.turns_before <= wanted) {
            break;
        }
    }
    Ok(found)
}

/// Drops every cached head.
pub(super) async fn forget(base: &Base) -> Result<()> {
    lock(&base.heads).clear();
    execute(&base.client().await?, "DELETE FROM head", &[]).await.map(drop)
}
