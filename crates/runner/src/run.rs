//! From a fixture to what its run left behind.

use std::sync::Arc;

use futures_util::StreamExt;
use turnkeep_model::{Batch, Seq, Session, SessionId};
use turnkeep_runtime::port::Model;
use turnkeep_runtime::{Agent, Ports, Recorder, Result, Stop, Stopped, Tools};
use turnkeep_store::Store;

use crate::fixture::Fixture;
use crate::overhear::{Overheard, Said, take};

/// What a fixture is run with.
pub struct Setup {
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// Who is asked where it cannot.
    pub fallbacks: Vec<Arc<dyn Model>>,
    /// What it may have done.
    pub tools: Tools,
    /// Time, ids and who hears of it.
    pub ports: Ports,
    /// Where the session is kept.
    pub store: Arc<dyn Store>,
    /// A way to end it early.
    pub stop: Stop,
}

/// One run of a fixture: the answer to what it ends with, or to one of its follow-ups.
#[derive(Debug)]
pub struct Ran {
    /// The session afterwards.
    pub session: Session,
    /// What was recorded meanwhile.
    pub batches: Vec<Batch>,
    /// What the model said on the way, each time it was asked.
    pub said: Vec<Said>,
    /// How it ended.
    pub stopped: Stopped,
}

impl Ran {
    /// What happened, a line each.
    pub fn event_lines(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// Runs a fixture: first what it ends with, then its follow-ups. It ends early where a run does not complete; the last
/// one says why.
///
/// # Errors
/// What the store says. That a model or a tool failed is no error: the session says so.
pub async fn run(fixture: Fixture, setup: Setup) -> Result<Vec<Ran>> {
    let Setup { model, fallbacks, tools, ports, store, stop } = setup;
    let said = Arc::default();
    let overheard = |model| Arc::new(Overheard::new(model, ports.clock.clone(), &said));
    let agent = Agent::new(overheard(model)).with_tools(tools).with_stop(stop);
    let agent = fallbacks.into_iter().fold(agent, |agent, model| agent.with_fallback(overheard(model)));
    let mut session = fixture.session;
    session.id.get_or_insert_with(|| SessionId::new(fixture.name));
    let mut recorder = Recorder::create(store.clone(), session, ports).await?;
    let mut read = Seq(0);
    let mut all = Vec::new();
    for input in std::iter::once(None).chain(fixture.followups.into_iter().map(Some)) {
        let stopped = match input {
            None => agent.resume(&mut recorder).await?,
            Some(blocks) => agent.run(&mut recorder, blocks).await?,
        };
        let batches = batches_after(&*store, recorder.id(), read).await?;
        read = batches.last().map_or(read, Batch::last);
        let completed = stopped.status.kind() == "completed";
        all.push(Ran { session: recorder.session().clone(), batches, said: take(&said), stopped });
        if !completed {
            break;
        }
    }
    Ok(all)
}

async fn batches_after(store: &dyn Store, id: &SessionId, after: Seq) -> Result<Vec<Batch>> {
    let mut reading = store.read(id, after);
    let mut batches = Vec::new();
    while let Some(batch) = reading.next().await {
        batches.push(batch?);
    }
    Ok(batches)
}
