//! An agent that dies anywhere, and is resumed: every write and every wait of a turn with three parallel calls is a point
//! of death, for every effect and every policy.

use std::future::poll_fn;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use futures_util::future::{Either, select};
use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Batch, Body, CallId, Json, Outcome, Seq, Session, SessionId, StopReason, ToolSpec};
use turnkeep_runtime::human::{Knowledge, resolve};
use turnkeep_runtime::port::{
    Answer, Deltas, Identity, Model, ModelError, Request, Tool, ToolContext, ToolError, ToolOutput,
};
use turnkeep_runtime::{Agent, Ports, Recorder, ResumePolicy, Script, Stopped, Tools, WaitingFor};
use turnkeep_store::{Batches, BoxFuture, Deleted, Page, Query, Store, StoreExt, open};

use crate::kit::{calling, ports};

/// Where a process dies: at the n-th point it passes.
#[derive(Debug, Clone)]
struct Death {
    at: usize,
    passed: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
    really: bool,
}

impl Death {
    fn at(at: usize) -> Death {
        Death { at, passed: Arc::default(), dead: Arc::default(), really: false }
    }

    fn never() -> Death {
        Death::at(usize::MAX)
    }

    /// A point where the process may die. Whoever dies never returns.
    async fn point(&self) {
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
    async fn survive<T>(&self, life: impl Future<Output = T>) -> Option<T> {
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
struct Mortal(Arc<dyn Store>, Death);

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
        self.0.fork(session, at, child)
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, turnkeep_store::Result<Deleted>> {
        self.0.delete(session)
    }
}

/// A model that may die while it answers.
struct MortalModel(Script, Death);

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
struct Ledgerbook(PathBuf);

impl Ledgerbook {
    fn act(&self, key: &str) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.0).unwrap();
        file.write_all(format!("{key}\n").as_bytes()).unwrap();
    }

    fn acted(&self, key: &str) -> usize {
        std::fs::read_to_string(&self.0).unwrap_or_default().lines().filter(|line| *line == key).count()
    }
}

/// A tool that may die before and after it acts.
struct MortalTool {
    name: &'static str,
    effect: Effect,
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

const NAMES: [&str; 3] = ["first", "second", "third"];

fn life(
    store: &Arc<dyn Store>,
    effects: [Effect; 3],
    policy: ResumePolicy,
    book: &Ledgerbook,
    death: &Death,
) -> (Arc<dyn Store>, Agent) {
    let calls = calling(&[("a", "first", "{}"), ("b", "second", "{}"), ("c", "third", "{}")]);
    let script = Script::new("test", vec![calls, Answer::text("all done")]);
    let tools = NAMES.into_iter().zip(effects).map(|(name, effect)| {
        Arc::new(MortalTool { name, effect, book: book.clone(), death: death.clone() }) as Arc<dyn Tool>
    });
    let agent = Agent::new(Arc::new(MortalModel(script, death.clone())))
        .with_tools(Tools::new(tools).unwrap())
        .with_resume_policy(policy);
    (Arc::new(Mortal(store.clone(), death.clone())), agent)
}

fn id() -> SessionId {
    SessionId::new("s")
}

/// The first process: it may die anywhere, also before the session is there.
async fn first(store: Arc<dyn Store>, agent: &Agent, ports: Ports) -> Stopped {
    let session = Session { id: Some(id()), ..agent.session() };
    let mut recorder = Recorder::create(store, session, ports).await.unwrap();
    agent.run(&mut recorder, "go").await.unwrap()
}

/// A later process: it takes up what is there, and asks the book where only someone who knows can tell.
fn recover(store: &Arc<dyn Store>, effects: [Effect; 3], policy: ResumePolicy, book: &Ledgerbook, run: u32) -> Stopped {
    let (store, agent) = life(store, effects, policy, book, &Death::never());
    let ports = || {
        let ports = ports();
        (0..run * 1000).for_each(|_| drop(ports.ids.next()));
        ports
    };
    block_on(async {
        match store.last(&id()).await {
            Err(_) => return first(store, &agent, ports()).await,
            Ok(_) => {
                let loaded = store.load(&id()).await.unwrap();
                if loaded.session.turns.is_empty() {
                    let mut recorder = Recorder::resume(store, &id(), ports()).await.unwrap();
                    return agent.run(&mut recorder, "go").await.unwrap();
                }
            }
        }
        for _ in 0..3 {
            let mut recorder = Recorder::resume(store.clone(), &id(), ports()).await.unwrap();
            let stopped = agent.resume(&mut recorder).await.unwrap();
            if stopped.waiting.is_empty() {
                return stopped;
            }
            for waiting in &stopped.waiting {
                assert_eq!(waiting.what, WaitingFor::Outcome);
                let key = format!("s/{}", waiting.call);
                let knowledge = match book.acted(&key) {
                    0 => Knowledge::Retry,
                    _ => Knowledge::Done(ToolOutput::text("it was done")),
                };
                resolve(&*store, &id(), &waiting.call, &knowledge, None, &ports()).await.unwrap();
            }
        }
        panic!("it waits for ever");
    })
}

/// What must hold whatever happened.
fn check(store: &Arc<dyn Store>, effects: [Effect; 3], book: &Ledgerbook, stopped: &Stopped, what: &str) {
    assert_eq!(
        (stopped.reason.clone(), stopped.text.as_deref()),
        (Some(StopReason::Completed), Some("all done")),
        "{what}"
    );
    let loaded = block_on(store.load(&id())).unwrap();
    assert!(loaded.session.open_calls().is_empty(), "{what}");
    let kinds: Vec<&str> = loaded.session.in_message_order().iter().map(|(_, _, block)| block.body.kind()).collect();
    let expected = ["text", "tool_call", "tool_call", "tool_call", "tool_result", "tool_result", "tool_result", "text"];
    assert_eq!(kinds, expected, "{what}");
    for ((call, effect), name) in ["a", "b", "c"].into_iter().zip(effects).zip(NAMES) {
        let acted = book.acted(&format!("s/{call}"));
        match effect {
            Effect::Once | Effect::Keyed => assert_eq!(acted, 1, "{what}: {name} acted {acted} times"),
            Effect::Pure => assert!(acted >= 1, "{what}: {name} never ran"),
        }
        let told = loaded.session.blocks().find_map(|(_, block)| match &block.body {
            Body::ToolResult(result) if result.call == CallId::given(call) => result.outcome.clone(),
            _ => None,
        });
        assert_eq!(told, Some(Outcome::Success), "{what}: the model was told something else of {name}");
    }
    let journal = block_on(store.journal(&id())).unwrap();
    assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()), "{what}");
}

