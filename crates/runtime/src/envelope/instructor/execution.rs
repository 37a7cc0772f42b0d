//! One execution of an agent, as its events tell it.

use jiff::Timestamp;
use turnkeep_model::policy::{RedactTarget, Redactor};
use turnkeep_model::status::{Completed, Continuation, Failed, InProgress, Stopped};
use turnkeep_model::{Json, Number, Status, StopReason};

use super::raw::Raw;
use crate::envelope::EnvelopeOptions;
use crate::envelope::chunks::Chunks;
use crate::envelope::event::{
    AgentEvent, Begins, Decision, StatusTold, StepCompleted, StepStarted, ToolCompleted, ToolList, ToolStarted,
};
use crate::envelope::summary;
use crate::port::Delta;

/// What is remembered of an execution.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    stage: Stage,
    steps: u64,
    has_tool_calls: bool,
    /// What went wrong in the last step.
    error: Option<String>,
    /// Why something asked to stop.
    signal: Option<StopReason>,
    last_response: Option<String>,
    chunks: Chunks,
}

/// How far an execution is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    Running,
    Ended,
}

impl Execution {
    pub(super) fn new(options: &EnvelopeOptions) -> Execution {
        // Nothing says when a piece arrived: each is told as it is.
        let options = EnvelopeOptions { window: std::time::Duration::ZERO, ..options.clone() };
        Execution {
            stage: Stage::Idle,
            steps: 0,
            has_tool_calls: false,
            error: None,
            signal: None,
            last_response: None,
            chunks: Chunks::new(&options),
        }
    }

    /// What an event tells.
    pub(super) fn take(&mut self, event: &Raw<'_>, redactor: &mut Redactor) -> Vec<AgentEvent> {
        match event.name.as_str() {
            "AgentStepStarted" => self.step_started(event),
            "AgentStepCompleted" => self.step_completed(event, redactor),
            "ToolCallStarted" => vec![AgentEvent::ToolStarted(tool_started(event, redactor))],
            "ToolCallCompleted" => vec![AgentEvent::ToolCompleted(tool_completed(event, redactor))],
            "PartialInferenceDeltaCreated" | "StreamEventParsed" => self.piece(event),
            "StopSignalReceived" => {
                self.signal = event.text("reason").map(|word| StopReason::from_word(&word));
                Vec::new()
            }
            "ContinuationEvaluated" => self.evaluated(event),
            "AgentExecutionFailed" => {
                let error = redactor.text(&event.text("error").unwrap_or_default());
                self.ended(Failed { error }.into(), Some(StopReason::Error), redactor)
            }
            "AgentExecutionStopped" => {
                let reason = event.text("stopReason").map(|word| StopReason::from_word(&word));
                self.ended(status_of(reason.as_ref(), self.error.as_deref()), reason, redactor)
            }
            _ => Vec::new(),
        }
    }

    fn step_started(&mut self, event: &Raw<'_>) -> Vec<AgentEvent> {
        let mut told = Vec::new();
        if self.stage != Stage::Running {
            self.stage = Stage::Running;
            told.push(self.status(InProgress {}.into(), None, Begins::Run));
        }
        let tools = match event.get("availableTools").and_then(Json::as_array) {
            Some(names) => ToolList::Named(names.iter().filter_map(|name| Some(name.as_str()?.into_owned())).collect()),
            None => ToolList::Counted(event.count("tools")),
        };
        let (step, messages) = (event.count("step"), event.count("messages"));
        told.push(AgentEvent::StepStarted(StepStarted { step, messages, tools }));
        told
    }

    fn step_completed(&mut self, event: &Raw<'_>, redactor: &mut Redactor) -> Vec<AgentEvent> {
        let mut told = self.chunks.end(redactor);
        self.steps = self.steps.max(event.count("step"));
        self.has_tool_calls = event.is("hasToolCalls");
        let message = || event.text("errorMessages").unwrap_or_else(|| "a step ran into an error".to_owned());
        self.error = (event.count("errors") > 0).then(message).map(|error| redactor.text(&error));
        self.last_response = event.output().map(|text| redactor.text(&text)).or(self.last_response.take());
        told.push(AgentEvent::StepCompleted(Box::new(StepCompleted {
            step: event.count("step"),
            has_tool_calls: self.has_tool_calls,
            errors: event.count("errors"),
            finish: event.text("finishReason"),
            usage: event.usage(),
            milliseconds: event.number("durationMs").cloned(),
            decision: None,
        })));
        told
    }

