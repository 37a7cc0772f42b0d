//! Who is asked, what is kept of requests, and what becomes of a session whose model does not answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::{Choice, EndpointChosen, LossNoted, ModelAnswered, ModelFailed};
use turnkeep_model::{
    Effort, Event, Loss, LossKind, Number, Options, Seq, Session, SessionId, Snapshot, Status, StopReason, Usage,
};
use turnkeep_runtime::port::{Answer, Cause, Delta, Deltas, Identity, Model, ModelError, Request, SentRequest};
use turnkeep_runtime::{Agent, Input, Recorder, StopSignal, rebuild};
use turnkeep_store::{BoxFuture, Store, StoreExt};

use crate::kit::{history, memory, ports};

/// A model that answers what it is told to, one after the other, and digests what it is asked.
struct Told {
    name: &'static str,
    defaults: Options,
    answers: Mutex<VecDeque<Result<Answer, ModelError>>>,
}

fn told(name: &'static str, answers: Vec<Result<Answer, ModelError>>) -> Arc<Told> {
    Arc::new(Told { name, defaults: Options::default().with_max_tokens(10), answers: Mutex::new(answers.into()) })
}

/// What stands for encoding: the whole of what is asked.
fn encoded(request: &Request<'_>) -> SentRequest {
    let session = Snapshot { session: request.session.clone(), seq: Seq::START };
    let text = format!("{} {:?} {:?} {}", session.to_json(), request.options, request.tools, request.turn);
    SentRequest {
        digest: turnkeep_model::canon::digest(&text.as_str().into()),
        format: "test".into(),
        ..SentRequest::default()
    }
}

impl Model for Told {
    fn identity(&self) -> Identity {
        let (provider, model) = (Some("vendor".into()), Some(self.name.into()));
        Identity { provider, model, defaults: self.defaults.clone(), ..Identity::default() }
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let next = self.answers.lock().unwrap().pop_front();
        let sent = encoded(&request);
        Box::pin(async move {
            match next {
                Some(Ok(answer)) => Ok(Answer { request: Some(sent), ..answer }),
                Some(Err(error)) => Err(error.with_request(sent)),
                None => {
                    deltas.delta(Delta::Text("half an ans".into()));
                    std::future::pending().await
                }
            }
        })
    }
}

fn begun(store: &Arc<dyn Store>, options: Options) -> Recorder {
    let session = Session { id: Some("s".into()), options, ..Session::default() };
    block_on(Recorder::create(store.clone(), session, ports())).unwrap()
}

fn events(store: &Arc<dyn Store>) -> Vec<Event> {
    let journal = block_on(store.journal(&SessionId::new("s"))).unwrap();
    journal.records().map(|record| record.event.clone()).collect()
}

/// The choices of endpoints, in order.
fn choices(store: &Arc<dyn Store>) -> Vec<(String, Choice)> {
    let named = |event: Event| match event {
        Event::EndpointChosen(EndpointChosen { model: Some(model), choice: Some(choice), .. }) => Some((model, choice)),
        _ => None,
    };
    events(store).into_iter().filter_map(named).collect()
}

#[test]
fn a_request_is_kept_as_its_digest_and_made_anew_from_the_journal() {
    let store = memory();
    let answer = Answer { headers: vec![("request-id".into(), "r1".into())], ..Answer::text("one") };
    let agent = Agent::new(told("a", vec![Ok(answer), Ok(Answer::text("two"))]));
    let mut recorder = begun(&store, Options::default().with_temperature(0.5));
    let mut input = Input::from("hi");
    input.options = Options::default().with_reasoning(Effort::High);
    block_on(agent.run(&mut recorder, input)).unwrap();
    block_on(agent.run(&mut recorder, "and?")).unwrap();

    let answered: Vec<ModelAnswered> = events(&store)
        .into_iter()
        .filter_map(|event| if let Event::ModelAnswered(answered) = event { Some(answered) } else { None })
        .collect();

    assert_eq!(answered[0].headers, [("request-id".to_owned(), "r1".to_owned())]);
    assert_eq!((answered[0].turn, answered[0].attempt, answered[1].turn), (0, Some(1), 1));
    for one in answered {
        let rebuilt = block_on(rebuild(&*store, &"s".into(), one.seq.unwrap())).unwrap();
        assert_eq!(Some(encoded(&rebuilt.request())), one.request);
    }
    let missing = block_on(rebuild(&*store, &"s".into(), Seq(1))).unwrap_err();
    assert_eq!(missing.kind(), turnkeep_model::ErrorKind::NotFound);
}

#[test]
fn the_journal_says_which_endpoint_is_asked_and_when_that_changes() {
    let store = memory();
    let mut recorder = begun(&store, Options::default());
    let answers = || vec![Ok(Answer::text("one")), Ok(Answer::text("two"))];
    let first = Agent::new(told("a", answers()));
    block_on(first.run(&mut recorder, "1")).unwrap();
    block_on(first.run(&mut recorder, "2")).unwrap();
    let mut recorder = block_on(Recorder::resume(store.clone(), &"s".into(), Default::default())).unwrap();
    block_on(Agent::new(told("b", answers())).run(&mut recorder, "3")).unwrap();

    assert_eq!(choices(&store), [("a".to_owned(), Choice::First), ("b".to_owned(), Choice::Resumed)]);
}

