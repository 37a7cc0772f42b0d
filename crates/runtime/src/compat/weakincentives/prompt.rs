//! Evaluating a prompt, fresh or where an earlier evaluation stopped.

use serde::de::DeserializeOwned;
use turnkeep_model::event::SessionChanged;
use turnkeep_model::{
    Author, Block, ErrorKind, Json, PromptId, ResponseFormat, ResponseKind, Session, Status, StopReason, Usage,
};

use super::conversation::{self, ConversationState};
use crate::agent::{Agent, Stopped};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::recorder::Recorder;
use crate::slices::{Dispatch, Reducers, SliceItem};
use crate::{schema, typed};

/// A prompt: who it is, and how it is rendered.
pub trait Prompt: Send + Sync {
    /// Its namespace, key, and the hash of its unrendered template.
    fn id(&self) -> PromptId;

    /// The messages it begins with. Called once when an evaluation is fresh, and never when one is resumed.
    fn render(&self) -> Vec<Block>;

    /// The JSON schema of the output, if it has one.
    fn output(&self) -> Option<Json> {
        None
    }
}

/// A prompt made of a template: `{name}` stands for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    ns: String,
    key: String,
    text: String,
    values: Vec<(String, String)>,
    output: Option<Json>,
}

impl Template {
    /// A template without values.
    pub fn new(ns: &str, key: &str, text: &str) -> Template {
        Template { ns: ns.to_owned(), key: key.to_owned(), text: text.to_owned(), values: Vec::new(), output: None }
    }

    /// With this value.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Template {
        self.values.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Whose answer follows this schema.
    #[must_use]
    pub fn answering(mut self, schema: Json) -> Template {
        self.output = Some(schema);
        self
    }
}

impl Prompt for Template {
    fn id(&self) -> PromptId {
        let hash = turnkeep_model::canon::digest(&Json::from(self.text.as_str()));
        PromptId { ns: self.ns.clone(), key: self.key.clone(), hash: Some(hash), ..PromptId::default() }
    }

    fn render(&self) -> Vec<Block> {
        let fill = |text: String, (name, value): &(String, String)| text.replace(&format!("{{{name}}}"), value);
        vec![Block::text(Author::User, self.values.iter().fold(self.text.clone(), fill))]
    }

    fn output(&self) -> Option<Json> {
        self.output.clone()
    }
}

/// Where an evaluation begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeFrom<'a> {
    /// At the start: the prompt is rendered.
    Nothing,
    /// At the end of this conversation: the prompt is not rendered. A session without a conversation gets this one, and
    /// its calls without a result count as begun; a session with another one is refused.
    State(&'a ConversationState),
}

/// Where a response comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The prompt was rendered and evaluated.
    Fresh,
    /// An evaluation that was begun earlier went on.
    Resumed,
    /// The evaluation had completed before: nothing was asked, and nothing acted.
    Recorded,
}

/// What an evaluation gave.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptResponse<T> {
    /// The prompt.
    pub prompt: PromptId,
    /// The last answer's text.
    pub text: Option<String>,
    /// The output, checked against its schema; `None` where the run stopped before there was one.
    pub output: Option<T>,
    /// How the run ended.
    pub stopped: Stopped,
    /// What the session used.
    pub usage: Usage,
    /// Where it comes from.
    pub origin: Origin,
}

/// An evaluation whose output is not looked at.
pub type Evaluation = PromptResponse<serde_json::Value>;

/// Evaluates a prompt in a session.
///
/// # Errors
/// `ConversationStateMismatch` when `from` is of another prompt; `Mismatch` when the answer does not follow the output's
/// schema; those of running.
pub async fn evaluate<T: DeserializeOwned>(
    agent: &Agent,
    prompt: &dyn Prompt,
    recorder: &mut Recorder,
    from: ResumeFrom<'_>,
) -> Result<PromptResponse<T>> {
    conversation::drop_stored_copy(recorder).await?;
    let stopped = match from {
        ResumeFrom::Nothing => {
            begin(prompt, recorder).await?;
            agent.run(recorder, Input::from(prompt.render())).await?
        }
        ResumeFrom::State(state) => {
            continue_with(agent, prompt, recorder, state).await.map_err(|error| error.session(recorder.id()))?;
            agent.resume(recorder).await?
        }
    };
    let origin = if matches!(from, ResumeFrom::Nothing) { Origin::Fresh } else { Origin::Resumed };
    response(prompt, recorder.session(), stopped, origin)
}

async fn continue_with(
    agent: &Agent,
    prompt: &dyn Prompt,
    recorder: &mut Recorder,
    state: &ConversationState,
) -> Result<()> {
    same_prompt(&prompt.id(), state)?;
    state.check()?;
    conversation::adopt(agent, recorder, state, format_of(prompt)).await
}

/// The response of an evaluation that completed before, if this session is one.
///
/// # Errors
/// `ConversationStateMismatch` where the session evaluates another prompt, completed or not, and `Mismatch` where the
/// answer breaks its schema.
pub(crate) fn recorded<T: DeserializeOwned>(
    prompt: &dyn Prompt,
    session: &Session,
) -> Result<Option<PromptResponse<T>>> {
    if session.prompt.is_some() {
        same_prompt(&prompt.id(), &ConversationState::of(session))?;
    }
    let Some(status @ Status::Completed(_)) = &session.status else {
        return Ok(None);
    };
    let stopped = Stopped {
        status: status.clone(),
        reason: session.runs.last().and_then(|run| run.stop_reason.clone()).or(Some(StopReason::Completed)),
        ..Stopped::standing(session)
    };
    response(prompt, session, stopped, Origin::Recorded).map(Some)
}

