//! What an agent is made of.

use std::sync::Arc;
use std::time::Duration;

use turnkeep_model::Session;

use super::drive::Drive;
use super::outcome::Stopped;
use crate::criteria::{self, Criterion};
use crate::error::Result;
use crate::human::{self, Input};
use crate::plan::ResumePolicy;
use crate::port::Model;
use crate::recorder::Recorder;
use crate::slices::Reducers;
use crate::stop::Stop;
use crate::tools::Tools;

/// What becomes of a call that may have acted, where no probe can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unsure {
    /// A person decides; the session waits.
    #[default]
    AskHuman,
    /// It is given up: undone where the tool can, and the model is told that its outcome is unknown.
    TellModel,
}

/// What becomes of a call that asks again for what an earlier one, of unknown outcome, may have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// A person decides, where the tool must not act twice.
    #[default]
    AskHuman,
    /// It is called; the tool is told of the earlier one.
    Call,
}

/// A model, its tools, and the rules of its runs.
pub struct Agent {
    pub(super) model: Arc<dyn Model>,
    pub(super) fallbacks: Vec<Arc<dyn Model>>,
    pub(super) tools: Tools,
    pub(super) reducers: Arc<Reducers>,
    pub(super) criteria: Vec<Box<dyn Criterion>>,
    pub(super) policy: ResumePolicy,
    pub(super) unsure: Unsure,
    pub(super) duplicates: Duplicates,
    pub(super) parallel: usize,
    pub(super) retries: u32,
    pub(super) model_timeout: Option<Duration>,
    pub(super) stop: Stop,
}

/// How many answers an exchange may take, unless the session says otherwise.
const STEPS: u32 = 50;

impl Agent {
    /// An agent without tools, with the usual rules.
    pub fn new(model: Arc<dyn Model>) -> Agent {
        Agent {
            model,
            fallbacks: Vec::new(),
            tools: Tools::default(),
            reducers: Arc::default(),
            criteria: criteria::usual(STEPS),
            policy: ResumePolicy::default(),
            unsure: Unsure::default(),
            duplicates: Duplicates::default(),
            parallel: 8,
            retries: 2,
            model_timeout: Some(Duration::from_secs(900)),
            stop: Stop::default(),
        }
    }

    /// With another model that is asked where those before it cannot answer. The journal says when one took over.
    #[must_use]
    pub fn with_fallback(mut self, model: Arc<dyn Model>) -> Agent {
        self.fallbacks.push(model);
        self
    }

    /// With these tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Agent {
        self.tools = tools;
        self
    }

    /// With this side-state.
    #[must_use]
    pub fn with_reducers(mut self, reducers: Arc<Reducers>) -> Agent {
        self.reducers = reducers;
        self
    }

    /// With these rules for going on.
    #[must_use]
    pub fn with_criteria(mut self, criteria: Vec<Box<dyn Criterion>>) -> Agent {
        self.criteria = criteria;
        self
    }

    /// With this rule for calls that an earlier run left open.
    #[must_use]
    pub fn with_resume_policy(mut self, policy: ResumePolicy) -> Agent {
        self.policy = policy;
        self
    }

    /// With this rule for calls that may have acted.
    #[must_use]
    pub fn with_unsure(mut self, unsure: Unsure) -> Agent {
        self.unsure = unsure;
        self
    }

    /// With this rule for calls that ask again for what an earlier one may have done.
    #[must_use]
    pub fn with_duplicates(mut self, duplicates: Duplicates) -> Agent {
        self.duplicates = duplicates;
        self
    }

    /// With at most so many calls at a time.
    #[must_use]
    pub fn with_parallel(mut self, calls: usize) -> Agent {
        self.parallel = calls.max(1);
        self
    }

    /// With so many further tries where a model cannot answer now.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Agent {
        self.retries = retries;
        self
    }

    /// With so much time for one answer.
    #[must_use]
    pub fn with_model_timeout(mut self, timeout: Option<Duration>) -> Agent {
        self.model_timeout = timeout;
        self
    }

    /// With this way to be stopped.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Agent {
        self.stop = stop;
        self
    }

    /// The model that is asked after `failed` others.
    pub(super) fn model(&self, failed: usize) -> &dyn Model {
        failed.checked_sub(1).and_then(|place| self.fallbacks.get(place)).unwrap_or(&self.model).as_ref()
    }

    /// The tools it has.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The names of tools that a session was recorded with, and that this agent lacks.
    pub fn missing_tools<'a>(&self, session: &'a Session) -> Vec<&'a str> {
        self.tools.missing(session)
    }

    /// A new session's value that this agent can begin with.
    pub fn session(&self) -> Session {
        Session { tools: self.tools.specs().to_vec(), ..Session::default() }
    }

    /// Says something as the user, and runs until there is an answer, a person is needed, or a rule stops it.
    ///
    /// # Errors
    /// `Conflict` when another run took over, and what the store says. That a model or a tool failed is no error: the
    /// session says so.
    pub async fn run(&self, recorder: &mut Recorder, input: impl Into<Input>) -> Result<Stopped> {
        let input = input.into();
        recorder.record_with(|state, recorder| Ok(human::saying(state, &input, &recorder.now()))).await?;
        self.resume(recorder).await
    }

    /// Goes on where the session stands: calls that are open, the answer that is due, or nothing.
    ///
    /// # Errors
    /// Those of [`Agent::run`].
    pub async fn resume(&self, recorder: &mut Recorder) -> Result<Stopped> {
        Drive::new(self, recorder).run().await
    }
}