#[test]
fn another_model_takes_over_where_one_cannot_answer() {
    let causes = [
        (Cause::Unavailable, "from b"),
        (Cause::RateLimited, "from b"),
        (Cause::Overloaded, "from b"),
        (Cause::Auth, "from b"),
        (Cause::Interrupted, ""),
        (Cause::TimedOut, "from b"),
        (Cause::BadRequest, ""),
        (Cause::TooLong, ""),
        (Cause::Mismatch, ""),
        (Cause::Failed, ""),
    ];
    for (cause, expected) in causes {
        let store = memory();
        let failing = told("a", vec![Err(ModelError::new(cause.clone(), "no"))]);
        let agent = Agent::new(failing).with_fallback(told("b", vec![Ok(Answer::text("from b"))]));
        let mut recorder = begun(&store, Options::default());

        let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

        assert_eq!(stopped.text.unwrap_or_default(), expected, "{cause}");
        let took_over = choices(&store).last().cloned();
        let fallback = Some(("b".to_owned(), Choice::Fallback));
        assert_eq!(took_over == fallback, !expected.is_empty(), "{cause}");
    }
}

#[test]
fn the_error_names_every_endpoint_that_was_asked() {
    let store = memory();
    let refuses = |cause, why: &str| vec![Err(ModelError::new(cause, why))];
    let agent = Agent::new(told("a", refuses(Cause::Auth, "who are you")))
        .with_fallback(told("b", refuses(Cause::Overloaded, "not now")))
        .with_fallback(told("c", refuses(Cause::BadRequest, "what is that")));
    let mut recorder = begun(&store, Options::default());

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    let error = "none of 3 endpoints answered: vendor a: who are you; vendor b: not now; vendor c: what is that";
    assert_eq!(stopped.status, Status::from(turnkeep_model::status::Failed { error: error.into() }));
    let each = events(&store).into_iter().filter_map(|event| match event {
        Event::ModelFailed(failed) => failed.message,
        _ => None,
    });
    assert_eq!(each.collect::<Vec<_>>(), ["who are you", "not now", "what is that"]);
}

/// A model whose answer begins, and is then refused as if it had not.
struct Breaks;

impl Model for Breaks {
    fn identity(&self) -> Identity {
        Identity { model: Some("breaks".into()), ..Identity::default() }
    }

    fn answer<'a>(&'a self, _: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        deltas.delta(Delta::Text("half an ans".into()));
        Box::pin(async { Err(ModelError::retryable("it broke off", Duration::ZERO)) })
    }
}

#[test]
fn nobody_else_is_asked_once_an_answer_began() {
    let store = memory();
    let agent = Agent::new(Arc::new(Breaks)).with_fallback(told("b", vec![Ok(Answer::text("from b"))]));
    let mut recorder = begun(&store, Options::default());

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.status, Status::from(turnkeep_model::status::Failed { error: "it broke off".into() }));
    assert_eq!(choices(&store), [("breaks".to_owned(), Choice::First)]);
}

#[test]
fn every_try_that_failed_is_recorded_with_its_cause() {
    let store = memory();
    let error = ModelError::new(Cause::RateLimited, "slow down").after(Duration::from_millis(1500)).with_class("429");
    let agent = Agent::new(told("a", vec![Err(error), Ok(Answer::text("fine"))]));
    let mut recorder = begun(&store, Options::default());

    block_on(agent.run(&mut recorder, "go")).unwrap();

    let failed: Vec<Event> = events(&store).into_iter().filter(|event| event.kind() == "model.failed").collect();
    let Event::ModelFailed(ModelFailed { seq: Some(seq), request: Some(request), .. }) = &failed[0] else {
        panic!("{failed:?}");
    };
    let expected = ModelFailed {
        turn: 0,
        attempt: Some(1),
        seq: Some(*seq),
        cause: Cause::RateLimited,
        class: Some("429".into()),
        message: Some("slow down".into()),
        wait: Some(Number::from_f64(1.5)),
        request: Some(request.clone()),
        headers: Vec::new(),
        partial: Vec::new(),
    };
    assert_eq!(failed, [Event::from(expected)]);
    assert!(recorder.session().turns[0].errors.is_empty(), "the turn itself went well");
}

