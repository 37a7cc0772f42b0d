//! What happened to a session.

use crate::block::{Block, Outcome};
use crate::extra::Extra;
use crate::id::{CallId, RunId, Seq};
use crate::json::{Json, Number, Object};
use crate::loss::Loss;
use crate::options::{Options, ResponseFormat, ToolSpec};
use crate::session::{PromptId, Run, Session, SlicePolicy, Turn};
use crate::shape::{parts, shape, tagged, words};
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

parts! { SessionOpened { session: opt } }

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

parts! {
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

parts! { SessionCondensed { from: req, to: req, block: req, by: opt } }

/// A process began to run the session; this record is the fence against an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunStarted {
    /// The run.
    pub run: Run,
}

parts! { RunStarted { run: opt } }

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

parts! { RunStopped { run: opt, status: opt, reason: opt, completed: opt } }

/// A turn began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnOpened {
    /// The turn as far as it is known.
    pub turn: Box<Turn>,
}

parts! { TurnOpened { turn: opt } }

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

parts! {
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

parts! { BlockAdded { turn: req, block: req } }

/// A tool is about to be called: recorded before the effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolIntended {
    /// The call.
    pub call: CallId,
    /// What repeating it would do.
    pub effect: Effect,
    /// The key under which the outside world can tell a repetition.
    pub key: Option<String>,
    /// Which try this is, from 1.
    pub attempt: Option<u32>,
    /// An earlier call of the same tool with equal arguments, whose outcome is not known.
    pub duplicate_of: Option<CallId>,
}

parts! { ToolIntended { call: req, effect: req, key: opt, attempt: opt, duplicate_of: opt } }

words! {
    /// What repeating a tool call would do.
    pub enum Effect {
        /// Nothing: it only reads.
        Pure = "pure",
        /// Nothing, given the same key.
        Keyed = "keyed",
        /// It would act twice.
        Once = "once",
    }
}

/// A tool call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettled {
    /// The call.
    pub call: CallId,
    /// How it ended.
    pub outcome: Outcome,
    /// How many seconds it ran.
    pub seconds: Option<Number>,
}

parts! { ToolSettled { call: req, outcome: req, seconds: opt } }

impl ToolSettled {
    /// That a call ended so.
    pub fn new(call: CallId, outcome: Outcome) -> ToolSettled {
        ToolSettled { call, outcome, seconds: None }
    }
}

/// A model is about to be asked: recorded before the request, so that a reader sees that one may have been made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelAsked {
    /// The turn that the answer belongs to, from 0.
    pub turn: u32,
    /// How many messages it is told.
    pub messages: Option<u32>,
    /// The tools it is told of.
    pub tools: Vec<String>,
    /// Which try this is, from 1.
    pub attempt: Option<u32>,
}

parts! { ModelAsked { turn: req, messages: opt, tools: opt, attempt: opt } }

/// From here on this endpoint is asked: recorded before the first question to it, so that every request can be made anew
/// from the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointChosen {
    /// The vendor.
    pub provider: Option<String>,
    /// The vendor's interface.
    pub api: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The account it is billed to.
    pub account: Option<String>,
    /// Its settings where neither the turn nor the session says otherwise.
    pub defaults: Options,
    /// Why it is this one.
    pub choice: Option<Choice>,
}

parts! { EndpointChosen { provider: opt, api: opt, model: opt, account: opt, defaults: opt, choice: opt } }

words! {
    /// Why an endpoint is asked.
    pub enum Choice {
        /// The session began with it.
        First = "first",
        /// A run goes on with another one than before.
        Resumed = "resumed",
        /// The one before did not answer.
        Fallback = "fallback",
        ; /// A word that only its source knows.
        other
    }
}

/// What was sent to a model. The request itself is made anew from the journal: fold it up to the place, and encode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentRequest {
    /// The BLAKE3 digest of the body as it was sent.
    pub digest: String,
    /// The format it was written in, as `anthropic.messages`.
    pub format: String,
    /// The version of the encoder that wrote it.
    pub encoder: Option<String>,
    /// The body, where encoding the session anew gives another one.
    pub body: Json,
    /// Fields of a newer version.
    pub extra: Extra,
}

shape! { SentRequest { digest: req, format: req, encoder: opt, body: opt } }

/// A model answered; its content is in the blocks of the same batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelAnswered {
    /// The turn that the answer belongs to, from 0.
    pub turn: u32,
    /// Which try this was, from 1.
    pub attempt: Option<u32>,
    /// The place in the journal up to which the session was told.
    pub seq: Option<Seq>,
    /// What was sent.
    pub request: Option<SentRequest>,
    /// Headers of the response that are worth keeping: the vendor's id of the request, what is left of its limits.
    pub headers: Vec<(String, String)>,
}

