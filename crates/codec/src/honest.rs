//! What did not survive a writing, found by reading back what was written.
//!
//! An encoder hands over the sessions it was given and the sessions that a reader would find. Every difference is a
//! loss and every loss is a difference, so a report can neither hide nor invent one.

use turnkeep_model::{Archive, Change, Loss, LossKind, diff_archives};

/// Every difference between what was to be written and what a reader finds, as losses of `holder`.
pub(crate) fn losses(archive: &Archive, back: &Archive, holder: &str) -> Vec<Loss> {
    // Comparing is much cheaper than looking for differences, and most files go back to their own format.
    if archive.sessions == back.sessions
        && archive.main == back.main
        && archive.seq.is_none()
        && archive.extra == back.extra
    {
        return Vec::new();
    }
    diff_archives(archive, back).into_iter().map(|change| loss(change, holder)).collect()
}

/// The same, where `known` losses say better what became of a place.
pub(crate) fn losses_explained(archive: &Archive, back: &Archive, holder: &str, known: &[Loss]) -> Vec<Loss> {
    let explained = |loss: Loss| known.iter().find(|better| better.at == loss.at).cloned().unwrap_or(loss);
    losses(archive, back, holder).into_iter().map(explained).collect()
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
