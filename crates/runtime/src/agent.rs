//! The turn loop: ask the model, record its answer with the intents of its calls, call the tools, record what came of
//! it, and decide whether to go on.
//!
//! An [`Agent`] holds what is the same for every run: the model, the tools and the rules. [`Agent::run`] records what the
//! user says and begins a `run_loop`; [`Agent::resume`] begins one without a new question. Both are the same loop: what
//! comes next is decided from the journal alone ([`plan`](crate::plan)), so a run that goes on after a crash does what a
//! run that lived would have done.
//!
//! | file | what it does |
//! |---|---|
//! | `run_loop` | the loop: plan, ask or call, decide, stop |
//! | `run_context` | what the rules look at, and the events that follow from it |
//! | `ask` | asks the model, again after a wait, and then the next model |
//! | `answer` | records an answer with the intents of its calls |
//! | `calls` | decides about calls that are open, and records what came of them |
//! | `execute` | runs tools side by side, with their limits |
//! | `run_stream` | a run as a stream of what happens |
//! | `unsure` | finds out about calls that may have acted, or gives them up |
//!
//! **Invariant: nothing acts before it is recorded that it may.** The question is recorded before the request leaves, the
//! intent before the tool runs, and an outcome is one batch with its result and its side-state.

mod answer;
mod ask;
mod builder;
mod calls;
mod execute;
mod guard;
mod partial_answer;
mod run_context;
mod run_loop;
mod run_stream;
mod stopped;
mod unsure;

use std::sync::Arc;
use std::time::Duration;

use turnkeep_model::{Author, Block, Session, Turn};
use turnkeep_store::{Loaded, Store};

use crate::criteria::{self, Criterion};
use crate::error::Result;
use crate::input::{Input, input_events};
use crate::plan::{Plan, ResumePolicy, plan};
use crate::port::Model;
use crate::ports::Ports;
use crate::recorder::Recorder;
use crate::slices::Reducers;
use crate::stop::StopSignal;
use crate::tools::Tools;
use run_loop::RunLoop;

pub(crate) use ask::in_force;
pub use builder::AgentBuilder;
pub use guard::Guard;
pub(crate) use run_stream::OpenedRun;
pub use run_stream::{RunEvent, RunStream};
pub use stopped::{Stopped, Waiting, WaitingFor};

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

/// A model, its tools, and the rules of its runs. Clones share the model and the tools.
///
/// ```
/// use turnkeep_runtime::port::Answer;
/// use turnkeep_runtime::{Agent, Script};
///
/// # pollster::block_on(async {
/// let agent = Agent::builder()
///     .model(Script::new("a model", vec![Answer::text("Hello!")]))
///     .system("Be brief.")
///     .store("memory:")
///     .build()?;
///
/// let stopped = agent.open("s1")?.ask("Are you there?").await?;
///
/// assert_eq!(stopped.text.as_deref(), Some("Hello!"));
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Agent {
    model: Arc<dyn Model>,
    fallbacks: Vec<Arc<dyn Model>>,
    tools: Tools,
    reducers: Arc<Reducers>,
    criteria: Vec<Arc<dyn Criterion>>,
    policy: ResumePolicy,
    unsure: Unsure,
    duplicates: Duplicates,
    parallel: usize,
    retries: u32,
    model_timeout: Option<Duration>,
    stop: StopSignal,
    guard: Guard,
    system: Option<String>,
    store: Option<Arc<dyn Store>>,
    ports: Ports,
}

/// How many answers an exchange may take, unless the session says otherwise.
const STEPS: u32 = 50;

impl Agent {
    /// An agent without tools, with the usual rules.
    pub fn new(model: impl Model + 'static) -> Agent {
        Agent {
            model: Arc::new(model),
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
            stop: StopSignal::default(),
            guard: Guard::default(),
            system: None,
            store: None,
            ports: Ports::default(),
        }
    }

