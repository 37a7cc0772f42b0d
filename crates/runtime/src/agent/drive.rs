//! One run of an agent over one session.

use jiff::Timestamp;
use turnkeep_model::event::{Choice, ModelAsked, RunStopped, SessionChanged, TurnClosed};
use turnkeep_model::status::{Completed, Continuation, Failed, Stopped as StoppedStatus, WaitingForHuman};
use turnkeep_model::{
    Author, Block, Body, CallId, ErrorKind, Event, Ledger, Number, Session, Status, StopReason, Turn,
};
use turnkeep_store::Loaded;

use super::ask::{Asked, Given, Refused};
use super::outcome::{Stopped, Waiting, last_text};
use super::settings::Agent;
use crate::criteria::{self, Progress};
use crate::error::{Error, Result};
use crate::plan::{Looks, Plan, PlannedCall, Step, calls};
use crate::port::{Identity, Model, seconds};
use crate::recorder::Recorder;

/// One run of an agent over one session.
pub(super) struct Drive<'a> {
    pub(super) agent: &'a Agent,
    pub(super) recorder: &'a mut Recorder,
    pub(super) pace: Pace<'a>,
    /// The turn for which this run has recorded that it asks.
    pub(super) asked: Option<u32>,
    settled: Settled,
}

/// Before which turn no call is open, while turns keep their numbers: a long session is not gone through at each step.
#[derive(Default)]
struct Settled {
    before: usize,
    renumbered: u64,
}

/// What the rules look at besides the session.
#[derive(Clone, Copy)]
pub(super) struct Pace<'a> {
    agent: &'a Agent,
    began: Timestamp,
    ran_before: f64,
    /// How many models could not answer; the next one is asked.
    pub(super) failed_models: usize,
}

