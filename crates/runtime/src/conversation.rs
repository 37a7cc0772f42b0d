//! One stored session and the agent that goes on with it: the one way in for a terminal, a server and a library user.
//!
//! A question takes one path, whoever asks it. It is recorded together with the beginning of a run, in one batch, before
//! anything is sent; then the agent answers it. Where another process runs the session, the question is recorded for that
//! process and its answer is waited for; nobody is fenced unless the caller says so. Whatever fails after the first write
//! leaves the question in the session, unanswered, and [`Conversation::resume`] asks it.
//!
//! **Invariant: a question loads its session once.** The recorder that took the session up knows it; what is looked at
//! afterwards comes from there, for as long as nobody else writes.

mod elsewhere;
mod follow;
mod open;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use turnkeep_model::{CallId, ErrorKind, Event, Loss, Seq, Session, SessionId, Usage};
use turnkeep_store::{Loaded, Store, StoreExt};

use crate::acquire::{Acquired, BusyRun, TakeOver};
use crate::agent::{Agent, OpenedRun, RunStream, Stopped};
use crate::error::{Error, Result};
use crate::human::{self, ConsentDecision, KnownOutcome};
use crate::input::Input;
use crate::ports::Ports;
use crate::recorder::Recorder;
use crate::slices::{self, SliceItem};
use crate::stop::StopSignal;
use crate::tail::Tail;

/// A stored session, and the agent that answers in it: [`Agent::open`]. Clones are the same conversation.
///
/// ```
/// use turnkeep_runtime::port::Answer;
/// use turnkeep_runtime::{Agent, Script};
///
/// # pollster::block_on(async {
/// let script = Script::new("a model", vec![Answer::text("Hello!"), Answer::text("Still here.")]);
/// let agent = Agent::builder().model(script).store("memory:").build()?;
/// let talk = agent.open("first-session")?;
///
/// assert_eq!(talk.ask("Are you there?").await?.text.as_deref(), Some("Hello!"));
/// assert_eq!(talk.ask("And now?").await?.text.as_deref(), Some("Still here."));
/// assert_eq!(talk.session().await?.turns.len(), 2);
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Conversation {
    agent: Agent,
    store: Arc<dyn Store>,
    id: SessionId,
    take_over: TakeOver,
    on_busy: Option<Arc<OnBusy>>,
    seen: Arc<Mutex<Seen>>,
}

type OnBusy = dyn Fn(&BusyRun) + Send + Sync;

/// What this process knows of the stored session.
#[derive(Default)]
struct Seen {
    /// Whether nobody can have stored anything yet: the id was just made.
    is_new: bool,
    /// The session, and the last record that is folded into it.
    latest: Option<(Seq, Arc<Session>)>,
    /// Where the journal stood when the last question was recorded.
    asked_at: Option<Seq>,
}

impl Conversation {
    /// What becomes of a run of another process; it is left alone unless this says otherwise.
    #[must_use]
    pub fn with_take_over(mut self, take_over: TakeOver) -> Conversation {
        self.take_over = take_over;
        self
    }

    /// Calls this when a question has to wait for another process, which runs the session.
    #[must_use]
    pub fn on_busy(mut self, told: impl Fn(&BusyRun) + Send + Sync + 'static) -> Conversation {
        self.on_busy = Some(Arc::new(told));
        self
    }

    /// The same conversation, which another agent goes on with. The store stays the same.
    #[must_use]
    pub fn with_agent(mut self, agent: Agent) -> Conversation {
        self.agent = agent;
        self
    }

    /// Its session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Who answers.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Says something, and runs until there is an answer, a person is needed, or a rule stops it. Where another process
    /// runs the session, what is said is recorded for it, and its answer is waited for.
    ///
    /// # Errors
    /// `Mismatch` where an open call lacks its tool; else those of [`Agent::run`]. That a model or a tool failed is no
    /// error: [`Stopped::status`] says so.
    pub async fn ask(&self, input: impl Into<Input>) -> Result<Stopped> {
        self.ask_until(input, &StopSignal::default()).await
    }

