//! What a page folds from envelopes is what is stored, however often it was disconnected.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use turnkeep_codec::format::cognesy::Dialect as SlimDialect;
use turnkeep_codec::format::cognesy::view::slim;
use turnkeep_model::event::{Effect, SessionCondensed};
use turnkeep_model::shape::{Shape, ShapeReader};
use turnkeep_model::view::{Slim, View};
use turnkeep_model::{
    Author, Batch, Block, Body, CallId, Finish, FinishReason, Journal, Json, Object, Seq, Session, SessionId, Summary,
    Usage, fold,
};
use turnkeep_runtime::envelope::{Detail, Dialect, Envelope, EnvelopeOptions, Projection};
use turnkeep_runtime::human::{ConsentDecision, decide, say};
use turnkeep_runtime::port::{
    Answer, BoxFuture, Consent, Deltas, Identity, Model, ModelError, Request, ToolError, ToolOutput,
};
use turnkeep_runtime::{Agent, Ports, Recorder};
use turnkeep_store::{Store, StoreExt};
use turnkeep_testkit::for_all;

use crate::kit::{Fake, TestClock, calling, clock, memory, ports_with, tools};

/// What a model does when it is asked.
#[derive(Debug, Clone)]
enum Reply {
    Says(&'static str),
    Calls(Vec<&'static str>),
    FailsOnce,
    Fails,
}

/// What happens between two questions.
#[derive(Debug, Clone, Copy)]
enum Between {
    Nothing,
    Condenses,
    Speaks,
}

#[derive(Debug, Clone)]
struct Exchange {
    replies: Vec<Reply>,
    consents: bool,
    between: Between,
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let tool = prop::sample::select(vec!["fine", "fails", "unknown", "asks"]);
    let reply = prop_oneof![
        2 => Just(Reply::Says("an answer")),
        4 => prop::collection::vec(tool, 1..3).prop_map(Reply::Calls),
        1 => Just(Reply::FailsOnce),
        1 => Just(Reply::Fails),
    ];
    let between = prop::sample::select(vec![Between::Nothing, Between::Condenses, Between::Speaks]);
    (prop::collection::vec(reply, 1..4), any::<bool>(), between).prop_map(|(replies, consents, between)| Exchange {
        replies,
        consents,
        between,
    })
}

/// A model that replies as planned, and takes its time.
struct Planned {
    replies: Mutex<VecDeque<Reply>>,
    clock: Arc<TestClock>,
    calls: std::sync::atomic::AtomicUsize,
}

impl Planned {
    fn reply(&self) -> Result<Answer, ModelError> {
        self.clock.advance(Duration::from_millis(7));
        let call = |tool: &&'static str| {
            let number = self.calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            (format!("c{number}"), *tool)
        };
        let ended = |reason| Some(Finish { reason, ..Finish::default() });
        match self.replies.lock().unwrap().pop_front().unwrap_or(Reply::Says("the end")) {
            Reply::Says(text) => Ok(Answer {
                usage: Usage { input: Some(11), output: Some(3), ..Usage::default() },
                finish: ended(FinishReason::Stop),
                ..Answer::text(text)
            }),
            Reply::Calls(tools) => {
                let calls: Vec<(String, &str)> = tools.iter().map(call).collect();
                let calls: Vec<_> = calls.iter().map(|(id, tool)| (id.as_str(), *tool, r#"{"n":1}"#)).collect();
                Ok(Answer { finish: ended(FinishReason::ToolCalls), ..calling(&calls) })
            }
            Reply::FailsOnce => Err(ModelError::retryable("busy", Duration::from_millis(5))),
            Reply::Fails => Err(ModelError::fatal("broken")),
        }
    }
}

impl Model for Planned {
    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn answer<'a>(&'a self, _: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async { self.reply() })
    }
}

struct Scene {
    store: Arc<dyn Store>,
    ports: Ports,
    agent: Agent,
    model: Arc<Planned>,
    id: SessionId,
}

impl Scene {
    fn new() -> Scene {
        let clock = clock();
        let model = Arc::new(Planned { replies: Mutex::default(), clock: clock.clone(), calls: Default::default() });
        let slow = clock.clone();
        let fine = Fake::new("fine", Effect::Pure, move |_| {
            slow.advance(Duration::from_millis(1250));
            Ok(ToolOutput::text("done"))
        });
        let fails = Fake::new("fails", Effect::Pure, |_| Err(ToolError::failed("no luck")));
        let mut asks = Fake::new("asks", Effect::Once, |_| Ok(ToolOutput::text("acted")));
        asks.consent = Consent::Needed { within: None };
        let agent = Agent::new(model.clone()).with_tools(tools(vec![fine, fails, asks]));
        Scene { store: memory(), ports: ports_with(clock), agent, model, id: SessionId::new("s") }
    }

