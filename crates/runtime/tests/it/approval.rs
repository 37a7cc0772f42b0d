//! Consent, and decisions about calls that may have acted.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{CallId, ErrorKind, Json, SessionId, Status};
use turnkeep_runtime::human::{ConsentDecision, KnownOutcome, decide, resolve};
use turnkeep_runtime::port::{Answer, Consent, FnTool, Found, Probe, ToolContext, ToolError, ToolOutput};
use turnkeep_runtime::{Agent, Duplicates, Ports, Recorder, Stopped, Tools, Unsure, WaitingFor};
use turnkeep_store::{BoxFuture, Store};

use crate::kit::{Fake, TestClock, World, agent, calling, clock, history, memory, ports_with};

struct Scene {
    store: Arc<dyn Store>,
    world: World,
    clock: Arc<TestClock>,
    agent: Agent,
}

const ARGUMENTS: &str = r#"{"n":1}"#;

impl Scene {
    fn new(prepare: impl Fn(&mut Fake), then: Vec<Answer>) -> Scene {
        let world = World::default();
        let mut tool = Fake::acting("act", Effect::Once, &world);
        prepare(&mut tool);
        let answers = [vec![calling(&[("c", "act", ARGUMENTS)])], then].concat();
        Scene { store: memory(), world, clock: clock(), agent: agent(answers, vec![tool]) }
    }

    fn ports(&self) -> Ports {
        ports_with(self.clock.clone())
    }

    fn id(&self) -> SessionId {
        SessionId::new("s")
    }

    fn start(&self) -> Stopped {
        let mut session = self.agent.session();
        session.id = Some(self.id());
        let mut recorder = block_on(Recorder::create(self.store.clone(), session, self.ports())).unwrap();
        block_on(self.agent.run(&mut recorder, "go")).unwrap()
    }

    fn resume(&self) -> (Stopped, Vec<String>) {
        let mut recorder = block_on(Recorder::resume(self.store.clone(), &self.id(), self.ports())).unwrap();
        let stopped = block_on(self.agent.resume(&mut recorder)).unwrap();
        (stopped, history(recorder.session()))
    }

    fn decide(&self, judgement: &ConsentDecision) -> turnkeep_runtime::Result<turnkeep_model::Seq> {
        block_on(decide(&*self.store, &self.id(), &CallId::given("c"), judgement, &self.ports()))
    }

    fn resolve(&self, knowledge: &KnownOutcome) {
        block_on(resolve(&*self.store, &self.id(), &CallId::given("c"), knowledge, Some("me"), &self.ports())).unwrap();
    }
}

fn consenting(within: Option<Duration>) -> impl Fn(&mut Fake) {
    move |tool| tool.consent = Consent::Needed { within }
}

fn waits_for(stopped: &Stopped) -> Option<WaitingFor> {
    assert!(matches!(stopped.status, Status::WaitingForHuman(_)));
    stopped.waiting.first().map(|waiting| waiting.what)
}

#[test]
fn a_call_waits_and_runs_once_it_is_approved() {
    let scene = Scene::new(consenting(None), vec![Answer::text("done")]);

    assert_eq!(waits_for(&scene.start()), Some(WaitingFor::Consent));
    assert_eq!(waits_for(&scene.resume().0), Some(WaitingFor::Consent));
    assert_eq!(scene.world.total(), 0);

    scene.decide(&ConsentDecision::approve()).unwrap();
    let (stopped, _) = scene.resume();

    assert_eq!(stopped.text.as_deref(), Some("done"));
    assert_eq!(scene.world.acted("c"), 1);
}

#[test]
fn a_denied_call_is_told_to_be_denied() {
    let scene = Scene::new(consenting(None), vec![Answer::text("pity")]);
    scene.start();
    scene.decide(&ConsentDecision::deny("too expensive")).unwrap();

    let (_, history) = scene.resume();

    assert_eq!(history[2], "0 result c denied: The call was not made, because it was not allowed: too expensive");
    assert_eq!(scene.world.total(), 0);
}

