//! The single writer of a session.

use std::sync::Arc;

use futures_util::StreamExt;
use turnkeep_model::event::{RunStarted, SessionChanged, SessionOpened, TurnOpened};
use turnkeep_model::status::InProgress;
use turnkeep_model::{
    Batch, Entry, Event, Ledger, Run, RunId, Seq, Session, SessionId, Snapshot, Status, Time, Timing, absorb,
};
use turnkeep_store::{ErrorKind, Loaded, Store, StoreExt};

use crate::checkpoint::{Bound, CheckpointHandler, Saves};
use crate::error::{Error, Result};
use crate::outcomes::Outcomes;
use crate::ports::Ports;

/// The single writer of a session: what it records is durable when it returns, and folded into the state it shows.
///
/// When someone else appended meanwhile, it reads on. A newer `run.started` means that it is fenced, and it stops with
/// `Conflict`; anything else (a message, an approval) is folded in, and the batch made again.
pub struct Recorder {
    store: Arc<dyn Store>,
    id: SessionId,
    run: RunId,
    ports: Ports,
    state: Loaded,
    outcomes: Outcomes,
    /// How often turns got other numbers.
    renumbered: u64,
    checkpoints: Option<Arc<dyn Saves>>,
}

impl Recorder {
    /// Begins a session and its first run.
    ///
    /// # Errors
    /// `Conflict` when the store has a session of this id; `Unsupported` when it is its own parent, or was made at a time
    /// without a zone; and whatever the store says.
    pub async fn create(store: Arc<dyn Store>, mut session: Session, ports: Ports) -> Result<Recorder> {
        let id = session.id.take().unwrap_or_else(|| SessionId::new(ports.ids.next()));
        check_origin(&session, &id)?;
        session.id = Some(id.clone());
        session.timing.created.get_or_insert_with(|| Time::from_instant(ports.clock.now()));
        let run = RunId::new(ports.ids.next());
        let mut recorder = Recorder::over(store, &id, run, ports, Loaded::default());
        let mut events = vec![Event::from(SessionOpened { session: Box::new(session.head()) })];
        events.extend(session.turns.into_iter().map(|turn| TurnOpened { turn: Box::new(turn) }.into()));
        events.extend(recorder.starting(1));
        recorder.append(events).await?;
        Ok(recorder)
    }

    /// Takes a stored session up again: appends `run.started`, which fences whoever ran it before.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` when another run starts at the same moment, and whatever the store says.
    pub async fn resume(store: Arc<dyn Store>, id: &SessionId, ports: Ports) -> Result<Recorder> {
        let state = store.load(id).await?;
        let run = RunId::new(ports.ids.next());
        let mut recorder = Recorder::over(store, id, run, ports, state);
        let attempt = u32::try_from(recorder.state.session.runs.len()).unwrap_or(u32::MAX).saturating_add(1);
        recorder.record_with(|_, recorder| Ok(recorder.starting(attempt))).await?;
        Ok(recorder)
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
        Ok(Recorder::over(store, id, run, ports, state))
    }

    fn over(store: Arc<dyn Store>, id: &SessionId, run: RunId, ports: Ports, state: Loaded) -> Recorder {
        let outcomes = Outcomes::of(&state.ledger);
        Recorder { store, id: id.clone(), run, ports, state, outcomes, renumbered: 0, checkpoints: None }
    }

    /// Records what begins a run. Where the last run of this process has stopped it is a new one, begun in the same
    /// batch: so that whoever looks sees that someone runs the session again.
    pub(crate) async fn wake_with(
        &mut self,
        make: impl Fn(&Loaded, &Recorder) -> Vec<Event> + Send + Sync,
    ) -> Result<()> {
        let idle = self.state.session.runs.last().is_some_and(|run| run.status.is_some());
        if idle {
            self.run = RunId::new(self.ports.ids.next());
        }
        self.record_with(|state, recorder| {
            let runs = u32::try_from(state.session.runs.len()).unwrap_or(u32::MAX);
            let started = if idle { recorder.starting(runs.saturating_add(1)) } else { Vec::new() };
            Ok(started.into_iter().chain(make(state, recorder)).collect())
        })
        .await
        .map(drop)
    }

    fn starting(&self, attempt: u32) -> Vec<Event> {
        let timing = Timing { started: Some(self.now()), ..Timing::default() };
        let run = Run { id: Some(self.run.clone()), timing, attempt: Some(attempt), ..Run::default() };
        let changed = SessionChanged { status: Some(Status::from(InProgress {})), ..SessionChanged::default() };
        vec![RunStarted { run }.into(), changed.into()]
    }

    /// Records these events as one batch, and returns when they are durable.
    ///
    /// # Errors
    /// `Conflict` when another run took over, or when someone opened a turn meanwhile and these events do too.
    pub async fn record(&mut self, events: Vec<Event>) -> Result<Seq> {
        let turns = self.state.session.turns.len();
        let opens = events.iter().any(|event| matches!(event, Event::TurnOpened(_)));
        self.record_with(|state, _| {
            if opens && state.session.turns.len() != turns {
                let what = "a turn was opened meanwhile by someone else";
                return Err(Error::new(turnkeep_model::ErrorKind::Conflict, what).hint("look again, then record anew"));
            }
            Ok(events.clone())
        })
        .await
    }