    fn begin(&self) {
        let session = Session { id: Some(self.id.clone()), ..self.agent.session() };
        drop(block_on(Recorder::create(self.store.clone(), session, self.ports.clone())).unwrap());
    }

    fn recorder(&self) -> Recorder {
        block_on(Recorder::resume(self.store.clone(), &self.id, self.ports.clone())).unwrap()
    }

    fn session(&self) -> Session {
        block_on(self.store.load(&self.id)).unwrap().session
    }

    fn live(&self, exchange: &Exchange) {
        self.model.replies.lock().unwrap().extend(exchange.replies.iter().cloned());
        let mut stopped = block_on(self.agent.run(&mut self.recorder(), "go on")).unwrap();
        while !stopped.waiting.is_empty() {
            for waiting in &stopped.waiting {
                self.decide(&waiting.call, exchange.consents);
            }
            stopped = block_on(self.agent.resume(&mut self.recorder())).unwrap();
        }
        self.model.replies.lock().unwrap().clear();
        match exchange.between {
            Between::Nothing => {}
            Between::Condenses => self.condense(),
            Between::Speaks => drop(block_on(say(&*self.store, &self.id, &self.ports, "and?")).unwrap()),
        }
    }

    fn decide(&self, call: &CallId, consents: bool) {
        let decision = if consents { ConsentDecision::approve() } else { ConsentDecision::deny("no") };
        block_on(decide(&*self.store, &self.id, call, &decision, &self.ports)).unwrap();
    }

    /// A summary stands for the first turn, where it is not the last.
    fn condense(&self) {
        if self.session().turns.len() < 2 || self.session().turns[0].blocks.iter().any(is_summary) {
            return;
        }
        let block = Block::new(Author::User, Summary { from: Some(0), to: Some(0), ..Summary::from("in short") });
        let event = SessionCondensed { from: 0, to: 0, block, by: None };
        block_on(self.recorder().record(vec![event.into()])).unwrap();
    }

    fn journal(&self) -> Journal {
        block_on(self.store.journal(&self.id)).unwrap()
    }

    /// What a connection gives that begins after a place.
    fn connect(&self, options: EnvelopeOptions, after: Seq) -> Vec<Envelope> {
        let mut projection = Projection::new(self.id.clone(), options, after);
        let start = projection.reads_after();
        let batches = self.journal().batches;
        batches.iter().filter(|batch| batch.last() > start).flat_map(|batch| projection.batch(batch)).collect()
    }
}

fn is_summary(block: &Block) -> bool {
    matches!(block.body, Body::Summary(_))
}

/// Every record that a page has heard: one that it has already is passed over, and a gap would be a failure.
fn folded(scene: &Scene, cuts: &[usize]) -> Session {
    let (mut journal, mut last) = (Journal { session: Some(scene.id.clone()), ..Journal::default() }, Seq::START);
    for cut in cuts.iter().copied().chain([usize::MAX]) {
        for envelope in scene.connect(Dialect::Native.into(), last).into_iter().take(cut) {
            assert_eq!(envelope.seq, Some(last.next()), "a gap");
            last = last.next();
            journal.batches.push(record_of(&envelope));
        }
    }
    fold(&journal).unwrap()
}

/// The record that a native envelope is.
fn record_of(envelope: &Envelope) -> Batch {
    let json = envelope.to_json();
    let told = json.as_object().unwrap();
    let mut event = told.get("payload").unwrap().as_object().unwrap().clone();
    event.set("type", told.get("type").unwrap().clone());
    let mut batch = Object::new();
    batch.set("seq", told.get("seq").unwrap().clone());
    batch.set("events", Json::Array(vec![event.into()]));
    Batch::read(Json::Object(batch).to_node(), &mut ShapeReader::default()).unwrap()
}

/// What a page shows that hears the seven. Hearing something twice changes nothing.
#[derive(Debug, Default)]
struct Page {
    last: u64,
    status: String,
    step_count: u64,
    started: BTreeMap<u64, Object>,
    steps: BTreeMap<u64, Object>,
    tools: BTreeMap<String, Object>,
    decision: Option<Object>,
}

impl Page {
    /// Begins again before the last record that was heard: of its envelopes some may be missing.
    fn hear(scene: &Scene, cuts: &[usize]) -> Page {
        let mut page = Page::default();
        for cut in cuts.iter().copied().chain([usize::MAX]) {
            let after = Seq(page.last.saturating_sub(1));
            let connection = scene.connect(EnvelopeOptions::from(Detail::DEBUG), after);
            connection.into_iter().take(cut).for_each(|envelope| page.take(&envelope));
        }
        page
    }

