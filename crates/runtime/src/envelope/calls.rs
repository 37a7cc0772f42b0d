//! The calls that are open while a session's records are told.

use jiff::Timestamp;
use turnkeep_model::event::{ApprovalAsked, ToolSettled};
use turnkeep_model::{CallId, Outcome, Status, ToolCall, ToolResult};

use super::event::{ToolCompleted, ToolStarted, WaitingCall, Waits};
use super::summary;

/// The calls that are open, in the order in which they were made.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug, Clone)]
struct Call {
    id: CallId,
    tool: String,
    arguments: String,
    intended: Option<Intended>,
    asked: Option<ApprovalAsked>,
    settled: Option<(Outcome, Option<f64>)>,
}

#[derive(Debug, Clone, Copy)]
struct Intended {
    at: Option<Timestamp>,
}

impl Calls {
    /// A call was made.
    pub(super) fn made(&mut self, call: &ToolCall) {
        let open = self.open(&call.call);
        open.tool.clone_from(&call.name);
        open.arguments.clone_from(&call.arguments);
    }

    /// A call is about to run.
    pub(super) fn intended(&mut self, id: &CallId, at: Option<Timestamp>) -> ToolStarted {
        let call = self.open(id);
        call.intended = Some(Intended { at });
        call.asked = None;
        self.started(id)
    }

    /// A call that was made and run elsewhere.
    pub(super) fn started(&mut self, id: &CallId) -> ToolStarted {
        let call = self.open(id);
        ToolStarted { tool: call.tool.clone(), call: Some(id.to_string()), arguments: call.arguments.clone() }
    }

    /// A call waits for consent.
    pub(super) fn asked(&mut self, asked: &ApprovalAsked) {
        self.open(&asked.call).asked = Some(asked.clone());
    }

    /// Somebody decided about a call; the arguments that are called are those that were consented to.
    pub(super) fn decided(&mut self, id: &CallId, arguments: Option<&str>) {
        let call = self.open(id);
        call.asked = None;
        if let Some(arguments) = arguments {
            arguments.clone_into(&mut call.arguments);
        }
    }

    /// A call has ended; its result follows.
    pub(super) fn settled(&mut self, settled: &ToolSettled, at: Option<Timestamp>) {
        let call = self.open(&settled.call);
        let recorded = settled.seconds.as_ref().map(turnkeep_model::Number::as_f64);
        let between = || Some(crate::port::seconds(call.intended?.at?, at?));
        call.settled = Some((settled.outcome.clone(), recorded.or_else(between)));
    }

    /// The result of a call is there: it is no longer open.
    pub(super) fn completed(&mut self, result: &ToolResult) -> ToolCompleted {
        let at = self.0.iter().position(|call| call.id == result.call);
        let call = at.map(|at| self.0.remove(at)).unwrap_or_else(|| Call::new(&result.call));
        let (outcome, seconds) = call.settled.unwrap_or((Outcome::Success, None));
        ToolCompleted {
            tool: result.name.clone().unwrap_or(call.tool),
            call: Some(result.call.to_string()),
            success: outcome == Outcome::Success && result.is_error != Some(true),
            error: result.error.clone(),
            milliseconds: (seconds.unwrap_or(0.0) * 1e6).round().max(0.0) / 1e3,
            result: summary::of_result(&result.parts),
        }
    }

    /// The calls that wait for a person: those that need consent, and where the session waits, those that may have acted.
    pub(super) fn waiting(&self, status: Option<&Status>) -> Vec<WaitingCall> {
        let is_stuck = matches!(status, Some(Status::WaitingForHuman(_)));
        self.0.iter().filter_map(|call| call.waiting(is_stuck)).collect()
    }

    fn open(&mut self, id: &CallId) -> &mut Call {
        let at = self.0.iter().position(|call| call.id == *id).unwrap_or_else(|| {
            self.0.push(Call::new(id));
            self.0.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "it was found there, or has just been put there")]
        &mut self.0[at]
    }
}

impl Call {
    fn new(id: &CallId) -> Call {
        Call {
            id: id.clone(),
            tool: String::new(),
            arguments: String::new(),
            intended: None,
            asked: None,
            settled: None,
        }
    }

    fn waiting(&self, is_stuck: bool) -> Option<WaitingCall> {
        let waits = match &self.asked {
            Some(asked) => Waits::Consent {
                digest: asked.digest.clone(),
                expires: asked.expires.clone(),
                reason: asked.reason.clone(),
            },
            None if is_stuck && self.intended.is_some() && self.settled.is_none() => Waits::Outcome,
            None => return None,
        };
        let (call, tool, arguments) = (self.id.to_string(), self.tool.clone(), self.arguments.clone());
        Some(WaitingCall { call, tool, arguments, waits })
    }
}
