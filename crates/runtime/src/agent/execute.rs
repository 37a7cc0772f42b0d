//! Running tools side by side, each with its limits, and what the end of a call means.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use turnkeep_model::event::Effect;
use turnkeep_model::{Json, ToolCall, ToolResult};

use super::Agent;
use super::run_loop::RunLoop;
use crate::error::Result;
use crate::port::{Settings, Tool, ToolContext, ToolError, ToolOutput, seconds};
use crate::ports::Ports;
use crate::slices::Changes;
use crate::tool_result::{failed, succeeded, unknown};

/// A call that is to be made.
pub(super) struct Job {
    pub(super) call: ToolCall,
    pub(super) arguments: Json,
    pub(super) attempt: u32,
    pub(super) is_resume: bool,
}

/// A call that ended, besides what came of it.
pub(super) struct FinishedCall {
    pub(super) job: Job,
    pub(super) context: ToolContext,
    pub(super) seconds: f64,
}

/// Why a call gave no output.
enum NoOutput {
    Error(ToolError),
    TimedOut(Duration),
    Panicked,
}

/// What a call's end means.
enum CallEnd {
    Settle(ToolResult),
    TryAgain,
    Unsure,
    /// The tool itself says that it cannot safely run again, and why.
    NeedsHuman(String),
}

impl RunLoop<'_> {
    /// Makes the calls, at most so many at a time, and records each as it ends.
    pub(super) async fn execute(&mut self, turn: u32, jobs: Vec<Job>) -> Result<()> {
        let agent = self.agent;
        let mut waiting = jobs.into_iter();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < agent.parallel {
                let Some(job) = waiting.next() else { break };
                let context = self.tool_context(&job);
                running.push(run(agent, self.recorder.ports().clone(), job, context, Duration::ZERO).boxed());
            }
            let Some((came, ended)) = running.next().await else {
                return Ok(());
            };
            match end_of(agent, &ended.job, came) {
                CallEnd::Settle(result) => {
                    self.settle(turn, &ended, result).await?;
                    // The end of the step saves what the last call did.
                    if !running.is_empty() || waiting.len() > 0 {
                        self.recorder.checkpoint().await?;
                    }
                }
                // Left open: what the plan says of it decides.
                CallEnd::Unsure => {}
                CallEnd::NeedsHuman(why) => self.leave_to_human(&ended.job, &why).await?,
                CallEnd::TryAgain => {
                    let wait = backoff(ended.job.attempt);
                    let mut job = ended.job;
                    job.attempt = job.attempt.saturating_add(1);
                    self.intend(std::slice::from_ref(&job), None).await?;
                    let context = self.tool_context(&job);
                    running.push(run(agent, self.recorder.ports().clone(), job, context, wait).boxed());
                }
            }
        }
    }

    pub(super) fn tool_context(&self, job: &Job) -> ToolContext {
        let ledger = self.recorder.ledger();
        ToolContext {
            session: self.recorder.id().clone(),
            call_id: job.call.call.clone(),
            tool: job.call.name.clone(),
            key: self.key_of(&job.call.call),
            attempt: job.attempt,
            is_resume: job.is_resume,
            duplicate_of: ledger.get(&job.call.call).and_then(|entry| entry.duplicate_of.clone()),
            slices: Changes::new(self.agent.reducers.clone(), self.recorder.session()),
            outcomes: self.recorder.outcomes(),
        }
    }
}

async fn run(
    agent: &Agent,
    ports: Ports,
    job: Job,
    context: ToolContext,
    wait: Duration,
) -> (std::result::Result<ToolOutput, NoOutput>, FinishedCall) {
    if !wait.is_zero() {
        ports.clock.sleep(wait).await;
    }
    let began = ports.clock.now();
    let came = match agent.tools.get(&job.call.name) {
        Some(tool) => call(tool.as_ref(), &ports, &job.arguments, &context).await,
        None => Err(NoOutput::Error(ToolError::failed("there is no such tool"))),
    };
    let seconds = seconds(began, ports.clock.now());
    (came, FinishedCall { job, context, seconds })
}

async fn call(
    tool: &dyn Tool,
    ports: &Ports,
    arguments: &Json,
    context: &ToolContext,
) -> std::result::Result<ToolOutput, NoOutput> {
    // Making the future may panic as well as driving it.
    let calling = async { tool.call(arguments, context).await };
    match bounded(calling, tool.settings().timeout, ports).await {
        Bounded::Came(came) => came.map_err(NoOutput::Error),
        Bounded::Panicked => Err(NoOutput::Panicked),
        Bounded::TimedOut(limit) => Err(NoOutput::TimedOut(limit)),
    }
}

/// How something of a tool ended.
pub(super) enum Bounded<T> {
    Came(T),
    Panicked,
    TimedOut(Duration),
}

/// Waits for something of a tool, which may panic, at most so long.
pub(super) async fn bounded<T>(
    work: impl Future<Output = T> + Send,
    limit: Option<Duration>,
    ports: &Ports,
) -> Bounded<T> {
    let over = async {
        match limit {
            Some(limit) => ports.clock.sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    match select(Box::pin(AssertUnwindSafe(work).catch_unwind()), Box::pin(over)).await {
        Either::Left((Ok(came), _)) => Bounded::Came(came),
        Either::Left((Err(_), _)) => Bounded::Panicked,
        Either::Right(_) => Bounded::TimedOut(limit.unwrap_or_default()),
    }
}

/// What a call's end means: never a failure that it was not.
fn end_of(agent: &Agent, job: &Job, came: std::result::Result<ToolOutput, NoOutput>) -> CallEnd {
    let call = &job.call;
    let tool = agent.tools.get(&call.name);
    let (effect, settings) = tool.map_or((Effect::Once, Settings::default()), |tool| (tool.effect(), tool.settings()));
    let doubtful = |why: String| match effect {
        Effect::Pure => CallEnd::Settle(failed(call, &why)),
        Effect::Keyed => CallEnd::Settle(unknown(call, &why)),
        Effect::Once => CallEnd::Unsure,
    };
    match came {
        Ok(output) => CallEnd::Settle(succeeded(call, output, settings.max_result)),
        Err(NoOutput::Error(ToolError::Retryable(_))) if job.attempt < settings.attempts => CallEnd::TryAgain,
        Err(NoOutput::Error(ToolError::Failed(failure) | ToolError::Retryable(failure))) => {
            CallEnd::Settle(failed(call, &failure.message))
        }
        Err(NoOutput::Error(ToolError::Unsure(failure))) => doubtful(failure.message),
        Err(NoOutput::Error(ToolError::Idempotency(failure))) => CallEnd::NeedsHuman(failure.message),
        Err(NoOutput::TimedOut(limit)) => doubtful(format!("the call took longer than {} s", limit.as_secs_f64())),
        Err(NoOutput::Panicked) => doubtful("the tool panicked".to_owned()),
    }
}

fn backoff(attempt: u32) -> Duration {
    Duration::from_millis(100 << attempt.min(6))
}
