//! What did not survive a writing, found by reading back what was written.
//!
//! An encoder hands over the sessions it was given and the sessions that a reader would find. Every difference is a
//! loss and every loss is a difference, so a report can neither hide nor invent one.

use turnkeep_model::{Archive, Change, Loss, LossKind, diff_archives};

/// Every difference between what was to be written and what a reader finds, as losses of `holder`.
pub(crate) fn losses(archive: &Archive, back: &Archive, holder: &str) -> Vec<Loss> {
    diff_archives(archive, back).into_iter().map(|change| loss(change, holder)).collect()
}

fn loss(change: Change, holder: &str) -> Loss {
    let (kind, what) = match (&change.before, &change.after) {
        (Some(_), None) => (LossKind::Dropped, format!("{holder} has no place for it")),
        (None, _) => (LossKind::Synthesised, format!("{holder} cannot leave it out")),
        (Some(_), Some(_)) => (LossKind::Coerced, format!("{holder} holds it in another form")),
    };
    Loss::encode(kind, change.at, what)
}
