//! A loop whose process dies anywhere: the same request is executed again until it completes, with every handler.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{ErrorKind, SessionId, Snapshot, Status};
use turnkeep_runtime::compat::weakincentives::{
    LoopDefinition, MainLoop, Origin, Prompt, PromptResponse, StoreCheckpoints, Template,
};
use turnkeep_runtime::port::{Answer, Consent, ToolOutput};
use turnkeep_runtime::{
    Agent, Checkpoint, CheckpointHandler, Error, FileCheckpoints, Named, Result, ResumePolicy, Stopped, UserRequest,
};
use turnkeep_store::{BoxFuture, Store, StoreExt, open};
use turnkeep_testkit::Home;

use crate::kit::{Fake, World, agent, calling, memory, ports};
use crate::mortal::{Case, Death, EFFECTS, Ledgerbook, Mortal, POLICIES, Story, agent_of, check, help, later, script};

/// A loop of one prompt; its requests are their own ids.
struct Go(&'static str);

impl LoopDefinition for Go {
    type Request = str;
    type Output = serde_json::Value;

    fn create_prompt(&self, _: &str) -> Box<dyn Prompt> {
        Box::new(Template::new("t", "go", self.0))
    }
}

/// Where checkpoints are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handler {
    None,
    Files,
    Store,
    Own,
}

const HANDLERS: [Handler; 4] = [Handler::None, Handler::Files, Handler::Store, Handler::Own];

/// A handler as a user writes one: texts by request, which outlive the process.
#[derive(Debug, Clone, Default)]
struct Own(Arc<Mutex<HashMap<String, String>>>);

impl CheckpointHandler for Own {
    fn load<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            let text = self.0.lock().unwrap().get(request).cloned();
            Ok(text.map(|text| Checkpoint { snapshot: Snapshot::from_json(&text).unwrap().0 }))
        })
    }

    fn save<'a>(&'a self, request: &'a str, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.0.lock().unwrap().insert(request.to_owned(), snapshot.to_json());
            Ok(())
        })
    }

    fn clear<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.0.lock().unwrap().remove(request);
            Ok(())
        })
    }
}

/// A handler whose process may die before and after everything it does.
struct MortalHandler(Arc<dyn CheckpointHandler>, Death);

impl MortalHandler {
    async fn around<T>(&self, work: impl Future<Output = T>) -> T {
        self.1.point().await;
        let done = work.await;
        self.1.point().await;
        done
    }
}

impl CheckpointHandler for MortalHandler {
    fn load<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(self.around(self.0.load(request)))
    }

    fn save<'a>(&'a self, request: &'a str, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.around(self.0.save(request, snapshot)))
    }

    fn clear<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.around(self.0.clear(request)))
    }
}

/// What outlives a process.
struct Lasting {
    home: Home,
    own: Own,
}

impl Lasting {
    fn new(scheme: &str) -> Lasting {
        Lasting { home: Home::new(scheme), own: Own::default() }
    }

    fn book(&self) -> Ledgerbook {
        Ledgerbook(self.home.folder().join("book"))
    }

    fn handler(&self, which: Handler, store: &Arc<dyn Store>) -> Option<Arc<dyn CheckpointHandler>> {
        match which {
            Handler::None => None,
            Handler::Files => Some(Arc::new(FileCheckpoints::new(self.home.folder().join("checkpoints")))),
            Handler::Store => Some(Arc::new(StoreCheckpoints::new(store.clone(), later()))),
            Handler::Own => Some(Arc::new(self.own.clone())),
        }
    }

    /// A process that may die, which executes the request until nobody is needed.
    async fn live(&self, case: Case, which: Handler, store: Arc<dyn Store>, death: &Death) -> Stopped {
        let store: Arc<dyn Store> = Arc::new(Mortal(store, death.clone()));
        let handler = self.handler(which, &store);
        let agent = agent_of(case, script(), &self.book(), death);
        let mut looping = MainLoop::new(Go("go"), agent, store.clone(), later());
        if let Some(handler) = handler {
            looping = looping.with_checkpoints(Arc::new(MortalHandler(handler, death.clone())));
        }
        for _ in 0..5 {
            let stopped = looping.execute("s").await.unwrap().stopped;
            if stopped.waiting.is_empty() {
                return stopped;
            }
            for waiting in &stopped.waiting {
                help(&SessionId::new("s"), &waiting.call, waiting.what, &*store, &self.book(), &later).await;
            }
        }
        panic!("it waits for ever");
    }

