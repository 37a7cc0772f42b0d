//! How a run ended.

use turnkeep_model::status::Completed;
use turnkeep_model::{Author, Body, CallId, Session, Status, StopReason, Turn, Usage};

use crate::error::Error;

/// How a run ended.
///
/// ```
/// use turnkeep_runtime::{Agent, Script};
///
/// # pollster::block_on(async {
/// // A model that answers nothing: the session says so, and keeps the question.
/// let agent = Agent::builder().model(Script::new("a model", Vec::new())).store("memory:").build()?;
///
/// let stopped = agent.open("s1")?.ask("Are you there?").await?;
///
/// assert_eq!(stopped.status.to_string(), "failed");
/// assert!(stopped.is_unanswered());
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// Where the session stands.
    pub status: Status,
    /// Why it stopped.
    pub reason: Option<StopReason>,
    /// The text of the last answer.
    pub text: Option<String>,
    /// What waits for a person.
    pub waiting: Vec<Waiting>,
    /// What the session used so far, over all its runs.
    pub usage: Usage,
    /// The turn that the run began with: that of the question, where one was asked. Its answers are there and in those
    /// after it.
    pub first_turn: usize,
    /// Whether another process answered: no piece of the answer was heard here.
    pub elsewhere: bool,
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
            usage: session.usage.clone(),
            first_turn: last_question(session),
            elsewhere: false,
        }
    }

    /// Whether the question stays in the session without an answer: the model failed, or someone stopped it.
    pub fn is_unanswered(&self) -> bool {
        matches!(self.status, Status::Failed(_))
            || (self.reason == Some(StopReason::UserRequested) && matches!(self.status, Status::Stopped(_)))
    }

    /// The error that names what a person has to do, where a call may have acted: `ToolIdempotencyError`.
    pub fn needs_human(&self) -> Option<Error> {
        let unsure = self.waiting.iter().find(|waiting| waiting.what == WaitingFor::Outcome)?;
        Some(Error::tool_idempotency(&unsure.call, &unsure.tool))
    }
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
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

/// The number of the turn that a run begins with: the last one there is.
pub(super) fn last_turn(session: &Session) -> usize {
    session.turns.len().saturating_sub(1)
}

/// The turn in which someone spoke last; the first where nobody did.
fn last_question(session: &Session) -> usize {
    let spoke = |turn: &Turn| turn.blocks.iter().any(|block| block.author == Author::User);
    session.turns.iter().rposition(spoke).unwrap_or_default()
}

/// The text of the last answer of a session.
pub(super) fn last_text(session: &Session) -> Option<String> {
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
