//! Calling tools, and recording what came of it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use turnkeep_model::event::{
    BlockAdded, CompensationIntended, CompensationSettled, Effect, LogAdded, ToolIntended, ToolSettled,
};
use turnkeep_model::{Body, CallId, Event, Json, Number, Outcome, ToolCall, ToolResult};
use turnkeep_store::{Loaded, StoreExt};

use super::answer::{asked, key};
use super::drive::{Drive, all_settled_but};
use super::outcome::{Waiting, WaitingFor};
use super::settings::{Agent, Unsure};
use super::told::{denied, failed, interrupted, refused, succeeded, unknown};
use crate::error::Result;
use crate::human::result_block;
use crate::plan::{PlannedCall, Step, calls};
use crate::port::{Consent, Found, Settings, Tool, ToolContext, ToolError, ToolOutput, seconds};
use crate::ports::Ports;
use crate::slices::{Changes, SubscriberFailure};

/// A call that is to be made.
pub(super) struct Job {
    call: ToolCall,
    arguments: Json,
    attempt: u32,
    is_resume: bool,
}

/// How a call ended.
struct Ended {
    job: Job,
    context: ToolContext,
    came: std::result::Result<ToolOutput, Cut>,
    seconds: f64,
}

/// Why a call gave no output.
enum Cut {
    Error(ToolError),
    TimedOut(Duration),
    Panicked,
}

/// What a call's end means.
enum Meaning {
    Settle(ToolResult),
    TryAgain,
    Unsure,
    /// The tool itself says that it cannot safely run again, and why.
    NeedsHuman(String),
}

