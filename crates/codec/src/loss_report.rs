//! What did not survive a writing, found by reading back what was written.
//!
//! An encoder hands over the sessions it was given and the sessions that a reader would find. Every difference is a
//! loss and every loss is a difference, so a report can neither hide nor invent one.

use std::collections::HashMap;

use turnkeep_model::{Archive, Change, Loss, LossKind, each_archive_change};

/// Every difference between what was to be written and what a reader finds, as losses of `holder`.
///
/// An encoder that decodes what it wrote and returns this can neither hide a loss nor invent one.
pub fn losses(archive: &Archive, back: &Archive, holder: &str) -> Vec<Loss> {
    // Comparing is much cheaper than looking for differences, and most files go back to their own format.
    if archive.sessions == back.sessions
        && archive.main == back.main
        && archive.seq.is_none()
        && archive.extra == back.extra
    {
        return Vec::new();
    }
    let mut losses = Vec::new();
    each_archive_change(archive, back, &mut |change| losses.push(loss(change, holder)));
    losses
}

/// The same, where `known` losses say better what became of a place.
pub(crate) fn losses_explained(archive: &Archive, back: &Archive, holder: &str, known: &[Loss]) -> Vec<Loss> {
    // The first that speaks of a place counts.
    let known: HashMap<&str, &Loss> = known.iter().rev().map(|better| (better.at.as_str(), better)).collect();
    let mut losses = losses(archive, back, holder);
    losses.iter_mut().for_each(|loss| {
        if let Some(better) = known.get(loss.at.as_str()) {
            *loss = Loss::clone(better);
        }
    });
    losses
}

fn loss(change: Change, holder: &str) -> Loss {
    let (kind, what) = match (&change.before, &change.after) {
        (Some(_), None) => (LossKind::Dropped, format!("{holder} has no place for it")),
        (None, _) => (LossKind::Synthesised, format!("{holder} cannot leave it out")),
        (Some(_), Some(_)) if change.at.ends_with("].call") => {
            (LossKind::Renamed, format!("{holder} has another id for the call"))
        }
        (Some(_), Some(_)) => (LossKind::Coerced, format!("{holder} holds it in another form")),
    };
    Loss::encode(kind, change.at.clone(), what).of_change(&change)
}
