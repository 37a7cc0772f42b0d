//! A batch, prepared on the thread of whoever appends it, so that the one connection that writes has little to do.

use turnkeep_model::{Batch, Event, Head, Seq, SessionId, Spelling};

use super::dictionary::Dictionaries;
use super::pack::{Packed, pack};
use crate::checksum;
use crate::error::Result;
use crate::store::{check_batch, check_size};
use crate::summary::Effects;

/// A batch, prepared by whoever appends it: checked, counted and compressed.
pub(crate) struct PreparedBatch {
    pub(crate) session: SessionId,
    pub(crate) at: Seq,
    pub(crate) first: Seq,
    pub(crate) spelling: Written,
    pub(crate) packed: Packed,
    /// What was packed.
    pub(crate) line: String,
    pub(crate) effects: Effects,
    /// The events that concern the head.
    pub(crate) notes: Vec<(Seq, Event)>,
}

/// Checks a batch, and prepares it and its line.
pub(crate) fn prepare(
    session: &SessionId,
    at: Seq,
    batch: &Batch,
    limit: usize,
    dictionaries: &Dictionaries,
) -> Result<PreparedBatch> {
    check_batch(session, at, batch)?;
    let line = batch.to_line();
    check_size(session, line.len(), limit)?;
    let effects = Effects::of(batch, line.len());
    let spelling = Written::of(batch, &line);
    let line = match spelling {
        Written::ForeignChecksummed => checksum::stored_line(line),
        Written::Ours | Written::Foreign => line,
    };
    Ok(PreparedBatch {
        session: session.clone(),
        at,
        first: batch.seq,
        spelling,
        packed: pack(&line, dictionaries)?,
        effects,
        notes: notes(batch),
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

/// How the line of a row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// As writing its batch gives it, with its sum.
    Ours,
    /// As someone else spelled it. Older versions kept lines without a sum like that, too.
    Foreign,
    /// As someone else spelled it, without a sum; it is stored with a borrowed one.
    ForeignChecksummed,
}

impl Written {
    fn of(batch: &Batch, line: &str) -> Written {
        match batch.spelling() {
            Spelling::Ours => Written::Ours,
            Spelling::Foreign if checksum::has_own(line) => Written::Foreign,
            Spelling::Foreign => Written::ForeignChecksummed,
        }
    }

    /// What a row says by this number.
    pub(crate) fn from_number(number: i64) -> Option<Written> {
        match number {
            0 => Some(Written::Ours),
            1 => Some(Written::Foreign),
            2 => Some(Written::ForeignChecksummed),
            _ => None,
        }
    }

    /// The line as it was given.
    pub(crate) fn given(self, line: String) -> Result<String> {
        match self {
            Written::Ours | Written::Foreign => Ok(line),
            Written::ForeignChecksummed => Ok(checksum::original_line(&line)?.into_owned()),
        }
    }
}

impl From<Written> for Spelling {
    fn from(written: Written) -> Spelling {
        match written {
            Written::Ours => Spelling::Ours,
            Written::Foreign | Written::ForeignChecksummed => Spelling::Foreign,
        }
    }
}

pub(crate) fn spelling_number(written: Written) -> i64 {
    match written {
        Written::Ours => 0,
        Written::Foreign => 1,
        Written::ForeignChecksummed => 2,
    }
}

/// Whether a row says how its line is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelled {
    AsSaid,
    Otherwise,
}

impl Spelled {
    /// A line that its row says to be ours must be what writing its batch gives.
    pub(crate) fn of(batch: &Batch, line: &str, said: Spelling) -> Spelled {
        let same = said == Spelling::Foreign || batch.to_line() == line;
        if same { Spelled::AsSaid } else { Spelled::Otherwise }
    }
}

/// The hashes of the bodies of a line, one after the other.
pub(crate) fn hashes(packed: &Packed) -> Option<Vec<u8>> {
    let hashes: Vec<u8> = packed.bodies.iter().flat_map(|body| body.hash).collect();
    if hashes.is_empty() { None } else { Some(hashes) }
}
