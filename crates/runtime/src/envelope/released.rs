//! The seven as a release of the original program wrote them.

use turnkeep_model::{Json, Object, Status, StopReason, Usage};

use super::event::{
    AgentEvent, Begins, Chunk, Decision, StatusTold, StepCompleted, StepStarted, ToolList, ToolStarted,
};
use super::options::Detail;
use super::specified::{object, or_null, tool_completed};
use super::summary::{self, whole_arguments};

/// The word for a run that has not begun.
const IDLE: &str = "idle";

/// Writes the released dialect, which tells of every status the one before it.
#[derive(Debug, Clone)]
pub(super) struct Released {
    previous: &'static str,
}

impl Default for Released {
    fn default() -> Released {
        Released { previous: IDLE }
    }
}

impl Released {
    /// The payload of an event; `None` where the dialect does not tell it.
    pub(super) fn payload(&mut self, event: &AgentEvent, detail: Detail) -> Option<Object> {
        Some(match event {
            AgentEvent::Status(told) => return self.status(told),
            AgentEvent::StepStarted(started) => step_started(started),
            AgentEvent::StepCompleted(completed) => step_completed(completed),
            AgentEvent::ToolStarted(started) => tool_started(started, detail),
            AgentEvent::ToolCompleted(completed) => {
                tool_completed(completed, (completed.milliseconds.round().max(0.0) as u64).into())
            }
            AgentEvent::Chunk(piece) => return chunk(piece).filter(|_| detail.chunks),
            AgentEvent::Continuation(_) if !detail.continuation_trace => return None,
            AgentEvent::Continuation(decision) => continuation(decision),
        })
    }

    /// The same word twice is told once; every run begins idle.
    fn status(&mut self, told: &StatusTold) -> Option<Object> {
        if told.begins == Begins::Run {
            self.previous = IDLE;
        }
        let word = word(&told.status, told.reason.as_ref());
        let previous = std::mem::replace(&mut self.previous, word);
        if previous == word {
            return None;
        }
        let mut payload = object([("status", word.into()), ("previous_status", previous.into())]);
        if matches!(word, "failed" | "stopped" | "cancelled") {
            let error = match &told.status {
                Status::Failed(failed) => Some(failed.error.as_str()),
                _ => None,
            };
            payload.set("error_message", or_null(error));
            payload.set("last_response", or_null(told.last_response.as_deref()));
        }
        Some(payload)
    }
}

/// The program's word for where a session stands.
fn word(status: &Status, reason: Option<&StopReason>) -> &'static str {
    match (status, reason) {
        (Status::Pending(_), _) => IDLE,
        (Status::Completed(_), _) => "completed",
        (Status::Failed(_), _) => "failed",
        (Status::Stopped(_), Some(StopReason::UserRequested)) => "cancelled",
        (Status::Stopped(_) | Status::Handoff(_), _) => "stopped",
        _ => "processing",
    }
}

fn step_started(started: &StepStarted) -> Object {
    let tools = match &started.tools {
        ToolList::Named(names) => names.len() as u64,
        ToolList::Counted(count) => *count,
    };
    object([
        ("step_number", started.step.into()),
        ("message_count", started.messages.into()),
        ("available_tools", tools.into()),
    ])
}

fn step_completed(completed: &StepCompleted) -> Object {
    object([
        ("step_number", completed.step.into()),
        ("has_tool_calls", completed.has_tool_calls.into()),
        ("errors", completed.errors.into()),
        ("finish_reason", or_null(completed.finish.as_deref())),
        ("usage", usage(&completed.usage)),
        ("duration_ms", completed.milliseconds.clone().map_or_else(|| 0_u64.into(), Json::Number)),
    ])
}

fn usage(usage: &Usage) -> Json {
    let count = |count: Option<u64>| Json::from(count.unwrap_or(0));
    object([
        ("input", count(usage.input)),
        ("output", count(usage.output)),
        ("cacheWrite", count(usage.cached_write)),
        ("cacheRead", count(usage.cached_read)),
        ("reasoning", count(usage.reasoning)),
    ])
    .into()
}

/// Either the arguments or their summary.
fn tool_started(started: &ToolStarted, detail: Detail) -> Object {
    let mut payload =
        object([("tool_name", started.tool.as_str().into()), ("tool_call_id", or_null(started.call.as_deref()))]);
    match detail.arguments {
        Some(limit) => payload.set("args", whole_arguments(&started.arguments, limit)),
        None => payload.set("args_summary", or_null(summary::of_arguments(&started.arguments))),
    }
    payload
}

/// The program never says that a chunk is the last.
fn chunk(piece: &Chunk) -> Option<Object> {
    let payload = object([
        ("content", piece.text.as_str().into()),
        ("is_complete", false.into()),
        ("chunk_index", piece.index.into()),
    ]);
    (!piece.text.is_empty()).then_some(payload)
}

/// A reason is told only where something made the run stop.
fn continuation(decision: &Decision) -> Object {
    let reason = decision.made.stop_reason.as_ref().filter(|reason| **reason != StopReason::Completed);
    object([
        ("step_number", decision.step.into()),
        ("should_stop", (!decision.goes_on()).into()),
        ("stop_reason", or_null(reason.map(StopReason::as_str))),
        ("resolved_by", decision.made.resolved_by.as_deref().unwrap_or_default().into()),
    ])
}