fn response<T: DeserializeOwned>(
    prompt: &dyn Prompt,
    session: &Session,
    stopped: Stopped,
    origin: Origin,
) -> Result<PromptResponse<T>> {
    let output = read_output(prompt, &stopped)?;
    let (text, usage) = (stopped.text.clone(), session.usage.clone());
    Ok(PromptResponse { prompt: prompt.id(), text, output, usage, stopped, origin })
}

impl<T> PromptResponse<T> {
    /// The output of an evaluation that is to be complete.
    ///
    /// # Errors
    /// [`Named::ToolIdempotency`](crate::Named::ToolIdempotency) where a call may have acted and a person has to decide,
    /// `NeedsHuman` where one has to consent, `Unavailable` where the evaluation stopped before there was an output.
    pub fn into_output(self) -> Result<T> {
        if let Some(error) = self.stopped.needs_human() {
            return Err(error);
        }
        let kind = if self.stopped.waiting.is_empty() { ErrorKind::Unavailable } else { ErrorKind::NeedsHuman };
        let what = format!("the evaluation has no output: it is {}", self.stopped.status.kind());
        self.output.ok_or_else(|| Error::new(kind, what).hint("decide about the calls that wait, then resume it"))
    }
}

impl<T: SliceItem + Clone> PromptResponse<T> {
    /// Gives the output to the slice of its type.
    ///
    /// # Errors
    /// Those of recording.
    pub async fn keep(&self, recorder: &mut Recorder, reducers: &Reducers) -> Result<Dispatch> {
        keep_all(self.output.iter(), recorder, reducers).await
    }
}

impl<T: SliceItem + Clone> PromptResponse<Vec<T>> {
    /// Gives each item of the output to the slice of its type.
    ///
    /// # Errors
    /// Those of recording.
    pub async fn keep_each(&self, recorder: &mut Recorder, reducers: &Reducers) -> Result<Dispatch> {
        keep_all(self.output.iter().flatten(), recorder, reducers).await
    }
}

async fn keep_all<'a, T: SliceItem + Clone>(
    items: impl Iterator<Item = &'a T>,
    recorder: &mut Recorder,
    reducers: &Reducers,
) -> Result<Dispatch> {
    let mut all = Dispatch::default();
    for item in items {
        let Dispatch { reducers: failed, subscribers } = recorder.dispatch(reducers, item.clone()).await?;
        all.reducers.extend(failed);
        all.subscribers.extend(subscribers);
    }
    Ok(all)
}

async fn begin(prompt: &dyn Prompt, recorder: &mut Recorder) -> Result<()> {
    let (format, prompt) = (format_of(prompt), Some(prompt.id()));
    let changed = SessionChanged { response_format: format, prompt, ..SessionChanged::default() };
    recorder.record_with(|_, _| Ok(vec![changed.clone().into()])).await.map(drop)
}

fn format_of(prompt: &dyn Prompt) -> Option<ResponseFormat> {
    let schema = prompt.output()?;
    Some(ResponseFormat { kind: ResponseKind::JsonSchema, schema, ..ResponseFormat::default() })
}

/// Whether a conversation is of this prompt: by namespace and key, and by the template where both know it.
fn same_prompt(id: &PromptId, state: &ConversationState) -> Result<()> {
    if (id.ns.as_str(), id.key.as_str()) != (state.prompt_ns.as_str(), state.prompt_key.as_str()) {
        let (ns, key) = (&state.prompt_ns, &state.prompt_key);
        return Err(Error::conversation_state_mismatch(format_args!("{}/{} is not {ns}/{key}", id.ns, id.key)));
    }
    match (&id.hash, &state.prompt_hash) {
        (Some(now), Some(then)) if now != then => {
            let detail = format_args!("the template of {}/{} has changed", id.ns, id.key);
            Err(Error::conversation_state_mismatch(detail))
        }
        _ => Ok(()),
    }
}

fn read_output<T: DeserializeOwned>(prompt: &dyn Prompt, stopped: &Stopped) -> Result<Option<T>> {
    if stopped.reason != Some(StopReason::Completed) || !matches!(stopped.status, Status::Completed(_)) {
        return Ok(None);
    }
    let text = stopped.text.clone().unwrap_or_default();
    let wrong = |why: String| {
        Error::new(ErrorKind::Mismatch, format!("the answer is not what the prompt asks for: {why}"))
            .hint("ask again, or read the text of the answer")
    };
    let Some(output) = prompt.output() else {
        return Ok(typed::from_json(&Json::from(text)).ok());
    };
    let json = turnkeep_model::json::parse(&text).map_err(|error| wrong(error.to_string()))?.into_json();
    schema::check(&output, &json).map_err(wrong)?;
    typed::from_json(&json).map(Some).map_err(|error| wrong(error.to_string()))
}

/// The state of an evaluation that was left, if its session records one.
///
/// # Errors
/// `NotFound` with the words of the specification where there is none.
pub(crate) fn state_of(session: &Session) -> Result<ConversationState> {
    ConversationState::latest(session).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, "No conversation state in checkpoint")
            .hint("clear the checkpoint and start again")
    })
}
