//! Lives that may end anywhere: a store, a model and tools in which a process dies at the n-th point it passes, and those
//! who come after it.

use std::future::poll_fn;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use futures_util::future::{Either, select};
use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Batch, Body, CallId, Json, Outcome, Seq, Session, SessionId, StopReason, ToolSpec};
use turnkeep_runtime::human::{ConsentDecision, KnownOutcome, decide, resolve};
use turnkeep_runtime::port::{
    Answer, Consent, Deltas, Identity, Model, ModelError, Request, Tool, ToolContext, ToolError, ToolOutput,
};
use turnkeep_runtime::{
    Acquired, Agent, Input, Ports, Recorder, ResumePolicy, Script, Stopped, TakeOver, Tools, WaitingFor,
};
use turnkeep_store::{Batches, BoxFuture, Deleted, ErrorKind, Page, Query, Store, StoreExt};

use crate::kit::{calling, ports};

/// Where a process dies: at the n-th point it passes.
#[derive(Debug, Clone)]
pub(crate) struct Death {
    at: usize,
    passed: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
    really: bool,
}

impl Death {
    pub(crate) fn at(at: usize) -> Death {
        Death { at, passed: Arc::default(), dead: Arc::default(), really: false }
    }

    /// A death by SIGKILL.
    pub(crate) fn really_at(at: usize) -> Death {
        Death { really: true, ..Death::at(at) }
    }

    pub(crate) fn never() -> Death {
        Death::at(usize::MAX)
    }

    /// A point where the process may die. Whoever dies never returns.
    pub(crate) async fn point(&self) {
        if self.passed.fetch_add(1, Ordering::SeqCst) != self.at {
            return;
        }
        if self.really {
            let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
        }
        self.dead.store(true, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }

    /// Runs something that may die in it; `None` if it did.
    pub(crate) async fn survive<T>(&self, life: impl Future<Output = T>) -> Option<T> {
        let death = poll_fn(|context| {
            if self.dead.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        });
        match select(Box::pin(life), death).await {
            Either::Left((lived, _)) => Some(lived),
            Either::Right(_) => None,
        }
    }
}

/// A store whose process may die before a write, or after it and before it is acknowledged.
pub(crate) struct Mortal(pub(crate) Arc<dyn Store>, pub(crate) Death);

impl Store for Mortal {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        at: Seq,
        batch: &'a Batch,
    ) -> BoxFuture<'a, turnkeep_store::Result<Seq>> {
        Box::pin(async move {
            self.1.point().await;
            let done = self.0.append(session, at, batch).await;
            self.1.point().await;
            done
        })
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        self.0.read(session, after)
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, turnkeep_store::Result<Page>> {
        self.0.list(query)
    }

    fn fork<'a>(
        &'a self,
        session: &'a SessionId,
        at: Seq,
        child: &'a SessionId,
    ) -> BoxFuture<'a, turnkeep_store::Result<()>> {
        Box::pin(async move {
            self.1.point().await;
            let done = self.0.fork(session, at, child).await;
            self.1.point().await;
            done
        })
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, turnkeep_store::Result<Deleted>> {
        self.0.delete(session)
    }
}

/// A model that may die while it answers.
pub(crate) struct MortalModel(Arc<dyn Model>, Death);

impl Model for MortalModel {
    fn identity(&self) -> Identity {
        self.0.identity()
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            self.1.point().await;
            let answer = self.0.answer(request, deltas).await;
            self.1.point().await;
            answer
        })
    }
}

/// The outside world: a file with a line for everything that was done.
#[derive(Debug, Clone)]
pub(crate) struct Ledgerbook(pub(crate) PathBuf);

impl Ledgerbook {
    pub(crate) fn act(&self, key: &str) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.0).unwrap();
        file.write_all(format!("{key}\n").as_bytes()).unwrap();
    }

    /// The keys of everything that was done, in order.
    #[cfg(feature = "weakincentives")]
    pub(crate) fn keys(&self) -> Vec<String> {
        std::fs::read_to_string(&self.0).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) fn acted(&self, key: &str) -> usize {
        std::fs::read_to_string(&self.0).unwrap_or_default().lines().filter(|line| *line == key).count()
    }
}

