//! The turn loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Effort, ErrorKind, Number, Options, Outcome, Session, Status, StopReason};
use turnkeep_runtime::port::{
    Answer, Cause, Deltas, Identity, Model, ModelError, Request, Settings, ToolError, ToolOutput,
};
use turnkeep_runtime::{Agent, Input, Recorder, Stop, say};
use turnkeep_store::{BoxFuture, StoreExt};

use crate::kit::{Fake, World, agent, calling, clock, history, memory, ports, ports_with, tools};

fn begun(agent: &Agent) -> Recorder {
    block_on(Recorder::create(memory(), agent.session(), ports())).unwrap()
}

#[test]
fn answers_after_parallel_calls() {
    let world = World::default();
    let calls = calling(&[("a", "act", r#"{"n":1}"#), ("b", "act", r#"{"n":2}"#)]);
    let agent = agent(vec![calls, Answer::text("both done")], vec![Fake::acting("act", Effect::Once, &world)]);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "do both")).unwrap();

    assert_eq!((stopped.reason, stopped.text.as_deref()), (Some(StopReason::Completed), Some("both done")));
    assert_eq!(
        history(recorder.session()),
        [
            "0 user: do both",
            "0 call a act",
            "0 call b act",
            "0 result a success: a done",
            "0 result b success: b done",
            "1 assistant: both done",
        ]
    );
    assert_eq!((world.acted("a"), world.acted("b")), (1, 1));
}

#[test]
fn what_is_recorded_folds_to_what_is_shown() {
    let world = World::default();
    let answers = vec![calling(&[("a", "act", "{}")]), Answer::text("done")];
    let agent = agent(answers, vec![Fake::acting("act", Effect::Pure, &world)]);
    let store = memory();
    let mut recorder = block_on(Recorder::create(store.clone(), agent.session(), ports())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();

    let loaded = block_on(store.load(recorder.id())).unwrap();

    assert_eq!(loaded.session, *recorder.session());
    assert_eq!(loaded.ledger, *recorder.ledger());
    assert!(matches!(loaded.session.status, Some(Status::Completed(_))));
}

#[test]
fn a_call_that_cannot_be_made_is_told_and_never_run() {
    let world = World::default();
    let bad = [("a", "nothing", "{}"), ("b", "act", "{not json"), ("c", "act", r#"{"m":1}"#)];
    let agent = agent(vec![calling(&bad), Answer::text("I see")], vec![Fake::acting("act", Effect::Once, &world)]);
    let mut recorder = begun(&agent);

    block_on(agent.run(&mut recorder, "go")).unwrap();

    let told: Vec<String> = history(recorder.session()).into_iter().filter(|line| line.contains("result")).collect();
    assert_eq!(told[0], "0 result a failed: The call was not made: there is no tool `nothing`; there are: act");
    assert!(told[1].starts_with("0 result b failed: The call was not made: the arguments are not JSON"), "{}", told[1]);
    assert_eq!(
        told[2],
        "0 result c failed: The call was not made: the arguments do not follow the schema: the value has `m`, which is \
         not allowed"
    );
    assert_eq!(world.total(), 0);
}

#[test]
fn a_retryable_failure_is_tried_again_and_each_try_is_recorded() {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = tries.clone();
    let mut flaky = Fake::new("flaky", Effect::Keyed, move |context| {
        assert_eq!(context.attempt, counted.fetch_add(1, Ordering::SeqCst) + 1);
        if context.attempt < 3 { Err(ToolError::retryable("busy")) } else { Ok(ToolOutput::text("at last")) }
    });
    flaky.settings = Settings { attempts: 3, ..Settings::default() };
    let agent = agent(vec![calling(&[("a", "flaky", "{}")]), Answer::text("ok")], vec![flaky]);
    let mut recorder = begun(&agent);

    block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(tries.load(Ordering::SeqCst), 3);
    let entry = recorder.ledger().entries().first().cloned().unwrap();
    assert_eq!((entry.attempts, entry.settled.map(|(outcome, _)| outcome)), (3, Some(Outcome::Success)));
}

#[test]
fn a_tool_that_panics_is_a_failure_or_unsure_by_its_effect() {
    let panicking = |effect| Fake::new("bad", effect, |_| panic!("on purpose"));
    let answers = || vec![calling(&[("a", "bad", "{}")]), Answer::text("ok")];
    for (effect, expected) in [(Effect::Pure, Outcome::Failed), (Effect::Keyed, Outcome::Interrupted)] {
        let agent = agent(answers(), vec![panicking(effect)]);
        let mut recorder = begun(&agent);

        block_on(agent.run(&mut recorder, "go")).unwrap();

        let entry = recorder.ledger().entries().first().cloned().unwrap();
        assert_eq!(entry.settled.map(|(outcome, _)| outcome), Some(expected));
    }
    let agent = agent(answers(), vec![panicking(Effect::Once)]);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert!(matches!(stopped.status, Status::WaitingForHuman(_)));
    let error = stopped.needs_human().unwrap();
    assert_eq!((error.kind(), error.name()), (ErrorKind::NeedsHuman, Some("ToolIdempotencyError")));
}

#[test]
fn a_huge_result_is_cut_and_says_so() {
    let mut large = Fake::new("large", Effect::Pure, |_| Ok(ToolOutput::text("é".repeat(1000))));
    large.settings = Settings { max_result: 101, ..Settings::default() };
    let agent = agent(vec![calling(&[("a", "large", "{}")]), Answer::text("ok")], vec![large]);
    let mut recorder = begun(&agent);

    block_on(agent.run(&mut recorder, "go")).unwrap();

    let expected = format!("0 result a success: {}\n[1900 of 2000 bytes of text were cut]", "é".repeat(50));
    assert_eq!(history(recorder.session())[2], expected);
}

#[test]
fn the_same_call_for_ever_is_stopped() {
    let world = World::default();
    let answers = (0..60).map(|_| calling(&[("call_0", "act", "{}")])).collect();
    let agent = agent(answers, vec![Fake::acting("act", Effect::Pure, &world)]);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.reason, Some(StopReason::Guard));
    assert!(matches!(stopped.status, Status::Stopped(_)));
    // The model gave every call the same id; each has its own here.
    assert_eq!(recorder.ledger().entries().len(), 8);
    assert_eq!(world.total(), 8);
}

#[test]
fn an_answer_of_nothing_ends_the_run() {
    let agent = agent(vec![Answer::default()], vec![]);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.reason, Some(StopReason::Completed));
}

#[test]
fn limits_of_the_session_stop_it_with_their_reason() {
    let world = World::default();
    let limited = |options: Options| {
        let answers =
            (0..9).map(|n| calling(&[(&format!("c{n}"), "act", &format!(r#"{{"n":{n}}}"#))])).collect::<Vec<_>>();
        let agent = agent(answers, vec![Fake::acting("act", Effect::Pure, &world)]);
        let session = Session { options, ..agent.session() };
        let mut recorder = block_on(Recorder::create(memory(), session, ports())).unwrap();
        let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();
        let decided = recorder.session().turns.last().unwrap().continuation.clone().unwrap();
        assert_eq!(decided.stop_reason, stopped.reason);
        (stopped.reason.unwrap(), decided.resolved_by.unwrap(), recorder.session().turns.len())
    };
    let mut options = Options::default();
    options.limits.steps = Some(Number::from(3_u64));

    assert_eq!(limited(options), (StopReason::StepsLimit, "StepsLimit".to_owned(), 3));

    let mut options = Options::default();
    options.limits.seconds = Some(Number::from(0_u64));

    assert_eq!(limited(options), (StopReason::TimeLimit, "ExecutionTimeLimit".to_owned(), 1));
}

/// A model that fails a few times, and notes what it was asked.
struct Moody {
    failures: AtomicU32,
    retry: bool,
    asked: std::sync::Mutex<Vec<Options>>,
}

impl Model for Moody {
    fn identity(&self) -> Identity {
        let defaults = Options::default().with_temperature(0.1).with_max_tokens(10);
        Identity { model: Some("moody".into()), defaults, ..Identity::default() }
    }

    fn answer<'a>(&'a self, request: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.asked.lock().unwrap().push(request.options.clone());
        let fails = self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        let mut error = ModelError::new(Cause::Overloaded, "overloaded").with_class("529");
        error.retry_after = self.retry.then_some(Duration::from_secs(1));
        Box::pin(async move { if fails { Err(error) } else { Ok(Answer::text("fine")) } })
    }
}

fn moody(failures: u32, retry: bool) -> Arc<Moody> {
    Arc::new(Moody { failures: AtomicU32::new(failures), retry, asked: Default::default() })
}

#[test]
fn a_model_error_loses_nothing_and_can_be_resumed() {
    let model = moody(1, false);
    let agent = Agent::new(model);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert!(matches!(&stopped.status, Status::Failed(failed) if failed.error == "overloaded"));
    assert_eq!(history(recorder.session()), ["0 user: go"]);
    assert_eq!(recorder.session().turns[0].errors[0].class.as_deref(), Some("529"));

    let mut again = block_on(Recorder::resume(recorder.store().clone(), recorder.id(), ports())).unwrap();
    let stopped = block_on(agent.resume(&mut again)).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("fine"));
}

#[test]
fn a_model_that_may_answer_later_is_asked_again() {
    let model = moody(2, true);
    let agent = Agent::new(model.clone());
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("fine"));
    assert_eq!(model.asked.lock().unwrap().len(), 3);
}

#[test]
fn options_of_the_turn_come_before_the_sessions_and_those_before_the_endpoints() {
    let model = moody(0, false);
    let agent = Agent::new(model.clone());
    let options = Options::default().with_temperature(0.5).with_reasoning(Effort::Low);
    let session = Session { options, ..agent.session() };
    let mut recorder = block_on(Recorder::create(memory(), session, ports())).unwrap();
    let mut input = Input::from("go");
    input.options = Options::default().with_reasoning(Effort::High);

    block_on(agent.run(&mut recorder, input)).unwrap();

    let expected = Options::default().with_temperature(0.5).with_reasoning(Effort::High).with_max_tokens(10);
    assert_eq!(model.asked.lock().unwrap().as_slice(), [expected]);
}

#[test]
fn a_message_from_elsewhere_while_tools_run_is_kept_in_order_and_answered() {
    let store = memory();
    let (there, elsewhere) = (store.clone(), ports());
    let talking = Fake::new("talk", Effect::Pure, move |context| {
        block_on(say(&*there, &context.session, &elsewhere, "one more thing")).unwrap();
        Ok(ToolOutput::text("talked"))
    });
    let answers = vec![calling(&[("a", "talk", "{}")]), Answer::text("both answered")];
    let agent = agent(answers, vec![talking]);
    let mut recorder = block_on(Recorder::create(store, agent.session(), ports())).unwrap();

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("both answered"));
    let ordered: Vec<String> = recorder
        .session()
        .in_message_order()
        .into_iter()
        .map(|(turn, _, block)| format!("{turn} {}", block.body.kind()))
        .collect();
    assert_eq!(ordered, ["0 text", "0 tool_call", "0 tool_result", "1 text", "1 text"]);
}

#[test]
fn a_stop_that_is_asked_for_ends_the_run_and_keeps_the_session_whole() {
    let stop = Stop::default();
    let asking = stop.clone();
    let tool = Fake::new("stop", Effect::Pure, move |_| {
        asking.ask();
        Ok(ToolOutput::text("asked"))
    });
    let agent = agent(vec![calling(&[("a", "stop", "{}")]), Answer::text("never")], vec![tool]).with_stop(stop);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.reason, Some(StopReason::UserRequested));
    assert!(recorder.session().open_calls().is_empty());
}

#[test]
fn seconds_add_up_over_runs_and_a_clock_set_back_does_no_harm() {
    let clock = clock();
    let (first, second) = (clock.clone(), clock.clone());
    let slow = Fake::new("slow", Effect::Pure, move |context| {
        match context.call_id.as_given() {
            Some("a") => first.advance(Duration::from_secs(3)),
            _ => second.set_back(Duration::from_secs(60)),
        }
        Ok(ToolOutput::text("ok"))
    });
    let answers =
        vec![calling(&[("a", "slow", "{}")]), Answer::text("1"), calling(&[("b", "slow", "{}")]), Answer::text("2")];
    let agent = agent(answers, vec![slow]);
    let store = memory();
    let mut recorder = block_on(Recorder::create(store.clone(), agent.session(), ports_with(clock.clone()))).unwrap();
    block_on(agent.run(&mut recorder, "one")).unwrap();
    clock.advance(Duration::from_secs(1000));
    let id = recorder.id().clone();
    let mut recorder = block_on(Recorder::resume(store, &id, ports_with(clock))).unwrap();

    block_on(agent.run(&mut recorder, "two")).unwrap();

    assert_eq!(recorder.session().timing.seconds.as_ref().map(Number::as_f64), Some(3.0));
}

#[test]
fn a_session_with_an_open_call_of_a_tool_that_is_not_here_is_not_lied_about() {
    let store = memory();
    let left = agent(vec![calling(&[("a", "act", "{}")])], vec![Fake::new("act", Effect::Once, |_| panic!("dies"))]);
    let mut recorder = block_on(Recorder::create(store.clone(), left.session(), ports())).unwrap();
    block_on(left.run(&mut recorder, "go")).unwrap();
    let id = recorder.id().clone();
    let bare = Agent::new(crate::kit::script(vec![])).with_tools(tools(vec![]));
    let mut recorder = block_on(Recorder::resume(store, &id, ports())).unwrap();

    let error = block_on(bare.resume(&mut recorder)).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Mismatch);
    assert_eq!(bare.missing_tools(recorder.session()), ["act"]);
}
