//! Several processes and one session, in every store.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{CallId, ErrorKind, Number, RunId, Session, SessionId};
use turnkeep_runtime::human::{ConsentDecision, decide};
use turnkeep_runtime::port::{Answer, Consent, ToolOutput};
use turnkeep_runtime::{Agent, Ports, Recorder, say};
use turnkeep_store::{Claim, Store, StoreExt};
use turnkeep_testkit::Home;

use crate::kit::{Fake, World, agent, calling, clock, history, ports_with, schemes};
use crate::mortal::later;

/// Two processes with the same store: in memory they share it, else each opens it.
fn each_store(test: impl Fn(Arc<dyn Store>, Arc<dyn Store>, &str)) {
    for scheme in schemes() {
        let home = Home::new(scheme);
        let one = home.open();
        let other = if scheme == "memory" { one.clone() } else { home.open() };
        test(one, other, scheme);
    }
}

fn id() -> SessionId {
    SessionId::new("s")
}

fn acting(world: &World) -> Agent {
    let answers = vec![calling(&[("a", "act", "{}")]), Answer::text("done")];
    agent(answers, vec![Fake::acting("act", Effect::Once, world)])
}

/// A session whose run died when the answer was due.
fn left(store: &Arc<dyn Store>, agent: &Agent) {
    let session = Session { id: Some(id()), ..agent.session() };
    block_on(Recorder::create(store.clone(), session, later())).unwrap();
    block_on(say(&**store, &id(), &later(), "go")).unwrap();
}

#[test]
fn of_two_resumers_exactly_one_continues() {
    each_store(|one, other, scheme| {
        let world = World::default();
        left(&one, &acting(&world));
        let mut first = block_on(Recorder::resume(one.clone(), &id(), later())).unwrap();
        let mut second = block_on(Recorder::resume(other, &id(), later())).unwrap();

        let fenced = block_on(acting(&world).resume(&mut first)).unwrap_err();
        let stopped = block_on(acting(&world).resume(&mut second)).unwrap();

        assert_eq!((fenced.kind(), fenced.name()), (ErrorKind::Conflict, Some("Fenced")), "{scheme}");
        assert_eq!((stopped.text.as_deref(), world.acted("a")), (Some("done"), 1), "{scheme}");
    });
}

#[test]
fn resumers_that_race_act_once_and_the_session_stays_whole() {
    each_store(|one, other, scheme| {
        let world = World::default();
        left(&one, &acting(&world));
        let went: Vec<_> = std::thread::scope(|scope| {
            let racing = [one.clone(), other, one.clone()].map(|store| {
                let world = world.clone();
                scope.spawn(move || {
                    let mut recorder = block_on(Recorder::resume(store, &id(), later()))?;
                    block_on(acting(&world).resume(&mut recorder))
                })
            });
            racing.into_iter().map(|run| run.join().unwrap()).collect()
        });

        let refused = went.iter().filter_map(|went| went.as_ref().err());
        assert!(refused.clone().all(|error| error.kind() == ErrorKind::Conflict), "{scheme}: {went:?}");
        assert!(refused.count() < 3, "{scheme}: {went:?}");
        assert!(world.acted("a") <= 1, "{scheme}");
        // Who was fenced after the intent leaves a call that may have acted to whoever goes on.
        let session = block_on(one.load(&id())).unwrap().session;
        assert!(session.turns.len() <= 2, "{scheme}: {:?}", history(&session));
    });
}