/// A tool that may die before and after it acts.
pub(crate) struct MortalTool {
    name: &'static str,
    effect: Effect,
    consent: Consent,
    book: Ledgerbook,
    death: Death,
}

impl Tool for MortalTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.name.into(), ..ToolSpec::default() }
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn consent(&self) -> Consent {
        self.consent
    }

    fn call<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            self.death.point().await;
            let before = self.book.acted(&context.key);
            // A keyed tool acts once a key, as the outside world promises.
            if self.effect != Effect::Keyed || before == 0 {
                self.book.act(&context.key);
            }
            self.death.point().await;
            Ok(ToolOutput::text(format!("{} done", self.name)))
        })
    }
}

/// What happens in a life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Story {
    /// A question, three calls side by side, and the answer.
    Turn,
    /// The same, begun with the question.
    Asking,
    /// The same, in a stored session that is taken up with the question.
    TakeUp,
    /// The same, but a person in another process consents to the second call.
    Consent,
    /// The same, and then a fork that is asked something else.
    Fork,
}

/// What a life is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) story: Story,
    pub(crate) policy: ResumePolicy,
    pub(crate) effects: [Effect; 3],
}

pub(crate) const STORIES: [Story; 5] = [Story::Turn, Story::Asking, Story::TakeUp, Story::Consent, Story::Fork];

impl Story {
    /// The calls by which a program gets there.
    pub(crate) fn entry(self) -> &'static str {
        match self {
            Story::Turn => "`Recorder::create`, `Agent::run`",
            Story::Asking => "`Recorder::create_asking`, `Agent::resume`",
            Story::TakeUp => "`Recorder::acquire` with a question, `Agent::resume`",
            Story::Consent => "`Agent::run`, `human::decide`, `Agent::resume`",
            Story::Fork => "`Agent::run`, `Recorder::fork`, `Agent::run`",
        }
    }
}

pub(crate) const POLICIES: [ResumePolicy; 3] = [ResumePolicy::MissingOnly, ResumePolicy::RerunTurn, ResumePolicy::Ask];

pub(crate) const EFFECTS: [[Effect; 3]; 4] = [
    [Effect::Pure, Effect::Keyed, Effect::Once],
    [Effect::Once, Effect::Once, Effect::Once],
    [Effect::Keyed, Effect::Keyed, Effect::Keyed],
    [Effect::Pure, Effect::Pure, Effect::Pure],
];

/// Every case there is.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    let policies = STORIES.into_iter().flat_map(|story| POLICIES.map(move |policy| (story, policy)));
    policies.flat_map(|(story, policy)| EFFECTS.map(move |effects| Case { story, policy, effects }))
}

const NAMES: [&str; 3] = ["first", "second", "third"];

pub(crate) fn script() -> Arc<dyn Model> {
    let calls = calling(&[("a", "first", "{}"), ("b", "second", "{}"), ("c", "third", "{}")]);
    Arc::new(Script::new("test", vec![calls, Answer::text("all done"), Answer::text("forked")]))
}

/// An agent of this case that may die, with a model that may.
pub(crate) fn agent_of(case: Case, model: Arc<dyn Model>, book: &Ledgerbook, death: &Death) -> Agent {
    let tools = NAMES.into_iter().zip(case.effects).map(|(name, effect)| {
        let asks = case.story == Story::Consent && name == "second";
        let consent = if asks { Consent::Needed { within: None } } else { Consent::NotNeeded };
        Arc::new(MortalTool { name, effect, consent, book: book.clone(), death: death.clone() }) as Arc<dyn Tool>
    });
    Agent::new(Arc::new(MortalModel(model, death.clone())))
        .with_tools(Tools::new(tools).unwrap())
        .with_resume_policy(case.policy)
}