impl<'a> Drive<'a> {
    pub(super) fn new(agent: &'a Agent, recorder: &'a mut Recorder) -> Drive<'a> {
        let ran_before = recorder.session().timing.seconds.as_ref().map_or(0.0, Number::as_f64).max(0.0);
        let pace = Pace { agent, began: recorder.ports().clock.now(), ran_before, failed_models: 0 };
        Drive { agent, recorder, pace, asked: None, settled: Settled::default() }
    }

    pub(super) async fn run(mut self) -> Result<Stopped> {
        self.check_tools()?;
        self.adopt_tools().await?;
        self.recorder.begin_slices(&self.agent.reducers).await?;
        if let Some(reason) = decided_before(self.recorder.session()) {
            return self.finish(reason).await;
        }
        loop {
            let plan = self.plan();
            self.settled = self.settled_by(&plan);
            match plan {
                Plan::Done => return self.finish(StopReason::Completed).await,
                Plan::Ask => {
                    if let Some(stopped) = self.step().await? {
                        return Ok(stopped);
                    }
                }
                Plan::Calls { turn, steps } => {
                    let waiting = self.take_up(turn, steps).await?;
                    if !waiting.is_empty()
                        && let Some(stopped) = self.wait(waiting).await?
                    {
                        return Ok(stopped);
                    }
                    if let Some(stopped) = self.end_step(turn).await? {
                        return Ok(stopped);
                    }
                }
            }
        }
    }

    fn settled_by(&self, plan: &Plan) -> Settled {
        let before = match plan {
            Plan::Calls { turn, .. } => *turn as usize,
            // The last turn may be waiting for its answer.
            Plan::Ask | Plan::Done => self.recorder.session().turns.len().saturating_sub(1),
        };
        Settled { before, renumbered: self.recorder.renumbered() }
    }

    fn plan(&self) -> Plan {
        let first = if self.settled.renumbered == self.recorder.renumbered() { self.settled.before } else { 0 };
        self.pace.plan(self.recorder.session(), self.recorder.ledger(), self.recorder, first)
    }

    /// A call that is to be made needs its tool: to say that there is none would be a lie to the model.
    fn check_tools(&self) -> Result<()> {
        let Plan::Calls { steps, .. } = self.plan() else {
            return Ok(());
        };
        let session = self.recorder.session();
        let missing = self.agent.tools.missing(session);
        let lacks = |planned: &&PlannedCall| {
            let (call, tools) = (&planned.call, &self.agent.tools);
            // Whoever recorded an intent or a question had the tool.
            let existed = missing.contains(&call.name.as_str())
                || self.recorder.ledger().get(&call.call).is_some()
                || self.recorder.ledger().approval(&call.call).is_some();
            let needed = !matches!(planned.step, Step::Replay | Step::Deny(_) | Step::AwaitHuman);
            needed && existed && tools.get(&call.name).is_none()
        };
        match steps.iter().find(lacks) {
            None => Ok(()),
            Some(planned) => Err(Error::new(
                ErrorKind::Mismatch,
                format!("call {} is open, and the agent lacks its tool `{}`", planned.call.call, planned.call.name),
            )
            .session(self.recorder.id())
            .hint("resume with an agent that has the tool, or resolve the call")),
        }
    }

    /// The model is told of the tools that are here now.
    async fn adopt_tools(&mut self) -> Result<()> {
        let specs = self.agent.tools.specs();
        if specs.is_empty() || self.recorder.session().tools == specs {
            return Ok(());
        }
        let changed = SessionChanged { tools: Some(specs.to_vec()), ..SessionChanged::default() };
        self.recorder.record(vec![changed.into()]).await.map(drop)
    }

    /// One answer and the calls it makes.
    async fn step(&mut self) -> Result<Option<Stopped>> {
        let turn = answer_turn(self.recorder.session());
        match self.ask(turn).await? {
            Asked::Answered(given) => self.answered(turn, given).await,
            Asked::Failed(refused) => self.fail(turn, &refused).await.map(Some),
            Asked::Stopped => self.finish(StopReason::UserRequested).await.map(Some),
        }
    }

    /// Records an answer, and makes the calls it asks for.
    async fn answered(&mut self, turn: u32, given: Box<Given>) -> Result<Option<Stopped>> {
        self.record_answer(turn, given).await?;
        let jobs = self.fresh_jobs(turn);
        self.execute(turn, jobs).await?;
        self.end_step(turn).await
    }

    /// Decides whether to go on after a turn whose calls all have results, and stops if not.
    async fn end_step(&mut self, turn: u32) -> Result<Option<Stopped>> {
        if !self.recorder.session().turns.get(turn as usize).is_some_and(|turn| all_settled_but(turn, &[])) {
            return Ok(None);
        }
        let pace = self.pace;
        let decided =
            |state: &Loaded| state.session.turns.get(turn as usize).is_some_and(|turn| turn.continuation.is_some());
        self.recorder
            .record_with(|state, recorder| {
                if decided(state) {
                    return Ok(Vec::new());
                }
                let mut events = pace.closing(state, turn, recorder, 0);
                if let Some(reason) = stops(&state.session, turn, &events) {
                    events.extend(pace.stopping(recorder, &status_of(&reason), Some(&reason)));
                }
                Ok(events)
            })
            .await?;
        self.recorder.checkpoint().await?;
        self.asked = self.recorder.ledger().asked().filter(|asked| *asked == answer_turn(self.recorder.session()));
        let session = self.recorder.session();
        let Some(reason) = stops(session, turn, &[]) else {
            return Ok(None);
        };
        if session.runs.last().is_some_and(|run| run.status.is_none()) {
            return self.finish(reason).await.map(Some);
        }
        Ok(Some(Stopped {
            status: status_of(&reason),
            text: last_text(session),
            reason: Some(reason),
            waiting: Vec::new(),
        }))
    }

    /// Stops until a person has decided; `None` where everything that was open is no longer waiting. Whoever decides while
    /// this is recorded is folded in first, so nobody's decision is followed by a run that stops to wait for it.
    async fn wait(&mut self, waiting: Vec<Waiting>) -> Result<Option<Stopped>> {
        let (pace, status) = (self.pace, Status::from(WaitingForHuman {}));
        self.recorder
            .record_with(|state, recorder| match pace.plan(&state.session, &state.ledger, recorder, 0) {
                Plan::Calls { steps, .. } if steps.iter().all(waits) => Ok(pace.stopping(recorder, &status, None)),
                _ => Ok(Vec::new()),
            })
            .await?;
        let session = self.recorder.session();
        let has_stopped = session.runs.last().is_some_and(|run| run.status.is_some());
        Ok(has_stopped.then(|| Stopped { text: last_text(session), status, reason: None, waiting }))
    }

    async fn finish(&mut self, reason: StopReason) -> Result<Stopped> {
        self.stop(status_of(&reason), Some(reason), Vec::new()).await
    }

    /// The model did not answer: the session says so, and can be resumed.
    async fn fail(&mut self, turn: u32, refused: &Refused) -> Result<Stopped> {
        let error = &refused.reason();
        let noted = turnkeep_model::status::TurnError {
            message: error.message.clone(),
            class: Some(error.class.clone().unwrap_or_else(|| error.cause.to_string())),
            ..Default::default()
        };
        let status = Status::from(Failed { error: error.message.clone() });
        let pace = self.pace;
        self.recorder
            .record_with(|state, recorder| {
                let mut events = refused.events(state);
                let opens = events.iter().filter(|event| matches!(event, Event::TurnOpened(_))).count();
                // A turn that nothing opened yet has no place for an error; the one before has.
                let turns = u32::try_from(state.session.turns.len() + opens).unwrap_or(u32::MAX);
                let at = turn.min(turns.saturating_sub(1));
                events.push(TurnClosed { turn: at, errors: vec![noted.clone()], ..TurnClosed::default() }.into());
                events.extend(pace.stopping(recorder, &status, Some(&StopReason::Error)));
                Ok(events)
            })
            .await?;
        let text = last_text(self.recorder.session());
        Ok(Stopped { status, reason: Some(StopReason::Error), text, waiting: Vec::new() })
    }

    async fn stop(&mut self, status: Status, reason: Option<StopReason>, waiting: Vec<Waiting>) -> Result<Stopped> {
        let pace = self.pace;
        self.recorder.record_with(|_, recorder| Ok(pace.stopping(recorder, &status, reason.as_ref()))).await?;
        Ok(Stopped { text: last_text(self.recorder.session()), status, reason, waiting })
    }
}

