//! A batch made ready by whoever appends it, so that the database has little to do.

use turnkeep_model::{Batch, Event, Head, Seq, SessionId, Spelling};

use super::dictionary::Dictionaries;
use super::pack::{Packed, pack};
use crate::error::Result;
use crate::store::{check_batch, check_size};
use crate::summary::Effects;

/// A batch, made ready by whoever appends it.
pub(crate) struct Ready {
    pub(crate) session: SessionId,
    pub(crate) at: Seq,
    pub(crate) first: Seq,
    pub(crate) spelling: Spelling,
    pub(crate) packed: Packed,
    /// What was packed.
    #[cfg(feature = "sqlite")]
    pub(crate) line: String,
    pub(crate) effects: Effects,
    /// The events that concern the head.
    pub(crate) notes: Vec<(Seq, Event)>,
}

/// A line, and the batch it is of, made ready.
pub(crate) fn ready(
    session: &SessionId,
    at: Seq,
    batch: &Batch,
    limit: usize,
    dictionaries: &Dictionaries,
) -> Result<Ready> {
    check_batch(session, at, batch)?;
    let line = batch.to_line();
    check_size(session, line.len(), limit)?;
    Ok(Ready {
        session: session.clone(),
        at,
        first: batch.seq,
        spelling: batch.spelling(),
        packed: pack(&line, dictionaries)?,
        effects: Effects::of(batch, line.len()),
        notes: notes(batch),
        #[cfg(feature = "sqlite")]
        line,
    })
}

/// What a head needs of a batch; of turns only that they opened.
fn notes(batch: &Batch) -> Vec<(Seq, Event)> {
    let numbered = batch.events.iter().zip(batch.seq.0..).map(|(entry, seq)| (Seq(seq), &entry.event));
    numbered.filter(|(_, event)| Head::concerns(event)).map(|(seq, event)| (seq, note(event))).collect()
}

fn note(event: &Event) -> Event {
    match event {
        Event::TurnOpened(_) => Event::TurnOpened(turnkeep_model::event::TurnOpened::default()),
        other => other.clone(),
    }
}

pub(crate) fn spelling_number(spelling: Spelling) -> i64 {
    match spelling {
        Spelling::Ours => 0,
        Spelling::Foreign => 1,
    }
}

/// The hashes of the bodies of a line, one after the other.
pub(crate) fn hashes(packed: &Packed) -> Option<Vec<u8>> {
    let hashes: Vec<u8> = packed.bodies.iter().flat_map(|body| body.hash).collect();
    if hashes.is_empty() { None } else { Some(hashes) }
}
