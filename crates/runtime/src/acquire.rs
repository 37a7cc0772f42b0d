//! Taking up a session that another process may be running.

use std::fmt;
use std::sync::Arc;

use turnkeep_model::{Batch, Entry, ErrorKind, Event, Run, SessionId, Time};
use turnkeep_store::{Loaded, Store, StoreExt};

use crate::agent::Guard;
use crate::error::{Error, Result};
use crate::human::awake;
use crate::input::{Input, input_events};
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
pub enum Acquired {
    /// This process.
    Here(Box<Recorder>),
    /// Another one, which answers what was said as well.
    Elsewhere(Box<BusyRun>),
}

/// A run of another process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusyRun {
    /// The run.
    pub run: Run,
    /// Whether its process lives, or cannot be looked at from here.
    pub liveness: Liveness,
}

impl fmt::Display for BusyRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let process = self.run.process.as_deref().unwrap_or("another process");
        // The part behind the plus sign tells processes of one pid apart, and says nothing to a person.
        let process = process.split_once('+').map_or(process, |(process, _)| process);
        match self.liveness {
            Liveness::Elsewhere => write!(f, "process {process} runs the session, or died on that machine"),
            _ => write!(f, "process {process} runs the session"),
        }
    }
}

impl Recorder {
    /// Says something in a stored session and takes it up, in one batch. Where another process runs the session, what is
    /// said is recorded for it, and that run is left alone. Of several processes that do this at once, one runs the
    /// session and nobody's words are lost.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported` where nothing is said, and whatever the store says.
    pub async fn acquire(
        store: Arc<dyn Store>,
        id: &SessionId,
        input: Option<Input>,
        ports: Ports,
        take_over: TakeOver,
    ) -> Result<Acquired> {
        Recorder::acquire_guarded(store, id, input, ports, take_over, &Guard::Any).await
    }

    /// The same where a guard says whether the session takes something new.
    pub(crate) async fn acquire_guarded(
        store: Arc<dyn Store>,
        id: &SessionId,
        input: Option<Input>,
        ports: Ports,
        take_over: TakeOver,
        guard: &Guard,
    ) -> Result<Acquired> {
        input.as_ref().map_or(Ok(()), Input::check)?;
        loop {
            let state = store.load(id).await?;
            if input.is_some() {
                guard.check(&state.session).map_err(|error| error.session(id))?;
            }
            let now = Time::from_instant(ports.clock.now());
            let said = input.as_ref().map(|input| input_events(&state, input, &now)).unwrap_or_default();
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
) -> Result<Acquired> {
    let mut recorder = Recorder::of_new_run(store, id, ports.clone(), state);
    let started = recorder.starting(recorder.next_attempt());
    recorder.append(started.into_iter().chain(said).collect()).await?;
    Ok(Acquired::Here(Box::new(recorder)))
}

async fn leave_to(
    busy: BusyRun,
    store: &dyn Store,
    id: &SessionId,
    state: &Loaded,
    said: Vec<Event>,
    ports: &Ports,
) -> Result<Acquired> {
    if !said.is_empty() {
        let events = awake(state, said).into_iter().map(Entry::from).collect();
        let mut batch = Batch::new(state.seq.next(), events);
        batch.time = Some(Time::from_instant(ports.clock.now()));
        store.append(id, state.seq, &batch).await.map_err(|error| Error::from(error).session(id))?;
        ports.hub.publish(id, &batch);
    }
    Ok(Acquired::Elsewhere(Box::new(busy)))
}

/// The run of another process that has not stopped, as far as can be told.
pub fn busy_run(state: &Loaded, ports: &Ports) -> Option<BusyRun> {
    let run = state.session.runs.last().filter(|run| run.status.is_none() && state.ledger.owns_last_run())?;
    let process = run.process.as_deref().filter(|process| ports.processes.own().as_deref() != Some(process))?;
    let liveness = ports.processes.liveness(process);
    (liveness != Liveness::Gone).then(|| BusyRun { run: run.clone(), liveness })
}
