//! A fork does not act for the calls that its parent began.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Body, CallId, Json, Session, SessionId};
use turnkeep_runtime::human::{ConsentDecision, KnownOutcome, decide, resolve};
use turnkeep_runtime::port::{Answer, Consent, FnTool, Found, Probe, ToolContext, ToolError, ToolOutput};
use turnkeep_runtime::{Agent, Recorder, Script, Tools, WaitingFor};
use turnkeep_store::{BoxFuture, Store, StoreExt};
use turnkeep_testkit::Home;

use crate::kit::{Fake, World, calling, schemes, script};
use crate::mortal::later;

const PARENT: &str = "s";

fn id(name: &str) -> SessionId {
    SessionId::new(name)
}

fn call() -> CallId {
    CallId::given("c1")
}

/// A tool that acts under its key; a keyed one acts once a key, as the outside world promises.
fn charge(effect: Effect, world: &World) -> Fake {
    let world = world.clone();
    Fake::new("charge", effect, move |context| {
        if effect != Effect::Keyed || world.acted(&context.key) == 0 {
            world.act(&context.key);
        }
        Ok(ToolOutput::text("charged"))
    })
}

/// An agent whose model calls the tool, and then says this.
fn agent(tool: Fake, then: &str) -> Agent {
    Agent::new(calls_then(then)).with_tools(Tools::new([Arc::new(tool) as _]).unwrap())
}

fn calls_then(then: &str) -> Arc<Script> {
    script(vec![calling(&[("c1", "charge", "{}")]), Answer::text(then)])
}

/// A session whose process died in the call, after the tool acted.
fn killed_in_the_call(store: &Arc<dyn Store>, effect: Effect, world: &World) {
    let session = Session { id: Some(id(PARENT)), ..Session::default() };
    let dies = Fake::new("charge", effect, |_| panic!("the process dies"));
    let first = agent(dies, "never");
    let mut recorder = block_on(Recorder::create(store.clone(), session, later())).unwrap();
    // Only a `once` call stays open after a panic; for the others the journal is cut after the intent.
    let _ = block_on(first.run(&mut recorder, "go"));
    world.act("s/c1");
}

fn open_parent(store: &Arc<dyn Store>, effect: Effect, world: &World) {
    match effect {
        Effect::Once => killed_in_the_call(store, effect, world),
        _ => {
            let other = Home::new("memory");
            let whole = other.open();
            killed_in_the_call(&whole, effect, world);
            copy_up_to_the_intent(&whole, store);
        }
    }
}

/// The journal as it was when the tool was about to be called.
fn copy_up_to_the_intent(from: &Arc<dyn Store>, to: &Arc<dyn Store>) {
    let journal = block_on(from.journal(&id(PARENT))).unwrap();
    for batch in journal.batches {
        let at = turnkeep_model::Seq(batch.seq.0 - 1);
        let intends = batch.events.iter().any(|entry| matches!(entry.event, turnkeep_model::Event::ToolIntended(_)));
        block_on(to.append(&id(PARENT), at, &batch)).unwrap();
        if intends {
            return;
        }
    }
    panic!("no intent was recorded");
}

fn fork(store: &Arc<dyn Store>, child: &str) {
    let last = block_on(store.last(&id(PARENT))).unwrap();
    block_on(store.fork(&id(PARENT), last, &id(child))).unwrap();
}

fn resume(store: &Arc<dyn Store>, session: &str, agent: &Agent) -> turnkeep_runtime::Stopped {
    let mut recorder = block_on(Recorder::resume(store.clone(), &id(session), later())).unwrap();
    block_on(agent.resume(&mut recorder)).unwrap()
}

fn result(store: &Arc<dyn Store>, session: &str) -> Option<String> {
    let session = block_on(store.load(&id(session))).unwrap().session;
    session.blocks().find_map(|(_, block)| match &block.body {
        Body::ToolResult(result) => Some(format!("{:?} {:?}", result.outcome, result.parts)),
        _ => None,
    })
}

