//! What the tests share: scripted models, tools that count what they do, and clocks and ids that repeat themselves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use turnkeep_model::event::Effect;
use turnkeep_model::{Author, Block, CallId, Json, Session, ToolCall};
use turnkeep_runtime::port::{Answer, Clock, Compensate, Found, Ids, Probe, Tool, ToolContext, ToolError, ToolOutput};
use turnkeep_runtime::{Agent, Ports, Script, Tools};
use turnkeep_store::{BoxFuture, Store, open};

/// A clock that a test sets, and whose waits are over at once.
#[derive(Debug)]
pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn advance(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn set_back(&self, time: Duration) {
        self.0.fetch_sub(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        // Waits for an answer or a tool last for ever here; those between tries are over at once.
        let long = time >= Duration::from_secs(60);
        Box::pin(async move {
            if long {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// Ids that count.
#[derive(Debug, Default)]
pub(crate) struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn next(&self) -> String {
        format!("id-{}", self.0.fetch_add(1, Ordering::SeqCst))
    }
}

pub(crate) fn clock() -> Arc<TestClock> {
    Arc::new(TestClock(AtomicI64::new(1_800_000_000_000)))
}

pub(crate) fn ports() -> Ports {
    ports_with(clock())
}

pub(crate) fn ports_with(clock: Arc<TestClock>) -> Ports {
    Ports { clock, ids: Arc::new(CountingIds::default()), ..Ports::default() }
}

pub(crate) fn memory() -> Arc<dyn Store> {
    open("memory:").unwrap()
}

/// The schemes of the stores that can be tested here.
pub(crate) fn schemes() -> Vec<&'static str> {
    let all = turnkeep_store::url::DRIVERS.iter().map(|driver| driver.scheme);
    let there = all.filter(|scheme| match turnkeep_testkit::Home::missing(scheme) {
        None => true,
        Some(reason) => {
            println!("skipped: {scheme} ({reason})");
            false
        }
    });
    there.collect()
}

pub(crate) fn json(text: &str) -> Json {
    turnkeep_model::json::parse(text).unwrap().into_json()
}

/// An answer that calls tools: id, name, arguments.
pub(crate) fn calling(calls: &[(&str, &str, &str)]) -> Answer {
    let block = |(id, name, arguments): &(&str, &str, &str)| {
        let call = ToolCall { call: CallId::given(*id), name: (*name).into(), arguments: (*arguments).into() };
        Block::new(Author::Assistant, call)
    };
    Answer { blocks: calls.iter().map(block).collect(), ..Answer::default() }
}

pub(crate) fn script(answers: Vec<Answer>) -> Arc<Script> {
    Arc::new(Script::new("test", answers))
}

/// The outside world: how often each key acted.
#[derive(Debug, Clone, Default)]
pub(crate) struct World(Arc<Mutex<HashMap<String, u32>>>);

impl World {
    pub(crate) fn act(&self, key: &str) {
        *self.0.lock().unwrap().entry(key.to_owned()).or_default() += 1;
    }

    pub(crate) fn acted(&self, key: &str) -> u32 {
        self.0.lock().unwrap().get(key).copied().unwrap_or(0)
    }

    /// The keys under which anything was done.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.0.lock().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    }

    pub(crate) fn total(&self) -> u32 {
        self.0.lock().unwrap().values().sum()
    }
}

type Work = dyn Fn(&ToolContext) -> Result<ToolOutput, ToolError> + Send + Sync;

/// A tool that does what a test says.
pub(crate) struct Fake {
    pub(crate) name: &'static str,
    pub(crate) effect: Effect,
    pub(crate) settings: turnkeep_runtime::port::Settings,
    pub(crate) consent: turnkeep_runtime::port::Consent,
    pub(crate) work: Box<Work>,
    pub(crate) probe: Option<Found>,
    pub(crate) undo: Option<World>,
}

impl Fake {
    pub(crate) fn new(
        name: &'static str,
        effect: Effect,
        work: impl Fn(&ToolContext) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Fake {
        Fake {
            name,
            effect,
            settings: Default::default(),
            consent: Default::default(),
            work: Box::new(work),
            probe: None,
            undo: None,
        }
    }

    /// A tool that acts in the world under its call's id.
    pub(crate) fn acting(name: &'static str, effect: Effect, world: &World) -> Fake {
        let world = world.clone();
        Fake::new(name, effect, move |context| {
            world.act(&context.call_id.to_string());
            Ok(ToolOutput::text(format!("{} done", context.call_id)))
        })
    }
}

impl Tool for Fake {
    fn spec(&self) -> turnkeep_model::ToolSpec {
        let parameters =
            json(r#"{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}"#);
        turnkeep_model::ToolSpec { name: self.name.into(), parameters, ..Default::default() }
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn settings(&self) -> turnkeep_runtime::port::Settings {
        self.settings.clone()
    }

    fn consent(&self) -> turnkeep_runtime::port::Consent {
        self.consent
    }

    fn call<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { (self.work)(context) })
    }

    fn probe(&self) -> Option<&dyn Probe> {
        self.probe.as_ref().map(|_| self as &dyn Probe)
    }

    fn compensate(&self) -> Option<&dyn Compensate> {
        self.undo.as_ref().map(|_| self as &dyn Compensate)
    }
}

impl Probe for Fake {
    fn probe<'a>(&'a self, _: &'a Json, _: &'a ToolContext) -> BoxFuture<'a, Result<Found, ToolError>> {
        Box::pin(async { Ok(self.probe.clone().unwrap_or(Found::Unknown)) })
    }
}

impl Compensate for Fake {
    fn compensate<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async {
            if let Some(world) = &self.undo {
                world.act(&format!("undo {}", context.call_id));
            }
            Ok(())
        })
    }
}

pub(crate) fn tools(all: Vec<Fake>) -> Tools {
    Tools::new(all.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>)).unwrap()
}

pub(crate) fn agent(answers: Vec<Answer>, all: Vec<Fake>) -> Agent {
    Agent::new(script(answers)).with_tools(tools(all))
}

/// The texts of a session's blocks, each with its author: a history at a glance.
pub(crate) fn history(session: &Session) -> Vec<String> {
    use turnkeep_model::{Body, Part};
    let one = |(turn, block): (usize, &Block)| match &block.body {
        Body::Text(text) => format!("{turn} {}: {}", block.author, text.text),
        Body::ToolCall(call) => format!("{turn} call {} {}", call.call, call.name),
        Body::ToolResult(result) => {
            let text = match result.parts.first() {
                Some(Part::Text(text)) => text.text.clone(),
                other => format!("{other:?}"),
            };
            format!("{turn} result {} {}: {text}", result.call, result.outcome.as_ref().map_or("-", |o| o.as_str()))
        }
        other => format!("{turn} {}", other.kind()),
    };
    session.blocks().map(one).collect()
}
