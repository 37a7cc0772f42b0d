//! What did not survive a writing, found by reading back what was written.
//!
//! An encoder hands over the sessions it was given and the sessions that a reader would find. Every difference is a
//! loss and every loss is a difference, so a report can neither hide nor invent one.

use turnkeep_model::{Archive, Change, Extra, Loss, LossKind, Session, diff};

/// Every difference between what was to be written and what a reader finds, as losses of `holder`.
pub(crate) fn losses(archive: &Archive, back: &Archive, holder: &str) -> Vec<Loss> {
    let mut losses = Vec::new();
    let empty = Session::default();
    let main = archive.main as usize;
    let single = back.sessions.len() <= 1;
    for (index, session) in archive.sessions.iter().enumerate() {
        let counterpart = if single && index == main { back.main_session() } else { back.sessions.get(index) };
        match counterpart.filter(|_| !single || index == main) {
            Some(found) => changes(session, found, &archive.prefix(index), holder, &mut losses),
            None => losses.push(dropped(format!("sessions[{index}]"), holder)),
        }
    }
    if archive.sessions.is_empty() && back.main_session().is_some_and(|found| *found != empty) {
        losses.push(Loss::encode(LossKind::Synthesised, "sessions[0]", format!("{holder} always holds a session")));
    }
    if archive.main != back.main && !single {
        losses.push(Loss::encode(
            LossKind::Dropped,
            "main",
            format!("{holder} does not say which session is the main one"),
        ));
    }
    if archive.seq.is_some() {
        losses.push(dropped("seq".to_owned(), holder));
    }
    envelope(&archive.extra, &back.extra, holder, &mut losses);
    losses
}

/// What the source had around its sessions.
fn envelope(before: &Extra, after: &Extra, holder: &str, losses: &mut Vec<Loss>) {
    for (format, part) in before.parts() {
        if after.part(format) != Some(part) {
            losses.push(dropped(format!("archive.extra.{format}"), holder));
        }
    }
}

fn changes(before: &Session, after: &Session, prefix: &str, holder: &str, losses: &mut Vec<Loss>) {
    if before == after {
        return;
    }
    losses.extend(diff(before, after).iter().map(|change| loss(change, prefix, holder)));
}

fn loss(change: &Change, prefix: &str, holder: &str) -> Loss {
    let (kind, what) = match (&change.before, &change.after) {
        (Some(_), None) => (LossKind::Dropped, format!("{holder} has no place for it")),
        (None, _) => (LossKind::Synthesised, format!("{holder} cannot leave it out")),
        (Some(_), Some(_)) => (LossKind::Coerced, format!("{holder} holds it in another form")),
    };
    Loss::encode(kind, format!("{prefix}{}", change.at), what)
}

fn dropped(at: String, holder: &str) -> Loss {
    Loss::encode(LossKind::Dropped, at, format!("{holder} has no place for it"))
}
