//! How a recorder gets its session: a new one, a stored one that it takes up, or one that was claimed. Each begins a run,
//! and `run.started` fences whoever ran the session before.

use std::sync::Arc;

use turnkeep_model::event::{RunStarted, SessionChanged, SessionOpened, TurnOpened};
use turnkeep_model::status::InProgress;
use turnkeep_model::{Event, Run, RunId, Session, SessionId, Status, Time, Timing};
use turnkeep_store::{Loaded, Store, StoreExt};

use super::Recorder;
use crate::call_outcomes::CallOutcomes;
use crate::error::{Error, Result};
use crate::input::{Input, input_events};
use crate::ports::Ports;
use crate::slices::without_derived;

impl Recorder {
    /// Begins a session and its first run.
    ///
    /// # Errors
    /// `Conflict` when the store has a session of this id; `Unsupported` when it is its own parent, or was made at a time
    /// without a zone; and whatever the store says.
    pub async fn create(store: Arc<dyn Store>, session: Session, ports: Ports) -> Result<Recorder> {
        Recorder::create_with(store, session, None, Vec::new(), ports).await
    }

    /// Begins a session with the first thing that is said in it, as one batch: no crash leaves a session without its
    /// question. [`Agent::resume`](crate::Agent::resume) asks it.
    ///
    /// # Errors
    /// Those of [`Recorder::create`], and `Unsupported` where nothing is said.
    pub async fn create_asking(
        store: Arc<dyn Store>,
        session: Session,
        input: impl Into<Input>,
        ports: Ports,
    ) -> Result<Recorder> {
        let input = input.into();
        input.check()?;
        Recorder::create_with(store, session, Some(input), Vec::new(), ports).await
    }

    /// Begins a session, with what is said in it and what is known of its calls.
    pub(crate) async fn create_with(
        store: Arc<dyn Store>,
        session: Session,
        input: Option<Input>,
        known: Vec<Event>,
        ports: Ports,
    ) -> Result<Recorder> {
        let mut session = without_derived(session);
        let id = session.id.take().unwrap_or_else(|| SessionId::new(ports.ids.next()));
        check_origin(&session, &id)?;
        session.id = Some(id.clone());
        session.timing.created.get_or_insert_with(|| Time::from_instant(ports.clock.now()));
        let run = RunId::new(ports.ids.next());
        let mut recorder = Recorder::over(store, &id, run, ports, Loaded::default());
        let state = Loaded { session, ..Loaded::default() };
        let said = input.map(|input| input_events(&state, &input, &recorder.now()));
        let mut events = vec![Event::from(SessionOpened { session: Box::new(state.session.head()) })];
        events.extend(state.session.turns.into_iter().map(|turn| TurnOpened { turn: Box::new(turn) }.into()));
        events.extend(known);
        events.extend(recorder.starting(1));
        events.extend(said.into_iter().flatten());
        recorder.append(events).await?;
        Ok(recorder)
    }

    /// Takes a stored session up again: appends `run.started`, which fences whoever ran it before.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` when another run starts at the same moment, and whatever the store says.
    pub async fn resume(store: Arc<dyn Store>, id: &SessionId, ports: Ports) -> Result<Recorder> {
        let state = store.load(id).await?;
        let mut recorder = Recorder::of_new_run(store, id, ports, state);
        let attempt = recorder.next_attempt();
        recorder.record_with(|_, recorder| Ok(recorder.starting(attempt))).await?;
        Ok(recorder)
    }

    /// A recorder of a run that is not recorded yet.
    pub(crate) fn of_new_run(store: Arc<dyn Store>, id: &SessionId, ports: Ports, state: Loaded) -> Recorder {
        let run = RunId::new(ports.ids.next());
        Recorder::over(store, id, run, ports, state)
    }

    pub(crate) fn next_attempt(&self) -> u32 {
        u32::try_from(self.state.session.runs.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Goes on with a session that was claimed: the claim appended `run.started` already.
    ///
    /// # Errors
    /// `Conflict` when the claim has passed to another run.
    pub async fn claimed(store: Arc<dyn Store>, id: &SessionId, run: RunId, ports: Ports) -> Result<Recorder> {
        let state = store.load(id).await?;
        if state.session.runs.last().and_then(|last| last.id.as_ref()) != Some(&run) {
            return Err(Error::fenced(state.seq).session(id));
        }
        ports.hub.run_claimed(id, &run);
        Ok(Recorder::over(store, id, run, ports, state))
    }

    fn over(store: Arc<dyn Store>, id: &SessionId, run: RunId, ports: Ports, state: Loaded) -> Recorder {
        let outcomes = CallOutcomes::of(&state.ledger);
        Recorder {
            store,
            id: id.clone(),
            run,
            ports,
            state,
            outcomes,
            in_doubt: Vec::new(),
            renumbered: 0,
            checkpoints: None,
        }
    }

    /// Records what begins a run. Where the last run of this process has stopped it is a new one, begun in the same
    /// batch: so that whoever looks sees that someone runs the session again.
    pub(crate) async fn wake_with(
        &mut self,
        make: impl Fn(&Loaded, &Recorder) -> Vec<Event> + Send + Sync,
    ) -> Result<()> {
        self.settle_doubt().await?;
        let idle = self.state.session.runs.last().is_some_and(|run| run.status.is_some());
        if idle {
            self.run = RunId::new(self.ports.ids.next());
        }
        self.record_with(|state, recorder| {
            let started = if idle { recorder.starting(recorder.next_attempt()) } else { Vec::new() };
            Ok(started.into_iter().chain(make(state, recorder)).collect())
        })
        .await
        .map(drop)
    }

    pub(crate) fn starting(&self, attempt: u32) -> Vec<Event> {
        let timing = Timing { started: Some(self.now()), ..Timing::default() };
        let run = Run {
            id: Some(self.run.clone()),
            timing,
            attempt: Some(attempt),
            process: self.ports.processes.own(),
            ..Run::default()
        };
        let changed = SessionChanged { status: Some(Status::from(InProgress {})), ..SessionChanged::default() };
        vec![RunStarted { run }.into(), changed.into()]
    }
}

fn check_origin(session: &Session, id: &SessionId) -> Result<()> {
    let unsupported = |what: &str| Error::new(turnkeep_model::ErrorKind::Unsupported, what).session(id);
    if session.parent.as_ref().is_some_and(|parent| parent.session == *id) {
        return Err(unsupported("a session cannot be its own parent").hint("name another parent, or none"));
    }
    if session.timing.created.as_ref().is_some_and(|created| created.instant().is_none()) {
        return Err(unsupported("Session created_at must be timezone-aware.").hint("write it as 2026-01-01T00:00:00Z"));
    }
    Ok(())
}
