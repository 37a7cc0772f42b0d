//! Where a session stands, why an answer ended, and why a run went on or stopped.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::extra::Extra;
use crate::json::{Json, Node, Sink};
use crate::shape::{FlatShape, Shape, ShapeReader, flat_shape, shape, string_enum, tagged};

tagged! {
    /// Where a session stands.
    pub enum Status : "state" {
        /// Nothing has run yet.
        Pending = "pending",
        /// A run is on, or was when this was written.
        InProgress = "in_progress",
        /// Tool calls have no results yet.
        WaitingForTools = "waiting_for_tools",
        /// A person has to decide.
        WaitingForHuman = "waiting_for_human",
        /// It ended well.
        Completed = "completed",
        /// It was stopped.
        Stopped = "stopped",
        /// It ended in an error.
        Failed = "failed",
        /// Another agent is to go on.
        Handoff = "handoff",
    }
}

macro_rules! bare_states {
    ($($(#[$meta:meta])* $type:ident)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $type {}

        flat_shape! { $type {} }
    )*};
}

bare_states! {
    /// Nothing has run yet.
    Pending
    /// A run is on.
    InProgress
    /// Tool calls have no results yet.
    WaitingForTools
    /// A person has to decide.
    WaitingForHuman
    /// It ended well.
    Completed
    /// It was stopped.
    Stopped
}

/// It ended in an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failed {
    /// What the error was.
    pub error: String,
}

flat_shape! { Failed { error: req } }

/// Another agent is to go on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Handoff {
    /// Which one, in the source's words.
    pub to: String,
    /// Why.
    pub reason: Option<String>,
}

flat_shape! { Handoff { to: req, reason: opt } }

impl Shape for Status {
    fn write<S: Sink>(&self, out: &mut S) {
        out.begin_object();
        self.write_fields(out);
        out.end_object();
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Status> {
        let fields = reading.object(node)?;
        let kept = fields.clone();
        let (status, rest) = Status::read_fields(fields, reading)?;
        if rest.is_empty() { Ok(status) } else { Ok(unknown(&status, kept)) }
    }
}

/// The state in a word, as it is written.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

/// A state from its word, without details such as the error of a failed session.
impl FromStr for Status {
    type Err = Error;

    fn from_str(word: &str) -> Result<Status> {
        let mut states = Status::ALL.iter().map(|state| state());
        states.find(|state| state.kind() == word).ok_or_else(|| {
            let words: Vec<_> = Status::ALL.iter().map(|state| state().kind().to_owned()).collect();
            Error::new(ErrorKind::Corrupt, format!("`{word}` is no status"))
                .hint(format!("one of {}", words.join(", ")))
        })
    }
}

impl Status {
    /// Every state of ours, without details.
    const ALL: [fn() -> Status; 8] = [
        || Status::Pending(Pending {}),
        || Status::InProgress(InProgress {}),
        || Status::WaitingForTools(WaitingForTools {}),
        || Status::WaitingForHuman(WaitingForHuman {}),
        || Status::Completed(Completed {}),
        || Status::Stopped(Stopped {}),
        || Status::Failed(Failed::default()),
        || Status::Handoff(Handoff::default()),
    ];
}

/// A known state with fields that this version does not know is kept whole.
fn unknown(status: &Status, mut fields: crate::json::Fields<'_>) -> Status {
    fields.retain(|(key, _)| key.to_str_lossy() != "state");
    Status::Other { kind: status.kind().to_owned(), raw: crate::json::read_object(fields) }
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finish {
    /// The reason in our words.
    pub reason: FinishReason,
    /// The source's own word.
    pub word: Option<String>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { Finish { reason: req, word: opt } }

string_enum! {
    /// Why an answer ended.
    #[derive(Default)]
    pub enum FinishReason {
        /// The model was done.
        #[default]
        Stop = "stop",
        /// It reached the longest answer.
        Length = "length",
        /// It wants tools called.
        ToolCalls = "tool_calls",
        /// It was filtered.
        ContentFilter = "content_filter",
        /// It refused.
        Refusal = "refusal",
        /// It was cut off.
        Interrupted = "interrupted",
        /// It failed.
        Error = "error",
        ; /// A word that only its source knows.
        other
    }
}

string_enum! {
    /// Why a run stopped.
    pub enum StopReason {
        /// It was done.
        Completed = "completed",
        /// Too many steps.
        StepsLimit = "steps_limit",
        /// Too many tokens.
        TokenLimit = "token_limit",
        /// Too much time.
        TimeLimit = "time_limit",
        /// Too many retries.
        RetryLimit = "retry_limit",
        /// Too much money.
        CostLimit = "cost_limit",
        /// An error.
        Error = "error",
        /// Something asked for it.
        StopRequested = "stop_requested",
        /// How the answer ended.
        FinishReason = "finish_reason",
        /// The user asked for it.
        UserRequested = "user_requested",
        /// A guard forbade going on.
        Guard = "guard",
        /// Nobody knows.
        Unknown = "unknown",
        ; /// A word that only its source knows.
        other
    }
}

/// An error that a turn ran into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnError {
    /// What happened.
    pub message: String,
    /// The source's class of error: data, never code.
    pub class: Option<String>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { TurnError { message: req, class: opt } }

/// Whether a run goes on after a turn, and who decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Continuation {
    /// Whether it goes on.
    pub should_continue: Option<bool>,
    /// Whether something asked to go on.
    pub requested: Option<bool>,
    /// The decision that won.
    pub decision: Option<Decision>,
    /// Why it stops.
    pub stop_reason: Option<StopReason>,
    /// Which criterion decided.
    pub resolved_by: Option<String>,
    /// What every criterion said.
    pub evaluations: Vec<Evaluation>,
    /// Signals that asked to stop.
    pub signals: Vec<StopSignal>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! {
    Continuation {
        should_continue: opt,
        requested: opt,
        decision: opt,
        stop_reason: opt,
        resolved_by: opt,
        evaluations: opt,
        signals: opt,
    }
}

string_enum! {
    /// What a criterion says about going on.
    pub enum Decision {
        /// It must not.
        Forbid = "forbid",
        /// It may.
        Allow = "allow",
        /// It should.
        Request = "request",
        /// It need not.
        Stop = "stop",
        ; /// A word that only its source knows.
        other
    }
}

/// What one criterion said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evaluation {
    /// Which criterion.
    pub criterion: String,
    /// What it said.
    pub decision: Option<Decision>,
    /// Why.
    pub reason: Option<String>,
    /// Why the run stops, if it does.
    pub stop_reason: Option<StopReason>,
    /// What it looked at.
    pub context: Json,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { Evaluation { criterion: req, decision: opt, reason: opt, stop_reason: opt, context: opt } }

/// A signal that asked a run to stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopSignal {
    /// Why.
    pub reason: Option<StopReason>,
    /// In words.
    pub message: Option<String>,
    /// What it looked at.
    pub context: Json,
    /// Who sent it: data, never code.
    pub source: Option<String>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { StopSignal { reason: opt, message: opt, context: opt, source: opt } }