parts! { ModelAnswered { turn: req, attempt: opt, seq: opt, request: opt, headers: opt } }

/// A model did not answer, or was stopped before its answer was complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFailed {
    /// The turn that the answer would have belonged to, from 0.
    pub turn: u32,
    /// Which try this was, from 1.
    pub attempt: Option<u32>,
    /// The place in the journal up to which the session was told.
    pub seq: Option<Seq>,
    /// Why it did not answer, by what can be done about it.
    pub cause: Cause,
    /// The vendor's own class of error.
    pub class: Option<String>,
    /// What happened, in words.
    pub message: Option<String>,
    /// How many seconds are waited before the next try.
    pub wait: Option<Number>,
    /// What was sent.
    pub request: Option<SentRequest>,
    /// Headers of the response that are worth keeping.
    pub headers: Vec<(String, String)>,
    /// What had arrived of the answer. Its turn keeps it apart from what was said.
    pub partial: Vec<Block>,
}

parts! {
    ModelFailed {
        turn: req,
        attempt: opt,
        seq: opt,
        cause: req,
        class: opt,
        message: opt,
        wait: opt,
        request: opt,
        headers: opt,
        partial: opt,
    }
}

words! {
    /// Why a model did not answer, by what can be done about it.
    pub enum Cause {
        /// It cannot be reached, or is out of order.
        Unavailable = "unavailable",
        /// Too much was asked of it in too short a time.
        RateLimited = "rate_limited",
        /// It has too much to do.
        Overloaded = "overloaded",
        /// It does not know who asks, or does not let them.
        Auth = "auth",
        /// It does not take the request.
        BadRequest = "bad_request",
        /// The session is longer than what it can read.
        TooLong = "too_long",
        /// Its answer broke off.
        Interrupted = "interrupted",
        /// Someone asked to stop before the answer was complete.
        Stopped = "stopped",
        /// It took too long.
        TimedOut = "timed_out",
        /// What it answered is not what was recorded, or not an answer.
        Mismatch = "mismatch",
        /// Something else.
        Failed = "failed",
        ; /// A word that only its source knows.
        other
    }
}

/// Something of the session is not in the requests of the endpoint that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossNoted {
    /// The turn for whose answer the request was made, from 0.
    pub turn: u32,
    /// What, where, and what became of it.
    pub loss: Loss,
}

parts! { LossNoted { turn: req, loss: flat } }

/// A person said what is to become of a call whose outcome nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResolved {
    /// The call.
    pub call: CallId,
    /// What is to become of it.
    pub resolution: Resolution,
    /// Who said so.
    pub by: Option<String>,
}

parts! { ToolResolved { call: req, resolution: req, by: opt } }

words! {
    /// What is to become of a call whose outcome nobody knows.
    pub enum Resolution {
        /// It did not act: it is called again.
        Retry = "retry",
        /// It is given up; what it may have done is undone where the tool can.
        Skip = "skip",
    }
}

/// A call waits for a person's consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalAsked {
    /// The call.
    pub call: CallId,
    /// The digest of what is shown to the person: the tool and its arguments.
    pub digest: String,
    /// Until when it can be given.
    pub expires: Option<Time>,
    /// Why it is asked for.
    pub reason: Option<String>,
}

parts! { ApprovalAsked { call: req, digest: req, expires: opt, reason: opt } }

/// A person decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalGiven {
    /// The call.
    pub call: CallId,
    /// The digest of what was shown.
    pub digest: String,
    /// The decision.
    pub verdict: Verdict,
    /// The arguments to call it with instead, where they were edited.
    pub arguments: Option<String>,
    /// Who decided.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

parts! { ApprovalGiven { call: req, digest: req, verdict: req, arguments: opt, by: opt, reason: opt } }

words! {
    /// A person's decision about a call.
    pub enum Verdict {
        /// It may be called.
        Approve = "approve",
        /// It may be called with other arguments.
        Edit = "edit",
        /// It may not be called.
        Deny = "deny",
    }
}

/// What an abandoned call may have done is about to be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompensationIntended {
    /// The call.
    pub call: CallId,
}

parts! { CompensationIntended { call: req } }

/// The undoing of a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompensationSettled {
    /// The call.
    pub call: CallId,
    /// How it ended.
    pub outcome: Outcome,
    /// What went wrong, in words.
    pub error: Option<String>,
}

parts! { CompensationSettled { call: req, outcome: req, error: opt } }

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

parts! { SliceChanged { name: req, op: req, items: opt, version: opt, policy: opt } }

words! {
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

parts! { LogAdded { line: req } }

/// Something was used; it counts towards the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsageAdded {
    /// What.
    pub usage: Usage,
}

parts! { UsageAdded { usage: opt } }
