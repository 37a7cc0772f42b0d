//! One run of an agent over one session: plan, ask or call, decide, and look again.
//!
//! The loop holds no state that the journal lacks: what it remembers only saves it from going through the turns again.

use turnkeep_model::event::{SessionChanged, TurnClosed};
use turnkeep_model::status::{Completed, Continuation, Failed, Stopped as StoppedStatus, WaitingForHuman};
use turnkeep_model::{Body, CallId, ErrorKind, Event, Session, Status, StopReason, Turn};
use turnkeep_store::Loaded;

use super::Agent;
use super::ask::{AskOutcome, FailedAttempt, TimedAnswer};
use super::run_context::{RunContext, answer_turn};
use super::stopped::{Stopped, Waiting, last_text, last_turn};
use crate::criteria;
use crate::error::{Error, Result};
use crate::plan::{CallStep, Plan, PlannedCall, calls};
use crate::recorder::Recorder;

/// One run of an agent over one session.
pub(super) struct RunLoop<'a> {
    pub(super) agent: &'a Agent,
    pub(super) recorder: &'a mut Recorder,
    pub(super) context: RunContext<'a>,
    /// The turn for which this run has recorded that it asks.
    pub(super) asked: Option<u32>,
    settled: Settled,
    first_turn: usize,
}

/// Before which turn no call is open, while turns keep their numbers: a long session is not gone through at each step.
#[derive(Default)]
struct Settled {
    before: usize,
    renumbered: u64,
}

