//! Calls that are open: what the plan says of each is done, and what came of it is recorded.
//!
//! **Invariant: a call has one result.** Whoever records a second one, because a person or another process was faster,
//! finds the first and leaves it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use turnkeep_model::event::{BlockAdded, Effect, LogAdded, ToolIntended, ToolSettled};
use turnkeep_model::{Body, CallId, Event, Number, Outcome, ToolCall, ToolResult};
use turnkeep_store::Loaded;

use super::answer::approval_request;
use super::execute::{FinishedCall, Job};
use super::run_loop::{RunLoop, all_settled_but};
use super::stopped::{Waiting, WaitingFor};
use super::unsure::Investigated;
use crate::error::Result;
use crate::human::key;
use crate::plan::{CallStep, PlannedCall, calls};
use crate::port::{Consent, Tool};
use crate::recorder::Recorder;
use crate::slices::SubscriberFailure;
use crate::tool_result::{denied, refused, result_block};

impl RunLoop<'_> {
    /// The calls of a turn whose intents this run has just recorded.
    pub(super) fn fresh_jobs(&self, turn: u32) -> Vec<Job> {
        let Some(turn) = self.recorder.session().turns.get(turn as usize) else {
            return Vec::new();
        };
        let intended =
            |call: &&ToolCall| self.recorder.ledger().get(&call.call).is_some_and(|entry| entry.settled.is_none());
        calls(turn).filter(intended).filter_map(|call| self.job(call, None, 1, false)).collect()
    }

    pub(super) fn job(&self, call: &ToolCall, edited: Option<&str>, attempt: u32, is_resume: bool) -> Option<Job> {
        let arguments = self.agent.tools.arguments(&call.name, edited.unwrap_or(&call.arguments)).ok()?;
        Some(Job { call: call.clone(), arguments, attempt, is_resume })
    }

    /// The key that the journal has for a call, of its intent or of a person's consent: a fork uses the key under which its
    /// parent may have acted.
    pub(super) fn key_of(&self, call: &CallId) -> String {
        let ledger = self.recorder.ledger();
        let intended = ledger.get(call).and_then(|entry| entry.key.clone());
        let consented = || ledger.approval(call)?.given.as_ref()?.key.clone();
        intended.or_else(consented).unwrap_or_else(|| key(self.recorder.id(), call))
    }

    /// What a person wrote in the place of a call's arguments.
    pub(super) fn edited(&self, call: &CallId) -> Option<String> {
        self.recorder.ledger().approval(call)?.given.as_ref()?.arguments.clone()
    }

    /// Records that these calls are about to be made. A `stricter` effect stands for what their tools say.
    pub(super) async fn intend(&mut self, jobs: &[Job], stricter: Option<Effect>) -> Result<()> {
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
    pub(super) async fn leave_to_human(&mut self, job: &Job, why: &str) -> Result<()> {
        self.intend(std::slice::from_ref(job), Some(Effect::Once)).await?;
        let line = format!("call {} of {} cannot safely run again: {why}", job.call.call, job.call.name);
        self.recorder.record_with(|_, _| Ok(vec![LogAdded { line: line.clone() }.into()])).await.map(drop)
    }

    /// Records how a call ended: its side-state, its outcome and its result are one batch. What it dispatched counts only
    /// where it succeeded, and only with its result.
    pub(super) async fn settle(&mut self, turn: u32, ended: &FinishedCall, result: ToolResult) -> Result<()> {
        let has_succeeded = result.outcome == Some(Outcome::Success);
        // Milliseconds are what a clock can tell; more digits would only make journals longer.
        let taken = Number::from_f64((ended.seconds * 1000.0).round() / 1000.0);
        let settled = self
            .settle_with(turn, result, Some(taken), |state| match has_succeeded {
                true => side_state(ended, state),
                false => Vec::new(),
            })
            .await?;
        match settled {
            Settled::Now if has_succeeded => self.tell(ended).await,
            _ => Ok(()),
        }
    }

    /// Tells subscribers what a call dispatched, now that it is durable.
    async fn tell(&mut self, ended: &FinishedCall) -> Result<()> {
        let failures = ended.context.slices.tell();
        let line = |failure: &SubscriberFailure| format!("[event] a subscriber failed: {}", failure.why);
        let events: Vec<Event> = failures.iter().map(|failure| LogAdded { line: line(failure) }.into()).collect();
        self.recorder.record_with(|_, _| Ok(events.clone())).await.map(drop)
    }

    /// Records a result, which may be large and is moved into its record, with what `before` makes of the state.
    pub(super) async fn settle_with(
        &mut self,
        turn: u32,
        result: ToolResult,
        seconds: Option<Number>,
        before: impl Fn(&Loaded) -> Vec<Event> + Send + Sync,
    ) -> Result<Settled> {
        let (context, call) = (self.context, result.call.clone());
        let was_answered = AtomicBool::new(false);
        let make = |state: &Loaded, recorder: &Recorder, result: ToolResult| {
            was_answered.store(is_answered(state, turn, &result.call), Ordering::Relaxed);
            if was_answered.load(Ordering::Relaxed) {
                // Someone who knew said so meanwhile; there is one result of a call.
                let line = format!("[tool] call {} ended after its result was given", result.call);
                return vec![LogAdded { line }.into()];
            }
            let own = state.session.turns.get(turn as usize);
            let is_last = own.is_some_and(|turn| all_settled_but(turn, &[&result.call]));
            let outcome = result.outcome.clone().unwrap_or(Outcome::Success);
            let settled = ToolSettled { call: result.call.clone(), outcome, seconds: seconds.clone() };
            let block = result_block(&state.session, turn, result, &recorder.now());
            let mut events = before(state);
            events.extend([settled.into(), BlockAdded { turn, block }.into()]);
            if is_last {
                events.extend(context.closing(state, turn, recorder, 1));
            }
            events
        };
        self.recorder.record_moving(result, make, |event| take_result(event, &call)).await?;
        Ok(if was_answered.into_inner() { Settled::Before } else { Settled::Now })
    }

    /// Does what the plan says of calls that are open, and names those that wait for a person.
    pub(super) async fn resume_calls(&mut self, turn: u32, steps: Vec<PlannedCall>) -> Result<Vec<Waiting>> {
        let mut waiting = Vec::new();
        let mut jobs = Vec::new();
        for planned in steps {
            let call = planned.call;
            match planned.step {
                CallStep::Replay => {}
                CallStep::Call { .. } if self.lacks_consent(&call) => {
                    self.ask_consent(&call).await?;
                    waiting.push(self.waits(&call));
                }
                CallStep::Call { attempt, arguments } => {
                    jobs.extend(self.resumed_job(turn, &call, attempt, arguments).await?);
                }
                CallStep::AwaitHuman => waiting.push(self.waits(&call)),
                CallStep::Deny(reason) => {
                    self.settle_with(turn, denied(&call, &reason), None, |_| Vec::new()).await?;
                }
                CallStep::Abandon => self.abandon(turn, &call).await?,
                CallStep::Unsure => match self.investigate(turn, &call).await? {
                    Investigated::Settled => {}
                    Investigated::CallAgain => {
                        let attempt = self.recorder.ledger().get(&call.call).map_or(1, |entry| entry.attempts + 1);
                        let edited = self.edited(&call.call);
                        jobs.extend(self.resumed_job(turn, &call, attempt, edited).await?);
                    }
                    Investigated::Waits => waiting.push(self.waits(&call)),
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
    async fn resumed_job(
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
            .record_with(|_, recorder| {
                Ok(vec![approval_request(recorder, call, limit, Some(CAME_OPEN.to_owned())).into()])
            })
            .await
            .map(drop)
    }

    fn waits(&self, call: &ToolCall) -> Waiting {
        let ledger = self.recorder.ledger();
        let asked = ledger.approval(&call.call).is_some_and(|approval| approval.given.is_none());
        let consent = asked && ledger.get(&call.call).is_none();
        let what = if consent { WaitingFor::Consent } else { WaitingFor::Outcome };
        Waiting { call: call.call.clone(), tool: call.name.clone(), arguments: call.arguments.clone(), what }
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

/// Whether a result was recorded, or someone else had recorded one.
pub(super) enum Settled {
    Now,
    Before,
}

/// What a call dispatched does to the slices as they are now.
fn side_state(ended: &FinishedCall, state: &Loaded) -> Vec<Event> {
    let (mut events, failures) = ended.context.slices.apply_to(&state.session.slices);
    events.extend(failures.into_iter().map(|failure| {
        LogAdded { line: format!("[slice] the reducer of {} failed: {}", failure.slice, failure.why) }.into()
    }));
    events
}

/// Takes the result of a call out of its event.
fn take_result(event: &mut Event, call: &CallId) -> Option<ToolResult> {
    let Event::BlockAdded(added) = event else {
        return None;
    };
    match &mut added.block.body {
        Body::ToolResult(result) if result.call == *call => {
            let parts = std::mem::take(&mut result.parts);
            Some(ToolResult { parts, ..result.clone() })
        }
        _ => None,
    }
}

/// Whether the turn of a call has its result.
fn is_answered(state: &Loaded, turn: u32, call: &CallId) -> bool {
    let blocks = state.session.turns.get(turn as usize).map(|turn| turn.blocks.as_slice()).unwrap_or_default();
    blocks.iter().any(|block| matches!(&block.body, Body::ToolResult(result) if result.call == *call))
}