    /// As [`Conversation::ask`], until someone asks this run to stop.
    ///
    /// # Errors
    /// Those of [`Conversation::ask`].
    pub async fn ask_until(&self, input: impl Into<Input>, stop: &StopSignal) -> Result<Stopped> {
        let input = input.into();
        let said = input.first_text().to_owned();
        match self.record(input).await? {
            Acquired::Here(recorder) => self.answer(*recorder, stop).await,
            Acquired::Elsewhere(busy) => {
                self.on_busy.iter().for_each(|told| told(&busy));
                self.follow(&said, stop).await
            }
        }
    }

    /// As [`Conversation::ask`], as a stream of what happens.
    pub fn stream(&self, input: impl Into<Input>) -> RunStream {
        let (talk, input, stop) = (self.clone(), input.into(), StopSignal::default());
        RunStream::opening(stop.clone(), async move {
            let said = input.first_text().to_owned();
            talk.clone().begin_stream(talk.record(input).await?, said, stop).await
        })
    }

    /// Goes on where the session stands: calls that are open, the answer that is due, or nothing.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` where another process runs the session; and those of [`Conversation::ask`].
    pub async fn resume(&self) -> Result<Stopped> {
        self.resume_until(&StopSignal::default()).await
    }

    /// As [`Conversation::resume`], until someone asks this run to stop.
    ///
    /// # Errors
    /// Those of [`Conversation::resume`].
    pub async fn resume_until(&self, stop: &StopSignal) -> Result<Stopped> {
        self.answer(self.idle().await?, stop).await
    }

    /// As [`Conversation::resume`], as a stream of what happens.
    pub fn resume_stream(&self) -> RunStream {
        let (talk, stop) = (self.clone(), StopSignal::default());
        RunStream::opening(stop.clone(), async move {
            let acquired = Acquired::Here(Box::new(talk.idle().await?));
            talk.begin_stream(acquired, String::new(), stop).await
        })
    }

    /// Decides about a call that waits for consent. [`Conversation::resume`] goes on with it.
    ///
    /// # Errors
    /// Those of [`human::decide`].
    pub async fn decide(&self, call: &CallId, decision: &ConsentDecision) -> Result<Seq> {
        human::decide(&*self.store, &self.id, call, decision, self.ports()).await
    }

    /// Says what became of a call that may have acted. [`Conversation::resume`] goes on with it.
    ///
    /// # Errors
    /// Those of [`human::resolve`].
    pub async fn resolve(&self, call: &CallId, known: &KnownOutcome) -> Result<Seq> {
        human::resolve(&*self.store, &self.id, call, known, None, self.ports()).await
    }

    /// Follows the session after this record: what is stored, and then what happens in this process, over all runs.
    pub fn tail(&self, after: Seq) -> Tail {
        Tail::across_runs(self.store.clone(), &self.ports().hub, &self.id, after)
    }

    /// The place of its last record.
    ///
    /// # Errors
    /// `NotFound` where nothing was said yet, and what the store says.
    pub async fn last(&self) -> Result<Seq> {
        Ok(self.store.last(&self.id).await?)
    }

    /// Whether anything of it is stored.
    ///
    /// # Errors
    /// What the store says.
    pub async fn is_stored(&self) -> Result<bool> {
        match self.last().await {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            last => last.map(|_| true),
        }
    }

    /// The session as it is stored. It is read only where there is more of it than this process knows.
    ///
    /// # Errors
    /// `NotFound` where nothing was said yet, and what the store says.
    pub async fn session(&self) -> Result<Arc<Session>> {
        let last = self.last().await?;
        if let Some((seq, session)) = &self.seen().latest
            && *seq == last
        {
            return Ok(session.clone());
        }
        Ok(self.saw(self.store.load(&self.id).await?))
    }

    /// The values of one kind of side-state.
    ///
    /// # Errors
    /// Those of [`Conversation::session`], and `Corrupt` where a value is of another shape.
    pub async fn slice<T: SliceItem>(&self) -> Result<Vec<T>> {
        slices::query(&*self.session().await?)
    }

    /// What the turns from this one on used: with [`Stopped::first_turn`], what an answer took.
    ///
    /// # Errors
    /// Those of [`Conversation::session`].
    pub async fn usage_since(&self, first_turn: usize) -> Result<Usage> {
        let mut usage = Usage::default();
        self.session().await?.turns.iter().skip(first_turn).for_each(|turn| usage += &turn.usage);
        Ok(usage)
    }

