//! Tools and models that misbehave: each has a defined end, and nothing is lost.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Author, Block, CallId, ErrorKind, Outcome, Session, Status, StopReason, ToolResult, Turn};
use turnkeep_runtime::port::{
    Answer, Deltas, Found, Identity, Model, ModelError, Request, Settings, ToolError, ToolOutput,
};
use turnkeep_runtime::{Agent, Recorder};
use turnkeep_store::BoxFuture;

use crate::agent::begun;
use crate::kit::{Fake, World, agent, calling, history, memory, ports};

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

/// A tool that never returns.
pub(crate) fn hanging(effect: Effect) -> turnkeep_runtime::port::FnTool {
    let settings = Settings { timeout: Some(Duration::from_secs(5)), ..Settings::default() };
    turnkeep_runtime::port::FnTool::new("hang", "", turnkeep_model::Json::Null, effect, |_, _| {
        Box::pin(std::future::pending())
    })
    .with_settings(settings)
}

#[test]
fn a_tool_that_hangs_is_cut_off_and_told_by_its_effect() {
    for (effect, told) in [
        (Effect::Pure, "failed: the call took longer than 5 s"),
        (Effect::Keyed, "interrupted: The outcome is unknown: the call took longer than 5 s. It may or may not have"),
    ] {
        let script = crate::kit::script(vec![calling(&[("a", "hang", "{}")]), Answer::text("ok")]);
        let tools = turnkeep_runtime::Tools::default().with(Arc::new(hanging(effect))).unwrap();
        let agent = Agent::new(script).with_tools(tools);
        let mut recorder = begun(&agent);

        let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

        assert_eq!(stopped.text.as_deref(), Some("ok"));
        let line = &history(recorder.session())[2];
        assert!(line.starts_with(&format!("0 result a {told}")), "{line}");
    }
    let script = crate::kit::script(vec![calling(&[("a", "hang", "{}")])]);
    let tools = turnkeep_runtime::Tools::default().with(Arc::new(hanging(Effect::Once))).unwrap();
    let agent = Agent::new(script).with_tools(tools);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert!(stopped.needs_human().is_some(), "nobody knows whether it acted");
}

#[test]
fn a_result_of_100_megabytes_is_cut_to_the_usual_limit() {
    let large = Fake::new("large", Effect::Pure, |_| Ok(ToolOutput::text("x".repeat(100 << 20))));
    let agent = agent(vec![calling(&[("a", "large", "{}")]), Answer::text("ok")], vec![large]);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("ok"));
    let told = history(recorder.session()).swap_remove(2);
    assert!(told.ends_with("x\n[103809024 of 104857600 bytes of text were cut]"), "{}", told.len());
    assert!(told.len() < (1 << 20) + 100);
}

#[test]
fn bytes_that_are_no_text_are_kept_as_a_file() {
    let binary = Fake::new("binary", Effect::Pure, |_| Ok(ToolOutput::bytes(vec![0xff, 0xfe, b'a'])));
    let agent = agent(vec![calling(&[("a", "binary", "{}")]), Answer::text("ok")], vec![binary]);
    let mut recorder = begun(&agent);

    block_on(agent.run(&mut recorder, "go")).unwrap();

    let told = &history(recorder.session())[2];
    assert!(told.contains("application/octet-stream") && told.contains("//5h"), "{told}");
}

/// A model that never answers, or panics.
struct Broken {
    panics: bool,
}

impl Model for Broken {
    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn answer<'a>(&'a self, _: Request<'a>, _: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        assert!(!self.panics, "on purpose");
        Box::pin(std::future::pending())
    }
}

#[test]
fn a_model_that_hangs_or_panics_fails_the_run_and_nothing_is_lost() {
    for (panics, expected) in [(false, "the model did not answer in time"), (true, "the model's client panicked")] {
        let agent = Agent::new(Arc::new(Broken { panics })).with_model_timeout(Some(Duration::from_secs(5)));
        let mut recorder = begun(&agent);

        let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

        assert!(matches!(&stopped.status, Status::Failed(failed) if failed.error == expected), "{stopped:?}");
        assert_eq!(history(recorder.session()), ["0 user: go"]);
    }
}