impl<'a> RunLoop<'a> {
    pub(super) fn new(agent: &'a Agent, recorder: &'a mut Recorder) -> RunLoop<'a> {
        let context = RunContext::new(agent, recorder);
        let first_turn = last_turn(recorder.session());
        RunLoop { agent, recorder, context, asked: None, settled: Settled::default(), first_turn }
    }

    /// Runs until there is nothing left to do, a person is needed, or a rule says stop. The last checkpoint is of the
    /// session as the run leaves it, however it ends.
    pub(super) async fn run(mut self) -> Result<Stopped> {
        let stopped = self.run_to_stop().await?;
        self.recorder.checkpoint().await?;
        Ok(stopped)
    }

    async fn run_to_stop(&mut self) -> Result<Stopped> {
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
                    let waiting = self.resume_calls(turn, steps).await?;
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
        self.context.plan(self.recorder.session(), self.recorder.ledger(), self.recorder, first)
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
            let needed = !matches!(planned.step, CallStep::Replay | CallStep::Deny(_) | CallStep::AwaitHuman);
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
            AskOutcome::Answered(given) => self.answered(turn, given).await,
            AskOutcome::Failed(failed_attempt) => self.fail(turn, &failed_attempt).await.map(Some),
            AskOutcome::Stopped => self.finish(StopReason::UserRequested).await.map(Some),
        }
    }

    /// Records an answer, and makes the calls it asks for.
    async fn answered(&mut self, turn: u32, given: Box<TimedAnswer>) -> Result<Option<Stopped>> {
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
        let context = self.context;
        let decided =
            |state: &Loaded| state.session.turns.get(turn as usize).is_some_and(|turn| turn.continuation.is_some());
        self.recorder
            .record_with(|state, recorder| {
                if decided(state) {
                    return Ok(Vec::new());
                }
                let mut events = context.closing(state, turn, recorder, 0);
                if let Some(reason) = stops(&state.session, turn, &events) {
                    events.extend(context.stopping(recorder, &status_of(&reason), Some(&reason)));
                }
                Ok(events)
            })
            .await?;
        self.asked = self.recorder.ledger().asked().filter(|asked| *asked == answer_turn(self.recorder.session()));
        let Some(reason) = stops(self.recorder.session(), turn, &[]) else {
            self.recorder.checkpoint().await?;
            return Ok(None);
        };
        let session = self.recorder.session();
        if session.runs.last().is_some_and(|run| run.status.is_none()) {
            return self.finish(reason).await.map(Some);
        }
        Ok(Some(self.stopped(status_of(&reason), Some(reason), Vec::new())))
    }

    /// Stops until a person has decided; `None` where everything that was open is no longer waiting. Whoever decides while
    /// this is recorded is folded in first, so nobody's decision is followed by a run that stops to wait for it.
    async fn wait(&mut self, mut waiting: Vec<Waiting>) -> Result<Option<Stopped>> {
        let (context, status) = (self.context, Status::from(WaitingForHuman {}));
        self.recorder
            .record_with(|state, recorder| match context.plan(&state.session, &state.ledger, recorder, 0) {
                Plan::Calls { steps, .. } if steps.iter().all(waits) && steps.iter().any(needs_person) => {
                    Ok(context.stopping(recorder, &status, None))
                }
                _ => Ok(Vec::new()),
            })
            .await?;
        let session = self.recorder.session();
        let has_stopped = session.runs.last().is_some_and(|run| run.status.is_some());
        // An outcome whose append was in doubt may have arrived with what was read on: nobody is asked about that call.
        let open = session.open_calls();
        waiting.retain(|waiting| open.iter().any(|call| call.call == waiting.call));
        Ok(has_stopped.then(|| self.stopped(status, None, waiting)))
    }

    async fn finish(&mut self, reason: StopReason) -> Result<Stopped> {
        self.stop(status_of(&reason), Some(reason), Vec::new()).await
    }

    /// The model did not answer: the session says so, and can be resumed.
    async fn fail(&mut self, turn: u32, failed_attempt: &FailedAttempt) -> Result<Stopped> {
        let error = &failed_attempt.reason();
        let noted = turnkeep_model::status::TurnError {
            message: error.message.clone(),
            class: Some(error.class.clone().unwrap_or_else(|| error.cause.to_string())),
            ..Default::default()
        };
        let status = Status::from(Failed { error: error.message.clone() });
        let context = self.context;
        self.recorder
            .record_with(|state, recorder| {
                let mut events = failed_attempt.events(state);
                let opens = events.iter().filter(|event| matches!(event, Event::TurnOpened(_))).count();
                // A turn that nothing opened yet has no place for an error; the one before has.
                let turns = u32::try_from(state.session.turns.len() + opens).unwrap_or(u32::MAX);
                let at = turn.min(turns.saturating_sub(1));
                events.push(TurnClosed { turn: at, errors: vec![noted.clone()], ..TurnClosed::default() }.into());
                events.extend(context.stopping(recorder, &status, Some(&StopReason::Error)));
                Ok(events)
            })
            .await?;
        Ok(self.stopped(status, Some(StopReason::Error), Vec::new()))
    }

    async fn stop(&mut self, status: Status, reason: Option<StopReason>, waiting: Vec<Waiting>) -> Result<Stopped> {
        let context = self.context;
        self.recorder.record_with(|_, recorder| Ok(context.stopping(recorder, &status, reason.as_ref()))).await?;
        Ok(self.stopped(status, reason, waiting))
    }

    /// How this run ended.
    fn stopped(&self, status: Status, reason: Option<StopReason>, waiting: Vec<Waiting>) -> Stopped {
        let session = self.recorder.session();
        let (text, usage) = (last_text(session), session.usage.clone());
        Stopped { text, status, reason, waiting, usage, first_turn: self.first_turn, elsewhere: false }
    }
}

/// Whether a call waits for a person, or for its siblings that do.
fn waits(planned: &PlannedCall) -> bool {
    matches!(planned.step, CallStep::AwaitHuman | CallStep::Unsure | CallStep::Replay)
}

fn needs_person(planned: &PlannedCall) -> bool {
    matches!(planned.step, CallStep::AwaitHuman | CallStep::Unsure)
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

/// Whether all calls of a turn but these have results.
pub(super) fn all_settled_but(turn: &Turn, but: &[&CallId]) -> bool {
    let answered = |call: &CallId| {
        turn.blocks.iter().any(|block| matches!(&block.body, Body::ToolResult(result) if result.call == *call))
    };
    calls(turn).all(|call| but.contains(&&call.call) || answered(&call.call))
}
