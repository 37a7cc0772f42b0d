//! Answers that break off: what arrived is kept apart, shown, and never sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::{Cause, Effect};
use turnkeep_model::{Body, CallId, Event, Json, Part, Session, SessionId, Status, StopReason, Text};
use turnkeep_runtime::port::{
    Answer, Consent, Delta, Deltas, FnTool, Identity, Model, ModelError, Request, Settings, Tool, ToolOutput,
};
use turnkeep_runtime::{Agent, Recorder, StopSignal, Stopped};
use turnkeep_store::{BoxFuture, Store, StoreExt};

use crate::kit::{Fake, World, calling, history, memory, ports, tools};
use crate::mortal::later;

/// How an answer ends before it is whole.
#[derive(Clone, Copy)]
enum Ends {
    /// The vendor breaks off.
    Cut,
    /// Someone stops it.
    Stopped,
    /// The client panics.
    Panics,
}

/// A model whose first answer breaks off after some of it has arrived; later ones are whole.
struct Breaking {
    ends: Ends,
    stop: StopSignal,
    asked: Mutex<Vec<Session>>,
    then: Answer,
}

impl Model for Breaking {
    fn identity(&self) -> Identity {
        Identity { model: Some("breaking".into()), ..Identity::default() }
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let first = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.session.clone());
            asked.len() == 1
        };
        Box::pin(async move {
            if !first {
                return Ok(self.then.clone());
            }
            deltas.delta(Delta::Reasoning("I thi".into()));
            deltas.delta(Delta::Reasoning("nk".into()));
            deltas.delta(Delta::Text("It ".into()));
            deltas.delta(Delta::Text("is".into()));
            deltas.delta(Delta::Call { index: 0, name: "charge".into() });
            deltas.delta(Delta::Arguments { index: 0, text: r#"{"n":"#.into() });
            match self.ends {
                Ends::Cut => Err(ModelError::new(Cause::Interrupted, "it broke off")),
                Ends::Panics => panic!("the client is broken"),
                Ends::Stopped => {
                    self.stop.ask();
                    std::future::pending().await
                }
            }
        })
    }
}

fn breaking(ends: Ends, then: Answer) -> Arc<Breaking> {
    Arc::new(Breaking { ends, stop: StopSignal::default(), asked: Mutex::default(), then })
}

fn agent(model: &Arc<Breaking>, world: &World) -> Agent {
    Agent::new(model.clone())
        .with_tools(tools(vec![Fake::acting("charge", Effect::Once, world)]))
        .with_retries(0)
        .with_stop(model.stop.clone())
}

fn ask(store: &Arc<dyn Store>, agent: &Agent) -> Stopped {
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let mut recorder = block_on(Recorder::create_asking(store.clone(), session, "How warm?", ports())).unwrap();
    block_on(agent.resume(&mut recorder)).unwrap()
}

fn load(store: &Arc<dyn Store>) -> Session {
    block_on(store.load(&SessionId::new("s"))).unwrap().session
}

