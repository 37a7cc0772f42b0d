//! What a tool knows of the call that it answers.

use turnkeep_model::{CallId, Outcome, SessionId};

use super::{ToolError, ToolOutput};
use crate::call_outcomes::CallOutcomes;
use crate::slices::Changes;

/// What a tool knows of its call. Clones are of the same call.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The session.
    pub session: SessionId,
    /// The call. Results are remembered under it.
    pub call_id: CallId,
    /// The tool's name.
    pub tool: String,
    /// The key under which the outside world can tell a repetition: the same for every attempt.
    pub key: String,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// Whether an earlier run may have begun this call.
    pub is_resume: bool,
    /// An earlier call of the same tool with equal arguments, whose outcome is not known.
    pub duplicate_of: Option<CallId>,
    /// Side-state: what the tool dispatches here is recorded with its result, and forgotten if it fails.
    pub slices: Changes,
    pub(crate) outcomes: CallOutcomes,
}

impl ToolContext {
    /// How a call of this session ended, if it has by now.
    pub fn settled(&self, call: &CallId) -> Option<Outcome> {
        self.outcomes.get(call)
    }

    /// A value as the answer, which also goes to the slice of its type when the call succeeds.
    ///
    /// # Errors
    /// Where it cannot be written as JSON, or a reducer refuses it.
    pub fn answer<T: crate::slices::SliceItem>(&self, value: T) -> std::result::Result<ToolOutput, ToolError> {
        let output = ToolOutput::of(&value)?;
        match self.slices.dispatch(value).into_iter().next() {
            None => Ok(output),
            Some(failure) => Err(ToolError::failed(failure.why)),
        }
    }
}

/// What a blocking tool knows of its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallInfo {
    /// The call.
    pub call_id: CallId,
    /// The key under which the outside world can tell a repetition.
    pub key: String,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// Whether an earlier run may have begun this call.
    pub is_resume: bool,
}

impl CallInfo {
    pub(super) fn of(context: &ToolContext) -> CallInfo {
        CallInfo {
            call_id: context.call_id.clone(),
            key: context.key.clone(),
            attempt: context.attempt,
            is_resume: context.is_resume,
        }
    }
}