    /// Records the events that `make` makes of the state. Where someone else appended meanwhile, they are made anew; none
    /// means that there is nothing left to record.
    ///
    /// # Errors
    /// `Conflict` when another run took over, what `make` says, and what the store says.
    pub async fn record_with(
        &mut self,
        make: impl Fn(&Loaded, &Recorder) -> Result<Vec<Event>> + Send + Sync,
    ) -> Result<Seq> {
        loop {
            let events = make(&self.state, self)?;
            if events.is_empty() {
                return Ok(self.state.seq);
            }
            match self.append(events).await {
                Err(error) if error.kind() == turnkeep_model::ErrorKind::Conflict => {
                    if self.read_on().await? == Own::Found {
                        return Ok(self.state.seq);
                    }
                }
                done => return done,
            }
        }
    }

    async fn append(&mut self, events: Vec<Event>) -> Result<Seq> {
        let mut batch = Batch::new(self.state.seq.next(), events.into_iter().map(Entry::from).collect());
        batch.time = Some(self.now());
        batch.run = Some(self.run.clone());
        self.store
            .append(&self.id, self.state.seq, &batch)
            .await
            .map_err(|error| Error::from(error).session(&self.id))?;
        self.take_in(batch)?;
        Ok(self.state.seq)
    }

    /// Folds in what others appended.
    ///
    /// # Errors
    /// `Conflict` when another run took over.
    pub async fn refresh(&mut self) -> Result<()> {
        self.read_on().await.map(drop)
    }

    async fn read_on(&mut self) -> Result<Own> {
        let mut batches = Vec::new();
        {
            let mut reading = self.store.read(&self.id, self.state.seq);
            while let Some(batch) = reading.next().await {
                batches.push(batch.map_err(Error::from)?);
            }
        }
        let mut own = Own::Absent;
        for batch in batches {
            if let Some(at) = self.taken_over(&batch) {
                return Err(Error::fenced(at).session(&self.id));
            }
            // A batch whose acknowledgement was lost on the way.
            if batch.run.as_ref() == Some(&self.run) {
                own = Own::Found;
            }
            self.take_in(batch)?;
        }
        Ok(own)
    }

    fn taken_over(&self, batch: &Batch) -> Option<Seq> {
        let newer = |entry: &Entry| matches!(&entry.event, Event::RunStarted(started) if started.run.id.as_ref() != Some(&self.run));
        batch.events.iter().zip(batch.seq.0..).find(|(entry, _)| newer(entry)).map(|(_, seq)| Seq(seq))
    }

    fn take_in(&mut self, batch: Batch) -> Result<()> {
        self.ports.hub.publish(&self.id, &batch);
        for (entry, seq) in batch.events.into_iter().zip(batch.seq.0..) {
            self.state.seq = Seq(seq);
            self.state.ledger.apply(self.state.seq, &entry.event);
            self.outcomes.note(&self.state.ledger, &entry.event);
            self.renumbered += u64::from(matches!(entry.event, Event::SessionOpened(_) | Event::SessionCondensed(_)));
            absorb(&mut self.state.session, entry.event)?;
        }
        self.state.session.id = Some(self.id.clone());
        Ok(())
    }

    /// Saves checkpoints of this request from now on: when calls are about to run, when a step ends, and when the run does.
    pub fn checkpoint_with<R>(&mut self, handler: Arc<dyn CheckpointHandler<R>>, request: &R)
    where
        R: ?Sized + ToOwned + 'static,
        R::Owned: Send + Sync,
    {
        self.checkpoints = Some(Arc::new(Bound { handler, request: request.to_owned() }));
    }

    /// Saves the checkpoint, if there is to be one.
    pub(crate) async fn checkpoint(&self) -> Result<()> {
        match &self.checkpoints {
            Some(saves) => saves.save(&self.snapshot()).await,
            None => Ok(()),
        }
    }

    /// The session as a complete portable document.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { session: crate::conversation::with_slice(self.state.session.clone()), seq: self.state.seq }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.state.session
    }

    /// The session, what is known of its calls, and where it stands.
    pub(crate) fn state(&self) -> &Loaded {
        &self.state
    }

    /// What is known of its tool calls.
    pub fn ledger(&self) -> &Ledger {
        &self.state.ledger
    }

    /// How often turns have got other numbers since it was taken up.
    pub(crate) fn renumbered(&self) -> u64 {
        self.renumbered
    }

    /// How its calls ended, for the tools.
    pub(crate) fn outcomes(&self) -> Outcomes {
        self.outcomes.clone()
    }

    /// The place of its last record.
    pub fn seq(&self) -> Seq {
        self.state.seq
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The run that records.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The store it records in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What it takes time and ids from.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_instant(self.ports.clock.now())
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

/// Whether a batch of this run was found where someone else's was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    Found,
    Absent,
}

/// Appends to a session that someone else may be running: reads, makes the events, appends, and begins again when someone
/// was faster.
///
/// # Errors
/// `NotFound`, what `make` says, and what the store says.
pub async fn post(
    store: &dyn Store,
    id: &SessionId,
    ports: &Ports,
    make: impl Fn(&Loaded) -> Result<Vec<Event>> + Send + Sync,
) -> Result<Seq> {
    loop {
        let state = store.load(id).await?;
        let events = make(&state).map_err(|error| error.session(id))?;
        let mut batch = Batch::new(state.seq.next(), events.into_iter().map(Entry::from).collect());
        batch.time = Some(Time::from_instant(ports.clock.now()));
        match store.append(id, state.seq, &batch).await {
            Ok(seq) => {
                ports.hub.publish(id, &batch);
                return Ok(seq);
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            Err(error) => return Err(Error::from(error).session(id)),
        }
    }
}