#[test]
fn forks_of_a_session_that_died_in_a_call_never_act_for_it() {
    for scheme in schemes() {
        for effect in [Effect::Keyed, Effect::Once] {
            let home = Home::new(scheme);
            let (store, world) = (home.open(), World::default());
            open_parent(&store, effect, &world);
            for child in ["one", "two", "three"] {
                fork(&store, child);
                let stopped = resume(&store, child, &agent(charge(effect, &world), "done"));
                let waits: Vec<WaitingFor> = stopped.waiting.iter().map(|waiting| waiting.what).collect();
                assert_eq!(waits, [WaitingFor::Outcome], "{scheme} {effect:?} {child}");
            }
            assert_eq!(world.total(), 1, "{scheme} {effect:?}");
        }
    }
}

#[test]
fn a_fork_takes_the_outcome_that_its_parent_recorded_later() {
    for scheme in schemes() {
        let home = Home::new(scheme);
        let (store, world) = (home.open(), World::default());
        open_parent(&store, Effect::Keyed, &world);
        fork(&store, "child");
        resume(&store, PARENT, &agent(charge(Effect::Keyed, &world), "parent done"));

        let stopped = resume(&store, "child", &agent(charge(Effect::Keyed, &world), "done"));

        assert_eq!(stopped.text.as_deref(), Some("done"), "{scheme}");
        assert_eq!(result(&store, "child"), result(&store, PARENT), "{scheme}");
        assert_eq!(world.keys(), ["s/c1"], "{scheme}");
    }
}

#[test]
fn a_call_that_a_person_has_repeated_in_a_fork_keeps_the_key_of_the_journal() {
    let home = Home::new("memory");
    let (store, world) = (home.open(), World::default());
    open_parent(&store, Effect::Keyed, &world);
    fork(&store, "child");
    block_on(resolve(&*store, &id("child"), &call(), &KnownOutcome::Retry, None, &later())).unwrap();

    resume(&store, "child", &agent(charge(Effect::Keyed, &world), "done"));

    assert_eq!(world.keys(), ["s/c1"]);
}

#[test]
fn what_a_person_resolved_or_allowed_before_the_fork_was_said_to_the_parent() {
    let home = Home::new("memory");
    let (store, world) = (home.open(), World::default());
    open_parent(&store, Effect::Once, &world);
    block_on(resolve(&*store, &id(PARENT), &call(), &KnownOutcome::Retry, None, &later())).unwrap();
    fork(&store, "child");

    let stopped = resume(&store, "child", &agent(charge(Effect::Once, &world), "done"));

    assert_eq!((stopped.waiting.len(), world.total()), (1, 1));
}

#[test]
fn consent_that_was_given_to_the_parent_is_not_consent_to_the_fork() {
    let home = Home::new("memory");
    let (store, world) = (home.open(), World::default());
    let asking = || Fake { consent: Consent::Needed { within: None }, ..charge(Effect::Once, &world) };
    let session = Session { id: Some(id(PARENT)), ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, later())).unwrap();
    block_on(agent(asking(), "done").run(&mut recorder, "go")).unwrap();
    block_on(decide(&*store, &id(PARENT), &call(), &ConsentDecision::approve(), &later())).unwrap();
    fork(&store, "child");

    let child = resume(&store, "child", &agent(asking(), "done"));
    resume(&store, PARENT, &agent(asking(), "done"));

    assert_eq!(child.waiting.len(), 1);
    assert_eq!(world.keys(), ["s/c1"]);
}

/// Knows under which keys something was done.
struct Bank(World);

impl Probe for Bank {
    fn probe<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<Found, ToolError>> {
        let acted = self.0.acted(&context.key) > 0;
        Box::pin(async move { Ok(if acted { Found::Done(ToolOutput::text("charged")) } else { Found::NotDone }) })
    }
}

#[test]
fn a_probe_in_a_fork_is_asked_under_the_key_that_the_parent_used() {
    let home = Home::new("memory");
    let (store, world) = (home.open(), World::default());
    open_parent(&store, Effect::Once, &world);
    fork(&store, "child");
    let probe = Bank(world.clone());
    let tool = FnTool::new("charge", "", Json::Null, Effect::Once, |_, _| Box::pin(async { panic!("it is called") }));
    let tools = Tools::new([Arc::new(tool.with_probe(probe)) as _]).unwrap();

    let stopped = resume(&store, "child", &Agent::new(calls_then("done")).with_tools(tools));

    assert_eq!((stopped.text.as_deref(), world.keys()), (Some("done"), vec!["s/c1".to_owned()]));
}