    fn check(&self, case: Case, store: &Arc<dyn Store>, stopped: &Stopped, what: &str) {
        check(case, store, &self.book(), stopped, what);
        for key in self.book().keys() {
            assert!(key.starts_with("s/"), "{what}: {key} is the key of a retry");
        }
    }
}

/// Dies at this point of a life, if it has one, and lets the next process execute the same request. Says whether it died.
fn dies_at(at: usize, case: Case, which: Handler) -> bool {
    let lasting = Lasting::new("memory");
    let store = lasting.home.open();
    let what = format!("{which:?} {case:?} dead at {at}");
    let death = Death::at(at);
    let lived = block_on(death.survive(lasting.live(case, which, store.clone(), &death)));
    let died = lived.is_none();
    // Executed again though it completed, it gives the same response, and nothing acts.
    let stopped = block_on(lasting.live(case, which, store.clone(), &Death::never()));
    lasting.check(case, &store, &stopped, &what);
    died
}

fn points(case: Case, which: Handler, step: usize) -> usize {
    (0..).step_by(step).take_while(|at| dies_at(*at, case, which)).count()
}

fn cases() -> impl Iterator<Item = Case> {
    let policies =
        [Story::Turn, Story::Consent].into_iter().flat_map(|story| POLICIES.map(move |policy| (story, policy)));
    policies.flat_map(|(story, policy)| EFFECTS.map(move |effects| Case { story, policy, effects }))
}

#[test]
fn a_process_that_dies_anywhere_never_repeats_an_effect_with_any_handler() {
    for which in HANDLERS {
        let every = |case: &Case| case.policy == ResumePolicy::MissingOnly && which != Handler::Files;
        let all: usize = cases().map(|case| points(case, which, if every(&case) { 1 } else { 7 })).sum();

        println!("{which:?}: {all} points of death");
        assert!(all >= 100, "{which:?}: {all}");
    }
}

const CHILD: &str = "TURNKEEP_LOOP_CHILD_AT";

fn case_of(effects: usize) -> Case {
    Case { story: Story::Turn, policy: ResumePolicy::MissingOnly, effects: EFFECTS[effects % EFFECTS.len()] }
}

#[test]
#[ignore = "the test below starts it"]
fn the_child() {
    let word = |name: &str| std::env::var(name).unwrap();
    let (at, round): (usize, usize) = (word(CHILD).parse().unwrap(), word("TURNKEEP_CHILD_CASE").parse().unwrap());
    let death = Death::really_at(at);
    let store: Arc<dyn Store> = Arc::new(Mortal(open(&word("TURNKEEP_CHILD_URL")).unwrap(), death.clone()));
    let folder = PathBuf::from(word("TURNKEEP_CHILD_FOLDER"));
    let files = FileCheckpoints::new(folder.join("checkpoints"));
    let agent = agent_of(case_of(round), script(), &Ledgerbook(folder.join("book")), &death);
    let looping = MainLoop::new(Go("go"), agent, store, later())
        .with_checkpoints(Arc::new(MortalHandler(Arc::new(files), death.clone())));
    block_on(looping.execute("s")).unwrap();
}

#[test]
fn a_process_that_is_killed_is_followed_by_one_that_goes_on() {
    use std::os::unix::process::ExitStatusExt;
    for round in 0..12 {
        let lasting = Lasting::new("file");
        let at = 2 + round * 3;
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "main_loop::the_child", "--ignored", "--nocapture"])
            .env(CHILD, at.to_string())
            .env("TURNKEEP_CHILD_CASE", round.to_string())
            .env("TURNKEEP_CHILD_FOLDER", lasting.home.folder())
            .env("TURNKEEP_CHILD_URL", lasting.home.url())
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        let what = format!("killed at {at}");
        assert_eq!(status.signal(), Some(9), "{what}: it lived");

        let store = lasting.home.open();
        let stopped = block_on(lasting.live(case_of(round), Handler::Files, store.clone(), &Death::never()));

        lasting.check(case_of(round), &store, &stopped, &what);
    }
}