    fn take(&mut self, envelope: &Envelope) {
        self.last = envelope.seq.unwrap().0;
        let payload = envelope.payload.clone();
        let number = |key: &str| payload.get(key).unwrap().as_number().unwrap().as_u64().unwrap();
        match envelope.kind.as_str() {
            "agent.status" => {
                self.status = payload.get_str("status").unwrap().into_owned();
                self.step_count = number("step_count");
            }
            "agent.step.started" => drop(self.started.insert(number("step_number"), payload)),
            "agent.step.completed" => drop(self.steps.insert(number("step_number"), payload)),
            "agent.continuation" => self.decision = Some(payload),
            "agent.tool.started" => {}
            "agent.tool.completed" => {
                drop(self.tools.insert(payload.get_str("tool_call_id").unwrap().into_owned(), payload));
            }
            other => panic!("{other} has a place"),
        }
    }
}

fn view_of(session: &Session) -> View {
    let config = Slim { max_messages: 1000, max_steps: 1000, ..Slim::full() };
    slim(session, &config, SlimDialect::Proposal, turnkeep_codec::Mode::Faithful).unwrap().view
}

/// The page against the slim view of the stored session: status, counts, and every step field by field.
fn agrees(page: &Page, session: &Session) -> Result<(), TestCaseError> {
    let view = view_of(session);
    prop_assert_eq!(&page.status, &view.status);
    prop_assert_eq!(page.step_count, view.step_count);
    prop_assert_eq!(page.steps.len(), view.steps.len());
    for step in &view.steps {
        let told = &page.steps[&step.step_number];
        prop_assert!(page.started.contains_key(&step.step_number), "step {} never started", step.step_number);
        prop_assert_eq!(told.get("has_tool_calls").unwrap(), &Json::from(step.has_tool_calls), "{:?}", step);
        prop_assert_eq!(told.get("errors").unwrap(), &Json::from(step.errors));
        prop_assert_eq!(told.get_str("finish_reason").map(Cow::into_owned), step.finish_reason.clone());
        prop_assert_eq!(told.get("usage").unwrap().as_object().unwrap().get("total").unwrap(), &Json::from(step.total));
        prop_assert_eq!(told.get("duration_ms").unwrap(), &Json::Number(step.duration_ms.clone().unwrap()));
        for (call, _) in &step.tool_calls {
            prop_assert!(page.tools.contains_key(call.as_ref().unwrap()), "the end of {call:?} was not told");
        }
    }
    let decided = view.last_continuation.and_then(|made| made.stop_reason);
    let told = page.decision.as_ref().and_then(|decision| decision.get_str("stop_reason").map(Cow::into_owned));
    prop_assert!(decided.is_none() || decided == told, "{:?} is not {:?}", decided, told);
    Ok(())
}

fn lives() -> impl Strategy<Value = (Vec<Exchange>, Vec<usize>)> {
    (prop::collection::vec(exchange(), 1..5), prop::collection::vec(0_usize..12, 0..8))
}

fn lived(exchanges: &[Exchange]) -> Scene {
    let scene = Scene::new();
    scene.begin();
    exchanges.iter().for_each(|exchange| scene.live(exchange));
    scene
}

#[test]
fn native_envelopes_fold_to_the_stored_session_over_any_disconnects() {
    for_all(96, &lives(), |(exchanges, cuts)| {
        let scene = lived(&exchanges);
        let told = Session { id: Some(scene.id.clone()), ..folded(&scene, &cuts) };
        prop_assert_eq!(told, scene.session());
        Ok(())
    });
}

#[test]
fn the_seven_fold_to_the_slim_view_over_any_disconnects() {
    for_all(96, &lives(), |(exchanges, cuts)| {
        let scene = lived(&exchanges);
        agrees(&Page::hear(&scene, &cuts), &scene.session())
    });
}

#[test]
fn every_run_that_ended_has_one_terminal_status() {
    for_all(48, &lives(), |(exchanges, _)| {
        let scene = lived(&exchanges);
        let told = scene.connect(Detail::MINIMAL.into(), Seq::START);
        for run in &scene.session().runs {
            let own = told.iter().filter(|envelope| envelope.kind == "agent.status" && envelope.execution == run.id);
            let words: Vec<String> = own.map(|one| one.payload.get_str("status").unwrap().into_owned()).collect();
            let terminal = words.iter().filter(|word| *word != "in_progress").count();
            let has_ended = run.status.as_ref().is_some_and(|status| status.kind() != "waiting_for_human");
            prop_assert_eq!(terminal, usize::from(has_ended), "{:?}: {:?}", run, words);
        }
        Ok(())
    });
}
