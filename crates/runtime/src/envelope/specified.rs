//! The seven in the specification's words.

use turnkeep_model::view;
use turnkeep_model::{Json, Number, Object, Status, StopReason, Usage};

use super::event::{
    AgentEvent, Chunk, Decision, StatusTold, StepCompleted, StepStarted, ToolCompleted, ToolList, ToolStarted,
    WaitingCall, Waits,
};
use super::options::Detail;
use super::summary::{self, whole_arguments};

/// The payload of an event; `None` where this much detail does not include it.
pub(super) fn payload(event: &AgentEvent, detail: Detail) -> Option<Object> {
    Some(match event {
        AgentEvent::Status(told) => status(told),
        AgentEvent::StepStarted(started) => step_started(started),
        AgentEvent::StepCompleted(completed) => step_completed(completed, detail),
        AgentEvent::ToolStarted(started) => tool_started(started, detail),
        AgentEvent::ToolCompleted(completed) => tool_completed(completed, milliseconds(completed.milliseconds)),
        AgentEvent::Chunk(_) if !detail.chunks => return None,
        AgentEvent::Chunk(piece) => chunk(piece),
        AgentEvent::Continuation(_) if !detail.continuation_trace => return None,
        AgentEvent::Continuation(decision) => continuation(decision),
    })
}

/// A JSON object of these fields, in this order.
pub(super) fn object<const N: usize>(fields: [(&str, Json); N]) -> Object {
    fields.into_iter().collect()
}

/// A value, or null.
pub(super) fn or_null(value: Option<impl Into<Json>>) -> Json {
    value.map_or(Json::Null, Into::into)
}

fn status(told: &StatusTold) -> Object {
    let word = view::status_word(&told.status);
    let error = match &told.status {
        Status::Failed(failed) => Some(failed.error.as_str()),
        _ => None,
    };
    let mut payload = object([
        ("status", word.into()),
        ("step_count", told.step_count.into()),
        ("error_message", or_null(error)),
        ("last_response", or_null(told.last_response.as_deref())),
    ]);
    // What three words cannot say.
    if told.status.kind() != word {
        payload.set("state", told.status.kind());
    }
    if !told.waiting.is_empty() {
        payload.set("waiting", Json::Array(told.waiting.iter().map(waiting).collect()));
    }
    payload
}

/// A call that waits, with everything that a person has to see: nothing of it is cut.
fn waiting(call: &WaitingCall) -> Json {
    let mut told = object([
        ("tool_call_id", call.call.as_str().into()),
        ("tool_name", call.tool.as_str().into()),
        ("args", whole_arguments(&call.arguments, usize::MAX)),
    ]);
    match &call.waits {
        Waits::Outcome => told.set("for", "outcome"),
        Waits::Consent { digest, expires, reason } => {
            told.set("for", "consent");
            told.set("digest", digest.as_str());
            told.set("expires", or_null(expires.as_ref().map(super::utc)));
            told.set("reason", or_null(reason.as_deref()));
        }
    }
    Json::Object(told)
}

fn step_started(started: &StepStarted) -> Object {
    let tools = match &started.tools {
        ToolList::Named(names) => Json::Array(names.iter().map(|name| name.as_str().into()).collect()),
        ToolList::Counted(0) => Json::Array(Vec::new()),
        ToolList::Counted(_) => Json::Null,
    };
    object([
        ("step_number", started.step.into()),
        ("message_count", started.messages.into()),
        ("available_tools", tools),
    ])
}

fn step_completed(completed: &StepCompleted, detail: Detail) -> Object {
    let mut payload = object([
        ("step_number", completed.step.into()),
        ("has_tool_calls", completed.has_tool_calls.into()),
        ("errors", completed.errors.into()),
        ("finish_reason", or_null(completed.finish.as_deref())),
        ("usage", usage(&completed.usage)),
        ("duration_ms", completed.milliseconds.clone().map_or_else(|| milliseconds(0.0), Json::Number)),
    ]);
    if let Some(decision) = completed.decision.as_ref().filter(|_| detail.continuation_trace) {
        payload.set("continuation", Json::Object(outcome(decision)));
    }
    payload
}

fn usage(usage: &Usage) -> Json {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let total = usage.total.unwrap_or_else(|| input.saturating_add(output));
    object([("prompt", input.into()), ("completion", output.into()), ("total", total.into())]).into()
}

fn tool_started(started: &ToolStarted, detail: Detail) -> Object {
    let mut payload = object([
        ("tool_name", started.tool.as_str().into()),
        ("tool_call_id", or_null(started.call.as_deref())),
        ("args_summary", or_null(summary::of_arguments(&started.arguments))),
    ]);
    if let Some(limit) = detail.arguments {
        payload.set("args", whole_arguments(&started.arguments, limit));
    }
    payload
}

/// The payload of a call that ended; both dialects differ only in the spelling of its duration.
pub(super) fn tool_completed(completed: &ToolCompleted, duration: Json) -> Object {
    object([
        ("tool_name", completed.tool.as_str().into()),
        ("tool_call_id", or_null(completed.call.as_deref())),
        ("success", completed.success.into()),
        ("error", or_null(completed.error.as_deref())),
        ("duration_ms", duration),
        ("result_summary", or_null(completed.result.as_deref())),
    ])
}

fn chunk(piece: &Chunk) -> Object {
    object([
        ("chunk", piece.text.as_str().into()),
        ("is_complete", piece.is_complete.into()),
        ("tokens_delta", piece.tokens.into()),
        ("index", piece.index.into()),
    ])
}

fn outcome(decision: &Decision) -> Object {
    let reason = decision.made.stop_reason.as_ref().map_or("completed", StopReason::as_str);
    object([
        ("should_continue", decision.goes_on().into()),
        ("stop_reason", reason.into()),
        ("resolved_by", or_null(decision.made.resolved_by.as_deref())),
    ])
}

fn continuation(decision: &Decision) -> Object {
    let evaluations = decision.made.evaluations.iter().map(|said| {
        Json::from(object([
            ("criterion", short_name(&said.criterion).into()),
            ("decision", or_null(said.decision.as_ref().map(turnkeep_model::status::Decision::as_str))),
            ("reason", or_null(said.reason.as_deref())),
        ]))
    });
    let mut payload = object([("step_number", decision.step.into())]);
    outcome(decision).into_iter().for_each(|(key, value)| payload.set(&key.to_str_lossy(), value));
    payload.set("evaluations", Json::Array(evaluations.collect()));
    payload
}

/// The last part of a class name.
fn short_name(name: &str) -> &str {
    name.rsplit(['\\', '/']).next().unwrap_or(name)
}

/// Milliseconds as a number with a point.
fn milliseconds(value: f64) -> Json {
    Json::Number(Number::from_f64(value))
}
