//! Workers, handoffs, and everything at once.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{CallId, Options, SessionId, Status, Usage};
use turnkeep_runtime::human::{ConsentDecision, KnownOutcome, decide, resolve};
use turnkeep_runtime::port::{Answer, Consent, Settings, ToolError, ToolOutput};
use turnkeep_runtime::{
    Agent, HandoffHistory, Job, Ports, Recorder, Script, StopSignal, Worker, enqueue, handoff, say,
};
use turnkeep_store::{Store, StoreExt};
use turnkeep_testkit::Home;

use crate::kit::{Fake, World, agent, calling, history, memory, ports, schemes};

/// Runs a test over every store that has leases.
fn each_fleet(test: impl Fn(Arc<dyn Store>)) {
    for home in schemes().into_iter().map(Home::new) {
        let store = home.open();
        if store.leases().is_some() {
            test(store);
        }
    }
}

fn charging(world: &World) -> Agent {
    agent(vec![calling(&[("c", "act", "{}")]), Answer::text("done")], vec![Fake::acting("act", Effect::Keyed, world)])
}

#[test]
fn a_worker_takes_up_what_a_dead_one_left_and_rests_when_nothing_waits() {
    each_fleet(|store| {
        let world = World::default();
        // A run that died after the question was recorded.
        let session = turnkeep_model::Session { id: Some("s".into()), ..charging(&world).session() };
        block_on(Recorder::create(store.clone(), session, ports())).unwrap();
        block_on(say(&*store, &"s".into(), &ports(), "go")).unwrap();
        let worker = Worker::new("w1", charging(&world), store.clone(), Default::default());

        let (id, went) = block_on(worker.work()).unwrap().unwrap();

        assert_eq!((id, went.unwrap().text.as_deref()), (SessionId::new("s"), Some("done")));
        assert_eq!(world.acted("c"), 1);
        assert!(block_on(worker.work()).unwrap().is_none());

        // Someone speaks: there is work again.
        block_on(say(&*store, &"s".into(), &ports(), "and now?")).unwrap();
        let (_, went) = block_on(worker.work()).unwrap().unwrap();
        assert!(matches!(went.unwrap().status, Status::Failed(_)), "the script is over");
    });
}

#[test]
fn a_worker_that_was_overtaken_is_refused() {
    each_fleet(|store| {
        let world = World::default();
        let (there, other) = (store.clone(), World::default());
        let stolen = Fake::new("act", Effect::Keyed, move |context| {
            let next = Recorder::resume(there.clone(), &context.session, Default::default());
            let mut recorder = block_on(next).unwrap();
            block_on(charging(&other).resume(&mut recorder)).unwrap();
            Ok(ToolOutput::text("late"))
        });
        let slow = agent(vec![calling(&[("c", "act", "{}")]), Answer::text("never")], vec![stolen]);
        let session = turnkeep_model::Session { id: Some("s".into()), ..slow.session() };
        block_on(Recorder::create(store.clone(), session, ports())).unwrap();
        block_on(say(&*store, &"s".into(), &ports(), "go")).unwrap();

        let (_, went) = block_on(Worker::new("w1", slow, store.clone(), Default::default()).work()).unwrap().unwrap();

        assert_eq!(went.unwrap_err().name(), Some("Fenced"));
        assert_eq!(history(&block_on(store.load(&"s".into())).unwrap().session)[3], "1 assistant: done");
        assert_eq!(world.total(), 0);
    });
}

#[test]
fn what_is_enqueued_is_worked_on_by_those_whose_labels_it_carries() {
    each_fleet(|store| {
        let script = || Agent::new(Script::new("m", vec![Answer::text("done")]));
        let mail = Worker::new("w1", script(), store.clone(), Ports::default()).with_tag("queue", Some("mail"));
        let any = Worker::new("w2", script(), store.clone(), Ports::default());
        block_on(enqueue(&*store, "plain", "Do it.")).unwrap();
        block_on(Job::new("mail", "Answer it.").system("Be polite.").tag("queue", "mail").enqueue(&*store)).unwrap();

        let (id, went) = block_on(mail.next()).unwrap();
        assert_eq!((id.as_str(), went.unwrap().text.as_deref()), ("mail", Some("done")));
        assert!(block_on(mail.work()).unwrap().is_none());
        let session = block_on(store.load(&id)).unwrap().session;
        assert_eq!(history(&session), ["0 system: Be polite.", "0 user: Answer it.", "0 assistant: done"]);
        assert_eq!(block_on(any.next()).unwrap().0.as_str(), "plain");

        // A label comes with a later question.
        block_on(Job::new("plain", "And this.").tag("queue", "mail").enqueue(&*store)).unwrap();
        assert_eq!(block_on(mail.next()).unwrap().0.as_str(), "plain");
    });
}

