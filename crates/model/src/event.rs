//! What happened to a session.
//!
//! Events are the stored truth, so their spelling never changes: a type is a past-tense word with a dot, and an event of a newer
//! version is kept whole in `Other`. Each says one thing; what belongs together (an answer and the intents of its calls) is one
//! batch.

mod model;
mod tool;

pub use model::{Cause, Choice, EndpointChosen, ModelAnswered, ModelAsked, ModelFailed, SentRequest};
pub use tool::{
    ApprovalAsked, ApprovalGiven, CompensationIntended, CompensationSettled, Effect, Resolution, ToolIntended,
    ToolResolved, ToolSettled, Verdict,
};

use crate::block::Block;
use crate::id::RunId;
use crate::json::{Json, Object};
use crate::loss::Loss;
use crate::options::{Options, ResponseFormat, ToolSpec};
use crate::session::{PromptId, Run, Session, SlicePolicy, Turn};
use crate::shape::{flat_shape, string_enum, tagged};
use crate::status::{Continuation, Finish, Status, StopReason, TurnError};
use crate::time::{Time, Timing};
use crate::usage::Usage;

tagged! {
    /// What happened to a session. Folding the events of a journal in order gives the session.
    pub enum Event : "type" {
        /// The session began: all of it but its turns.
        SessionOpened = "session.opened",
        /// Some of what is not turns changed.
        SessionChanged = "session.changed",
        /// A summary stands for older turns from here on.
        SessionCondensed = "session.condensed",
        /// A process began to run it.
        RunStarted = "run.started",
        /// A process stopped running it.
        RunStopped = "run.stopped",
        /// A turn began; an imported one comes whole.
        TurnOpened = "turn.opened",
        /// An answer ended.
        TurnClosed = "turn.closed",
        /// From here on this endpoint is asked.
        EndpointChosen = "endpoint.chosen",
        /// A model is about to be asked.
        ModelAsked = "model.asked",
        /// A model answered: what is known of the request and its answer besides the content.
        ModelAnswered = "model.answered",
        /// A model did not answer.
        ModelFailed = "model.failed",
        /// Something of the session is not in the requests of the endpoint that is asked.
        LossNoted = "loss.noted",
        /// A block joined a turn.
        BlockAdded = "block.added",
        /// A tool is about to be called.
        ToolIntended = "tool.intended",
        /// A tool call ended.
        ToolSettled = "tool.settled",
        /// A person said what is to become of a call whose outcome nobody knows.
        ToolResolved = "tool.resolved",
        /// A call waits for a person's consent.
        ApprovalAsked = "approval.asked",
        /// A person decided about a call.
        ApprovalGiven = "approval.given",
        /// What an abandoned call may have done is about to be undone.
        CompensationIntended = "compensation.intended",
        /// The undoing ended.
        CompensationSettled = "compensation.settled",
        /// Side-state changed.
        SliceChanged = "slice.changed",
        /// The agent logged a line.
        LogAdded = "log.added",
        /// Something was used.
        UsageAdded = "usage.added",
    }
}

/// The session began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionOpened {
    /// All of it but its turns.
    pub session: Box<Session>,
}

flat_shape! { SessionOpened { session: opt } }

/// What is there replaces what the session had.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionChanged {
    /// What it is about.
    pub title: Option<String>,
    /// Which prompt it evaluates.
    pub prompt: Option<PromptId>,
    /// The settings of its model calls.
    pub options: Option<Options>,
    /// The tools the model is told of.
    pub tools: Option<Vec<ToolSpec>>,
    /// The form its answers must have.
    pub response_format: Option<ResponseFormat>,
    /// Where it stands.
    pub status: Option<Status>,
    /// When it was changed, and how long it ran.
    pub timing: Option<Timing>,
    /// Labels.
    pub tags: Option<Vec<(String, String)>>,
    /// What the application keeps with it.
    pub metadata: Option<Object>,
}

