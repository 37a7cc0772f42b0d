//! The port that answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use turnkeep_model::event::{Cause, EndpointChosen, SentRequest};
use turnkeep_model::{Block, CallId, Finish, Json, Loss, Options, Session, ToolCall, ToolSpec, Usage};
use turnkeep_store::BoxFuture;

/// Something that answers: a vendor's model, a local one, a script.
pub trait Model: Send + Sync {
    /// Who answers.
    fn identity(&self) -> Identity;

    /// One answer to the session as it stands. What arrives on the way may be told to `deltas`.
    ///
    /// # Errors
    /// Whatever keeps it from answering. What was given to `deltas` until then is kept as an interrupted answer: it is shown,
    /// and never sent to a model.
    fn answer<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, std::result::Result<Answer, ModelError>>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn identity(&self) -> Identity {
        (**self).identity()
    }

    fn answer<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, std::result::Result<Answer, ModelError>> {
        (**self).answer(request, deltas)
    }
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

impl Identity {
    /// The endpoint that a journal last chose.
    pub(crate) fn of(chosen: &EndpointChosen) -> Identity {
        let EndpointChosen { provider, api, model, account, defaults, choice: _ } = chosen.clone();
        Identity { provider, api, model, account, defaults }
    }

    /// The provider and the model, as errors name them.
    fn label(&self) -> String {
        let names = [self.provider.as_deref(), self.model.as_deref()];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        if names.is_empty() { "a model without a name".to_owned() } else { names.join(" ") }
    }

    /// The record that this endpoint is asked from now on.
    pub(crate) fn chosen(self, choice: turnkeep_model::event::Choice) -> EndpointChosen {
        let Identity { provider, api, model, account, defaults } = self;
        EndpointChosen { provider, api, model, account, defaults, choice: Some(choice) }
    }
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
    /// What was sent, as the journal keeps it: its digest, and who encoded it.
    pub request: Option<SentRequest>,
    /// Headers of the response that are worth keeping: the vendor's id of the request, what is left of its limits.
    pub headers: Vec<(String, String)>,
    /// What of the session the request lacks. A loss that is recorded of this endpoint is not recorded again.
    pub losses: Vec<Loss>,
}

impl Answer {
    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Answer {
        let block = Block::text(turnkeep_model::Author::Assistant, text);
        Answer { blocks: vec![block], ..Answer::default() }
    }

    /// An answer that calls a tool, for scripts and tests.
    pub fn calling(call: &str, tool: &str, arguments: impl Into<String>) -> Answer {
        let call = ToolCall { call: CallId::given(call), name: tool.to_owned(), arguments: arguments.into() };
        Answer { blocks: vec![Block::new(turnkeep_model::Author::Assistant, call)], ..Answer::default() }
    }
}

/// A piece of an answer on its way. It is void when its block is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(String),
    /// More thinking.
    Reasoning(String),
    /// A call began.
    Call {
        /// Which call of this answer, from 0.
        index: u32,
        /// The tool.
        name: String,
    },
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
#[non_exhaustive]
pub struct ModelError {
    /// The cause, by what can be done about it.
    pub cause: Cause,
    /// What happened.
    pub message: String,
    /// The vendor's class of error.
    pub class: Option<String>,
    /// How long to wait before asking again; `None` where asking again is useless.
    pub retry_after: Option<Duration>,
    /// What it used all the same: an answer that broke off is billed.
    pub usage: Usage,
    /// What was sent, as the journal keeps it.
    pub request: Option<SentRequest>,
    /// Headers of the response that are worth keeping.
    pub headers: Vec<(String, String)>,
}

impl ModelError {
    /// An error of this cause, which asking again does not mend.
    pub fn new(cause: Cause, message: impl Into<String>) -> ModelError {
        ModelError {
            cause,
            message: message.into(),
            class: None,
            retry_after: None,
            usage: Usage::default(),
            request: None,
            headers: Vec::new(),
        }
    }

    /// An error that asking again does not mend.
    pub fn fatal(message: impl Into<String>) -> ModelError {
        ModelError::new(Cause::Failed, message)
    }

    /// An error that may be gone after `wait`.
    pub fn retryable(message: impl Into<String>, wait: Duration) -> ModelError {
        ModelError::new(Cause::Unavailable, message).after(wait)
    }

    /// That may be gone after `wait`.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> ModelError {
        self.retry_after = Some(wait);
        self
    }

    /// With the vendor's class of error.
    #[must_use]
    pub fn with_class(mut self, class: impl Into<String>) -> ModelError {
        self.class = Some(class.into());
        self
    }

    /// With what it used all the same.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> ModelError {
        self.usage = usage;
        self
    }

    /// With what was sent.
    #[must_use]
    pub fn with_request(mut self, request: SentRequest) -> ModelError {
        self.request = Some(request);
        self
    }

    /// With headers of the response.
    #[must_use]
    pub fn with_headers(mut self, headers: Vec<(String, String)>) -> ModelError {
        self.headers = headers;
        self
    }

    /// Whether another endpoint is asked the same question, where the user named one: this one cannot be reached, has too much to do,
    /// or does not accept the key. A request that is wrong here is wrong there.
    pub fn may_pass_elsewhere(&self) -> bool {
        use Cause::{Auth, Overloaded, RateLimited, TimedOut, Unavailable};
        matches!(self.cause, Unavailable | RateLimited | Overloaded | TimedOut | Auth)
    }
}

/// An endpoint that was asked, and why it did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tried {
    /// Who was asked.
    pub(crate) by: Identity,
    /// Why there is no answer.
    pub(crate) error: ModelError,
}

impl Tried {
    /// The error of the last endpoint. Where others were asked before it, the message names every one and what it answered.
    pub(crate) fn error_of(all: &[Tried]) -> ModelError {
        match all {
            [] => ModelError::fatal("there is no model to ask"),
            [only] => only.error.clone(),
            [.., last] => {
                let each = all.iter().map(|tried| format!("{}: {}", tried.by.label(), tried.error.message));
                let message =
                    format!("none of {} endpoints answered: {}", all.len(), each.collect::<Vec<_>>().join("; "));
                ModelError { message, ..last.error.clone() }
            }
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}
