//! From events to the session: the only way in which a session changes.
//!
//! A fold has no memory beside the session: the same journal gives the same session in every store and process, and a
//! cache of any prefix can be thrown away. What is known of calls and requests is not part of the session; the
//! [`Ledger`](crate::Ledger) folds that from the same events.

use crate::error::{Error, ErrorKind, Result};
use crate::event::{
    BlockAdded, Event, ModelFailed, RunStopped, SessionChanged, SessionCondensed, SliceChanged, SliceOp, TurnClosed,
};
use crate::journal::Journal;
use crate::session::{Session, Slice, Turn};

/// The session that a journal tells of.
///
/// # Errors
/// `Corrupt` where an event speaks of something that is not there.
pub fn fold(journal: &Journal) -> Result<Session> {
    fold_where(journal, |_| true)
}

/// The session that a journal tells of, with every turn that a summary stands for as it was.
///
/// # Errors
/// As [`fold`].
pub fn expanded(journal: &Journal) -> Result<Session> {
    fold_where(journal, |event| !matches!(event, Event::SessionCondensed(_)))
}

fn fold_where(journal: &Journal, counts: impl Fn(&Event) -> bool) -> Result<Session> {
    journal.check()?;
    let mut session = Session { id: journal.session.clone(), ..Session::default() };
    for batch in &journal.batches {
        for (entry, seq) in batch.events.iter().zip(batch.seq.0..).filter(|(entry, _)| counts(&entry.event)) {
            apply(&mut session, &entry.event).map_err(|error| error.path(format!("seq {seq}")))?;
        }
    }
    Ok(session)
}

/// Applies one event that nobody else needs: what is said in it is moved, not copied.
///
/// # Errors
/// `Corrupt` where it speaks of something that is not there.
pub fn absorb(session: &mut Session, event: Event) -> Result<()> {
    match event {
        Event::TurnOpened(opened) => session.turns.push(*opened.turn),
        Event::BlockAdded(BlockAdded { turn: index, block }) => turn(session, index)?.blocks.push(block),
        other => return apply(session, &other),
    }
    Ok(())
}

/// Applies one event.
///
/// # Errors
/// `Corrupt` where it speaks of something that is not there.
pub fn apply(session: &mut Session, event: &Event) -> Result<()> {
    match event {
        Event::SessionOpened(opened) => *session = Session::clone(&opened.session),
        Event::SessionChanged(changed) => change(session, changed),
        Event::SessionCondensed(condensed) => {
            let SessionCondensed { from, to, block, .. } = condensed;
            crate::policy::condense::replace(session, *from, *to, block.clone())?;
        }
        Event::RunStarted(started) => session.runs.push(started.run.clone()),
        Event::RunStopped(stopped) => stop(session, stopped),
        Event::TurnOpened(opened) => session.turns.push(Turn::clone(&opened.turn)),
        Event::TurnClosed(closed) => close(turn(session, closed.turn)?, closed),
        Event::BlockAdded(BlockAdded { turn: index, block }) => turn(session, *index)?.blocks.push(block.clone()),
        Event::ModelFailed(failed) => keep_partial(session, failed)?,
        Event::SliceChanged(changed) => change_slice(session, changed),
        Event::LogAdded(added) => session.logs.push(added.line.clone()),
        Event::UsageAdded(added) => session.usage += &added.usage,
        // What is known of calls and requests is the ledger's. The list is written out, so that a new event cannot be
        // forgotten here.
        Event::EndpointChosen(_)
        | Event::ModelAsked(_)
        | Event::ModelAnswered(_)
        | Event::LossNoted(_)
        | Event::ToolIntended(_)
        | Event::ToolSettled(_)
        | Event::ToolResolved(_)
        | Event::ApprovalAsked(_)
        | Event::ApprovalGiven(_)
        | Event::CompensationIntended(_)
        | Event::CompensationSettled(_)
        | Event::Other { .. } => {}
    }
    Ok(())
}

fn turn(session: &mut Session, index: u32) -> Result<&mut Turn> {
    let missing =
        || Error::new(ErrorKind::Corrupt, format!("the journal speaks of turn {index}, which was never opened"));
    session.turns.get_mut(index as usize).ok_or_else(missing)
}

fn replace<T: Clone>(slot: &mut T, with: &Option<T>) {
    if let Some(value) = with {
        *slot = value.clone();
    }
}

fn change(session: &mut Session, changed: &SessionChanged) {
    session.title = changed.title.clone().or(session.title.take());
    session.prompt = changed.prompt.clone().or(session.prompt.take());
    session.response_format = changed.response_format.clone().or(session.response_format.take());
    session.status = changed.status.clone().or(session.status.take());
    replace(&mut session.options, &changed.options);
    replace(&mut session.tools, &changed.tools);
    replace(&mut session.timing, &changed.timing);
    replace(&mut session.tags, &changed.tags);
    replace(&mut session.metadata, &changed.metadata);
}

fn stop(session: &mut Session, stopped: &RunStopped) {
    // An import may tell of the end of a run that nobody saw begin: its status still counts.
    session.status = stopped.status.clone().or(session.status.take());
    let Some(run) = session.runs.iter_mut().rev().find(|run| stopped.run.is_none() || run.id == stopped.run) else {
        return;
    };
    run.status.clone_from(&stopped.status);
    run.stop_reason.clone_from(&stopped.reason);
    run.timing.completed.clone_from(&stopped.completed);
}

fn close(turn: &mut Turn, closed: &TurnClosed) {
    turn.finish = closed.finish.clone().or(turn.finish.take());
    turn.continuation = closed.continuation.clone().or(turn.continuation.take());
    replace(&mut turn.usage, &closed.usage);
    replace(&mut turn.timing, &closed.timing);
    turn.errors.extend(closed.errors.iter().cloned());
    turn.run = closed.run.clone().or(turn.run.take());
    turn.provider = closed.provider.clone().or(turn.provider.take());
    turn.api = closed.api.clone().or(turn.api.take());
    turn.model = closed.model.clone().or(turn.model.take());
    turn.account = closed.account.clone().or(turn.account.take());
    if closed.provider_payload != crate::json::Json::Null {
        turn.provider_payload = closed.provider_payload.clone();
    }
}

/// What arrived of an answer stays with its turn, apart from what was said.
fn keep_partial(session: &mut Session, failed: &ModelFailed) -> Result<()> {
    if !failed.partial.is_empty() {
        turn(session, failed.turn)?.interrupted.extend(failed.partial.iter().cloned());
    }
    Ok(())
}

fn change_slice(session: &mut Session, changed: &SliceChanged) {
    let at = session.slices.iter().position(|slice| slice.name == changed.name).unwrap_or_else(|| {
        session.slices.push(Slice { name: changed.name.clone(), ..Slice::default() });
        session.slices.len() - 1
    });
    let Some(slice) = session.slices.get_mut(at) else {
        return;
    };
    slice.version = changed.version.clone().or(slice.version.take());
    slice.policy = changed.policy.clone().or(slice.policy.take());
    match changed.op {
        SliceOp::Append => slice.items.extend(changed.items.iter().cloned()),
        SliceOp::Replace => slice.items.clone_from(&changed.items),
        SliceOp::Clear => slice.items.clear(),
    }
}