/// A loop with one tool that charges, and what it charged.
fn charging(world: &World, effect: Effect, consent: Consent) -> Agent {
    let charged = world.clone();
    let mut tool = Fake::new("charge", effect, move |context| {
        charged.act(&format!("{} {}", context.key, context.is_resume));
        Ok(ToolOutput::text("charged"))
    });
    tool.consent = consent;
    agent(vec![calling(&[("c1", "charge", "{}")]), Answer::text("paid")], vec![tool])
}

fn execute<D: LoopDefinition<Request = str>>(looping: &MainLoop<D>) -> PromptResponse<D::Output> {
    block_on(looping.execute("req-1")).unwrap()
}

#[test]
fn a_request_that_waits_for_a_person_goes_on_waiting_when_it_is_executed_again() {
    for which in HANDLERS {
        let (lasting, world) = (Lasting::new("memory"), World::default());
        let store = lasting.home.open();
        for _ in 0..3 {
            let consent = Consent::Needed { within: None };
            let mut looping = MainLoop::new(Go("go"), charging(&world, Effect::Once, consent), store.clone(), ports());
            if let Some(handler) = lasting.handler(which, &store) {
                looping = looping.with_checkpoints(handler);
            }
            let waiting = execute(&looping).stopped.waiting;

            assert_eq!(waiting.iter().map(|one| one.call.to_string()).collect::<Vec<_>>(), ["c1"], "{which:?}");
        }
        assert_eq!(world.total(), 0, "{which:?}");
        assert_eq!(block_on(store.list(&Default::default())).unwrap().sessions.len(), 1, "{which:?}");
    }
}

#[test]
fn a_request_that_completed_gives_its_response_again_and_nothing_acts() {
    for which in HANDLERS {
        let (lasting, world) = (Lasting::new("memory"), World::default());
        let store = lasting.home.open();
        let looping = || {
            let agent = charging(&world, Effect::Once, Consent::NotNeeded);
            let looping = MainLoop::new(Go("go"), agent, store.clone(), ports());
            match lasting.handler(which, &store) {
                Some(handler) => looping.with_checkpoints(handler),
                None => looping,
            }
        };
        let first = execute(&looping());
        let again = execute(&looping());

        assert_eq!((first.origin, again.origin), (Origin::Fresh, Origin::Recorded), "{which:?}");
        assert_eq!(PromptResponse { origin: Origin::Fresh, ..again }, first, "{which:?}");
        assert_eq!(world.acted("req-1/c1 false"), 1, "{which:?}");

        // Whoever wants it done again says so; that is another evaluation with keys of its own.
        let restarted = block_on(looping().restart("req-1")).unwrap();

        assert_eq!((restarted.origin, restarted.text.as_deref()), (Origin::Fresh, Some("paid")), "{which:?}");
        assert_eq!((world.acted("req-1-2/c1 false"), world.total()), (1, 2), "{which:?}");
        assert_eq!(execute(&looping()).origin, Origin::Recorded, "{which:?}");
        assert_eq!(world.total(), 2, "{which:?}");
    }
}

#[test]
fn a_changed_prompt_is_refused_before_anything_acts_and_a_restart_takes_it() {
    for which in HANDLERS {
        let (lasting, world) = (Lasting::new("memory"), World::default());
        let store = lasting.home.open();
        let looping = |text: &'static str| {
            let consent = Consent::Needed { within: None };
            let looping = MainLoop::new(Go(text), charging(&world, Effect::Once, consent), store.clone(), ports());
            match lasting.handler(which, &store) {
                Some(handler) => looping.with_checkpoints(handler),
                None => looping,
            }
        };
        execute(&looping("go"));
        let last = block_on(store.last(&"req-1".into())).unwrap();

        let error = block_on(looping("go on").execute("req-1")).unwrap_err();
        assert_eq!(block_on(store.last(&"req-1".into())).unwrap(), last, "{which:?}: it was taken up");
        assert_eq!(
            (error.kind(), error.is(Named::ConversationStateMismatch)),
            (ErrorKind::Mismatch, true),
            "{which:?}"
        );

        // The call only waited for consent: it cannot have acted.
        let restarted = block_on(looping("go on").restart("req-1")).unwrap();
        assert_eq!((restarted.stopped.waiting.len(), world.total()), (1, 0), "{which:?}");
        assert_eq!(execute(&looping("go on")).origin, Origin::Resumed, "{which:?}");
    }
}

