//! Turns as a recorder appends them, and stores filled with them.

use std::path::Path;
use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::event::{BlockAdded, Effect, ToolIntended, ToolSettled, TurnOpened};
use turnkeep_model::{Batch, Body, Event, Outcome as ToolOutcome, Seq, SessionId, Time, Turn};
use turnkeep_store::{Durability, Options, SqliteStore, Store};

use crate::{Outcome, sessions};

/// The batches of a turn: the answer with the intents of its calls, and one for each outcome.
pub(super) fn batches(turn: &Turn, index: u32, at: Seq) -> Vec<Batch> {
    let added = |block: &turnkeep_model::Block| Event::from(BlockAdded { turn: index, block: block.clone() });
    let mut answer = vec![Event::from(TurnOpened { turn: Box::new(turn.head()) })];
    let mut outcomes = Vec::new();
    let mut intents = Vec::new();
    for block in &turn.blocks {
        match &block.body {
            Body::ToolResult(result) => {
                let settled = ToolSettled::new(result.call.clone(), ToolOutcome::Success);
                outcomes.push(vec![Event::from(settled), added(block)]);
            }
            Body::ToolCall(call) => {
                let call = call.call.clone();
                intents.push(Event::from(ToolIntended {
                    call,
                    effect: Effect::Once,
                    key: None,
                    attempt: None,
                    duplicate_of: None,
                }));
                answer.push(added(block));
            }
            _ => answer.push(added(block)),
        }
    }
    answer.append(&mut intents);
    let mut at = at;
    let mut batches = Vec::new();
    for events in std::iter::once(answer).chain(outcomes) {
        let mut batch = Batch::new(at.next(), events.into_iter().map(Into::into).collect());
        batch.time = Some(Time::new("2026-01-16T10:00:00.250Z"));
        at = batch.last();
        batches.push(batch);
    }
    batches
}

/// The batches of a session of `count` turns, turn by turn.
pub(crate) fn session(count: usize) -> impl Iterator<Item = Vec<Batch>> {
    let mut at = Seq::START;
    sessions::turns(count).zip(0..).map(move |(turn, index)| {
        let batches = batches(&turn, index, at);
        at = batches.last().map_or(at, Batch::last);
        batches
    })
}

pub(crate) fn open(file: &Path, durability: Durability) -> Outcome<Arc<SqliteStore>> {
    Ok(Arc::new(SqliteStore::open(file, Options { durability, ..Options::default() })?))
}

/// Appends batches, one after the other.
pub(crate) fn append(store: &dyn Store, session: &SessionId, batches: &[Batch]) -> Outcome<()> {
    for batch in batches {
        block_on(store.append(session, Seq(batch.seq.0 - 1), batch))?;
    }
    Ok(())
}

/// A new file of this name in the scratch folder, without what an earlier run left.
pub(crate) fn fresh(scratch: &Path, name: &str) -> std::path::PathBuf {
    let file = scratch.join(name);
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(scratch.join(format!("{name}{ending}")));
    }
    file
}
