//! `turnkeep tail`

use pollster::block_on;
use turnkeep_model::{Batch, Event, Seq, SessionId};
use turnkeep_runtime::envelope::Projection;
use turnkeep_runtime::{Tail as Following, TailItem};
use turnkeep_store::StoreExt;

use super::super::CommandResult;
use crate::exit::{CliError, Exit};
use crate::session_args::{Follow, Tail};
use crate::terminal::print_json_text;

pub(crate) fn tail(args: &Tail) -> CommandResult {
    let (store, id) = (args.store.open_existing()?, SessionId::new(args.id.as_str()));
    // A session that is not there is an error, not something to wait for.
    block_on(store.last(&id))?;
    let mut told = Projection::new(id.clone(), args.writing.options(args.envelopes)?, Seq(args.after));
    let mut following = Following::of_store(store, &id, told.reads_after());
    let mut stopped = false;
    block_on(following.look())?;
    while let Some(batch) = following.take_read() {
        stopped = stops(&batch).unwrap_or(stopped);
        tell(&mut told, &batch)?;
    }
    while args.follow == Some(Follow::Forever) || (args.follow == Some(Follow::Run) && !stopped) {
        match block_on(following.next())? {
            Some(TailItem::Batch(batch)) => {
                stopped = stops(&batch).unwrap_or(stopped);
                tell(&mut told, &batch)?;
            }
            // Pieces of answers stand in no journal.
            Some(_) => {}
            None => break,
        }
    }
    Ok(Exit::Ok)
}

/// Whether the session's run has stopped after this batch; `None` where it says nothing of it.
fn stops(batch: &Batch) -> Option<bool> {
    batch.events.iter().rev().find_map(|entry| match &entry.event {
        Event::RunStopped(_) => Some(true),
        Event::RunStarted(_) => Some(false),
        _ => None,
    })
}

fn tell(told: &mut Projection, batch: &Batch) -> Result<(), CliError> {
    for envelope in told.batch(batch) {
        print_json_text(&format!("{}\n", envelope.to_json().to_text()))?;
    }
    Ok(())
}
