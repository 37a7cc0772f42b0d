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
use turnkeep_runtime::{Agent, Input, Recorder, StopSignal, say};
use turnkeep_store::{BoxFuture, StoreExt};

use crate::bad::hanging;
use crate::kit::{Fake, World, agent, calling, clock, history, memory, ports, ports_with, tools};

pub(crate) fn begun(agent: &Agent) -> Recorder {
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
    let stop = StopSignal::default();
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

#[test]
fn nothing_said_is_refused_before_it_is_recorded() {
    let agent = agent(vec![Answer::text("never")], vec![]);
    let mut recorder = begun(&agent);
    let before = recorder.seq();

    let refused = block_on(agent.run(&mut recorder, Vec::new())).unwrap_err();
    let elsewhere = block_on(say(&**recorder.store(), recorder.id(), &ports(), Vec::new())).unwrap_err();

    assert_eq!((refused.kind(), elsewhere.kind()), (ErrorKind::Unsupported, ErrorKind::Unsupported));
    assert_eq!(recorder.seq(), before);
}

#[test]
fn results_stand_in_the_order_of_their_calls_however_they_end() {
    let mut slow = Fake::new("slow", Effect::Keyed, |context| match context.attempt {
        1 => Err(ToolError::retryable("later")),
        _ => Ok(ToolOutput::text("slow")),
    });
    slow.settings.attempts = 2;
    let quick = Fake::new("quick", Effect::Pure, |_| Ok(ToolOutput::text("quick")));
    let calls = calling(&[("a", "slow", "{}"), ("b", "nothing", "{}"), ("c", "quick", "{}")]);
    let agent = agent(vec![calls, Answer::text("ok")], vec![slow, quick]);
    let mut recorder = begun(&agent);
    block_on(agent.run(&mut recorder, "go")).unwrap();

    let settled: Vec<String> = history(recorder.session()).into_iter().filter(|line| line.contains("result")).collect();
    let ordered: Vec<String> = recorder
        .session()
        .in_message_order()
        .into_iter()
        .map(|(_, _, block)| match &block.body {
            turnkeep_model::Body::ToolResult(result) => format!("result {}", result.call),
            other => other.kind().to_owned(),
        })
        .collect();

    assert!(settled[0].starts_with("0 result b") && settled[2].starts_with("0 result a"), "{settled:?}");
    let calls = ["tool_call"; 3];
    assert_eq!(ordered, [&["text"][..], &calls, &["result a", "result b", "result c", "text"]].concat());
}

#[test]
fn a_message_while_several_tools_run_comes_after_all_their_results() {
    let store = memory();
    let (there, elsewhere) = (store.clone(), ports());
    let talking = Fake::new("talk", Effect::Pure, move |context| {
        if context.call_id.as_given() == Some("a") {
            block_on(say(&*there, &context.session, &elsewhere, "one more thing")).unwrap();
        }
        Ok(ToolOutput::text("talked"))
    });
    let calls = calling(&[("a", "talk", "{}"), ("b", "talk", "{}"), ("c", "talk", "{}")]);
    let agent = agent(vec![calls, Answer::text("both answered")], vec![talking]);
    let mut recorder = block_on(Recorder::create(store, agent.session(), ports())).unwrap();

    block_on(agent.run(&mut recorder, "go")).unwrap();

    let kinds: Vec<&str> =
        recorder.session().in_message_order().into_iter().map(|(_, _, block)| block.body.kind()).collect();
    let expected = ["text", "tool_call", "tool_call", "tool_call", "tool_result", "tool_result", "tool_result", "text"];
    assert_eq!(kinds, [&expected[..], &["text"]].concat());
}

#[test]
fn a_run_that_died_is_seen_by_the_tools_of_the_next() {
    use futures_util::FutureExt;
    let store = memory();
    let quick = || Fake::new("quick", Effect::Pure, |_| Ok(ToolOutput::text("ok")));
    let calls = || calling(&[("a", "quick", "{}"), ("b", "hang", "{}")]);
    let dying = Agent::new(crate::kit::script(vec![calls()])).with_tools(
        tools(vec![quick()]).with(Arc::new(hanging(Effect::Keyed).with_settings(Settings::default()))).unwrap(),
    );
    let mut recorder = block_on(Recorder::create(store.clone(), dying.session(), ports())).unwrap();
    assert!(dying.run(&mut recorder, "go").now_or_never().is_none(), "it hangs, and is dropped");
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noting = seen.clone();
    let second = Fake::new("hang", Effect::Keyed, move |context| {
        let first = context.settled(&turnkeep_model::CallId::given("a"));
        noting.lock().unwrap().push((context.is_resume, context.attempt, first, context.key.clone()));
        Ok(ToolOutput::text("ok"))
    });
    let id = recorder.id().clone();
    let agent = agent(vec![calls(), Answer::text("done")], vec![quick(), second]);
    let mut recorder = block_on(Recorder::resume(store, &id, ports())).unwrap();

    let stopped = block_on(agent.resume(&mut recorder)).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("done"));
    assert_eq!(*seen.lock().unwrap(), [(true, 2, Some(Outcome::Success), format!("{id}/b"))]);
}