#[test]
fn a_lease_that_passed_on_is_refused_and_its_run_is_fenced() {
    each_store(|one, other, scheme| {
        let (Some(leases), Some(others)) = (one.leases(), other.leases()) else {
            return;
        };
        let world = World::default();
        left(&one, &acting(&world));
        let claim = |worker: &str, time| Claim::new(worker, RunId::new(worker), time);
        let stale = block_on(leases.claim(&id(), &claim("w1", Duration::from_millis(1)))).unwrap();
        let mut late = block_on(Recorder::claimed(one.clone(), &id(), RunId::new("w1"), later())).unwrap();
        let fresh = loop {
            // A lease ends by the clock of the store.
            match block_on(others.claim(&id(), &claim("w2", Duration::from_secs(60)))) {
                Ok(lease) => break lease,
                Err(error) => assert_eq!(error.kind(), turnkeep_store::ErrorKind::Conflict, "{scheme}"),
            }
        };

        let renewed = block_on(leases.renew(&stale, Duration::from_secs(60))).unwrap_err();
        let fenced = block_on(acting(&world).resume(&mut late)).unwrap_err();

        assert_eq!(renewed.kind(), turnkeep_store::ErrorKind::Conflict, "{scheme}");
        assert_eq!((fenced.name(), world.total()), (Some("Fenced"), 0), "{scheme}");
        assert!(fresh.token > stale.token, "{scheme}");
        let again = block_on(Recorder::claimed(one.clone(), &id(), RunId::new("w1"), later()));
        assert_eq!(again.err().map(|error| error.kind()), Some(ErrorKind::Conflict), "{scheme}");
    });
}

#[test]
fn words_and_consent_from_another_process_are_kept_while_the_agent_runs() {
    each_store(|one, other, scheme| {
        let busy = Fake::new("busy", Effect::Pure, move |context| {
            block_on(say(&*other, &context.session, &later(), "one more thing")).unwrap();
            let (call, yes) = (CallId::given("b"), ConsentDecision::approve());
            block_on(decide(&*other, &context.session, &call, &yes, &later())).unwrap();
            Ok(ToolOutput::text("busy done"))
        });
        let world = World::default();
        let mut asks = Fake::acting("asks", Effect::Once, &world);
        asks.consent = Consent::Needed { within: None };
        let answers = vec![calling(&[("a", "busy", "{}"), ("b", "asks", "{}")]), Answer::text("all of it")];
        let agent = agent(answers, vec![busy, asks]);
        let session = Session { id: Some(id()), ..agent.session() };
        let mut recorder = block_on(Recorder::create(one.clone(), session, later())).unwrap();

        let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

        assert_eq!((stopped.text.as_deref(), world.acted("b")), (Some("all of it"), 1), "{scheme}");
        let loaded = block_on(one.load(&id())).unwrap().session;
        assert_eq!(loaded, *recorder.session(), "{scheme}");
        let kinds: Vec<&str> = loaded.in_message_order().iter().map(|(_, _, block)| block.body.kind()).collect();
        let expected = ["text", "tool_call", "tool_call", "tool_result", "tool_result", "text", "text"];
        assert_eq!(kinds, expected, "{scheme}");
    });
}

#[test]
fn clocks_that_jump_do_no_harm() {
    each_store(|one, other, scheme| {
        let clock = clock();
        let jumping = clock.clone();
        let tool = Fake::new("jump", Effect::Keyed, move |context| {
            match context.call_id.as_given() {
                Some("a") => jumping.set_back(Duration::from_secs(400_000)),
                _ => jumping.advance(Duration::from_secs(2)),
            }
            Ok(ToolOutput::text("ok"))
        });
        let answers = vec![calling(&[("a", "jump", "{}")]), calling(&[("b", "jump", "{}")]), Answer::text("done")];
        let agent = agent(answers, vec![tool]);
        let session = Session { id: Some(id()), ..agent.session() };
        let ports = || Ports { ids: later().ids, ..ports_with(clock.clone()) };
        let mut recorder = block_on(Recorder::create(one, session, ports())).unwrap();

        let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

        assert_eq!(stopped.text.as_deref(), Some("done"), "{scheme}");
        let ran = recorder.session().timing.seconds.as_ref().map(Number::as_f64).unwrap();
        assert!((0.0..=2.0).contains(&ran), "{scheme}: {ran}");
        let loaded = block_on(other.load(&id())).unwrap();
        assert_eq!(loaded.session, *recorder.session(), "{scheme}");
    });
}