#[test]
fn another_call_for_ever_is_stopped_at_the_usual_number_of_steps() {
    let world = World::default();
    let answers = (0..80).map(|n| calling(&[(&format!("c{n}"), "act", &format!(r#"{{"n":{n}}}"#))])).collect();
    let agent = agent(answers, vec![Fake::acting("act", Effect::Pure, &world)]);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!((stopped.reason, world.total()), (Some(StopReason::StepsLimit), 50));
}

/// Looks, and undoes, for ever.
struct Stuck;

impl turnkeep_runtime::port::Probe for Stuck {
    fn probe<'a>(
        &'a self,
        _: &'a turnkeep_model::Json,
        _: &'a turnkeep_runtime::port::ToolContext,
    ) -> BoxFuture<'a, Result<turnkeep_runtime::port::Found, ToolError>> {
        Box::pin(std::future::pending())
    }
}

impl turnkeep_runtime::port::Compensate for Stuck {
    fn compensate<'a>(
        &'a self,
        _: &'a turnkeep_model::Json,
        _: &'a turnkeep_runtime::port::ToolContext,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(std::future::pending())
    }
}

#[test]
fn a_probe_and_an_undoing_that_hang_are_cut_off() {
    let stuck = || {
        let tool = hanging(Effect::Once).with_probe(Stuck).with_compensate(Stuck);
        let script = crate::kit::script(vec![calling(&[("a", "hang", "{}")]), Answer::text("ok")]);
        Agent::new(script).with_tools(turnkeep_runtime::Tools::default().with(Arc::new(tool)).unwrap())
    };
    let mut recorder = begun(&stuck());
    assert!(block_on(stuck().run(&mut recorder, "go")).unwrap().needs_human().is_some());

    let telling = stuck().with_unsure(turnkeep_runtime::Unsure::TellModel);
    let stopped = block_on(telling.resume(&mut recorder)).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("ok"));
    let told = &history(recorder.session())[2];
    assert!(told.ends_with("Undoing it was tried, and failed: it took too long."), "{told}");
}

/// The calls of a session that came from elsewhere, or that were refused, have no intents: their ids are taken all the
/// same.
#[test]
fn a_call_whose_id_an_earlier_call_has_is_not_taken_for_it_after_a_crash() {
    let refused = calling(&[("c1", "charge", r#"{"no":"such"}"#)]);
    let again = calling(&[("c1", "charge", "{}")]);
    let dies = || Fake::new("charge", Effect::Once, |_| panic!("the process dies"));
    let earlier = agent(vec![refused.clone(), again.clone()], vec![dies()]);
    let done = ToolResult {
        call: CallId::given("c1"),
        name: Some("charge".into()),
        parts: Vec::new(),
        error: None,
        is_error: None,
        outcome: Some(Outcome::Success),
    };
    let elsewhere = Session {
        turns: vec![Turn {
            blocks: vec![
                Block::text(Author::User, "go"),
                again.blocks[0].clone(),
                Block::new(Author::Tool, done),
                Block::text(Author::Assistant, "done"),
            ],
            ..Turn::default()
        }],
        ..Session::default()
    };
    let imported = agent(vec![Answer::text("done"), again], vec![dies()]);

    for (what, agent, session) in [("refused", earlier, Session::default()), ("imported", imported, elsewhere)] {
        let mut recorder = block_on(Recorder::create(memory(), session, ports())).unwrap();

        let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

        let waiting: Vec<String> = stopped.waiting.iter().map(|waiting| waiting.call.to_string()).collect();
        assert_eq!(waiting, ["c1-2"], "{what}");
    }
}

#[test]
fn a_call_that_never_ends_and_never_acts_is_made_twice_and_left_to_a_person() {
    let world = World::default();
    let tried = world.clone();
    let mut panics = Fake::new("act", Effect::Once, move |_| {
        tried.act("tried");
        panic!("it always does")
    });
    panics.probe = Some(Found::NotDone);
    let agent = agent(vec![calling(&[("a", "act", "{}")])], vec![panics]);
    let mut recorder = begun(&agent);

    let stopped = block_on(agent.run(&mut recorder, "go")).unwrap();

    assert_eq!((stopped.waiting.len(), world.total()), (1, 2));
    // Whoever resumes it has another try.
    block_on(agent.resume(&mut recorder)).unwrap();
    assert_eq!(world.total(), 3);
}