#[test]
fn a_worker_runs_until_it_is_stopped_and_finishes_what_it_began() {
    each_fleet(|store| {
        for job in ["a", "b"] {
            block_on(enqueue(&*store, job, "Do it.")).unwrap();
        }
        let agent = Agent::new(Script::new("m", vec![Answer::text("done")]));
        let worker = Worker::new("w1", agent, store.clone(), Ports::default()).with_poll(Duration::from_millis(1));
        let (stop, mut worked) = (StopSignal::default(), Vec::new());

        let asked = stop.clone();
        block_on(worker.run(&stop, |id, went| {
            worked.push((id.to_string(), went.unwrap().text));
            if worked.len() == 2 {
                asked.ask();
            }
        }))
        .unwrap();

        worked.sort();
        let done = |id: &str| (id.to_owned(), Some("done".to_owned()));
        assert_eq!(worked, [done("a"), done("b")]);
    });
}

#[test]
fn a_handoff_keeps_options_usage_and_says_where_it_went() {
    let store = memory();
    let mut first = charging(&World::default()).session();
    first.options = Options::default().with_temperature(0.3);
    first.usage = Usage { input: Some(7), ..Usage::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), first, ports())).unwrap();
    block_on(charging(&World::default()).run(&mut recorder, "go")).unwrap();

    let next =
        block_on(handoff(&mut recorder, store.clone(), "billing", Some("money"), HandoffHistory::LastMessage)).unwrap();

    assert_eq!(history(next.session()), ["0 user: go"]);
    assert_eq!(next.session().options, recorder.session().options);
    assert_eq!(next.session().usage.input, Some(7));
    assert_eq!(next.session().parent.as_ref().map(|parent| &parent.session), Some(recorder.id()));
    assert!(matches!(&recorder.session().status, Some(Status::Handoff(to)) if to.to == "billing"));
}

/// Runs, deaths, messages, approvals and decisions in any order: the session stays whole, and the journal only grows.
#[test]
fn any_interleaving_folds_to_a_valid_session() {
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for round in 0..60 {
        let (store, id) = (memory(), SessionId::new("s"));
        let fresh = || {
            let ports = ports();
            (0..round).for_each(|_| drop(ports.ids.next()));
            turnkeep_runtime::Ports { ids: Arc::new(turnkeep_runtime::port::RandomIds), ..ports }
        };
        let flaky = |dies: bool| {
            let mut once = Fake::new("once", Effect::Once, move |_| match dies {
                true => Err(ToolError::unsure("the line broke")),
                false => Ok(ToolOutput::text("ok")),
            });
            once.settings = Settings { timeout: Some(Duration::from_secs(600)), ..Settings::default() };
            let mut asks = Fake::new("asks", Effect::Once, |_| Ok(ToolOutput::text("ok")));
            asks.consent = Consent::Needed { within: None };
            let answers = (0..40)
                .map(|n| match n % 3 {
                    0 => calling(&[("x", "once", &format!(r#"{{"n":{n}}}"#)), ("y", "asks", "{}")]),
                    1 => calling(&[("x", "once", &format!(r#"{{"n":{n}}}"#))]),
                    _ => Answer::text("ok"),
                })
                .collect();
            agent(answers, vec![once, asks])
        };
        let session = turnkeep_model::Session { id: Some(id.clone()), ..flaky(false).session() };
        block_on(Recorder::create(store.clone(), session, fresh())).unwrap();
        let mut last = turnkeep_model::Seq::START;
        for _ in 0..12 {
            let loaded = block_on(store.load(&id)).unwrap();
            let open: Vec<CallId> = loaded.session.open_calls().iter().map(|call| call.call.clone()).collect();
            match next(5) {
                0 => drop(block_on(say(&*store, &id, &fresh(), "more")).unwrap()),
                1 => {
                    for call in &open {
                        let knowledge = if next(2) == 0 { KnownOutcome::Skip } else { KnownOutcome::Retry };
                        let _ = block_on(resolve(&*store, &id, call, &knowledge, None, &fresh()));
                    }
                }
                2 => {
                    for call in &open {
                        let judgement =
                            if next(2) == 0 { ConsentDecision::approve() } else { ConsentDecision::deny("no") };
                        let _ = block_on(decide(&*store, &id, call, &judgement, &fresh()));
                    }
                }
                dies => {
                    let mut recorder = block_on(Recorder::resume(store.clone(), &id, fresh())).unwrap();
                    let _ = block_on(flaky(dies == 3).resume(&mut recorder)).unwrap();
                }
            }
            let loaded = block_on(store.load(&id)).unwrap();
            assert!(loaded.seq >= last);
            last = loaded.seq;
            check_order(&loaded.session, round);
        }
    }
}

/// Results follow their call, one each, with nobody's words in between.
fn check_order(session: &turnkeep_model::Session, round: u64) {
    use turnkeep_model::Body;
    let mut open: Vec<CallId> = Vec::new();
    let mut answered: Vec<CallId> = Vec::new();
    let calls_open = session.open_calls().len();
    for (_, _, block) in session.in_message_order() {
        match &block.body {
            Body::ToolCall(call) => open.push(call.call.clone()),
            Body::ToolResult(result) => {
                assert!(open.contains(&result.call), "round {round}: a result before its call");
                assert!(!answered.contains(&result.call), "round {round}: two results of one call");
                open.retain(|call| *call != result.call);
                answered.push(result.call.clone());
            }
            Body::Text(_) if calls_open == 0 => {
                assert!(open.is_empty(), "round {round}: words between a call and its result");
            }
            _ => {}
        }
    }
}
