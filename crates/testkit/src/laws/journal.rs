//! What holds for journals.

use proptest::prelude::*;
use proptest::sample::Index;
use turnkeep_codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Input, format};
use turnkeep_model::{Archive, Journal, Ledger, Result as ModelResult, Snapshot, fold};

use crate::generate;
use crate::property::for_all;

/// The journal made of a session folds to it.
pub fn made_of_a_session_folds_to_it() {
    for_all(300, &generate::session(), |session| {
        let journal = Journal::of(&session);
        prop_assert!(journal.check().is_ok());
        prop_assert_eq!(fold(&journal).ok(), Some(session));
        Ok(())
    });
}

/// Folding and keeping the ledger never panics, and the ledger knows every intended call.
pub fn folds_and_keeps_a_ledger() {
    for_all(200, &generate::journal(), |journal| {
        prop_assert!(fold(&journal).is_ok());
        let intended = journal.records().filter_map(|record| match record.event {
            turnkeep_model::Event::ToolIntended(intended) => Some(intended.call),
            _ => None,
        });
        let ledger = Ledger::of(&journal);
        prop_assert!(intended.into_iter().all(|call| ledger.get(&call).is_some()));
        Ok(())
    });
}

/// A snapshot is read as it was written.
pub fn snapshots_survive() {
    for_all(100, &(generate::session(), 0..9u64), |(session, seq)| {
        let snapshot = Snapshot { session, seq: turnkeep_model::Seq(seq) };
        let read =
            Snapshot::from_json(&snapshot.to_json()).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        prop_assert_eq!(read, (snapshot, Vec::new()));
        Ok(())
    });
}

fn codec() -> ModelResult<&'static dyn Codec> {
    format::by_id("turnkeep.jsonl")
}

fn written(journal: &Journal) -> Result<Vec<u8>, TestCaseError> {
    let archive = || {
        let session = fold(journal)?;
        let archive = Archive { journal: Some(Box::new(journal.clone())), ..Archive::from(session) };
        codec()?.encode(&archive, &EncodeOptions::default())
    };
    archive().map(|encoded| encoded.bytes).map_err(|error| TestCaseError::fail(format!("{error:?}")))
}

fn read(bytes: &[u8]) -> ModelResult<Decoded> {
    codec()?.decode(Input::new(bytes), &DecodeOptions::default())
}

/// A journal that was cut off at any byte after its first line gives its whole batches, and says what it dropped.
pub fn a_torn_journal_gives_whole_batches() {
    for_all(60, &(generate::journal(), proptest::collection::vec(any::<Index>(), 12)), |(journal, cuts)| {
        let bytes = written(&journal)?;
        let head = bytes.iter().position(|byte| *byte == b'\n').unwrap_or_default();
        let edges = [0, 1, head, head + 1, bytes.len() - 1, bytes.len()];
        for cut in cuts.iter().map(|cut| cut.index(bytes.len())).chain(edges) {
            check_cut(&journal, &bytes, head, cut)?;
        }
        Ok(())
    });
}

fn check_cut(journal: &Journal, bytes: &[u8], head: usize, cut: usize) -> Result<(), TestCaseError> {
    let kept = bytes.get(..cut).unwrap_or(bytes);
    let Ok(Decoded { archive, losses }) = read(kept) else {
        prop_assert!(cut < head, "cut at {cut}, after the first line, and refused");
        return Ok(());
    };
    // A line that lacks only its line break is whole.
    let whole = bytes.get(..cut + 1).unwrap_or(bytes);
    let lines = whole.iter().filter(|byte| **byte == b'\n').count();
    let wanted: Vec<_> = journal.batches.iter().take(lines.saturating_sub(1)).cloned().collect();
    prop_assert_eq!(&archive.journal.map(|journal| journal.batches).unwrap_or_default(), &wanted);
    let torn = !kept.ends_with(b"\n") && !whole.ends_with(b"\n");
    prop_assert_eq!(!losses.is_empty(), torn, "cut at {}: {:?}", cut, losses);
    Ok(())
}

/// A flipped bit in a line is found by its sum.
///
/// The four letters of the key `sum` and its quote are the exception: a line without a sum is taken as edited by hand.
pub fn a_flipped_bit_is_found() {
    let places = proptest::collection::vec((any::<Index>(), 0..8u8), 12);
    for_all(60, &(generate::journal(), places), |(journal, places)| {
        let bytes = written(&journal)?;
        let head = bytes.iter().position(|byte| *byte == b'\n').unwrap_or_default() + 1;
        for (at, bit) in places {
            if head < bytes.len() {
                check_flip(&bytes, head + at.index(bytes.len() - head), bit)?;
            }
        }
        Ok(())
    });
}

fn check_flip(bytes: &[u8], at: usize, bit: u8) -> Result<(), TestCaseError> {
    if is_in_sum_key(bytes, at) {
        return Ok(());
    }
    let mut flipped = bytes.to_vec();
    flipped.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
    match read(&flipped) {
        Err(_) => Ok(()),
        Ok(decoded) => {
            prop_assert!(!decoded.losses.is_empty(), "bit {bit} of byte {at} was not found");
            Ok(())
        }
    }
}

/// Whether the byte is one of the key of a line's sum.
fn is_in_sum_key(bytes: &[u8], at: usize) -> bool {
    let end = bytes.iter().skip(at).position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length);
    let from_end = end.saturating_sub(at);
    // `"sum":"0123456789abcdef"}` ends the line: the key's three letters.
    (22..=24).contains(&from_end)
}
