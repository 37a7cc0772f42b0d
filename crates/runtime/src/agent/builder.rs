//! Building an agent step by step; what is wrong is said at the end.

use std::sync::Arc;

use turnkeep_model::ErrorKind;
use turnkeep_store::Store;

use super::Agent;
use crate::error::{Error, Result};
use crate::port::{Model, Tool};
use crate::ports::Ports;
use crate::slices::{Reducers, SliceItem};
use crate::tools::Tools;

/// An agent in the making: [`Agent::builder`]. What is rarely set has a `with_…` method of [`Agent`] itself. The order of
/// different methods does not matter; tools, slices and fallbacks keep the order in which they were named.
///
/// ```
/// use turnkeep_runtime::{Agent, Script};
///
/// let builder = Agent::builder().store("memory:").system("Be brief.");
///
/// assert_eq!(builder.build().unwrap_err().to_string(), "the agent has no model");
/// ```
#[derive(Default)]
pub struct AgentBuilder {
    model: Option<Arc<dyn Model>>,
    fallbacks: Vec<Arc<dyn Model>>,
    system: Option<String>,
    tools: Vec<Arc<dyn Tool>>,
    reducers: Reducers,
    slices: Vec<fn(Reducers) -> Reducers>,
    store: Option<Place>,
    ports: Option<Ports>,
}

/// Where sessions are kept.
enum Place {
    Url(String),
    Open(Arc<dyn Store>),
}

impl Agent {
    /// Begins to build an agent.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }
}

impl AgentBuilder {
    /// Who answers.
    #[must_use]
    pub fn model(mut self, model: impl Model + 'static) -> AgentBuilder {
        self.model = Some(Arc::new(model));
        self
    }

    /// Who is asked where those before cannot answer.
    #[must_use]
    pub fn fallback(mut self, model: impl Model + 'static) -> AgentBuilder {
        self.fallbacks.push(Arc::new(model));
        self
    }

    /// The system prompt of sessions that the agent opens.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> AgentBuilder {
        self.system = Some(text.into());
        self
    }

    /// Something it can do.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> AgentBuilder {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Side-state that tools read and change: values of `T`, added at the end.
    #[must_use]
    pub fn slice<T: SliceItem>(mut self) -> AgentBuilder {
        self.slices.push(Reducers::slice::<T>);
        self
    }

    /// Side-state with reducers of its own, beside what [`AgentBuilder::slice`] registers.
    #[must_use]
    pub fn reducers(mut self, reducers: Reducers) -> AgentBuilder {
        self.reducers = reducers;
        self
    }

    /// The URL of the store that sessions are kept in: `sqlite:PATH`, `file:DIR`, `memory:` or `postgres://…`.
    #[must_use]
    pub fn store(mut self, url: impl Into<String>) -> AgentBuilder {
        self.store = Some(Place::Url(url.into()));
        self
    }

    /// A store that is open already, also one of your own.
    #[must_use]
    pub fn store_in(mut self, store: Arc<dyn Store>) -> AgentBuilder {
        self.store = Some(Place::Open(store));
        self
    }

    /// The clock, the ids and the hub of its runs.
    #[must_use]
    pub fn ports(mut self, ports: Ports) -> AgentBuilder {
        self.ports = Some(ports);
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// `Unsupported` without a model, or where two tools have one name; what opening the store says.
    pub fn build(self) -> Result<Agent> {
        let AgentBuilder { model, fallbacks, system, tools, reducers, slices, store, ports } = self;
        let reducers = slices.into_iter().fold(reducers, |reducers, slice| slice(reducers));
        let missing = || Error::new(ErrorKind::Unsupported, "the agent has no model").hint("name one with `.model(…)`");
        let mut agent =
            Agent::new(model.ok_or_else(missing)?).with_tools(Tools::new(tools)?).with_reducers(Arc::new(reducers));
        agent.fallbacks = fallbacks;
        agent.system = system;
        agent.ports = ports.unwrap_or_default();
        agent.store = match store {
            None => None,
            Some(Place::Open(store)) => Some(store),
            Some(Place::Url(url)) => Some(turnkeep_store::open(&url)?),
        };
        Ok(agent)
    }
}
