//! From a fixture to what its run left behind.

use std::sync::Arc;

use turnkeep_codec::format::geppetto::Piece;
use turnkeep_model::{Journal, Session, SessionId};
use turnkeep_runtime::port::Model;
use turnkeep_runtime::{Agent, Ports, Recorder, Result, Stop, Stopped, Tools};
use turnkeep_store::{Store, StoreExt};

use crate::ear::Ear;
use crate::fixture::Fixture;

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
    /// All that was recorded so far.
    pub journal: Journal,
    /// In which pieces answers arrived so far, one list for every time that a model was asked.
    pub heard: Vec<Vec<Piece>>,
    /// How it ended.
    pub stopped: Stopped,
}

/// Runs a fixture: first what it ends with, then its follow-ups. It ends early where a run does not complete; the last
/// one says why.
///
/// # Errors
/// What the store says. That a model or a tool failed is no error: the session says so.
pub async fn run(fixture: Fixture, setup: Setup) -> Result<Vec<Ran>> {
    let Setup { model, fallbacks, tools, ports, store, stop } = setup;
    let ear = Ear::default();
    let agent = Agent::new(ear.at(model)).with_tools(tools).with_stop(stop);
    let agent = fallbacks.into_iter().map(|model| ear.at(model)).fold(agent, Agent::with_fallback);
    let mut session = fixture.session;
    session.id.get_or_insert_with(|| SessionId::new(fixture.name));
    let mut recorder = Recorder::create(store.clone(), session, ports).await?;
    let mut all = Vec::new();
    for input in std::iter::once(None).chain(fixture.followups.into_iter().map(Some)) {
        let stopped = match input {
            None => agent.resume(&mut recorder).await?,
            Some(blocks) => agent.run(&mut recorder, blocks).await?,
        };
        let completed = stopped.status.kind() == "completed";
        let journal = store.journal(recorder.id()).await?;
        all.push(Ran { session: recorder.session().clone(), journal, heard: ear.heard(), stopped });
        if !completed {
            break;
        }
    }
    Ok(all)
}