    fn piece(&mut self, event: &Raw<'_>) -> Vec<AgentEvent> {
        let text = event.text("contentDelta").unwrap_or_default();
        self.chunks.push(&Delta::Text(text), Timestamp::UNIX_EPOCH)
    }

    /// The program says in words whether anything asked to stop or to go on; calls ask to go on.
    fn evaluated(&mut self, event: &Raw<'_>) -> Vec<AgentEvent> {
        let words = event.text("status").unwrap_or_default();
        let asked_to_stop = self.signal.is_some() || !words.starts_with("No Stop Signals");
        let asked_to_go_on = words.ends_with("Continuation Requested: Yes") || self.has_tool_calls;
        let goes_on = !asked_to_stop && asked_to_go_on;
        let made = Continuation {
            should_continue: Some(goes_on),
            stop_reason: self.signal.clone().filter(|_| !goes_on),
            resolved_by: event.text("resolvedBy"),
            ..Continuation::default()
        };
        let mut told = Vec::new();
        if !goes_on && self.stage != Stage::Ended {
            self.stage = Stage::Ended;
            let status = status_of(self.signal.as_ref(), self.error.as_deref());
            told.push(self.status(status, self.signal.clone(), Begins::Nothing));
        }
        told.push(AgentEvent::Continuation(Decision { step: event.count("step"), made }));
        told
    }

    /// One end is told, the first.
    fn ended(&mut self, status: Status, reason: Option<StopReason>, redactor: &mut Redactor) -> Vec<AgentEvent> {
        let mut told = self.chunks.end(redactor);
        if self.stage != Stage::Ended {
            self.stage = Stage::Ended;
            told.push(self.status(status, reason, Begins::Nothing));
        }
        told
    }

    fn status(&self, status: Status, reason: Option<StopReason>, begins: Begins) -> AgentEvent {
        AgentEvent::Status(StatusTold {
            status,
            reason,
            step_count: self.steps,
            last_response: self.last_response.clone(),
            waiting: Vec::new(),
            begins,
        })
    }
}

/// Where an execution stands that stopped so. A step that ran into an error failed, whatever stopped it.
fn status_of(reason: Option<&StopReason>, error: Option<&str>) -> Status {
    match (reason, error) {
        (_, Some(error)) => Failed { error: error.to_owned() }.into(),
        (None | Some(StopReason::Completed | StopReason::FinishReason), None) => Completed {}.into(),
        (Some(StopReason::Error), None) => Failed { error: "a step ran into an error".to_owned() }.into(),
        (Some(_), None) => Stopped {}.into(),
    }
}

fn tool_started(event: &Raw<'_>, redactor: &mut Redactor) -> ToolStarted {
    let arguments = match event.get("args") {
        _ if redactor.hides(RedactTarget::ToolArgs) => "{}".to_owned(),
        Some(arguments) => redactor.text(&arguments.to_text()),
        None => String::new(),
    };
    ToolStarted { tool: event.text("tool").unwrap_or_default(), call: event.text("toolCallId"), arguments }
}

fn tool_completed(event: &Raw<'_>, redactor: &mut Redactor) -> ToolCompleted {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_text(), std::borrow::Cow::into_owned);
    let told = event.get("result").filter(|result| **result != Json::Null).map(text);
    let result = match told {
        Some(_) if redactor.hides(RedactTarget::ToolResults) => Some("[tool result omitted]".to_owned()),
        told => told.map(|told| summary::of_text(&redactor.text(&told))),
    };
    ToolCompleted {
        tool: event.text("tool").unwrap_or_default(),
        call: event.text("toolCallId"),
        success: event.get("success").and_then(Json::as_bool).unwrap_or(true),
        error: event.text("error").map(|error| redactor.text(&error)),
        milliseconds: event.number("duration_ms").or(event.number("durationMs")).map_or(0.0, Number::as_f64),
        result,
    }
}