#[test]
fn edited_arguments_are_checked_against_the_schema_too() {
    let scene = Scene::new(consenting(None), vec![Answer::text("ok")]);
    scene.start();

    let refused = scene.decide(&ConsentDecision::edit(r#"{"n":"two"}"#)).unwrap_err();

    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert_eq!(
        refused.to_string(),
        "session s: the edited arguments do not follow the schema: /n must be integer, and is a string"
    );
    assert_eq!(waits_for(&scene.resume().0), Some(WaitingFor::Consent), "nothing was recorded");
    scene.decide(&ConsentDecision::edit(r#"{"n":2}"#)).unwrap();
    assert_eq!(scene.resume().0.text.as_deref(), Some("ok"));
}

#[test]
fn a_decision_is_bound_to_what_was_shown_made_once_and_in_time() {
    let scene = Scene::new(consenting(Some(Duration::from_secs(10))), vec![Answer::text("ok")]);
    scene.start();
    let stale = ConsentDecision { digest: Some("something else".into()), ..ConsentDecision::approve() };

    assert_eq!(scene.decide(&stale).unwrap_err().kind(), ErrorKind::Mismatch);
    assert_eq!(scene.decide(&ConsentDecision::edit("{not json")).unwrap_err().kind(), ErrorKind::Unsupported);
    scene.decide(&ConsentDecision::approve()).unwrap();
    assert_eq!(scene.decide(&ConsentDecision::deny("no")).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn consent_that_comes_too_late_is_refused_and_the_session_goes_on() {
    let scene = Scene::new(consenting(Some(Duration::from_secs(10))), vec![Answer::text("ok")]);
    scene.start();
    scene.clock.advance(Duration::from_secs(11));

    assert_eq!(scene.decide(&ConsentDecision::approve()).unwrap_err().kind(), ErrorKind::Mismatch);
    let (stopped, history) = scene.resume();

    assert_eq!(stopped.text.as_deref(), Some("ok"));
    assert!(history[2].contains("nobody consented in time"));
    assert_eq!(scene.world.total(), 0);
}

#[test]
fn a_call_that_waits_for_consent_is_not_resolved_and_one_with_an_outcome_not_decided() {
    let scene = Scene::new(consenting(None), vec![Answer::text("ok")]);
    scene.start();
    let resolved = |knowledge: &KnownOutcome| {
        block_on(resolve(&*scene.store, &scene.id(), &CallId::given("c"), knowledge, None, &scene.ports()))
    };

    for knowledge in [KnownOutcome::Retry, KnownOutcome::Skip, KnownOutcome::Done(ToolOutput::text("x"))] {
        assert_eq!(resolved(&knowledge).unwrap_err().kind(), ErrorKind::Conflict, "{knowledge:?}");
    }
    scene.decide(&ConsentDecision::approve()).unwrap();
    scene.resume();
    assert_eq!(scene.decide(&ConsentDecision::deny("late")).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(resolved(&KnownOutcome::Skip).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(scene.world.acted("c"), 1);
}

#[test]
fn a_call_of_a_session_from_elsewhere_can_be_resolved() {
    let call = turnkeep_model::ToolCall { call: CallId::given("c"), name: "act".into(), arguments: ARGUMENTS.into() };
    let turn = turnkeep_model::Turn {
        blocks: vec![turnkeep_model::Block::new(turnkeep_model::Author::Assistant, call)],
        ..Default::default()
    };
    for (knowledge, told, acted) in [(KnownOutcome::Retry, "success", 1), (KnownOutcome::Skip, "interrupted", 0)] {
        let scene = Scene::new(|_| (), vec![Answer::text("ok")]);
        let mut session = scene.agent.session();
        (session.id, session.turns) = (Some(scene.id()), vec![turn.clone()]);
        block_on(Recorder::create(scene.store.clone(), session, scene.ports())).unwrap();
        assert_eq!(waits_for(&scene.resume().0), Some(WaitingFor::Outcome));

        scene.resolve(&knowledge);
        let (stopped, history) = scene.resume();

        assert_eq!(stopped.text.as_deref(), Some("ok"));
        assert!(history[1].starts_with(&format!("0 result c {told}")), "{}", history[1]);
        assert_eq!(scene.world.acted("c"), acted);
    }
}

#[test]
fn a_result_that_someone_gave_while_the_tool_ran_stands_alone() {
    let scene = Scene::new(|_| (), vec![Answer::text("ok")]);
    let (store, ports) = (scene.store.clone(), scene.ports());
    let tool = Fake::new("act", Effect::Once, move |context| {
        let known = KnownOutcome::Done(ToolOutput::text("a person saw it"));
        block_on(resolve(&*store, &context.session, &context.call_id, &known, None, &ports)).unwrap();
        Ok(ToolOutput::text("the tool says so too"))
    });
    let agent = agent(vec![calling(&[("c", "act", ARGUMENTS)]), Answer::text("ok")], vec![tool]);
    let session = turnkeep_model::Session { id: Some(scene.id()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(scene.store.clone(), session, scene.ports())).unwrap();

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("ok"));
    let results: Vec<String> = history(recorder.session()).into_iter().filter(|line| line.contains("result")).collect();
    assert_eq!(results, ["0 result c success: a person saw it"]);
    assert_eq!(recorder.session().logs, ["[tool] call c ended after its result was given"]);
}

fn dying(tool: &mut Fake) {
    let act = std::mem::replace(&mut tool.work, Box::new(|_| Ok(ToolOutput::text("again"))));
    let first = std::sync::atomic::AtomicBool::new(true);
    tool.work = Box::new(move |context| {
        let done = act(context);
        if first.swap(false, std::sync::atomic::Ordering::SeqCst) {
            panic!("cut off after the effect");
        }
        done
    });
}

#[test]
fn a_call_that_may_have_acted_waits_for_someone_who_knows() {
    let scene = Scene::new(dying, vec![Answer::text("ok")]);

    assert_eq!(waits_for(&scene.start()), Some(WaitingFor::Outcome));
    assert_eq!(waits_for(&scene.resume().0), Some(WaitingFor::Outcome));
    scene.resolve(&KnownOutcome::Done(ToolOutput::text("charged, says the bank")));
    let (stopped, history) = scene.resume();

    assert_eq!(stopped.text.as_deref(), Some("ok"));
    assert_eq!(history[2], "0 result c success: charged, says the bank");
    assert_eq!(scene.world.acted("c"), 1);
}

#[test]
fn a_call_that_is_known_not_to_have_acted_is_made_again() {
    let scene = Scene::new(dying, vec![Answer::text("ok")]);
    scene.start();
    scene.resolve(&KnownOutcome::Retry);

    let (_, history) = scene.resume();

    assert_eq!(history[2], "0 result c success: c done");
}

#[test]
fn a_call_that_is_given_up_is_undone_and_told_to_be_unknown() {
    let undone = World::default();
    let undo = undone.clone();
    let scene = Scene::new(
        move |tool| {
            dying(tool);
            tool.undo = Some(undo.clone());
        },
        vec![Answer::text("ok")],
    );
    scene.start();
    scene.resolve(&KnownOutcome::Skip);

    let (_, history) = scene.resume();

    assert_eq!(
        history[2],
        "0 result c interrupted: The call was interrupted and its outcome is unknown: it may or may not have taken \
         effect. What it may have done was undone."
    );
    assert_eq!(undone.acted("undo c"), 1);
    assert_eq!(scene.world.acted("c"), 1);
}

#[test]
fn a_probe_settles_what_it_finds() {
    let found = |found: Found| {
        let scene = Scene::new(
            move |tool| {
                dying(tool);
                tool.probe = Some(found.clone());
            },
            vec![Answer::text("ok")],
        );
        // The run itself looks, and goes on.
        let stopped = scene.start();
        (stopped.text, scene.world.acted("c"))
    };

    assert_eq!(found(Found::Done(ToolOutput::text("it was done"))), (Some("ok".into()), 1));
    assert_eq!(found(Found::NotDone), (Some("ok".into()), 2));
    assert_eq!(found(Found::Unknown), (None, 1));
}

#[test]
fn a_repetition_of_what_may_have_been_done_is_shown_to_a_person() {
    let again = || vec![calling(&[("d", "act", r#"{ "n": 1 }"#)]), Answer::text("ok")];
    let mut scene = Scene::new(dying, again());
    scene.agent = std::mem::replace(&mut scene.agent, agent(vec![], vec![])).with_unsure(Unsure::TellModel);

    let stopped = scene.start();

    assert_eq!(waits_for(&stopped), Some(WaitingFor::Consent));
    assert_eq!(stopped.waiting[0].call, CallId::given("d"));
    assert_eq!(scene.world.acted("d"), 0);

    let mut scene = Scene::new(dying, again());
    let bold = std::mem::replace(&mut scene.agent, agent(vec![], vec![]));
    scene.agent = bold.with_unsure(Unsure::TellModel).with_duplicates(Duplicates::Call);

    assert_eq!(scene.start().text.as_deref(), Some("ok"));
    assert_eq!(scene.world.acted("d"), 1);
}

/// Knows that nothing was done, and notes what it was asked about.
struct NothingDone(Arc<Mutex<Vec<String>>>);

impl Probe for NothingDone {
    fn probe<'a>(&'a self, arguments: &'a Json, _: &'a ToolContext) -> BoxFuture<'a, Result<Found, ToolError>> {
        self.0.lock().unwrap().push(format!("looked for {}", arguments.to_text()));
        Box::pin(async { Ok(Found::NotDone) })
    }
}

#[test]
fn a_call_that_did_not_act_is_looked_for_and_made_again_with_the_arguments_that_a_person_wrote() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let called = seen.clone();
    let tool = FnTool::new("act", "", Json::Null, Effect::Once, move |arguments, _| {
        let mut seen = called.lock().unwrap();
        seen.push(format!("called with {}", arguments.to_text()));
        let dies = seen.len() == 1;
        drop(seen);
        Box::pin(async move { if dies { panic!("the process dies") } else { Ok(ToolOutput::text("done")) } })
    });
    let tool = tool.with_consent(Consent::Needed { within: None }).with_probe(NothingDone(seen.clone()));
    let mut scene = Scene::new(|_| {}, Vec::new());
    let answers = crate::kit::script(vec![calling(&[("c", "act", ARGUMENTS)]), Answer::text("done")]);
    scene.agent = Agent::new(answers).with_tools(Tools::new([Arc::new(tool) as _]).unwrap());
    scene.start();
    scene.decide(&ConsentDecision::edit(r#"{"n":2}"#)).unwrap();

    let (stopped, _) = scene.resume();

    assert_eq!(stopped.text.as_deref(), Some("done"));
    assert_eq!(*seen.lock().unwrap(), [r#"called with {"n":2}"#, r#"looked for {"n":2}"#, r#"called with {"n":2}"#]);
}