fn bodies(session: &Session) -> Vec<(String, String)> {
    let blocks = session.turns.iter().flat_map(|turn| &turn.interrupted);
    blocks
        .map(|block| match &block.body {
            Body::Text(text) => ("text".to_owned(), text.text.clone()),
            Body::Reasoning(reasoning) => ("reasoning".to_owned(), reasoning.text.clone().unwrap_or_default()),
            Body::ToolCall(call) => {
                assert_eq!(call.call, CallId::Minted(0));
                (call.name.clone(), call.arguments.clone())
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

fn pair(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

#[test]
fn what_arrived_is_kept_apart_and_its_calls_never_run() {
    for ends in [Ends::Cut, Ends::Stopped, Ends::Panics] {
        let (store, world) = (memory(), World::default());
        let model = breaking(ends, Answer::default());

        let stopped = ask(&store, &agent(&model, &world));

        let session = load(&store);
        let kept = [pair("reasoning", "I think"), pair("text", "It is"), pair("charge", r#"{"n":"#)];
        assert_eq!(bodies(&session), kept);
        assert_eq!(history(&session), ["0 user: How warm?"]);
        assert_eq!(world.total(), 0);
        let expected = match ends {
            Ends::Stopped => Some(StopReason::UserRequested),
            _ => Some(StopReason::Error),
        };
        assert_eq!(stopped.reason, expected);
    }
}

#[test]
fn the_next_request_has_nothing_of_it_and_the_question_is_asked_again() {
    for ends in [Ends::Cut, Ends::Stopped, Ends::Panics] {
        let (store, world) = (memory(), World::default());
        let model = breaking(ends, Answer::text("It is warm."));
        ask(&store, &agent(&model, &world));
        let agent = Agent::new(model.clone()).with_tools(tools(vec![Fake::acting("charge", Effect::Once, &world)]));

        let mut recorder = block_on(Recorder::resume(store.clone(), &SessionId::new("s"), later())).unwrap();
        let stopped = block_on(agent.resume(&mut recorder)).unwrap();

        let asked = model.asked.lock().unwrap();
        assert_eq!(history(&asked[0]), history(&asked[1]));
        assert_eq!((stopped.reason, stopped.text.as_deref()), (Some(StopReason::Completed), Some("It is warm.")));
        assert_eq!(bodies(&load(&store)).len(), 3, "what had arrived is still there");
    }
}

#[test]
fn an_answer_after_a_tool_that_breaks_off_gets_a_turn_to_be_kept_in() {
    let (store, world) = (memory(), World::default());
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let first =
        crate::kit::agent(vec![calling(&[("c1", "charge", "{}")])], vec![Fake::acting("charge", Effect::Once, &world)]);
    let mut recorder = block_on(Recorder::create_asking(store.clone(), session, "go", ports())).unwrap();
    let _ = block_on(first.resume(&mut recorder));
    let model = breaking(Ends::Cut, Answer::text("done"));

    let mut recorder = block_on(Recorder::resume(store.clone(), &SessionId::new("s"), later())).unwrap();
    let cut = block_on(agent(&model, &world).resume(&mut recorder)).unwrap();
    let whole = block_on(agent(&model, &world).resume(&mut recorder)).unwrap();

    assert!(matches!(cut.status, Status::Failed(_)));
    assert_eq!(whole.text.as_deref(), Some("done"));
    let session = load(&store);
    assert_eq!(session.turns.iter().map(|turn| turn.interrupted.len()).collect::<Vec<_>>(), [0, 3]);
    assert_eq!((session.turns.len(), world.total()), (2, 1));
}

/// A model that is out of order once.
struct Outage(Mutex<u32>);

impl Model for Outage {
    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn answer<'a>(&'a self, _: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let asked = {
            let mut asked = self.0.lock().unwrap();
            *asked += 1;
            *asked
        };
        Box::pin(async move {
            match asked {
                1 => Err(ModelError::fatal("out of order")),
                2 => Ok(calling(&[("c1", "charge", "{}")])),
                _ => Ok(Answer::text("done")),
            }
        })
    }
}

#[test]
fn a_run_that_overcame_an_outage_completes() {
    let (store, world) = (memory(), World::default());
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let agent = Agent::new(Arc::new(Outage(Mutex::default())))
        .with_tools(tools(vec![Fake::acting("charge", Effect::Once, &world)]))
        .with_retries(0);
    let mut recorder = block_on(Recorder::create_asking(store.clone(), session, "go", ports())).unwrap();
    let failed = block_on(agent.resume(&mut recorder)).unwrap();

    let mut recorder = block_on(Recorder::resume(store.clone(), &SessionId::new("s"), later())).unwrap();
    let stopped = block_on(agent.resume(&mut recorder)).unwrap();

    assert!(matches!(failed.status, Status::Failed(_)));
    assert_eq!((stopped.reason, stopped.text.as_deref()), (Some(StopReason::Completed), Some("done")));
    let session = load(&store);
    assert_eq!(session.turns[0].errors.len(), 1, "the error stays with the turn that had it");
    assert_eq!(session.usage.requests, Some(3));
}

#[test]
fn a_question_that_was_not_answered_is_sent_with_the_next_one() {
    let store = memory();
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let model = breaking(Ends::Cut, Answer::text("both"));
    let agent = Agent::new(model.clone()).with_retries(0);
    let mut recorder = block_on(Recorder::create_asking(store.clone(), session, "one?", ports())).unwrap();
    block_on(agent.resume(&mut recorder)).unwrap();

    block_on(agent.run(&mut recorder, "two?")).unwrap();

    assert_eq!(history(&model.asked.lock().unwrap()[1]), ["0 user: one?", "0 user: two?"]);
    assert_eq!(history(&load(&store)), ["0 user: one?", "0 user: two?", "0 assistant: both"]);
}

#[test]
fn the_question_and_that_it_is_asked_are_recorded_before_the_model_sees_it() {
    struct Looks(Arc<dyn Store>, Mutex<Vec<String>>);
    impl Model for Looks {
        fn identity(&self) -> Identity {
            Identity::default()
        }

        fn answer<'a>(&'a self, _: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
            Box::pin(async {
                let journal = self.0.journal(&SessionId::new("s")).await.unwrap();
                let kinds = journal.records().map(|record| record.event.kind().to_owned());
                *self.1.lock().unwrap() = kinds.collect();
                Ok(Answer::text("yes"))
            })
        }
    }
    let store = memory();
    let model = Arc::new(Looks(store.clone(), Mutex::default()));
    let agent = Agent::new(model.clone());
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };

    let mut recorder = block_on(Recorder::create_asking(store, session, "there?", ports())).unwrap();
    block_on(agent.resume(&mut recorder)).unwrap();

    let seen = model.1.lock().unwrap().clone();
    assert!(seen.contains(&"block.added".to_owned()), "{seen:?}");
    assert_eq!(seen.last().map(String::as_str), Some("model.asked"));
}

#[test]
fn a_tool_does_not_depend_on_the_order_in_which_it_is_built() {
    let needed = Consent::Needed { within: None };
    let settings = Settings { timeout: Some(Duration::from_secs(1)), ..Settings::default() };
    for order in permutations(vec![0, 1, 2, 3]) {
        let new = FnTool::new("t", "", Json::Null, Effect::Once, |_, _| Box::pin(async { Ok(ToolOutput::text("")) }));
        let tool = order.iter().fold(new, |tool, step| match step {
            0 => tool.with_consent(needed),
            1 => tool.with_settings(settings.clone()),
            2 => tool.with_probe(Fake::new("t", Effect::Once, |_| Ok(ToolOutput::text("")))),
            _ => tool.with_compensate(Fake::new("t", Effect::Once, |_| Ok(ToolOutput::text("")))),
        });

        let built = (tool.consent(), tool.settings(), tool.probe().is_some(), tool.compensate().is_some());
        assert_eq!(built, (needed, settings.clone(), true, true), "{order:?}");
    }
}

fn permutations(of: Vec<u8>) -> Vec<Vec<u8>> {
    if of.is_empty() {
        return vec![of];
    }
    let begin = |first: u8| {
        let rest = of.iter().copied().filter(|one| *one != first).collect();
        permutations(rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    of.clone().into_iter().flat_map(begin).collect()
}

#[test]
fn a_tool_that_answers_a_string_answers_a_text() {
    let text = |text: &str| vec![Part::Text(Text { text: text.into() })];

    assert_eq!(ToolOutput::of(&r#"It is "sunny""#).unwrap().parts, text(r#"It is "sunny""#));
    assert_eq!(ToolOutput::of(&String::from("a\nb")).unwrap().parts, text("a\nb"));
    assert_eq!(ToolOutput::json("x".into()).parts, text("x"));
    assert!(matches!(ToolOutput::of(&3).unwrap().parts[0], Part::Data(_)));
}

#[test]
fn a_string_of_json_that_a_tool_made_itself_reaches_the_model_as_a_text() {
    let sunny = |_: &turnkeep_runtime::port::ToolContext| {
        let data = turnkeep_model::Data { json: r#"It is "sunny""#.into() };
        Ok(ToolOutput { parts: vec![Part::Data(data)] })
    };
    let answers = vec![crate::kit::calling(&[("c", "look", "{}")]), Answer::text("ok")];
    let agent = crate::kit::agent(answers, vec![crate::kit::Fake::new("look", Effect::Pure, sunny)]);
    let mut recorder = crate::agent::begun(&agent);
    block_on(agent.run(&mut recorder, "weather?")).unwrap();

    assert_eq!(crate::kit::history(recorder.session())[2], r#"0 result c success: It is "sunny""#);
}

/// The journal tells what arrived with why it broke off.
#[test]
fn the_record_of_the_failure_holds_what_arrived() {
    let (store, world) = (memory(), World::default());
    ask(&store, &agent(&breaking(Ends::Stopped, Answer::default()), &world));

    let journal = block_on(store.journal(&SessionId::new("s"))).unwrap();
    let failed = journal.records().find_map(|record| match record.event {
        Event::ModelFailed(failed) => Some((failed.cause, failed.partial.len())),
        _ => None,
    });
    assert_eq!(failed, Some((Cause::Stopped, 3)));
}
