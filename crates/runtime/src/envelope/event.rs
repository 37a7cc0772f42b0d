//! What the seven kinds of envelopes tell, before it is put into anyone's words.

use turnkeep_model::status::Continuation;
use turnkeep_model::{Number, Status, StopReason, Time, Usage};

/// One of the seven.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AgentEvent {
    Status(StatusTold),
    StepStarted(StepStarted),
    StepCompleted(Box<StepCompleted>),
    ToolStarted(ToolStarted),
    ToolCompleted(ToolCompleted),
    Chunk(Chunk),
    Continuation(Decision),
}

impl AgentEvent {
    /// The name that the specification gives it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            AgentEvent::Status(_) => "agent.status",
            AgentEvent::StepStarted(_) => "agent.step.started",
            AgentEvent::StepCompleted(_) => "agent.step.completed",
            AgentEvent::ToolStarted(_) => "agent.tool.started",
            AgentEvent::ToolCompleted(_) => "agent.tool.completed",
            AgentEvent::Chunk(_) => "agent.stream.chunk",
            AgentEvent::Continuation(_) => "agent.continuation",
        }
    }
}

/// Where the session stands now.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StatusTold {
    pub(super) status: Status,
    /// Why its run stopped, if it has.
    pub(super) reason: Option<StopReason>,
    pub(super) step_count: u64,
    pub(super) last_response: Option<String>,
    /// The calls that wait for a person.
    pub(super) waiting: Vec<WaitingCall>,
    /// Whether a new run begins with it.
    pub(super) begins: Begins,
}

/// Whether a status is the first of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    Run,
    Nothing,
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WaitingCall {
    pub(super) call: String,
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) waits: Waits,
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Waits {
    /// Someone's consent to what this is the digest of.
    Consent { digest: String, expires: Option<Time>, reason: Option<String> },
    /// Someone who knows whether it acted.
    Outcome,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepStarted {
    pub(super) step: u64,
    pub(super) messages: u64,
    pub(super) tools: ToolList,
}

/// The tools that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ToolList {
    Named(Vec<String>),
    /// A source that says only how many.
    Counted(u64),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepCompleted {
    pub(super) step: u64,
    pub(super) has_tool_calls: bool,
    pub(super) errors: u64,
    pub(super) finish: Option<String>,
    pub(super) usage: Usage,
    pub(super) milliseconds: Option<Number>,
    pub(super) decision: Option<Decision>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolStarted {
    pub(super) tool: String,
    pub(super) call: Option<String>,
    pub(super) arguments: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolCompleted {
    pub(super) tool: String,
    pub(super) call: Option<String>,
    pub(super) success: bool,
    pub(super) error: Option<String>,
    pub(super) milliseconds: f64,
    pub(super) result: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chunk {
    pub(super) text: String,
    pub(super) is_complete: bool,
    pub(super) tokens: u64,
    pub(super) index: u64,
}

/// Whether a run goes on after a step, and who decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decision {
    pub(super) step: u64,
    pub(super) made: Continuation,
}

impl Decision {
    pub(super) fn goes_on(&self) -> bool {
        self.made.should_continue.unwrap_or(false)
    }
}