flat_shape! {
    SessionChanged {
        title: opt,
        prompt: opt,
        options: opt,
        tools: opt,
        response_format: opt,
        status: opt,
        timing: opt,
        tags: opt,
        metadata: opt,
    }
}

/// A summary stands for older turns. They stay where they are in the journal: a fold that passes over this event has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCondensed {
    /// The first turn it stands for, from 0.
    pub from: u32,
    /// The last turn it stands for.
    pub to: u32,
    /// The block that stands for them.
    pub block: Block,
    /// Who summarised: a model, or `extract`.
    pub by: Option<String>,
}

flat_shape! { SessionCondensed { from: req, to: req, block: req, by: opt } }

/// A process began to run the session; this record is the fence against an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunStarted {
    /// The run.
    pub run: Run,
}

flat_shape! { RunStarted { run: opt } }

/// A process stopped running the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunStopped {
    /// Which run.
    pub run: Option<RunId>,
    /// Where the session stands.
    pub status: Option<Status>,
    /// Why it stopped.
    pub reason: Option<StopReason>,
    /// When.
    pub completed: Option<Time>,
}

flat_shape! { RunStopped { run: opt, status: opt, reason: opt, completed: opt } }

/// A turn began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnOpened {
    /// The turn as far as it is known.
    pub turn: Box<Turn>,
}

flat_shape! { TurnOpened { turn: opt } }

/// An answer ended. What is there replaces what the turn had.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnClosed {
    /// Which turn, from 0.
    pub turn: u32,
    /// Why the answer ended.
    pub finish: Option<Finish>,
    /// What it used.
    pub usage: Option<Usage>,
    /// When it ran, and how long.
    pub timing: Option<Timing>,
    /// Errors it ran into.
    pub errors: Vec<TurnError>,
    /// Whether the run goes on, and who decided.
    pub continuation: Option<Continuation>,
    /// What the vendor answered, as it came.
    pub provider_payload: Json,
    /// The run that it belongs to.
    pub run: Option<RunId>,
    /// The vendor that answered.
    pub provider: Option<String>,
    /// The vendor's interface.
    pub api: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The account it was billed to.
    pub account: Option<String>,
}

flat_shape! {
    TurnClosed {
        turn: req,
        finish: opt,
        usage: opt,
        timing: opt,
        errors: opt,
        continuation: opt,
        provider_payload: opt,
        run: opt,
        provider: opt,
        api: opt,
        model: opt,
        account: opt,
    }
}

/// A block joined a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockAdded {
    /// Which turn, from 0.
    pub turn: u32,
    /// The block.
    pub block: Block,
}

flat_shape! { BlockAdded { turn: req, block: req } }

/// Something of the session is not in the requests of the endpoint that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossNoted {
    /// The turn for whose answer the request was made, from 0.
    pub turn: u32,
    /// What, where, and what became of it.
    pub loss: Loss,
}

flat_shape! { LossNoted { turn: req, loss: flat } }

/// Side-state changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceChanged {
    /// Which slice.
    pub name: String,
    /// How.
    pub op: SliceOp,
    /// The items it speaks of.
    pub items: Vec<Json>,
    /// The version of the items' type, where it is said.
    pub version: Option<String>,
    /// Whether the slice is state or a log, where it is said.
    pub policy: Option<SlicePolicy>,
}

flat_shape! { SliceChanged { name: req, op: req, items: opt, version: opt, policy: opt } }

string_enum! {
    /// How a slice changes.
    pub enum SliceOp {
        /// The items are added at its end.
        Append = "append",
        /// The items are all it has.
        Replace = "replace",
        /// It is emptied.
        Clear = "clear",
    }
}

/// The agent logged a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogAdded {
    /// The line.
    pub line: String,
}

flat_shape! { LogAdded { line: req } }

/// Something was used; it counts towards the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsageAdded {
    /// What.
    pub usage: Usage,
}

flat_shape! { UsageAdded { usage: opt } }