impl<'a> Pace<'a> {
    fn ran(&self, now: Timestamp) -> f64 {
        self.ran_before + seconds(self.began, now)
    }

    fn timing(&self, recorder: &Recorder) -> Event {
        let ran = (self.ran(recorder.ports().clock.now()) * 1000.0).round() / 1000.0;
        let mut timing = recorder.session().timing.clone();
        timing.seconds = Some(Number::from_f64(ran));
        timing.updated = Some(recorder.now());
        SessionChanged { timing: Some(timing), ..SessionChanged::default() }.into()
    }

    fn stopping(&self, recorder: &Recorder, status: &Status, reason: Option<&StopReason>) -> Vec<Event> {
        let stopped = RunStopped {
            run: Some(recorder.run().clone()),
            status: Some(status.clone()),
            reason: reason.cloned(),
            completed: Some(recorder.now()),
        };
        vec![self.timing(recorder), stopped.into()]
    }

    /// What every rule says after this turn.
    pub(super) fn evaluate(&self, session: &Session, turn: &Turn, recorder: &Recorder) -> Continuation {
        let now = recorder.ports().clock.now();
        let progress = Progress {
            session,
            turn,
            steps: steps_of_exchange(session, turn),
            retries: 0,
            seconds: self.ran(now),
            now,
            stop_asked: self.agent.stop.is_asked(),
        };
        criteria::evaluate(&self.agent.criteria, &progress)
    }

    /// The events that end a step: what was decided, how long the session ran, and the next question if there is one.
    pub(super) fn closing(&self, state: &Loaded, index: u32, recorder: &Recorder, more: u32) -> Vec<Event> {
        let Some(turn) = state.session.turns.get(index as usize) else {
            return Vec::new();
        };
        let continuation = self.evaluate(&state.session, turn, recorder);
        let goes_on = continuation.should_continue == Some(true);
        let closed = TurnClosed { turn: index, continuation: Some(continuation), ..TurnClosed::default() };
        let mut events = vec![closed.into(), self.timing(recorder)];
        if goes_on {
            events.extend(self.choice(&state.ledger));
            events.push(self.asking(&state.session, answer_turn(&state.session), 1, more));
        }
        events
    }

    /// What the session needs next, where no call is open before the turn `first`.
    fn plan(&self, session: &Session, ledger: &Ledger, recorder: &Recorder, first: usize) -> Plan {
        let effect = |name: &str| self.agent.tools.effect(name);
        let now = recorder.ports().clock.now();
        Looks { session, ledger, policy: self.agent.policy, now, effect: &effect }.plan(first)
    }

