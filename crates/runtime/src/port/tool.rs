//! The port that acts.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnkeep_model::event::Effect;
use turnkeep_model::{CallId, Data, Json, Media, Outcome, Part, SessionId, Text, ToolSpec};
use turnkeep_store::BoxFuture;

use crate::outcomes::Outcomes;
use crate::slices::Changes;

/// Something a model can have done.
pub trait Tool: Send + Sync {
    /// What the model is told of it. Arguments are checked against its schema before it is called.
    fn spec(&self) -> ToolSpec;

    /// What repeating a call would do.
    fn effect(&self) -> Effect;

    /// Does it.
    ///
    /// # Errors
    /// [`ToolError::Failed`] is told to the model; [`ToolError::Retryable`] is tried again first.
    fn call<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>>;

    /// How it is to be called.
    fn settings(&self) -> Settings {
        Settings::default()
    }

    /// Whether a person must consent to each call.
    fn consent(&self) -> Consent {
        Consent::NotNeeded
    }

    /// Finding out whether a call that was cut off acted, if it can.
    fn probe(&self) -> Option<&dyn Probe> {
        None
    }

    /// Undoing a call that is given up, if it can.
    fn compensate(&self) -> Option<&dyn Compensate> {
        None
    }
}

/// Finds out whether a call that was cut off acted.
pub trait Probe: Send + Sync {
    /// Looks, without acting.
    ///
    /// # Errors
    /// Where it cannot look now; the call stays unsure.
    fn probe<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<Found, ToolError>>;
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// It acted, with this result.
    Done(ToolOutput),
    /// It did not act: it is called again.
    NotDone,
    /// That cannot be told.
    Unknown,
}

/// Undoes a call that is given up.
pub trait Compensate: Send + Sync {
    /// Undoes what the call may have done; it may be asked twice.
    ///
    /// # Errors
    /// Where it could not be undone; that is recorded, and told to the model.
    fn compensate<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<(), ToolError>>;
}

/// How a tool is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The longest a call may take.
    pub timeout: Option<Duration>,
    /// How often a call is tried at most, where it fails in a way that may pass.
    pub attempts: u32,
    /// The longest result, in bytes; what is beyond is cut, and said to be.
    pub max_result: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { timeout: Some(Duration::from_secs(600)), attempts: 1, max_result: 1 << 20 }
    }
}

/// Whether a person must consent to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consent {
    /// It is called at once.
    #[default]
    NotNeeded,
    /// It waits for a person, at most so long; for ever if nothing is said.
    Needed {
        /// How long.
        within: Option<Duration>,
    },
}

/// What a tool knows of its call.
#[derive(Debug)]
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
    pub(crate) outcomes: Outcomes,
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

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The answer.
    pub parts: Vec<Part>,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> ToolOutput {
        ToolOutput { parts: vec![Part::Text(Text { text: text.into() })] }
    }

    /// A JSON value. A string is a text: the model reads it without quotes and escapes.
    pub fn json(json: Json) -> ToolOutput {
        match json.as_str() {
            Some(text) => ToolOutput::text(text),
            None => ToolOutput { parts: vec![Part::Data(Data { json })] },
        }
    }

    /// Anything serde can write. A string is a text, other values are JSON.
    ///
    /// # Errors
    /// Where it cannot be written as JSON.
    pub fn of(value: &impl Serialize) -> std::result::Result<ToolOutput, ToolError> {
        crate::typed::to_json(value).map(ToolOutput::json).map_err(|error| ToolError::failed(error.to_string()))
    }

    /// Bytes: a text if they are UTF-8, else a file.
    pub fn bytes(bytes: Vec<u8>) -> ToolOutput {
        match String::from_utf8(bytes) {
            Ok(text) => ToolOutput::text(text),
            Err(error) => {
                let media = Media {
                    media_type: Some("application/octet-stream".into()),
                    inline: Some(crate::typed::base64(error.as_bytes())),
                    ..Media::default()
                };
                ToolOutput { parts: vec![Part::Media(media)] }
            }
        }
    }
}

/// Why a tool did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// It will not work: the model is told.
    Failed(ToolFailure),
    /// It may work later: it is tried again, if attempts are left. It did not act.
    Retryable(ToolFailure),
    /// It may have acted, and nobody knows.
    Unsure(ToolFailure),
    /// `ToolIdempotencyError`: it cannot safely run again. A person decides, whatever the tool's [`Effect`] is.
    Idempotency(ToolFailure),
}