impl Drive<'_> {
    /// The calls of a turn whose intents this run has just recorded.
    pub(super) fn fresh_jobs(&self, turn: u32) -> Vec<Job> {
        let Some(turn) = self.recorder.session().turns.get(turn as usize) else {
            return Vec::new();
        };
        let intended =
            |call: &&ToolCall| self.recorder.ledger().get(&call.call).is_some_and(|entry| entry.settled.is_none());
        calls(turn).filter(intended).filter_map(|call| self.job(call, None, 1, false)).collect()
    }

    fn job(&self, call: &ToolCall, edited: Option<&str>, attempt: u32, is_resume: bool) -> Option<Job> {
        let arguments = self.agent.tools.arguments(&call.name, edited.unwrap_or(&call.arguments)).ok()?;
        Some(Job { call: call.clone(), arguments, attempt, is_resume })
    }

    /// Makes the calls, at most so many at a time, and records each as it ends.
    pub(super) async fn execute(&mut self, turn: u32, jobs: Vec<Job>) -> Result<()> {
        let agent = self.agent;
        let mut waiting = jobs.into_iter();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < agent.parallel {
                let Some(job) = waiting.next() else { break };
                let context = self.context(&job);
                running.push(run(agent, self.recorder.ports().clone(), job, context, Duration::ZERO).boxed());
            }
            let Some(ended) = running.next().await else {
                return Ok(());
            };
            match meaning(agent, &ended) {
                Meaning::Settle(result) => {
                    self.settle(turn, &ended, result).await?;
                    // The end of the step saves what the last call did.
                    if !running.is_empty() || waiting.len() > 0 {
                        self.recorder.checkpoint().await?;
                    }
                }
                // Left open: what the plan says of it decides.
                Meaning::Unsure => {}
                Meaning::NeedsHuman(why) => self.leave_to_human(&ended.job, &why).await?,
                Meaning::TryAgain => {
                    let wait = backoff(ended.job.attempt);
                    let mut job = ended.job;
                    job.attempt = job.attempt.saturating_add(1);
                    self.intend(std::slice::from_ref(&job), None).await?;
                    let context = self.context(&job);
                    running.push(run(agent, self.recorder.ports().clone(), job, context, wait).boxed());
                }
            }
        }
    }

    fn context(&self, job: &Job) -> ToolContext {
        let ledger = self.recorder.ledger();
        ToolContext {
            session: self.recorder.id().clone(),
            call_id: job.call.call.clone(),
            tool: job.call.name.clone(),
            key: self.key_of(&job.call.call),
            attempt: job.attempt,
            is_resume: job.is_resume,
            duplicate_of: ledger.get(&job.call.call).and_then(|entry| entry.duplicate_of.clone()),
            slices: Changes::new(self.agent.reducers.clone(), &self.recorder.session().slices),
            outcomes: self.recorder.outcomes(),
        }
    }

    /// The key that the journal has for a call: a fork uses the key under which its parent may have acted.
    fn key_of(&self, call: &CallId) -> String {
        let recorded = self.recorder.ledger().get(call).and_then(|entry| entry.key.clone());
        recorded.unwrap_or_else(|| key(self.recorder.id(), call))
    }

    /// Records that these calls are about to be made. A `stricter` effect stands for what their tools say.
    async fn intend(&mut self, jobs: &[Job], stricter: Option<Effect>) -> Result<()> {
        let effect = |job: &Job| stricter.or(self.agent.tools.effect(&job.call.name)).unwrap_or(Effect::Once);
        let earlier =
            |job: &Job| self.recorder.ledger().get(&job.call.call).and_then(|entry| entry.duplicate_of.clone());
        let intended = |job: &Job| {
            ToolIntended {
                call: job.call.call.clone(),
                effect: effect(job),
                key: (effect(job) != Effect::Pure).then(|| self.key_of(&job.call.call)),
                attempt: Some(job.attempt),
                duplicate_of: earlier(job),
            }
            .into()
        };
        let events: Vec<Event> = jobs.iter().map(intended).collect();
        self.recorder.record_with(|_, _| Ok(events.clone())).await.map(drop)
    }

    /// Records that a call must not be repeated without a person, and why the tool says so.
    async fn leave_to_human(&mut self, job: &Job, why: &str) -> Result<()> {
        self.intend(std::slice::from_ref(job), Some(Effect::Once)).await?;
        let line = format!("call {} of {} cannot safely run again: {why}", job.call.call, job.call.name);
        self.recorder.record_with(|_, _| Ok(vec![LogAdded { line: line.clone() }.into()])).await.map(drop)
    }

    /// Records how a call ended: its side-state, its outcome and its result are one batch.
    async fn settle(&mut self, turn: u32, ended: &Ended, result: ToolResult) -> Result<()> {
        let keeps = result.outcome == Some(Outcome::Success);
        let taken = Number::from_f64((ended.seconds * 1000.0).round() / 1000.0);
        self.settle_with(turn, result, Some(taken), |state| {
            if !keeps {
                return Vec::new();
            }
            let (mut events, failures) = ended.context.slices.apply_to(&state.session.slices);
            events.extend(failures.into_iter().map(|failure| {
                LogAdded { line: format!("[slice] the reducer of {} failed: {}", failure.slice, failure.why) }.into()
            }));
            events
        })
        .await?;
        if keeps { self.tell(ended).await } else { Ok(()) }
    }

    /// Tells subscribers what a call dispatched, now that it is durable.
    async fn tell(&mut self, ended: &Ended) -> Result<()> {
        let failures = ended.context.slices.tell();
        let line = |failure: &SubscriberFailure| format!("[event] a subscriber failed: {}", failure.why);
        let events: Vec<Event> = failures.iter().map(|failure| LogAdded { line: line(failure) }.into()).collect();
        self.recorder.record_with(|_, _| Ok(events.clone())).await.map(drop)
    }

    async fn settle_with(
        &mut self,
        turn: u32,
        result: ToolResult,
        seconds: Option<Number>,
        before: impl Fn(&Loaded) -> Vec<Event> + Send + Sync,
    ) -> Result<()> {
        let pace = self.pace;
        self.recorder
            .record_with(|state, recorder| {
                if is_answered(state, turn, &result.call) {
                    // Someone who knew said so meanwhile; there is one result of a call.
                    let line = format!("[tool] call {} ended after its result was given", result.call);
                    return Ok(vec![LogAdded { line }.into()]);
                }
                let mut events = before(state);
                let outcome = result.outcome.clone().unwrap_or(Outcome::Success);
                events.push(ToolSettled { call: result.call.clone(), outcome, seconds: seconds.clone() }.into());
                let block = result_block(&state.session, turn, result.clone(), &recorder.now());
                events.push(BlockAdded { turn, block }.into());
                let last =
                    state.session.turns.get(turn as usize).is_some_and(|turn| all_settled_but(turn, &[&result.call]));
                if last {
                    events.extend(pace.closing(state, turn, recorder, 1));
                }
                Ok(events)
            })
            .await
            .map(drop)
    }

    /// Does what the plan says of calls that are open, and names those that wait for a person.
    pub(super) async fn take_up(&mut self, turn: u32, steps: Vec<PlannedCall>) -> Result<Vec<Waiting>> {
        let mut waiting = Vec::new();
        let mut jobs = Vec::new();
        for planned in steps {
            let call = planned.call;
            match planned.step {
                Step::Replay => {}
                Step::Call { .. } if self.lacks_consent(&call) => {
                    self.ask_consent(&call).await?;
                    waiting.push(self.waits(&call));
                }
                Step::Call { attempt, arguments } => jobs.extend(self.taken_up(turn, &call, attempt, arguments).await?),
                Step::AwaitHuman => waiting.push(self.waits(&call)),
                Step::Deny(reason) => self.settle_with(turn, denied(&call, &reason), None, |_| Vec::new()).await?,
                Step::Abandon => self.abandon(turn, &call).await?,
                Step::Unsure => match self.look(turn, &call).await? {
                    Looked::Settled => {}
                    Looked::CallAgain => {
                        let attempt = self.recorder.ledger().get(&call.call).map_or(1, |entry| entry.attempts + 1);
                        jobs.extend(self.taken_up(turn, &call, attempt, None).await?);
                    }
                    Looked::Waits => waiting.push(self.waits(&call)),
                },
            }
        }
        if !jobs.is_empty() {
            self.intend(&jobs, None).await?;
            self.execute(turn, jobs).await?;
        }
        Ok(waiting)
    }

    /// A call that is made again, or for the first time after a person consented.
    async fn taken_up(
        &mut self,
        turn: u32,
        call: &ToolCall,
        attempt: u32,
        edited: Option<String>,
    ) -> Result<Option<Job>> {
        let is_resume = attempt > 1 || self.came_open(call) || self.recorder.ledger().is_inherited(&call.call);
        if let Some(job) = self.job(call, edited.as_deref(), attempt, is_resume) {
            return Ok(Some(job));
        }
        let fits = self.agent.tools.arguments(&call.name, edited.as_deref().unwrap_or(&call.arguments));
        let result = refused(call, &fits.err().unwrap_or_default());
        self.settle_with(turn, result, None, |_| Vec::new()).await?;
        Ok(None)
    }

    /// Whether the call was open when the session came here, from a snapshot or another system: it may have begun there.
    fn came_open(&self, call: &ToolCall) -> bool {
        let ledger = self.recorder.ledger();
        match (ledger.get(&call.call), ledger.approval(&call.call)) {
            (None, None) => true,
            (_, approval) => approval.is_some_and(|approval| approval.asked.reason.as_deref() == Some(CAME_OPEN)),
        }
    }

    /// Whether nobody was asked yet about a call that needs a person's consent.
    fn lacks_consent(&self, call: &ToolCall) -> bool {
        let ledger = self.recorder.ledger();
        let asked = ledger.approval(&call.call).is_some() || ledger.resolution(&call.call).is_some();
        let tool = self.agent.tools.get(&call.name);
        ledger.get(&call.call).is_none() && !asked && tool.is_some_and(|tool| within(tool.as_ref()).is_some())
    }

    async fn ask_consent(&mut self, call: &ToolCall) -> Result<()> {
        let limit = self.agent.tools.get(&call.name).and_then(|tool| within(tool.as_ref())).flatten();
        self.recorder
            .record_with(|_, recorder| Ok(vec![asked(recorder, call, limit, Some(CAME_OPEN.to_owned())).into()]))
            .await
            .map(drop)
    }

    fn waits(&self, call: &ToolCall) -> Waiting {
        let consent =
            self.recorder.ledger().get(&call.call).is_none() && self.recorder.ledger().approval(&call.call).is_some();
        let what = if consent { WaitingFor::Consent } else { WaitingFor::Outcome };
        Waiting { call: call.call.clone(), tool: call.name.clone(), what }
    }

    /// Finds out about a call that may have acted.
    async fn look(&mut self, turn: u32, call: &ToolCall) -> Result<Looked> {
        if let Some(result) = self.outcome_in_parent(call).await? {
            self.settle_with(turn, result, None, |_| Vec::new()).await?;
            return Ok(Looked::Settled);
        }
        let found = match self.job(call, None, 1, true) {
            Some(job) => self.probe(&job).await,
            None => Found::Unknown,
        };
        match (found, self.agent.unsure) {
            (Found::Done(output), _) => {
                self.settle_with(turn, succeeded(call, output, usize::MAX), None, |_| Vec::new()).await?;
                Ok(Looked::Settled)
            }
            (Found::NotDone, _) => Ok(Looked::CallAgain),
            (Found::Unknown, Unsure::AskHuman) => Ok(Looked::Waits),
            (Found::Unknown, Unsure::TellModel) => {
                self.abandon(turn, call).await?;
                Ok(Looked::Settled)
            }
        }
    }

    /// What came of a call that the parent of this fork began, where the parent knows by now.
    async fn outcome_in_parent(&self, call: &ToolCall) -> Result<Option<ToolResult>> {
        let mut is_inherited = self.recorder.ledger().is_inherited(&call.call);
        let mut parent = self.recorder.session().parent.clone();
        while let Some(from) = parent.filter(|_| is_inherited) {
            let loaded = match self.recorder.store().load(&from.session).await {
                // A parent that was deleted tells nothing.
                Err(error) if error.kind() == turnkeep_store::ErrorKind::NotFound => return Ok(None),
                loaded => loaded?,
            };
            if let Some(result) = result_of(&loaded, &call.call) {
                return Ok(Some(result.clone()));
            }
            is_inherited = loaded.ledger.is_inherited(&call.call);
            parent = loaded.session.parent;
        }
        Ok(None)
    }

    async fn probe(&self, job: &Job) -> Found {
        let Some(tool) = self.agent.tools.get(&job.call.name) else {
            return Found::Unknown;
        };
        let Some(probe) = tool.probe() else {
            return Found::Unknown;
        };
        let context = self.context(job);
        let looking = async { probe.probe(&job.arguments, &context).await };
        match bounded(looking, tool.settings().timeout, self.recorder.ports()).await {
            Waited::Came(looked) => looked.unwrap_or(Found::Unknown),
            Waited::Panicked | Waited::TimedOut(_) => Found::Unknown,
        }
    }

    /// Gives a call up: undoes it where the tool can, and says that its outcome is unknown.
    async fn abandon(&mut self, turn: u32, call: &ToolCall) -> Result<()> {
        let undone = self.compensate(call).await?;
        let result = interrupted(call, undone.as_ref());
        self.settle_with(turn, result, None, |_| Vec::new()).await
    }

    async fn compensate(&mut self, call: &ToolCall) -> Result<Option<std::result::Result<(), String>>> {
        let agent = self.agent;
        let tool = agent.tools.get(&call.name);
        let (Some(undoing), Some(job)) = (tool.and_then(|tool| tool.compensate()), self.job(call, None, 1, true))
        else {
            return Ok(None);
        };
        let before = self.recorder.ledger().get(&call.call).and_then(|entry| entry.compensated.clone());
        if let Some(Some(outcome)) = before {
            let undone = if outcome == Outcome::Success { Ok(()) } else { Err("it failed before".to_owned()) };
            return Ok(Some(undone));
        }
        let intended = CompensationIntended { call: call.call.clone() };
        self.recorder.record_with(|_, _| Ok(vec![intended.clone().into()])).await?;
        let context = self.context(&job);
        let undoing = async { undoing.compensate(&job.arguments, &context).await };
        let limit = tool.and_then(|tool| tool.settings().timeout);
        let undone = match bounded(undoing, limit, self.recorder.ports()).await {
            Waited::Came(undone) => undone.map_err(|error| error.message().to_owned()),
            Waited::Panicked => Err("it panicked".to_owned()),
            Waited::TimedOut(_) => Err("it took too long".to_owned()),
        };
        let settled = CompensationSettled {
            call: call.call.clone(),
            outcome: if undone.is_ok() { Outcome::Success } else { Outcome::Failed },
            error: undone.as_ref().err().cloned(),
        };
        self.recorder.record_with(|_, _| Ok(vec![settled.clone().into()])).await?;
        Ok(Some(undone))
    }
}

