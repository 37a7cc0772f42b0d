//! From a fixture to what its run left behind.

use std::sync::Arc;

use turnkeep_codec::format::geppetto::Piece;
use turnkeep_model::{Journal, Session, SessionId};
use turnkeep_runtime::{Ports, Recorder, Result, StopSignal, Stopped, Tools};
use turnkeep_store::{Store, StoreExt};

use crate::fixture::Fixture;
use crate::observer::Observer;
use crate::pieces::Pieces;
use crate::responder::Responder;

/// What a fixture is run with.
pub struct Setup {
    /// Who answers.
    pub responder: Responder,
    /// What it may have done.
    pub tools: Tools,
    /// Time, ids and who hears of it.
    pub ports: Ports,
    /// Where the session is kept.
    pub store: Arc<dyn Store>,
    /// The id it is kept under, where that is not the fixture's own: a fixture may run many times in one store. What the
    /// run leaves behind names the fixture's.
    pub stored_as: Option<SessionId>,
    /// A way to end it early.
    pub stop: StopSignal,
}

/// One run of a fixture: the answer to what it ends with, or to one of its follow-ups.
#[derive(Debug)]
pub struct Ran {
    /// The session afterwards.
    pub session: Session,
    /// All that was recorded so far.
    pub journal: Journal,
    /// In which pieces answers arrived so far, one list for every time that a model was asked.
    pub pieces: Vec<Vec<Piece>>,
    /// How it ended.
    pub stopped: Stopped,
}

/// Runs a fixture: first what it ends with, then its follow-ups. It ends early where a run does not complete; the last
/// one says why.
///
/// # Errors
/// What the store says. That a model or a tool failed is no error: the session says so.
pub async fn run(fixture: Fixture, setup: Setup) -> Result<Vec<Ran>> {
    let Setup { responder, tools, ports, store, stored_as, stop } = setup;
    let pieces = Arc::new(Pieces::default());
    let observer: Arc<dyn Observer> = pieces.clone();
    let agent = responder.observed(&observer).agent().with_tools(tools).with_stop(stop);
    let mut session = fixture.session;
    let own = session.id.take().unwrap_or_else(|| SessionId::new(fixture.name));
    session.id = Some(stored_as.unwrap_or_else(|| own.clone()));
    let mut recorder = Recorder::create(store.clone(), session, ports).await?;
    let mut all = Vec::new();
    for input in std::iter::once(None).chain(fixture.followups.into_iter().map(Some)) {
        let stopped = match input {
            None => agent.resume(&mut recorder).await?,
            Some(blocks) => agent.run(&mut recorder, blocks).await?,
        };
        let completed = stopped.status.kind() == "completed";
        let journal = Journal { session: Some(own.clone()), ..store.journal(recorder.id()).await? };
        let session = Session { id: Some(own.clone()), ..recorder.session().clone() };
        all.push(Ran { session, journal, pieces: pieces.so_far(), stopped });
        if !completed {
            break;
        }
    }
    Ok(all)
}