#[test]
fn an_answer_that_broke_off_is_none_but_is_paid_for_and_the_session_goes_on() {
    let store = memory();
    let used = Usage { input: Some(7), output: Some(2), ..Usage::default() };
    let error = ModelError::new(Cause::Interrupted, "the stream ended early").with_usage(used);
    let agent = Agent::new(told("a", vec![Err(error), Ok(Answer::text("whole"))]));
    let mut recorder = begun(&store, Options::default());

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert!(matches!(stopped.status, Status::Failed(_)));
    assert_eq!(history(recorder.session()), ["0 user: go"]);
    assert_eq!((recorder.session().usage.input, recorder.session().usage.output), (Some(7), Some(2)));
    assert_eq!(recorder.session().turns[0].errors[0].class.as_deref(), Some("interrupted"));
    let mut again = block_on(Recorder::resume(store, &"s".into(), Default::default())).unwrap();
    assert_eq!(block_on(agent.resume(&mut again)).unwrap().text.as_deref(), Some("whole"));
}

#[test]
fn what_a_request_lacks_of_the_session_is_noted_once_an_endpoint() {
    let store = memory();
    let lost = |at: &str| Loss::encode(LossKind::Dropped, at, "no place for it");
    let answer = |text: &str, losses: Vec<Loss>| Ok(Answer { losses, ..Answer::text(text) });
    let both = vec![lost("turns[0]"), lost("turns[1]")];
    let agent = Agent::new(told("a", vec![answer("1", vec![lost("turns[0]")]), answer("2", both.clone())]));
    let mut recorder = begun(&store, Options::default());
    block_on(agent.run(&mut recorder, "go")).unwrap();
    block_on(agent.run(&mut recorder, "on")).unwrap();
    block_on(Agent::new(told("b", vec![answer("3", both)])).run(&mut recorder, "elsewhere")).unwrap();

    let noted: Vec<Event> = events(&store).into_iter().filter(|event| event.kind() == "loss.noted").collect();

    let expected = [(0, "turns[0]"), (1, "turns[1]"), (2, "turns[0]"), (2, "turns[1]")];
    assert_eq!(noted, expected.map(|(turn, at)| Event::from(LossNoted { turn, loss: lost(at) })));
}

/// Asks to stop when it hears the first piece of an answer.
fn stop_at_the_first_piece(ports: &turnkeep_runtime::Ports, stop: StopSignal) -> std::thread::JoinHandle<()> {
    use futures_util::StreamExt;
    let mut heard = ports.hub.subscribe(&"s".into());
    std::thread::spawn(move || {
        while let Some(item) = block_on(heard.next()) {
            if matches!(item, turnkeep_runtime::HubItem::Delta(_)) {
                return stop.ask();
            }
        }
    })
}

#[test]
fn a_stop_during_an_answer_keeps_nothing_of_it_and_the_session_goes_on() {
    let (store, ports, stop) = (memory(), ports(), StopSignal::default());
    let session = Session { id: Some("s".into()), ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports.clone())).unwrap();
    let asking = stop_at_the_first_piece(&ports, stop.clone());

    let stopped = block_on(Agent::new(told("a", vec![])).with_stop(stop).run(&mut recorder, "go")).unwrap();

    asking.join().unwrap();
    assert_eq!((stopped.reason, stopped.text), (Some(StopReason::UserRequested), None));
    assert_eq!(history(recorder.session()), ["0 user: go"]);
    let mut again = block_on(Recorder::resume(store, &"s".into(), Default::default())).unwrap();
    let agent = Agent::new(told("a", vec![Ok(Answer::text("whole"))]));
    assert_eq!(block_on(agent.resume(&mut again)).unwrap().text.as_deref(), Some("whole"));
}

#[test]
fn a_stop_between_two_tries_does_not_wait_for_the_next() {
    let stop = StopSignal::default();
    stop.ask();
    let error = ModelError::retryable("busy", Duration::from_secs(3600));
    let agent = Agent::new(told("a", vec![Err(error)])).with_stop(stop);
    let mut recorder = begun(&memory(), Options::default());

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.reason, Some(StopReason::UserRequested));
}

#[test]
fn an_endpoint_is_chosen_before_it_is_asked_also_where_calls_are_open() {
    use futures_util::FutureExt;
    use turnkeep_model::event::Effect;
    let store = memory();
    let calls = || crate::kit::calling(&[("a", "hang", "{}")]);
    let hanging = Arc::new(crate::bad::hanging(Effect::Keyed).with_settings(Default::default()));
    let first =
        Agent::new(told("a", vec![Ok(calls())])).with_tools(turnkeep_runtime::Tools::default().with(hanging).unwrap());
    let mut recorder = begun(&store, Options::default());
    assert!(first.run(&mut recorder, "go").now_or_never().is_none(), "it hangs, and is dropped");
    let tool = crate::kit::Fake::acting("hang", Effect::Keyed, &Default::default());
    let second = Agent::new(told("b", vec![Ok(Answer::text("done"))])).with_tools(crate::kit::tools(vec![tool]));
    let mut recorder = block_on(Recorder::resume(store.clone(), &"s".into(), Default::default())).unwrap();

    block_on(second.resume(&mut recorder)).unwrap();

    let order: Vec<String> = events(&store)
        .into_iter()
        .filter_map(|event| match event {
            Event::EndpointChosen(chosen) => chosen.model,
            Event::ModelAsked(_) => Some("asked".to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["a", "asked", "b", "asked"]);
}