    /// Whether the last question is recorded, whatever became of it afterwards.
    pub fn has_recorded_question(&self) -> bool {
        self.asked_at().is_some()
    }

    /// What the last question could not tell its model.
    ///
    /// # Errors
    /// What the store says.
    pub async fn losses(&self) -> Result<Vec<Loss>> {
        let Some(asked_at) = self.asked_at() else {
            return Ok(Vec::new());
        };
        let mut reading = self.store.read(&self.id, asked_at);
        let mut losses = Vec::new();
        while let Some(batch) = reading.next().await {
            losses.extend(batch?.events.into_iter().filter_map(|entry| match entry.event {
                Event::LossNoted(noted) => Some(noted.loss),
                _ => None,
            }));
        }
        Ok(losses)
    }

    fn ports(&self) -> &Ports {
        self.agent.ports()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked_at(&self) -> Option<Seq> {
        self.seen().asked_at
    }

    fn saw(&self, loaded: Loaded) -> Arc<Session> {
        let session = Arc::new(loaded.session);
        self.seen().latest = Some((loaded.seq, session.clone()));
        session
    }

    /// Records what is said, and who runs the session from here on.
    async fn record(&self, input: Input) -> Result<Acquired> {
        self.seen().asked_at = None;
        let acquired = self.take_up(input).await?;
        let asked_at = match &acquired {
            Acquired::Here(recorder) => recorder.seq(),
            Acquired::Elsewhere(_) => self.last().await?,
        };
        self.seen().asked_at = Some(asked_at);
        Ok(acquired)
    }

    async fn take_up(&self, input: Input) -> Result<Acquired> {
        let mut is_new = self.seen().is_new;
        loop {
            let taken = match is_new {
                true => self.create(input.clone()).await,
                false => self.acquire(Some(input.clone())).await,
            };
            is_new = match &taken {
                Err(error) if error.kind() == ErrorKind::NotFound && !is_new => true,
                // Someone else began it at the same moment: what is said joins that session.
                Err(error) if error.kind() == ErrorKind::Conflict && is_new => false,
                _ => {
                    self.seen().is_new = is_new && taken.is_err();
                    return taken;
                }
            }
        }
    }

    async fn acquire(&self, input: Option<Input>) -> Result<Acquired> {
        let (store, ports) = (self.store.clone(), self.ports().clone());
        Recorder::acquire_guarded(store, &self.id, input, ports, self.take_over, self.agent.guard()).await
    }

    async fn create(&self, input: Input) -> Result<Acquired> {
        let session = Session { id: Some(self.id.clone()), ..self.agent.session_without_system() };
        let input = input.after_system(self.agent.system());
        let recorder = Recorder::create_asking(self.store.clone(), session, input, self.ports().clone()).await?;
        Ok(Acquired::Here(Box::new(recorder)))
    }

    /// The recorder of a new run, where nobody else runs the session.
    async fn idle(&self) -> Result<Recorder> {
        match self.acquire(None).await? {
            Acquired::Here(recorder) => Ok(*recorder),
            Acquired::Elsewhere(busy) => Err(Error::new(ErrorKind::Conflict, busy.to_string())
                .session(&self.id)
                .hint("wait until it stops (`turnkeep tail ID --follow` shows it), or run it here with --take-over (`TakeOver::Always`)")),
        }
    }

    /// Has what is open answered by whoever recorded it.
    async fn answer(&self, mut recorder: Recorder, stop: &StopSignal) -> Result<Stopped> {
        let stopped = self.agent.stopped_by(stop).resume(&mut recorder).await;
        self.saw(std::mem::take(&mut recorder.state));
        stopped
    }

    async fn begin_stream(self, acquired: Acquired, said: String, stop: StopSignal) -> Result<OpenedRun> {
        match acquired {
            Acquired::Here(recorder) => {
                Ok(OpenedRun::here(*recorder, |recorder| Box::pin(async move { self.answer(recorder, &stop).await })))
            }
            Acquired::Elsewhere(busy) => {
                self.on_busy.iter().for_each(|told| told(&busy));
                let tail = self.tail(self.asked_at().unwrap_or_default());
                let session = self.session().await?;
                Ok(OpenedRun::elsewhere(busy, tail, &session, Box::pin(async move { self.follow(&said, &stop).await })))
            }
        }
    }
}