#[test]
fn a_request_whose_call_may_have_acted_is_not_restarted_blindly() {
    for which in HANDLERS {
        let lasting = Lasting::new("memory");
        let store = lasting.home.open();
        let dies = |_: &turnkeep_runtime::port::ToolContext| panic!("dies in the tool");
        let agent = agent(vec![calling(&[("c1", "charge", "{}")])], vec![Fake::new("charge", Effect::Once, dies)]);
        let mut looping = MainLoop::new(Go("go"), agent, store.clone(), ports());
        if let Some(handler) = lasting.handler(which, &store) {
            looping = looping.with_checkpoints(handler);
        }
        let response = execute(&looping);
        assert!(response.into_output().unwrap_err().is(Named::ToolIdempotency), "{which:?}");

        let error = block_on(looping.restart("req-1")).unwrap_err();

        assert_eq!((error.kind(), error.is(Named::ToolIdempotency)), (ErrorKind::NeedsHuman, true), "{which:?}");
    }
}

/// Dies at this point, and loses the store; only what the handler keeps is left. Says whether it died.
fn dies_with_its_store_at(at: usize, case: Case) -> bool {
    let lasting = Lasting::new("memory");
    let what = format!("{case:?} dead with its store at {at}");
    let death = Death::at(at);
    let lived = block_on(death.survive(lasting.live(case, Handler::Own, memory(), &death)));
    let is_over = lasting.own.0.lock().unwrap().is_empty() && !lasting.book().keys().is_empty();
    if lived.is_some() || is_over {
        return lived.is_none();
    }
    let store = memory();
    let stopped = block_on(lasting.live(case, Handler::Own, store.clone(), &Death::never()));
    if block_on(store.last(&"s".into())).is_err() {
        // The checkpoint held the whole evaluation: it answers, and nothing acts.
        let acted = lasting.book().keys();
        assert_eq!((stopped.text.as_deref(), acted.len()), (Some("all done"), 3), "{what}");
        return true;
    }
    lasting.check(case, &store, &stopped, &what);
    true
}

#[test]
fn a_checkpoint_is_enough_where_the_store_was_lost() {
    let cases = cases().filter(|case| case.policy == ResumePolicy::MissingOnly);
    let all: usize = cases.map(|case| (0..).take_while(|at| dies_with_its_store_at(*at, case)).count()).sum();

    println!("{all} points of death");
    assert!(all >= 100, "{all}");
}

#[test]
fn a_checkpoint_that_is_ahead_of_its_journal_is_refused_before_anything_acts() {
    let (own, world) = (Own::default(), World::default());
    let looping = |store: &Arc<dyn Store>| {
        let agent = charging(&world, Effect::Once, Consent::Needed { within: None });
        MainLoop::new(Go("go"), agent, store.clone(), ports()).with_checkpoints(Arc::new(own.clone()))
    };
    execute(&looping(&memory()));
    let older = memory();
    block_on(MainLoop::new(Go("go"), agent(vec![], vec![]), older.clone(), ports()).execute("req-1")).unwrap();

    let error = block_on(looping(&older).execute("req-1")).unwrap_err();

    assert_eq!((error.kind(), error.is(Named::SnapshotRestore)), (ErrorKind::Mismatch, true));
    assert_eq!(world.total(), 0);
}

/// A request as an application has it.
#[derive(Debug, Clone, PartialEq)]
struct ReviewRequest {
    number: u32,
    file: String,
}

impl UserRequest for ReviewRequest {
    fn id(&self) -> String {
        format!("review-{}", self.number)
    }
}

struct Reviews;