    pub(super) fn model(&self) -> &'a dyn Model {
        self.agent.model(self.failed_models)
    }

    /// The choice of the endpoint, where the journal has another or none.
    pub(super) fn choice(&self, ledger: &Ledger) -> Option<Event> {
        let now = self.model().identity();
        let before = ledger.endpoint().map(Identity::of);
        let choice = match &before {
            Some(before) if *before == now => return None,
            _ if self.failed_models > 0 => Choice::Fallback,
            Some(_) => Choice::Resumed,
            None => Choice::First,
        };
        Some(now.chosen(choice).into())
    }

    /// That the model is about to be asked, with `more` messages than are recorded.
    pub(super) fn asking(&self, session: &Session, turn: u32, attempt: u32, more: u32) -> Event {
        let tools = self.agent.tools.specs().iter().map(|spec| spec.name.clone()).collect();
        let messages = Some(count_messages(session).saturating_add(more));
        ModelAsked { turn, messages, tools, attempt: Some(attempt) }.into()
    }
}

fn waits(planned: &PlannedCall) -> bool {
    matches!(planned.step, Step::AwaitHuman | Step::Unsure | Step::Replay)
}

/// Where a session stands that stopped so.
fn status_of(reason: &StopReason) -> Status {
    match reason {
        StopReason::Completed | StopReason::FinishReason => Status::from(Completed {}),
        StopReason::Error => Status::from(Failed { error: "a step ran into an error".into() }),
        _ => Status::from(StoppedStatus {}),
    }
}

/// Why the run stops after this turn, if that is recorded or about to be. Someone may have spoken meanwhile: then an
/// answer that was the last goes on to the next question.
fn stops(session: &Session, turn: u32, events: &[Event]) -> Option<StopReason> {
    let about_to_be = events.iter().find_map(|event| match event {
        Event::TurnClosed(closed) => closed.continuation.as_ref(),
        _ => None,
    });
    let decided = about_to_be.or(session.turns.get(turn as usize)?.continuation.as_ref())?;
    let reason = stop_reason(decided)?;
    let more = session.turns.len() > turn as usize + 1;
    (criteria::is_forced(&reason) || !more).then_some(reason)
}

fn stop_reason(decided: &Continuation) -> Option<StopReason> {
    (decided.should_continue == Some(false)).then(|| decided.stop_reason.clone().unwrap_or(StopReason::Completed))
}

/// Why the session was about to stop when its run died, if it was.
fn decided_before(session: &Session) -> Option<StopReason> {
    let before = session.runs.iter().rev().nth(1)?;
    let last = session.turns.last()?;
    if before.status.is_some() {
        return None;
    }
    stop_reason(last.continuation.as_ref()?)
}

/// The turn that the next answer belongs to: the last one if it waits for an answer, else one to come.
pub(super) fn answer_turn(session: &Session) -> u32 {
    let waits = session.turns.last().is_some_and(|last| !last.blocks.iter().any(Block::is_answer));
    u32::try_from(session.turns.len()).unwrap_or(u32::MAX).saturating_sub(u32::from(waits))
}

/// How many answers there were since the user last spoke, `turn` included.
fn steps_of_exchange(session: &Session, turn: &Turn) -> u32 {
    let at = session.turns.iter().position(|one| std::ptr::eq(one, turn)).map_or(session.turns.len(), |at| at + 1);
    let mut steps = 0;
    for turn in session.turns.iter().take(at).rev() {
        steps += u32::from(turn.blocks.iter().any(Block::is_answer));
        if turn.blocks.iter().any(|block| block.author == Author::User) {
            break;
        }
    }
    steps
}

/// How many messages the session has.
fn count_messages(session: &Session) -> u32 {
    let mut last = None;
    let mut count = 0_u32;
    for (_, block) in session.blocks() {
        if last != Some(block.message.ordinal) {
            count = count.saturating_add(1);
            last = Some(block.message.ordinal);
        }
    }
    count
}

/// Whether all calls of a turn but these have results.
pub(super) fn all_settled_but(turn: &Turn, but: &[&CallId]) -> bool {
    let answered = |call: &CallId| {
        turn.blocks.iter().any(|block| matches!(&block.body, Body::ToolResult(result) if result.call == *call))
    };
    calls(turn).all(|call| but.contains(&&call.call) || answered(&call.call))
}