pub(crate) fn id() -> SessionId {
    SessionId::new("s")
}

fn child() -> SessionId {
    SessionId::new("fork")
}

/// A whole life; it may end anywhere, also before the session is there.
pub(crate) async fn live(case: Case, store: Arc<dyn Store>, agent: &Agent, ports: &dyn Fn() -> Ports) -> Stopped {
    let session = Session { id: Some(id()), ..agent.session() };
    let mut recorder = match case.story {
        Story::Asking => Recorder::create_asking(store.clone(), session, "go", ports()).await.unwrap(),
        Story::TakeUp => {
            Recorder::create(store.clone(), session, ports()).await.unwrap();
            let asked = Some(Input::from("go"));
            match Recorder::acquire(store.clone(), &id(), asked, ports(), TakeOver::IfIdle).await.unwrap() {
                Acquired::Here(recorder) => *recorder,
                Acquired::Elsewhere(busy) => panic!("{busy:?}"),
            }
        }
        _ => Recorder::create(store.clone(), session, ports()).await.unwrap(),
    };
    let stopped = match case.story {
        Story::Asking | Story::TakeUp => agent.resume(&mut recorder).await.unwrap(),
        _ => agent.run(&mut recorder, "go").await.unwrap(),
    };
    match case.story {
        Story::Turn | Story::Asking | Story::TakeUp => stopped,
        Story::Consent => {
            decide(&*store, &id(), &CallId::given("b"), &ConsentDecision::approve(), &ports()).await.unwrap();
            agent.resume(&mut recorder).await.unwrap()
        }
        Story::Fork => {
            let mut fork = recorder.fork(&child()).await.unwrap();
            agent.run(&mut fork, "something else").await.unwrap()
        }
    }
}

/// A later process: it takes up what is there, and asks the book where only someone who knows can tell.
pub(crate) async fn recover(
    case: Case,
    store: Arc<dyn Store>,
    agent: &Agent,
    book: &Ledgerbook,
    ports: &dyn Fn() -> Ports,
) -> Stopped {
    if is_absent(&*store, &id()).await {
        return live(case, store, agent, ports).await;
    }
    let stopped = go_on(&id(), "go", &store, agent, book, ports).await;
    if case.story != Story::Fork {
        return stopped;
    }
    if is_absent(&*store, &child()).await {
        let last = store.last(&id()).await.unwrap();
        store.fork(&id(), last, &child()).await.unwrap();
    }
    if store.load(&child()).await.unwrap().session.turns.len() == 2 {
        let mut recorder = Recorder::resume(store.clone(), &child(), ports()).await.unwrap();
        return agent.run(&mut recorder, "something else").await.unwrap();
    }
    go_on(&child(), "something else", &store, agent, book, ports).await
}

async fn is_absent(store: &dyn Store, id: &SessionId) -> bool {
    matches!(store.last(id).await, Err(error) if error.kind() == ErrorKind::NotFound)
}

/// Goes on with a session until nobody is needed.
async fn go_on(
    id: &SessionId,
    said: &str,
    store: &Arc<dyn Store>,
    agent: &Agent,
    book: &Ledgerbook,
    ports: &dyn Fn() -> Ports,
) -> Stopped {
    if store.load(id).await.unwrap().session.turns.is_empty() {
        let mut recorder = Recorder::resume(store.clone(), id, ports()).await.unwrap();
        agent.run(&mut recorder, said).await.unwrap();
    }
    for _ in 0..4 {
        let mut recorder = Recorder::resume(store.clone(), id, ports()).await.unwrap();
        let stopped = agent.resume(&mut recorder).await.unwrap();
        if stopped.waiting.is_empty() {
            return stopped;
        }
        for waiting in &stopped.waiting {
            help(id, &waiting.call, waiting.what, &**store, book, ports).await;
        }
    }
    panic!("it waits for ever");
}