/// What went wrong, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    /// What happened.
    pub message: String,
}

impl ToolError {
    /// It will not work.
    pub fn failed(message: impl Into<String>) -> ToolError {
        ToolError::Failed(ToolFailure { message: message.into() })
    }

    /// It may work later, and did not act.
    pub fn retryable(message: impl Into<String>) -> ToolError {
        ToolError::Retryable(ToolFailure { message: message.into() })
    }

    /// It may have acted, and nobody knows.
    pub fn unsure(message: impl Into<String>) -> ToolError {
        ToolError::Unsure(ToolFailure { message: message.into() })
    }

    /// It cannot safely run again: a person decides.
    pub fn idempotency(message: impl Into<String>) -> ToolError {
        ToolError::Idempotency(ToolFailure { message: message.into() })
    }

    /// What happened.
    pub fn message(&self) -> &str {
        match self {
            ToolError::Failed(failure)
            | ToolError::Retryable(failure)
            | ToolError::Unsure(failure)
            | ToolError::Idempotency(failure) => &failure.message,
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for ToolError {}

type Handler = dyn for<'a> Fn(&'a Json, &'a ToolContext) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>>
    + Send
    + Sync;

/// A tool made of a function.
pub struct FnTool {
    spec: ToolSpec,
    effect: Effect,
    settings: Settings,
    consent: Consent,
    handler: Box<Handler>,
    probe: Option<Box<dyn Probe>>,
    compensate: Option<Box<dyn Compensate>>,
}

impl FnTool {
    /// A tool that is called with JSON.
    pub fn new<F>(name: &str, description: &str, parameters: Json, effect: Effect, handler: F) -> FnTool
    where
        F: for<'a> Fn(&'a Json, &'a ToolContext) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>>
            + Send
            + Sync
            + 'static,
    {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            parameters,
            ..ToolSpec::default()
        };
        FnTool {
            spec,
            effect,
            settings: Settings::default(),
            consent: Consent::default(),
            handler: Box::new(handler),
            probe: None,
            compensate: None,
        }
    }

    /// A tool whose arguments and result are types of their own, and that blocks its thread while it works.
    pub fn blocking<A, R, F>(name: &str, description: &str, parameters: Json, effect: Effect, work: F) -> FnTool
    where
        A: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(A, Brief) -> std::result::Result<R, ToolError> + Send + Sync + 'static,
    {
        let work = std::sync::Arc::new(work);
        FnTool::new(name, description, parameters, effect, move |arguments, context| {
            let (work, brief) = (work.clone(), Brief::of(context));
            Box::pin(async move {
                let arguments = crate::typed::from_json(arguments)
                    .map_err(|error| ToolError::failed(format!("the arguments do not fit: {error}")))?;
                let value = crate::blocking::run(move || work(arguments, brief)).await?;
                ToolOutput::of(&value?)
            })
        })
    }

    /// The same tool, called so.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> FnTool {
        self.settings = settings;
        self
    }

    /// The same tool, whose calls wait for a person.
    #[must_use]
    pub fn with_consent(mut self, consent: Consent) -> FnTool {
        self.consent = consent;
        self
    }

    /// The same tool, able to find out whether a call acted.
    #[must_use]
    pub fn with_probe(mut self, probe: impl Probe + 'static) -> FnTool {
        self.probe = Some(Box::new(probe));
        self
    }

    /// The same tool, able to undo a call.
    #[must_use]
    pub fn with_compensate(mut self, compensate: impl Compensate + 'static) -> FnTool {
        self.compensate = Some(Box::new(compensate));
        self
    }
}

/// What a blocking tool knows of its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// The call.
    pub call_id: CallId,
    /// The key under which the outside world can tell a repetition.
    pub key: String,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// Whether an earlier run may have begun this call.
    pub is_resume: bool,
}

impl Brief {
    fn of(context: &ToolContext) -> Brief {
        Brief {
            call_id: context.call_id.clone(),
            key: context.key.clone(),
            attempt: context.attempt,
            is_resume: context.is_resume,
        }
    }
}

impl Tool for FnTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, std::result::Result<ToolOutput, ToolError>> {
        (self.handler)(arguments, context)
    }

    fn settings(&self) -> Settings {
        self.settings.clone()
    }

    fn consent(&self) -> Consent {
        self.consent
    }

    fn probe(&self) -> Option<&dyn Probe> {
        self.probe.as_deref()
    }

    fn compensate(&self) -> Option<&dyn Compensate> {
        self.compensate.as_deref()
    }
}