/// Why a person is asked about a call that no run recorded.
const CAME_OPEN: &str = "the session came here with this call open: it may have run elsewhere";

/// How long a call waits for consent, if it needs one.
fn within(tool: &dyn Tool) -> Option<Option<Duration>> {
    match tool.consent() {
        Consent::Needed { within } => Some(within),
        Consent::NotNeeded => None,
    }
}

/// Whether the turn of a call has its result.
fn is_answered(state: &Loaded, turn: u32, call: &CallId) -> bool {
    let blocks = state.session.turns.get(turn as usize).map(|turn| turn.blocks.as_slice()).unwrap_or_default();
    blocks.iter().any(|block| matches!(&block.body, Body::ToolResult(result) if result.call == *call))
}

/// The result of a call, wherever it stands.
fn result_of<'a>(loaded: &'a Loaded, call: &CallId) -> Option<&'a ToolResult> {
    loaded.session.blocks().find_map(|(_, block)| match &block.body {
        Body::ToolResult(result) if result.call == *call => Some(result),
        _ => None,
    })
}

/// What looking for the outcome of a call gave.
enum Looked {
    Settled,
    CallAgain,
    Waits,
}

async fn run(agent: &Agent, ports: Ports, job: Job, context: ToolContext, wait: Duration) -> Ended {
    if !wait.is_zero() {
        ports.clock.sleep(wait).await;
    }
    let began = ports.clock.now();
    let came = match agent.tools.get(&job.call.name) {
        Some(tool) => call(tool.as_ref(), &ports, &job.arguments, &context).await,
        None => Err(Cut::Error(ToolError::failed("there is no such tool"))),
    };
    let seconds = seconds(began, ports.clock.now());
    Ended { job, context, came, seconds }
}

