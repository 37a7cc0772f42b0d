//! The port that answers.

use std::fmt;
use std::time::Duration;

use turnkeep_model::{Block, Finish, Json, Options, Session, ToolSpec, Usage};
use turnkeep_store::BoxFuture;

/// Something that answers: a vendor's model, a local one, a script.
pub trait Model: Send + Sync {
    /// Who answers.
    fn identity(&self) -> Identity;

    /// One answer to the session as it stands. What arrives on the way may be told to `deltas`.
    ///
    /// # Errors
    /// Whatever keeps it from answering. The session stays as it was.
    fn answer<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, std::result::Result<Answer, ModelError>>;
}

/// Who answers, as turns remember it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The vendor.
    pub provider: Option<String>,
    /// The vendor's interface.
    pub api: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The account it is billed to.
    pub account: Option<String>,
    /// Settings where neither the turn nor the session says otherwise.
    pub defaults: Options,
}

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The session up to here.
    pub session: &'a Session,
    /// The settings in force: those of the turn, then the session's, then the endpoint's.
    pub options: &'a Options,
    /// The tools it may call.
    pub tools: &'a [ToolSpec],
    /// The turn that the answer belongs to.
    pub turn: u32,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The content: text, reasoning, calls.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub finish: Option<Finish>,
    /// What it used.
    pub usage: Usage,
    /// The model that answered, where the vendor says so.
    pub model: Option<String>,
    /// What the vendor answered, as it came.
    pub payload: Json,
}

impl Answer {
    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Answer {
        let block = Block::text(turnkeep_model::Author::Assistant, text);
        Answer { blocks: vec![block], ..Answer::default() }
    }
}

/// A piece of an answer on its way; never recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(String),
    /// More thinking.
    Reasoning(String),
    /// More of a call's arguments.
    Arguments {
        /// Which call of this answer, from 0.
        index: u32,
        /// The text.
        text: String,
    },
}

/// Who hears of an answer on its way.
pub trait Deltas: Send + Sync {
    /// A piece arrived.
    fn delta(&self, delta: Delta);
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoDeltas;

impl Deltas for NoDeltas {
    fn delta(&self, _: Delta) {}
}

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    /// What happened.
    pub message: String,
    /// The vendor's class of error.
    pub class: Option<String>,
    /// How long to wait before asking again; `None` where asking again is useless.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error that asking again does not mend.
    pub fn fatal(message: impl Into<String>) -> ModelError {
        ModelError { message: message.into(), class: None, retry_after: None }
    }

    /// An error that may be gone after `wait`.
    pub fn retryable(message: impl Into<String>, wait: Duration) -> ModelError {
        ModelError { message: message.into(), class: None, retry_after: Some(wait) }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}