    /// With another model that is asked where those before it cannot answer. The journal says when one took over.
    #[must_use]
    pub fn with_fallback(mut self, model: impl Model + 'static) -> Agent {
        self.fallbacks.push(Arc::new(model));
        self
    }

    /// With this system prompt. It is the beginning of every session that the agent opens; a stored session keeps its own.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<String>) -> Agent {
        self.system = Some(text.into());
        self
    }

    /// With the store that [`Agent::open`] keeps sessions in.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Store>) -> Agent {
        self.store = Some(store);
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
    pub fn with_criteria(mut self, criteria: Vec<Arc<dyn Criterion>>) -> Agent {
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
    pub fn with_stop(mut self, stop: StopSignal) -> Agent {
        self.stop = stop;
        self
    }

    /// With this clock, these ids and this hub for the conversations that it opens.
    #[must_use]
    pub fn with_ports(mut self, ports: Ports) -> Agent {
        self.ports = ports;
        self
    }

    /// With this rule for which sessions take something new.
    #[must_use]
    pub fn with_guard(mut self, guard: Guard) -> Agent {
        self.guard = guard;
        self
    }

    /// The model that is asked after `failed` others.
    fn model(&self, failed: usize) -> &dyn Model {
        failed.checked_sub(1).and_then(|place| self.fallbacks.get(place)).unwrap_or(&self.model).as_ref()
    }

    /// The same, for one run that this signal stops as well.
    pub(crate) fn stopped_by(&self, stop: &StopSignal) -> Agent {
        Agent { stop: self.stop.or(stop), ..self.clone() }
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn system(&self) -> Option<&str> {
        self.system.as_deref()
    }

    /// Whether nothing is left to do in a session.
    pub(crate) fn is_done(&self, loaded: &Loaded) -> bool {
        let now = self.ports.clock.now();
        plan(&loaded.session, &loaded.ledger, self.policy, now, &|name| self.tools.effect(name)) == Plan::Done
    }

    /// The store it keeps sessions in, if it has one.
    pub fn store(&self) -> Option<&Arc<dyn Store>> {
        self.store.as_ref()
    }

    /// What its conversations take time and ids from, and who hears of them.
    pub fn ports(&self) -> &Ports {
        &self.ports
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
        let system = self.system.iter().map(|text| Block::text(Author::System, text));
        let turns: Vec<Turn> = system.map(|block| Turn { blocks: vec![block], ..Turn::default() }).collect();
        Session { turns, ..self.session_without_system() }
    }

    pub(crate) fn session_without_system(&self) -> Session {
        Session { tools: self.tools.specs().to_vec(), ..Session::default() }
    }

    /// Says something as the user, and runs until there is an answer, a person is needed, or a rule stops it.
    ///
    /// # Errors
    /// `Conflict` when another run took over, or the agent's [`Guard`] says no; `Unsupported` where nothing is said; and
    /// what the store says. That a model or a tool failed is no error: the session says so.
    pub async fn run(&self, recorder: &mut Recorder, input: impl Into<Input>) -> Result<Stopped> {
        let input = input.into();
        input.check().and_then(|()| self.guard.check(recorder.session())).map_err(|e| e.session(recorder.id()))?;
        recorder.wake_with(|state, recorder| input_events(state, &input, &recorder.now())).await?;
        self.resume(recorder).await
    }

    /// Goes on where the session stands: calls that are open, the answer that is due, or nothing.
    ///
    /// # Errors
    /// Those of [`Agent::run`].
    pub async fn resume(&self, recorder: &mut Recorder) -> Result<Stopped> {
        recorder.wake_with(|_, _| Vec::new()).await?;
        RunLoop::new(self, recorder).run().await
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |model: &Arc<dyn Model>| model.identity();
        f.debug_struct("Agent")
            .field("model", &names(&self.model))
            .field("fallbacks", &self.fallbacks.iter().map(names).collect::<Vec<_>>())
            .field("system", &self.system)
            .field("tools", &self.tools)
            .field("slices", &self.reducers)
            .field("has_store", &self.store.is_some())
            .finish_non_exhaustive()
    }
}
