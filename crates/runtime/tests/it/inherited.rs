//! Calls that were open where a session was forked or handed over: they stay the parent's.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{CallId, Event, Json, Seq, Session, SessionId};
use turnkeep_runtime::human::{ConsentDecision, KnownOutcome, decide, resolve};
use turnkeep_runtime::port::{Answer, Consent, Found, Probe, Tool, ToolContext, ToolError, ToolOutput};
use turnkeep_runtime::{Agent, Recorder, Stopped, Tools, Unsure, WaitingFor};
use turnkeep_store::{BoxFuture, Store, StoreExt};
use turnkeep_testkit::Home;

use crate::kit::{Fake, World, calling, history, schemes, script};
use crate::mortal::later;

const PARENT: &str = "s";

fn id(name: &str) -> SessionId {
    SessionId::new(name)
}

fn call() -> CallId {
    CallId::given("c1")
}

/// A tool that acts under its key, and can be asked whether it did.
struct Charge {
    inner: Fake,
    world: World,
}

impl Charge {
    fn new(effect: Effect, world: &World) -> Charge {
        let acting = world.clone();
        let inner = Fake::new("charge", effect, move |context| {
            acting.act(&context.key);
            Ok(ToolOutput::text("charged"))
        });
        Charge { inner: Fake { undo: Some(world.clone()), ..inner }, world: world.clone() }
    }

    fn asking(effect: Effect, world: &World) -> Charge {
        let mut charge = Charge::new(effect, world);
        charge.inner.consent = Consent::Needed { within: None };
        charge
    }
}

impl Tool for Charge {
    fn spec(&self) -> turnkeep_model::ToolSpec {
        self.inner.spec()
    }

    fn effect(&self) -> Effect {
        self.inner.effect
    }

    fn consent(&self) -> Consent {
        self.inner.consent
    }

    fn call<'a>(&'a self, json: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.inner.call(json, context)
    }

    fn probe(&self) -> Option<&dyn Probe> {
        Some(self)
    }

    fn compensate(&self) -> Option<&dyn turnkeep_runtime::port::Compensate> {
        self.inner.compensate()
    }
}

impl Probe for Charge {
    fn probe<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<Found, ToolError>> {
        let acted = self.world.acted(&context.key) > 0;
        Box::pin(async move { Ok(if acted { Found::Done(ToolOutput::text("charged")) } else { Found::NotDone }) })
    }
}

/// An agent whose model calls the tool, and then says that it is done.
fn agent(tool: impl Tool + 'static) -> Agent {
    let answers = vec![calling(&[("c1", "charge", "{}")]), Answer::text("done")];
    Agent::new(script(answers)).with_tools(Tools::new([Arc::new(tool) as _]).unwrap())
}

fn begin(store: &Arc<dyn Store>, agent: &Agent) -> Recorder {
    let session = Session { id: Some(id(PARENT)), ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, later())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();
    recorder
}

fn resume(store: &Arc<dyn Store>, session: &str, agent: &Agent) -> Stopped {
    let mut recorder = block_on(Recorder::resume(store.clone(), &id(session), later())).unwrap();
    block_on(agent.resume(&mut recorder)).unwrap()
}

fn fork_at(store: &Arc<dyn Store>, parent: &str, at: Seq, child: &str) {
    block_on(store.fork(&id(parent), at, &id(child))).unwrap();
}

fn waits(stopped: &Stopped) -> Vec<WaitingFor> {
    stopped.waiting.iter().map(|waiting| waiting.what).collect()
}

/// A session that waits for consent to a call, and where a person decides; the place of the decision.
fn decided(store: &Arc<dyn Store>, decision: &ConsentDecision) -> Seq {
    begin(store, &agent(Charge::asking(Effect::Once, &World::default())));
    block_on(decide(&**store, &id(PARENT), &call(), decision, &later())).unwrap()
}

/// The process of the parent dies in the call, after the tool acted.
fn parent_dies_in_the_call(store: &Arc<dyn Store>, world: &World) {
    let mut dying = Charge::asking(Effect::Once, &World::default());
    dying.inner.work = Box::new(|_| panic!("the process dies"));
    resume(store, PARENT, &agent(dying));
    world.act("s/c1");
}

#[test]
fn a_call_that_the_parent_was_denied_is_not_made_by_its_fork() {
    for scheme in schemes() {
        let (home, world) = (Home::new(scheme), World::default());
        let store = home.open();
        let at = decided(&store, &ConsentDecision::deny("too much"));
        fork_at(&store, PARENT, at, "child");

        resume(&store, "child", &agent(Charge::asking(Effect::Once, &world)));

        let session = block_on(store.load(&id("child"))).unwrap().session;
        assert_eq!(world.total(), 0, "{scheme}");
        assert_eq!(
            history(&session)[2],
            "0 result c1 denied: The call was not made, because it was not allowed: too much",
            "{scheme}"
        );
    }
}

#[test]
fn forks_at_the_consent_ask_for_the_call_under_the_key_of_whoever_was_consented_to() {
    for scheme in schemes() {
        let (home, world) = (Home::new(scheme), World::default());
        let store = home.open();
        let at = decided(&store, &ConsentDecision::approve());
        parent_dies_in_the_call(&store, &world);
        fork_at(&store, PARENT, at, "child");
        fork_at(&store, "child", at, "grandchild");
        let middle = resume(&store, "child", &agent(Charge::asking(Effect::Once, &world)));
        let last = resume(&store, "grandchild", &agent(Charge::asking(Effect::Once, &world)));

        // The probe finds what the parent did, and nothing is done again.
        assert_eq!([middle.text.as_deref(), last.text.as_deref()], [Some("done"), Some("done")], "{scheme}");
        assert_eq!((world.keys(), world.total()), (vec!["s/c1".to_owned()], 1), "{scheme}");
    }
}

