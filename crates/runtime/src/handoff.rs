//! Handing a session over to another agent.

use std::collections::HashSet;
use std::sync::Arc;

use turnkeep_model::event::{LogAdded, RunStopped, SessionChanged, ToolIntended};
use turnkeep_model::ledger::LedgerEntry;
use turnkeep_model::status::Handoff;
use turnkeep_model::{Author, CallId, Event, Ledger, Parent, Session, SessionId, Status, Turn};
use turnkeep_store::Store;

use crate::error::Result;
use crate::plan::{calls, results};
use crate::recorder::Recorder;

/// How much of the history the other agent is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HandoffHistory {
    /// All of it.
    #[default]
    Everything,
    /// The user's last message.
    LastMessage,
}

/// Stops this session and begins one for another agent, with its options and what was used so far. The new
/// one names this as its parent.
///
/// # Errors
/// Those of recording.
pub async fn handoff(
    from: &mut Recorder,
    store: Arc<dyn Store>,
    to: &str,
    reason: Option<&str>,
    carry: HandoffHistory,
) -> Result<Recorder> {
    let before = from.session().clone();
    let log =
        format!("[handoff] from {} to {to}{}", from.id(), reason.map(|why| format!(": {why}")).unwrap_or_default());
    let child = Session {
        id: Some(SessionId::new(from.ports().ids.next())),
        parent: Some(Parent { session: from.id().clone(), seq: Some(from.seq()), ..Parent::default() }),
        agent: Some(to.to_owned()),
        options: before.options.clone(),
        usage: before.usage.clone(),
        initial_query: before.initial_query.clone(),
        logs: vec![log.clone()],
        turns: carried(&before, carry),
        ..Session::default()
    };
    let open = open_calls(from.ledger(), &child);
    let status = Status::from(Handoff { to: to.to_owned(), reason: reason.map(str::to_owned) });
    let child = Recorder::create_with(store, child, None, open, from.ports().clone()).await?;
    from.record_with(|_, recorder| {
        let stopped = RunStopped {
            run: Some(recorder.run().clone()),
            status: Some(status.clone()),
            reason: None,
            completed: Some(recorder.now()),
        };
        let changed = SessionChanged { status: Some(status.clone()), ..SessionChanged::default() };
        Ok(vec![LogAdded { line: log.clone() }.into(), changed.into(), stopped.into()])
    })
    .await?;
    Ok(child)
}

fn carried(session: &Session, carry: HandoffHistory) -> Vec<Turn> {
    match carry {
        HandoffHistory::Everything => session.turns.clone(),
        HandoffHistory::LastMessage => {
            let by_user = |turn: &&Turn| turn.blocks.iter().any(|block| block.author == Author::User);
            let last = session.turns.iter().rev().find(by_user);
            let said = |turn: &Turn| turn.blocks.iter().filter(|block| block.author == Author::User).cloned().collect();
            last.map(|turn| Turn { blocks: said(turn), ..Turn::default() }).into_iter().collect()
        }
    }
}

/// That calls which the session carries open may have begun, under the keys they had.
fn open_calls(ledger: &Ledger, session: &Session) -> Vec<Event> {
    let ended: HashSet<&CallId> = session.turns.iter().flat_map(results).collect();
    let calls = session.turns.iter().flat_map(calls).filter(|call| !ended.contains(&call.call));
    let begun = calls.filter_map(|call| ledger.get(&call.call)).filter(|entry| entry.settled.is_none());
    let intended = |entry: &LedgerEntry| {
        ToolIntended {
            call: entry.call.clone(),
            effect: entry.effect,
            key: entry.key.clone(),
            attempt: Some(entry.attempts),
            duplicate_of: entry.duplicate_of.clone(),
        }
        .into()
    };
    begun.map(intended).collect()
}
