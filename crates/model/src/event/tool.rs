//! What happens to the calls of tools: intended, approved, settled, resolved, undone.

use crate::block::Outcome;
use crate::id::CallId;
use crate::json::Number;
use crate::shape::{flat_shape, string_enum};
use crate::time::Time;

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

flat_shape! { ToolIntended { call: req, effect: req, key: opt, attempt: opt, duplicate_of: opt } }

string_enum! {
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

flat_shape! { ToolSettled { call: req, outcome: req, seconds: opt } }

impl ToolSettled {
    /// That a call ended so.
    pub fn new(call: CallId, outcome: Outcome) -> ToolSettled {
        ToolSettled { call, outcome, seconds: None }
    }
}

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

flat_shape! { ToolResolved { call: req, resolution: req, by: opt } }

string_enum! {
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

flat_shape! { ApprovalAsked { call: req, digest: req, expires: opt, reason: opt } }

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
    /// The key under which the call is made, if it may be: forks that are made after this keep it.
    pub key: Option<String>,
}

flat_shape! { ApprovalGiven { call: req, digest: req, verdict: req, arguments: opt, by: opt, reason: opt, key: opt } }

string_enum! {
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

flat_shape! { CompensationIntended { call: req } }

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

flat_shape! { CompensationSettled { call: req, outcome: req, error: opt } }