#[test]
fn a_retry_in_a_fork_is_made_under_the_key_of_whoever_was_consented_to() {
    let (home, world) = (Home::new("memory"), World::default());
    let store = home.open();
    let at = decided(&store, &ConsentDecision::approve());
    fork_at(&store, PARENT, at, "child");
    let unsure = resume(&store, "child", &agent(Charge::asking(Effect::Once, &world)));
    block_on(resolve(&*store, &id("child"), &call(), &KnownOutcome::Retry, None, &later())).unwrap();

    resume(&store, "child", &agent(Charge::asking(Effect::Once, &world)));

    assert_eq!((waits(&unsure), world.keys()), (vec![WaitingFor::Outcome], vec!["s/c1".to_owned()]));
}

#[test]
fn consent_that_is_given_to_a_fork_is_for_a_call_of_its_own() {
    let (home, world) = (Home::new("memory"), World::default());
    let store = home.open();
    let parent = begin(&store, &agent(Charge::asking(Effect::Keyed, &world)));
    fork_at(&store, PARENT, parent.seq(), "child");
    block_on(decide(&*store, &id("child"), &call(), &ConsentDecision::approve(), &later())).unwrap();

    let child = resume(&store, "child", &agent(Charge::asking(Effect::Keyed, &world)));
    let parent = resume(&store, PARENT, &agent(Charge::asking(Effect::Keyed, &world)));

    assert_eq!((child.text.as_deref(), waits(&parent)), (Some("done"), vec![WaitingFor::Consent]));
    assert_eq!(world.keys(), ["child/c1"]);
}

/// A session whose process is in the call, which has not acted yet.
fn in_the_call(store: &Arc<dyn Store>, effect: Effect) -> Seq {
    let whole = Home::new("memory").open();
    begin(&whole, &agent(Charge::new(effect, &World::default())));
    let journal = block_on(whole.journal(&id(PARENT))).unwrap();
    for batch in journal.batches {
        let last = block_on(store.append(&id(PARENT), Seq(batch.seq.0 - 1), &batch)).unwrap();
        if batch.events.iter().any(|entry| matches!(entry.event, Event::ToolIntended(_))) {
            return last;
        }
    }
    panic!("no intent was recorded");
}

#[test]
fn a_call_that_the_parent_is_about_to_make_is_not_made_by_a_fork_whose_probe_finds_nothing() {
    for scheme in schemes() {
        for effect in [Effect::Keyed, Effect::Once] {
            let (home, world) = (Home::new(scheme), World::default());
            let store = home.open();
            let at = in_the_call(&store, effect);
            fork_at(&store, PARENT, at, "child");
            fork_at(&store, "child", at, "grandchild");

            let stopped = ["child", "grandchild"].map(|fork| resume(&store, fork, &agent(Charge::new(effect, &world))));
            // Now the parent's tool acts.
            world.act("s/c1");

            assert_eq!(stopped.map(|stopped| waits(&stopped)), [[WaitingFor::Outcome]; 2], "{scheme} {effect:?}");
            assert_eq!(world.total(), 1, "{scheme} {effect:?}");
            let later = resume(&store, "grandchild", &agent(Charge::new(effect, &world)));
            assert_eq!(later.text.as_deref(), Some("done"), "{scheme} {effect:?}");
        }
    }
}

#[test]
fn a_fork_that_gives_up_a_call_of_its_parent_does_not_undo_it() {
    let told = |unsure: Unsure, knowledge: Option<KnownOutcome>| {
        let (home, world) = (Home::new("memory"), World::default());
        let store = home.open();
        let at = in_the_call(&store, Effect::Once);
        fork_at(&store, PARENT, at, "child");
        if let Some(knowledge) = knowledge {
            block_on(resolve(&*store, &id("child"), &call(), &knowledge, None, &later())).unwrap();
        }
        let stopped = resume(&store, "child", &agent(Charge::new(Effect::Once, &world)).with_unsure(unsure));
        (stopped.text, world.keys())
    };

    assert_eq!(told(Unsure::TellModel, None), (Some("done".to_owned()), Vec::new()));
    assert_eq!(told(Unsure::AskHuman, Some(KnownOutcome::Skip)), (Some("done".to_owned()), Vec::new()));
}

#[test]
fn an_agent_that_a_session_is_handed_to_makes_open_calls_under_the_keys_they_had() {
    let given = |effect: Effect| {
        let (home, world) = (Home::new("memory"), World::default());
        let store = home.open();
        in_the_call(&store, effect);
        world.act("s/c1");
        let mut parent = block_on(Recorder::resume(store.clone(), &id(PARENT), later())).unwrap();
        let handed = turnkeep_runtime::handoff(&mut parent, store.clone(), "other", None, Default::default());
        let mut child = block_on(handed).unwrap();
        // Without a probe the key alone tells.
        let charge = world.clone();
        let tool = Fake::new("charge", effect, move |context| {
            if charge.acted(&context.key) == 0 {
                charge.act(&context.key);
            }
            Ok(ToolOutput::text("charged"))
        });
        let stopped = block_on(agent(tool).resume(&mut child)).unwrap();
        (waits(&stopped), world.keys())
    };

    assert_eq!(given(Effect::Keyed), (Vec::new(), vec!["s/c1".to_owned()]));
    assert_eq!(given(Effect::Once), (vec![WaitingFor::Outcome], vec!["s/c1".to_owned()]));
}