/// Goes on in the same process, with the recorder of a run that was cancelled.
pub(crate) async fn go_on_with(
    recorder: &mut Recorder,
    said: &str,
    agent: &Agent,
    book: &Ledgerbook,
    ports: &dyn Fn() -> Ports,
) -> Stopped {
    let store = recorder.store().clone();
    recorder.refresh().await.unwrap();
    let mut stopped = match recorder.session().turns.is_empty() {
        true => agent.run(recorder, said).await.unwrap(),
        false => agent.resume(recorder).await.unwrap(),
    };
    for _ in 0..4 {
        for waiting in &stopped.waiting {
            help(&recorder.id().clone(), &waiting.call, waiting.what, &*store, book, ports).await;
        }
        if stopped.waiting.is_empty() {
            return stopped;
        }
        stopped = agent.resume(recorder).await.unwrap();
    }
    panic!("it waits for ever");
}

/// What a person does about a call that waits.
pub(crate) async fn help(
    id: &SessionId,
    call: &CallId,
    what: WaitingFor,
    store: &dyn Store,
    book: &Ledgerbook,
    ports: &dyn Fn() -> Ports,
) {
    if what == WaitingFor::Consent {
        decide(store, id, call, &ConsentDecision::approve(), &ports()).await.unwrap();
        return;
    }
    let name = ["a", "b", "c"].iter().position(|one| call.as_given() == Some(one)).map_or("?", |at| NAMES[at]);
    let knowledge = match book.acted(&format!("s/{call}")) {
        0 => KnownOutcome::Retry,
        _ => KnownOutcome::Done(ToolOutput::text(format!("{name} done"))),
    };
    resolve(store, id, call, &knowledge, None, &ports()).await.unwrap();
}

/// Ids that no earlier process of the test has made.
pub(crate) fn later() -> Ports {
    Ports { ids: Arc::new(turnkeep_runtime::port::RandomIds), ..ports() }
}

/// What must hold whatever happened.
pub(crate) fn check(case: Case, store: &Arc<dyn Store>, book: &Ledgerbook, stopped: &Stopped, what: &str) {
    let last = if case.story == Story::Fork { "forked" } else { "all done" };
    assert_eq!((stopped.reason.clone(), stopped.text.as_deref()), (Some(StopReason::Completed), Some(last)), "{what}");
    let turn = ["text", "tool_call", "tool_call", "tool_call", "tool_result", "tool_result", "tool_result", "text"];
    check_session(&id(), &turn, store, what);
    if case.story == Story::Fork {
        check_session(&child(), &[&turn[..], &["text", "text"]].concat(), store, what);
    }
    let session = block_on(store.load(&id())).unwrap().session;
    for ((call, effect), name) in ["a", "b", "c"].into_iter().zip(case.effects).zip(NAMES) {
        let acted = book.acted(&format!("s/{call}"));
        match effect {
            Effect::Once | Effect::Keyed => assert_eq!(acted, 1, "{what}: {name} acted {acted} times"),
            Effect::Pure => assert!(acted >= 1, "{what}: {name} never ran"),
        }
        let told = session.blocks().find_map(|(_, block)| match &block.body {
            Body::ToolResult(result) if result.call == CallId::given(call) => result.outcome.clone(),
            _ => None,
        });
        assert_eq!(told, Some(Outcome::Success), "{what}: the model was told something else of {name}");
    }
}

/// A session is whole: its journal has no gap, and its messages these kinds of blocks in order.
fn check_session(id: &SessionId, expected: &[&str], store: &Arc<dyn Store>, what: &str) {
    let loaded = block_on(store.load(id)).unwrap();
    assert!(loaded.session.open_calls().is_empty(), "{what}");
    let kinds: Vec<&str> = loaded.session.in_message_order().iter().map(|(_, _, block)| block.body.kind()).collect();
    assert_eq!(kinds, expected, "{what}");
    let journal = block_on(store.journal(id)).unwrap();
    assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()), "{what}");
}