#[test]
fn every_exchange_is_a_run_of_its_own_and_its_records_name_it() {
    let store = memory();
    let agent = agent(vec![Answer::text("1"), Answer::text("2"), Answer::text("3")], vec![]);
    let options = Options::default().with_temperature(0.5);
    let session = Session { options: options.clone(), ..agent.session() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    block_on(agent.run(&mut recorder, "one")).unwrap();
    block_on(agent.run(&mut recorder, "two")).unwrap();
    let id = recorder.id().clone();
    let other = ports();
    (0..9).for_each(|_| drop(other.ids.next()));
    let mut recorder = block_on(Recorder::resume(store.clone(), &id, other)).unwrap();
    block_on(agent.run(&mut recorder, "three")).unwrap();

    let session = recorder.session();
    assert_eq!(session.runs.iter().map(|run| run.attempt).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert!(session.runs.iter().all(|run| run.stop_reason == Some(StopReason::Completed)));
    let of_turns: Vec<_> = session.turns.iter().map(|turn| turn.run.clone()).collect();
    assert_eq!(of_turns, session.runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>());
    assert_eq!(session.options, options);
    let journal = block_on(store.journal(&id)).unwrap();
    assert!(journal.batches.iter().all(|batch| session.runs.iter().any(|run| run.id == batch.run)));
}

#[test]
fn a_guard_says_which_sessions_take_something_new() {
    use turnkeep_runtime::Guard;
    let guarded = |guard: Guard| agent(vec![Answer::text("1"), Answer::text("2")], vec![]).with_guard(guard);
    // A first run of a fresh session passes every guard; so does the next after a good end.
    for guard in [Guard::Any, Guard::Ended, Guard::Standing(vec!["completed".into()])] {
        let agent = guarded(guard);
        let mut recorder = begun(&agent);
        block_on(agent.run(&mut recorder, "one")).unwrap();
        assert!(block_on(agent.run(&mut recorder, "two")).is_ok());
    }
    let stop = StopSignal::default();
    stop.ask();
    let stopping =
        agent(vec![calling(&[("a", "act", "{}")])], vec![Fake::acting("act", Effect::Pure, &World::default())]);
    let stopping = stopping.with_stop(stop);
    let mut recorder = begun(&stopping);
    block_on(stopping.run(&mut recorder, "one")).unwrap();

    let refused = block_on(guarded(Guard::Ended).run(&mut recorder, "two")).unwrap_err();

    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("Cannot continue from an incomplete conversation."), "{refused}");
    assert!(block_on(guarded(Guard::Standing(vec!["stopped".into()])).run(&mut recorder, "two")).is_ok());
}

#[test]
fn budgets_and_deadlines_count_over_runs_and_nothing_twice() {
    let (store, clock) = (memory(), clock());
    let answers = || {
        let used = turnkeep_model::Usage {
            input: Some(60),
            output: Some(40),
            cost: turnkeep_model::Decimal::parse("0.25"),
            ..Default::default()
        };
        let call = |n: usize| Answer {
            usage: used.clone(),
            ..calling(&[(&format!("c{n}"), "act", &format!(r#"{{"n":{n}}}"#))])
        };
        (0..9).map(call).collect::<Vec<_>>()
    };
    type Limit = fn(&mut turnkeep_model::Limits);
    let limits: [(Limit, StopReason); 3] = [
        (|limits| limits.tokens = Some(Number::from(250_u64)), StopReason::TokenLimit),
        (|limits| limits.cost = turnkeep_model::Decimal::parse("0.75"), StopReason::CostLimit),
        (|limits| limits.deadline = Some("2027-01-15T08:00:05Z".into()), StopReason::TimeLimit),
    ];
    for ((limit, reason), id) in limits.into_iter().zip(["tokens", "cost", "deadline"]) {
        let stop = StopSignal::default();
        let (asking, moving) = (stop.clone(), clock.clone());
        let tool = move |stops: bool| {
            let (asking, moving) = (asking.clone(), moving.clone());
            Fake::new("act", Effect::Pure, move |_| {
                moving.advance(Duration::from_secs(2));
                if stops {
                    asking.ask();
                }
                Ok(ToolOutput::text("ok"))
            })
        };
        let first = agent(answers(), vec![tool(true)]).with_stop(stop);
        let mut session = Session { id: Some(id.into()), ..first.session() };
        limit(&mut session.options.limits);
        let mut recorder = block_on(Recorder::create(store.clone(), session, ports_with(clock.clone()))).unwrap();
        assert_eq!(block_on(first.run(&mut recorder, "go")).unwrap().reason, Some(StopReason::UserRequested));
        let other =
            turnkeep_runtime::Ports { ids: Arc::new(turnkeep_runtime::port::RandomIds), ..ports_with(clock.clone()) };
        let mut recorder = block_on(Recorder::resume(store.clone(), &id.into(), other)).unwrap();

        let stopped = block_on(agent(answers(), vec![tool(false)]).resume(&mut recorder)).unwrap();

        assert_eq!(stopped.reason, Some(reason), "{id}");
        assert_eq!((recorder.session().turns.len(), recorder.session().usage.input), (3, Some(180)), "{id}");
        clock.set_back(Duration::from_secs(6));
    }
}
