//! How a run ended.

use turnkeep_model::status::Completed;
use turnkeep_model::{Author, Body, CallId, Session, Status, StopReason, Turn};

use crate::error::Error;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Where the session stands.
    pub status: Status,
    /// Why it stopped.
    pub reason: Option<StopReason>,
    /// The text of the last answer.
    pub text: Option<String>,
    /// What waits for a person.
    pub waiting: Vec<Waiting>,
}

impl Stopped {
    /// How a session stands that nobody runs: as its last run left it.
    pub fn standing(session: &Session) -> Stopped {
        let last = session.runs.last();
        let status = last.and_then(|run| run.status.clone()).or_else(|| session.status.clone());
        Stopped {
            status: status.unwrap_or_else(|| Status::from(Completed {})),
            reason: last.and_then(|run| run.stop_reason.clone()),
            text: last_text(session),
            waiting: Vec::new(),
        }
    }

    /// The error that names what a person has to do, where a call may have acted: `ToolIdempotencyError`.
    pub fn needs_human(&self) -> Option<Error> {
        let unsure = self.waiting.iter().find(|waiting| waiting.what == WaitingFor::Outcome)?;
        Some(Error::tool_idempotency(&unsure.call, &unsure.tool))
    }
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// What for.
    pub what: WaitingFor,
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingFor {
    /// Consent: `approve` or `deny`.
    Consent,
    /// Someone who knows whether it acted: `resolve`.
    Outcome,
}

/// The text of the last answer of a session.
pub(crate) fn last_text(session: &Session) -> Option<String> {
    session.turns.iter().rev().find_map(text_of)
}

fn text_of(turn: &Turn) -> Option<String> {
    let texts: Vec<&str> = turn
        .blocks
        .iter()
        .filter(|block| block.author == Author::Assistant)
        .filter_map(|block| match &block.body {
            Body::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