async fn call(
    tool: &dyn Tool,
    ports: &Ports,
    arguments: &Json,
    context: &ToolContext,
) -> std::result::Result<ToolOutput, Cut> {
    // Making the future may panic as well as driving it.
    let calling = async { tool.call(arguments, context).await };
    match bounded(calling, tool.settings().timeout, ports).await {
        Waited::Came(came) => came.map_err(Cut::Error),
        Waited::Panicked => Err(Cut::Panicked),
        Waited::TimedOut(limit) => Err(Cut::TimedOut(limit)),
    }
}

/// How something of a tool ended.
enum Waited<T> {
    Came(T),
    Panicked,
    TimedOut(Duration),
}

/// Waits for something of a tool, which may panic, at most so long.
async fn bounded<T>(work: impl Future<Output = T> + Send, limit: Option<Duration>, ports: &Ports) -> Waited<T> {
    let over = async {
        match limit {
            Some(limit) => ports.clock.sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    match select(Box::pin(AssertUnwindSafe(work).catch_unwind()), Box::pin(over)).await {
        Either::Left((Ok(came), _)) => Waited::Came(came),
        Either::Left((Err(_), _)) => Waited::Panicked,
        Either::Right(_) => Waited::TimedOut(limit.unwrap_or_default()),
    }
}

/// What a call's end means: never a failure that it was not.
fn meaning(agent: &Agent, ended: &Ended) -> Meaning {
    let call = &ended.job.call;
    let tool = agent.tools.get(&call.name);
    let (effect, settings) = tool.map_or((Effect::Once, Settings::default()), |tool| (tool.effect(), tool.settings()));
    let doubtful = |why: String| match effect {
        Effect::Pure => Meaning::Settle(failed(call, &why)),
        Effect::Keyed => Meaning::Settle(unknown(call, &why)),
        Effect::Once => Meaning::Unsure,
    };
    match &ended.came {
        Ok(output) => Meaning::Settle(succeeded(call, output.clone(), settings.max_result)),
        Err(Cut::Error(ToolError::Retryable(_))) if ended.job.attempt < settings.attempts => Meaning::TryAgain,
        Err(Cut::Error(ToolError::Failed(failure) | ToolError::Retryable(failure))) => {
            Meaning::Settle(failed(call, &failure.message))
        }
        Err(Cut::Error(ToolError::Unsure(failure))) => doubtful(failure.message.clone()),
        Err(Cut::Error(ToolError::Idempotency(failure))) => Meaning::NeedsHuman(failure.message.clone()),
        Err(Cut::TimedOut(limit)) => doubtful(format!("the call took longer than {} s", limit.as_secs_f64())),
        Err(Cut::Panicked) => doubtful("the tool panicked".to_owned()),
    }
}

fn backoff(attempt: u32) -> Duration {
    Duration::from_millis(100 << attempt.min(6))
}