const EFFECTS: [[Effect; 3]; 4] = [
    [Effect::Pure, Effect::Keyed, Effect::Once],
    [Effect::Once, Effect::Once, Effect::Once],
    [Effect::Keyed, Effect::Keyed, Effect::Keyed],
    [Effect::Pure, Effect::Pure, Effect::Pure],
];

/// Dies at every `stride`-th point of a run, and says how many points that were.
fn die_everywhere(url: &dyn Fn(&Path) -> String, policy: ResumePolicy, effects: [Effect; 3], stride: usize) -> usize {
    let mut points = 0;
    for at in (0..).step_by(stride) {
        let folder = tempfile::tempdir().unwrap();
        let (store, book) = (open(&url(folder.path())).unwrap(), Ledgerbook(folder.path().join("book")));
        let death = Death::at(at);
        let (mortal, agent) = life(&store, effects, policy, &book, &death);
        let what = format!("{policy:?} {effects:?} dead at {at}");
        let lived = block_on(death.survive(first(mortal, &agent, ports())));
        if let Some(stopped) = lived {
            check(&store, effects, &book, &stopped, &what);
            return points;
        }
        points += 1;
        let stopped = recover(&store, effects, policy, &book, 1);
        check(&store, effects, &book, &stopped, &what);
    }
    points
}

#[test]
fn dies_at_every_point_in_memory() {
    let mut points = 0;
    for policy in [ResumePolicy::MissingOnly, ResumePolicy::RerunTurn, ResumePolicy::Ask] {
        for effects in EFFECTS {
            points += die_everywhere(&|_| "memory:".into(), policy, effects, 1);
        }
    }
    println!("{points} points of death");
    assert!(points >= 250, "{points}");
}

#[test]
fn dies_in_files() {
    let url = |folder: &Path| format!("file:{}", folder.join("store").display());
    assert!(die_everywhere(&url, ResumePolicy::MissingOnly, EFFECTS[0], 3) >= 5);
}

#[test]
fn dies_in_sqlite() {
    let url = |folder: &Path| format!("sqlite:{}", folder.join("store.db").display());
    assert!(die_everywhere(&url, ResumePolicy::MissingOnly, EFFECTS[0], 3) >= 5);
}

const CHILD: &str = "TURNKEEP_CHILD_AT";

#[test]
#[ignore = "the test below starts it"]
fn the_child() {
    let at: usize = std::env::var(CHILD).unwrap().parse().unwrap();
    let folder = PathBuf::from(std::env::var("TURNKEEP_CHILD_FOLDER").unwrap());
    let index: usize = std::env::var("TURNKEEP_CHILD_EFFECTS").unwrap().parse().unwrap();
    let store = open(&std::env::var("TURNKEEP_CHILD_URL").unwrap()).unwrap();
    let death = Death { really: true, ..Death::at(at) };
    let (mortal, agent) =
        life(&store, EFFECTS[index], ResumePolicy::MissingOnly, &Ledgerbook(folder.join("book")), &death);
    block_on(first(mortal, &agent, ports()));
}

/// Starts a process that is killed with SIGKILL at a point, and says whether it was.
fn killed(folder: &Path, url: &str, effects: usize, at: usize) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::the_child", "--ignored", "--nocapture"])
        .env(CHILD, at.to_string())
        .env("TURNKEEP_CHILD_FOLDER", folder)
        .env("TURNKEEP_CHILD_EFFECTS", effects.to_string())
        .env("TURNKEEP_CHILD_URL", url)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    !status.success()
}

/// How many processes are killed: `TURNKEEP_KILLS` times three, or 24.
fn kills() -> usize {
    std::env::var("TURNKEEP_KILLS").ok().and_then(|count| count.parse::<usize>().ok()).map_or(24, |count| count * 3)
}

#[test]
fn processes_are_killed_at_points_and_resumed_in_new_ones() {
    let mut done = 0;
    for round in 0.. {
        let (effects, scheme) = (round % EFFECTS.len(), if round % 2 == 0 { "sqlite" } else { "file" });
        // A run has about thirty points; the strides differ, so that all of them are met in time.
        for at in (round % 4..).step_by(if kills() > 100 { 1 } else { 5 }) {
            let folder = tempfile::tempdir().unwrap();
            let url = format!("{scheme}:{}", folder.path().join("store").display());
            if !killed(folder.path(), &url, effects, at) {
                break;
            }
            let (store, book) = (open(&url).unwrap(), Ledgerbook(folder.path().join("book")));
            let stopped = recover(&store, EFFECTS[effects], ResumePolicy::MissingOnly, &book, 1);
            check(&store, EFFECTS[effects], &book, &stopped, &format!("{scheme} killed at {at}"));
            done += 1;
            if done >= kills() {
                return;
            }
        }
    }
}