impl LoopDefinition for Reviews {
    type Request = ReviewRequest;
    type Output = serde_json::Value;

    fn create_session(&self) -> turnkeep_model::Session {
        turnkeep_model::Session { title: Some("a review".into()), ..Default::default() }
    }

    fn create_prompt(&self, request: &ReviewRequest) -> Box<dyn Prompt> {
        Box::new(Template::new("code", "review", "review {file}").with("file", &request.file))
    }
}

/// A handler that sees the whole request, and refuses some of them.
struct Picky(Mutex<Vec<ReviewRequest>>);

impl CheckpointHandler<ReviewRequest> for Picky {
    fn load<'a>(&'a self, request: &'a ReviewRequest) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            match request.file.as_str() {
                "torn.rs" => Err(Error::snapshot_restore("it is torn")),
                "old.rs" => Err(Error::conversation_state_mismatch("it is of an older prompt")),
                _ => Ok(None),
            }
        })
    }

    fn save<'a>(&'a self, request: &'a ReviewRequest, _: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.0.lock().unwrap().push(request.clone());
            Ok(())
        })
    }

    fn clear<'a>(&'a self, _: &'a ReviewRequest) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

fn request(number: u32, file: &str) -> ReviewRequest {
    ReviewRequest { number, file: file.to_owned() }
}

#[test]
fn requests_have_a_type_from_which_the_session_and_the_prompt_are_made() {
    let (store, handler) = (memory(), Arc::new(Picky(Mutex::default())));
    let looping = MainLoop::new(Reviews, agent(vec![Answer::text("good")], vec![]), store.clone(), ports())
        .with_checkpoints(handler.clone());

    let response = block_on(looping.execute(&request(7, "a.rs"))).unwrap();

    assert_eq!(response.into_output().unwrap(), serde_json::json!("good"));
    let session = block_on(store.load(&"review-7".into())).unwrap().session;
    assert_eq!(
        (session.title.as_deref(), session.status),
        (Some("a review"), Some(Status::from(turnkeep_model::status::Completed {})))
    );
    assert!(handler.0.lock().unwrap().iter().all(|saved| *saved == request(7, "a.rs")));
}

#[test]
fn what_a_handler_raises_can_be_matched_and_nothing_was_begun() {
    let store = memory();
    let looping = MainLoop::new(Reviews, agent(vec![], vec![]), store.clone(), ports())
        .with_checkpoints(Arc::new(Picky(Mutex::default())));

    let raised = ["torn.rs", "old.rs"].map(|file| block_on(looping.execute(&request(1, file))).unwrap_err().which());

    assert_eq!(raised, [Some(Named::SnapshotRestore), Some(Named::ConversationStateMismatch)]);
    assert_eq!(block_on(store.list(&Default::default())).unwrap().sessions.len(), 0);
    // Restarting is the remedy for a checkpoint that is torn.
    let damaged = tempfile::tempdir().unwrap();
    std::fs::write(damaged.path().join("req-1.json"), "{").unwrap();
    let looping = MainLoop::new(Go("go"), agent(vec![Answer::text("ok")], vec![]), store, ports())
        .with_checkpoints(Arc::new(FileCheckpoints::new(damaged.path())));
    assert!(block_on(looping.execute("req-1")).unwrap_err().is(Named::SnapshotRestore));
    assert_eq!(block_on(looping.restart("req-1")).unwrap().text.as_deref(), Some("ok"));
}

#[test]
fn requests_whose_ids_look_like_restarts_of_others_are_told_apart() {
    let (store, world) = (memory(), World::default());
    let looping =
        || MainLoop::new(Go("go"), charging(&world, Effect::Once, Consent::NotNeeded), store.clone(), ports());
    block_on(looping().execute("a-2")).unwrap();
    block_on(looping().execute("a")).unwrap();

    let restarted = block_on(looping().restart("a")).unwrap();

    assert_eq!(restarted.origin, Origin::Fresh);
    let ids: Vec<String> = ["a-2", "a", "a-3"].iter().map(|id| format!("{id}/c1 false")).collect();
    assert_eq!(ids.iter().map(|key| world.acted(key)).collect::<Vec<_>>(), [1, 1, 1]);
}
