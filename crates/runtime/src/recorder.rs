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
use crate::human::{Input, saying};
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
    /// Batches whose append was given up, or failed without a certain answer: each may have been written after the last
    /// record that is known. While an append runs, its batch is the last of them.
    in_doubt: Vec<Batch>,
    /// Whether another run took over, as far as is known.
    fenced: bool,
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
    pub async fn create(store: Arc<dyn Store>, session: Session, ports: Ports) -> Result<Recorder> {
        Recorder::create_with(store, session, None, ports).await
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
        Recorder::create_with(store, session, Some(input), ports).await
    }

    async fn create_with(
        store: Arc<dyn Store>,
        mut session: Session,
        input: Option<Input>,
        ports: Ports,
    ) -> Result<Recorder> {
        let id = session.id.take().unwrap_or_else(|| SessionId::new(ports.ids.next()));
        check_origin(&session, &id)?;
        session.id = Some(id.clone());
        session.timing.created.get_or_insert_with(|| Time::from_instant(ports.clock.now()));
        let run = RunId::new(ports.ids.next());
        let mut recorder = Recorder::over(store, &id, run, ports, Loaded::default());
        let mut events = vec![Event::from(SessionOpened { session: Box::new(session.head()) })];
        let said = input.map(|input| {
            let state = Loaded { session: session.clone(), ..Loaded::default() };
            saying(&state, &input, &recorder.now())
        });
        events.extend(session.turns.into_iter().map(|turn| TurnOpened { turn: Box::new(turn) }.into()));
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
        Ok(Recorder::over(store, id, run, ports, state))
    }

    fn over(store: Arc<dyn Store>, id: &SessionId, run: RunId, ports: Ports, state: Loaded) -> Recorder {
        let outcomes = Outcomes::of(&state.ledger);
        Recorder {
            store,
            id: id.clone(),
            run,
            ports,
            state,
            outcomes,
            in_doubt: Vec::new(),
            fenced: false,
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
        self.settle_doubt().await?;
        loop {
            let events = make(&self.state, self)?;
            if events.is_empty() {
                return Ok(self.state.seq);
            }
            match self.append(events).await {
                Err(error) if error.kind() == turnkeep_model::ErrorKind::Conflict => {
                    let attempted = self.in_doubt.pop();
                    if self.read_on(attempted.as_ref()).await? == Own::Found {
                        return Ok(self.state.seq);
                    }
                }
                done => return done,
            }
        }
    }

    /// Appends a batch. Whatever ends this without an answer leaves the batch in doubt, the drop of this future included.
    pub(crate) async fn append(&mut self, events: Vec<Event>) -> Result<Seq> {
        let mut batch = Batch::new(self.state.seq.next(), events.into_iter().map(Entry::from).collect());
        batch.time = Some(self.now());
        batch.run = Some(self.run.clone());
        self.in_doubt.push(batch);
        if let Some(batch) = self.in_doubt.last() {
            let appended = self.store.append(&self.id, self.state.seq, batch).await;
            appended.map_err(|error| Error::from(error).session(&self.id))?;
        }
        if let Some(batch) = self.in_doubt.pop() {
            self.take_in(batch)?;
        }
        Ok(self.state.seq)
    }

    /// Where an earlier append is in doubt, reads what became of it before anything else is written.
    async fn settle_doubt(&mut self) -> Result<()> {
        match self.in_doubt.is_empty() {
            true => Ok(()),
            false => self.read_on(None).await.map(drop),
        }
    }

    /// Folds in what others appended.
    ///
    /// # Errors
    /// `Conflict` when another run took over.
    pub async fn refresh(&mut self) -> Result<()> {
        self.read_on(None).await.map(drop)
    }

    /// Folds in what follows, and says whether `attempted` is in it.
    async fn read_on(&mut self, attempted: Option<&Batch>) -> Result<Own> {
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
                self.fenced = true;
                return Err(Error::fenced(at).session(&self.id));
            }
            // Its acknowledgement was lost on the way. A batch in doubt that says the same comes first: where it is the
            // one that was written, this one was not.
            let is = |other: &Batch| other.to_line() == batch.to_line();
            if attempted.is_some_and(is) && !self.in_doubt.iter().any(is) {
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
        // What was to be written at the place that is taken now can no longer be written.
        self.in_doubt.clear();
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

impl Drop for Recorder {
    fn drop(&mut self) {
        let runs = self.state.session.runs.last().is_some_and(|run| run.status.is_none());
        if runs && !self.fenced {
            self.ports.hub.run_dropped(&self.id);
        }
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
