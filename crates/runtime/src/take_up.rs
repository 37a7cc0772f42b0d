//! Taking up a session that another process may be running.

use std::sync::Arc;

use turnkeep_model::{Batch, Entry, ErrorKind, Event, Run, SessionId, Time};
use turnkeep_store::{Loaded, Store, StoreExt};

use crate::error::{Error, Result};
use crate::human::{Input, awake, saying};
use crate::port::Liveness;
use crate::ports::Ports;
use crate::recorder::Recorder;

/// What becomes of a run of another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TakeOver {
    /// It goes on: the session is only taken up where no process runs it.
    #[default]
    IfIdle,
    /// It is fenced: its next write is refused.
    Always,
}

/// Who runs a session from here on.
pub enum TakenUp {
    /// This process.
    Here(Box<Recorder>),
    /// Another one, which answers what was said as well.
    Elsewhere(Box<BusyRun>),
}

/// A run of another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusyRun {
    /// The run.
    pub run: Run,
    /// Whether its process lives, or cannot be looked at from here.
    pub liveness: Liveness,
}

impl Recorder {
    /// Says something in a stored session and takes it up, in one batch. Where another process runs the session, what is
    /// said is recorded for it, and that run is left alone. Of several processes that do this at once, one runs the
    /// session and nobody's words are lost.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported` where nothing is said, and whatever the store says.
    pub async fn take_up(
        store: Arc<dyn Store>,
        id: &SessionId,
        input: Option<Input>,
        ports: Ports,
        take_over: TakeOver,
    ) -> Result<TakenUp> {
        input.as_ref().map_or(Ok(()), Input::check)?;
        loop {
            let state = store.load(id).await?;
            let now = Time::from_instant(ports.clock.now());
            let said = input.as_ref().map(|input| saying(&state, input, &now)).unwrap_or_default();
            let busy = busy_run(&state, &ports).filter(|_| take_over == TakeOver::IfIdle);
            let taken = match busy {
                Some(busy) => leave_to(busy, &*store, id, &state, said, &ports).await,
                None => start(store.clone(), id, state, said, &ports).await,
            };
            match taken {
                // Someone was faster: look again who runs it now.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                taken => return taken,
            }
        }
    }
}

async fn start(
    store: Arc<dyn Store>,
    id: &SessionId,
    state: Loaded,
    said: Vec<Event>,
    ports: &Ports,
) -> Result<TakenUp> {
    let mut recorder = Recorder::of_new_run(store, id, ports.clone(), state);
    let started = recorder.starting(recorder.next_attempt());
    recorder.append(started.into_iter().chain(said).collect()).await?;
    Ok(TakenUp::Here(Box::new(recorder)))
}

async fn leave_to(
    busy: BusyRun,
    store: &dyn Store,
    id: &SessionId,
    state: &Loaded,
    said: Vec<Event>,
    ports: &Ports,
) -> Result<TakenUp> {
    if !said.is_empty() {
        let events = awake(state, said).into_iter().map(Entry::from).collect();
        let mut batch = Batch::new(state.seq.next(), events);
        batch.time = Some(Time::from_instant(ports.clock.now()));
        store.append(id, state.seq, &batch).await.map_err(|error| Error::from(error).session(id))?;
        ports.hub.publish(id, &batch);
    }
    Ok(TakenUp::Elsewhere(Box::new(busy)))
}

/// The run of another process that has not stopped, as far as can be told.
pub fn busy_run(state: &Loaded, ports: &Ports) -> Option<BusyRun> {
    let run = state.session.runs.last().filter(|run| run.status.is_none() && state.ledger.owns_last_run())?;
    let process = run.process.as_deref().filter(|process| ports.processes.own().as_deref() != Some(process))?;
    let liveness = ports.processes.liveness(process);
    (liveness != Liveness::Gone).then(|| BusyRun { run: run.clone(), liveness })
}
