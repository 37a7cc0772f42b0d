//! The conversation as a value: what it holds, and going on with it.

use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{ErrorKind, Session, Snapshot};
use turnkeep_runtime::compat::weakincentives::{
    ConversationMessage, ConversationState, ConversationTurn, Evaluation, ResumeFrom, Template, ToolCallRecord,
    enable_conversation_recording, evaluate,
};
use turnkeep_runtime::port::{Answer, Consent, ToolError, ToolOutput};
use turnkeep_runtime::slices::{Logs, Reducers, query, replace_latest};
use turnkeep_runtime::{Agent, Named, Recorder, Result, WaitingFor};

use crate::kit::{Fake, World, agent, calling, json, memory, ports};

fn prompt() -> Template {
    Template::new("code", "review", "go")
}

fn recorded(agent: &Agent) -> Recorder {
    let session = Session { id: Some("s".into()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(memory(), session, ports())).unwrap();
    block_on(enable_conversation_recording(&mut recorder)).unwrap();
    recorder
}

fn fresh() -> Recorder {
    block_on(Recorder::create(memory(), Session { id: Some("other".into()), ..Session::default() }, ports())).unwrap()
}

fn message(role: &str, content: &str, id: &str) -> ConversationMessage {
    ConversationMessage {
        role: role.into(),
        content: content.into(),
        created_at: Some("2027-01-15T08:00:00.000Z".into()),
        message_id: id.into(),
        ..ConversationMessage::default()
    }
}

#[test]
fn every_field_of_the_specification_is_set() {
    let call = calling(&[("c", "act", r#"{"n": 1}"#)]);
    let payload = json(r#"{"id":"resp_1","big":9007199254740993,"odd":1e400}"#);
    let answers = vec![Answer { payload: payload.clone(), ..call }, Answer::text("ok")];
    let agent = agent(answers, vec![Fake::acting("act", Effect::Pure, &World::default())]);
    let mut recorder = recorded(&agent);
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();

    let state = ConversationState::latest(recorder.session()).unwrap();

    let is_uuid = |text: &str| text.parse::<uuid::Uuid>().is_ok();
    let turns = state.turns.iter();
    let messages: Vec<&ConversationMessage> = std::iter::once(&state.system_message)
        .chain(
            turns
                .flat_map(|turn| turn.user_messages.iter().chain([&turn.assistant_message]).chain(&turn.tool_messages)),
        )
        .collect();
    assert!(messages.iter().all(|message| is_uuid(&message.message_id)), "{messages:?}");
    let mut ids: Vec<&str> = messages.iter().map(|message| message.message_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), messages.len(), "each has its own");
    let now = Some("2027-01-15T08:00:00.000Z".to_owned());
    let (user, answer, told, last) =
        (ids_of(&state, 0).0, ids_of(&state, 0).1, ids_of(&state, 0).2, ids_of(&state, 1).1);
    let called = ToolCallRecord { call_id: "c".into(), name: "act".into(), arguments: r#"{"n": 1}"#.into() };
    let first = ConversationTurn {
        turn_number: 1,
        user_messages: vec![message("user", "go", &user)],
        assistant_message: ConversationMessage { tool_calls: vec![called], ..message("assistant", "", &answer) },
        tool_messages: vec![ConversationMessage {
            tool_call_id: Some("c".into()),
            name: Some("act".into()),
            ..message("tool", "c done", &told)
        }],
        provider_payload: Some(payload),
        evaluation_id: "s".into(),
        created_at: now.clone(),
    };
    let second = ConversationTurn {
        turn_number: 2,
        assistant_message: message("assistant", "ok", &last),
        evaluation_id: "s".into(),
        created_at: now.clone(),
        ..ConversationTurn::default()
    };
    let expected = ConversationState {
        evaluation_id: "s".into(),
        prompt_ns: "code".into(),
        prompt_key: "review".into(),
        prompt_hash: state.prompt_hash.clone(),
        system_message: message("system", "", &state.system_message.message_id),
        turns: vec![first, second],
        unanswered: Vec::new(),
        created_at: now,
        state_id: state.state_id.clone(),
    };
    assert!(is_uuid(&state.state_id) && state.prompt_hash.is_some());
    assert_eq!(state, expected);
}

fn ids_of(state: &ConversationState, turn: usize) -> (String, String, String) {
    let turn = &state.turns[turn];
    let id = |messages: &[ConversationMessage]| messages.first().map(|one| one.message_id.clone()).unwrap_or_default();
    (id(&turn.user_messages), turn.assistant_message.message_id.clone(), id(&turn.tool_messages))
}

#[test]
fn each_checkpoint_of_an_evaluation_holds_one_state_and_a_rollback_leaves_it_alone() {
    let seen: Arc<Mutex<Vec<Snapshot>>> = Arc::default();
    let agent = agent(
        vec![calling(&[("c", "act", "{}")]), Answer::text("ok")],
        vec![Fake::acting("act", Effect::Pure, &World::default())],
    );
    let mut recorder = recorded(&agent);
    recorder.checkpoint_with(Arc::new(Seen(seen.clone())) as Arc<dyn turnkeep_runtime::CheckpointHandler>, "r");
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();
    let now = ConversationState::of(recorder.session());

    // Each turn is one state: a call that is about to run, its result, the end.
    let turns = |snapshot: &Snapshot| {
        let states = query::<ConversationState>(&snapshot.session).unwrap();
        assert_eq!(states.len(), 1);
        (states[0].turns.len(), states[0].pending().len())
    };
    let mut told: Vec<(usize, usize)> = seen.lock().unwrap().iter().map(turns).collect();
    told.dedup();
    assert_eq!(told, [(1, 1), (1, 0), (2, 0)]);
    let reducers = Reducers::default().on::<ConversationState, ConversationState>(replace_latest);
    block_on(recorder.rollback(&reducers, &recorder.savepoint(), Logs::Keep)).unwrap();
    assert_eq!(query::<ConversationState>(recorder.session()).unwrap(), [now]);
}

/// Keeps every checkpoint.
struct Seen(Arc<Mutex<Vec<Snapshot>>>);

impl turnkeep_runtime::CheckpointHandler for Seen {
    fn load<'a>(&'a self, _: &'a str) -> turnkeep_store::BoxFuture<'a, Result<Option<turnkeep_runtime::Checkpoint>>> {
        Box::pin(async { Ok(None) })
    }

    fn save<'a>(&'a self, _: &'a str, snapshot: &'a Snapshot) -> turnkeep_store::BoxFuture<'a, Result<()>> {
        Box::pin(async {
            self.0.lock().unwrap().push(snapshot.clone());
            Ok(())
        })
    }

    fn clear<'a>(&'a self, _: &'a str) -> turnkeep_store::BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn without_recording_a_session_has_no_conversation_slice() {
    let agent = agent(vec![Answer::text("ok")], vec![]);
    let mut recorder = fresh();
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();

    assert_eq!(ConversationState::latest(recorder.session()), None);
    assert_eq!(query::<ConversationState>(recorder.session()).unwrap(), []);
    assert_eq!(recorder.snapshot().session.slices, []);
}

/// A state whose last turn made a call of `charge` that has no result.
fn pending_state() -> ConversationState {
    let agent = agent(
        vec![calling(&[("c0", "look", "{}")]), calling(&[("c1", "charge", "{}")])],
        vec![
            Fake::acting("look", Effect::Pure, &World::default()),
            Fake::new("charge", Effect::Once, |_| Err(ToolError::unsure("gone"))),
        ],
    );
    let mut recorder = recorded(&agent);
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();
    let state = ConversationState::latest(recorder.session()).unwrap();
    assert_eq!(state.pending().len(), 1);
    state
}

/// An agent with a tool `charge`, which notes the key of its calls and whether they are resumed.
fn charging(world: &World, effect: Effect, consent: Consent) -> Agent {
    let charged = world.clone();
    let mut tool = Fake::new("charge", effect, move |context| {
        charged.act(&format!("{} {} {}", context.key, context.attempt, context.is_resume));
        Ok(ToolOutput::text("charged"))
    });
    tool.consent = consent;
    let look = Fake::acting("look", Effect::Pure, &World::default());
    // The script's n-th answer is the n-th of the session.
    agent(vec![Answer::text("paid"); 3], vec![look, tool])
}

#[test]
fn a_state_goes_on_in_a_fresh_session_and_its_open_calls_are_never_blindly_repeated() {
    let state = pending_state();
    let free = Consent::NotNeeded;
    let asks = Consent::Needed { within: None };
    let cases = [
        (Effect::Pure, free, Some("paid"), 1),
        (Effect::Keyed, free, Some("paid"), 1),
        (Effect::Once, free, None, 0),
        (Effect::Keyed, asks, None, 0),
        (Effect::Pure, asks, None, 0),
    ];
    for (effect, consent, text, acts) in cases {
        let (world, what) = (World::default(), format!("{effect:?} {consent:?}"));
        let agent = charging(&world, effect, consent);
        let mut recorder = fresh();

        let response: Evaluation =
            block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap();

        // Under the key it had where it began, whatever the session is called now.
        let key = if effect == Effect::Pure { "other/c1 2 true" } else { "s/c1 2 true" };
        assert_eq!((world.acted(key), world.total()), (acts, acts), "{what}");
        let said = response.text.filter(|_| response.stopped.waiting.is_empty());
        assert_eq!(said.as_deref(), text, "{what}");
        let waits: Vec<WaitingFor> = response.stopped.waiting.iter().map(|one| one.what).collect();
        assert_eq!(waits, vec![WaitingFor::Outcome; 1 - acts as usize], "{what}");
        let restored = ConversationState::latest(recorder.session()).unwrap();
        assert_eq!(restored.turns[0], state.turns[0], "{what}");
        assert_eq!(restored.turns[1].assistant_message, state.turns[1].assistant_message, "{what}");
        assert_eq!((&restored.evaluation_id, &restored.prompt_hash), (&state.evaluation_id, &state.prompt_hash));
    }
}

#[test]
fn a_state_that_waits_for_its_answer_is_asked_in_a_fresh_session() {
    let agent = agent(vec![Answer::text("hello")], vec![]);
    let asked = ConversationState {
        prompt_ns: "code".into(),
        prompt_key: "review".into(),
        system_message: message("system", "You review.", ""),
        ..ConversationState::default()
    };
    let mut recorder = fresh();

    let response: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::State(&asked))).unwrap();

    assert_eq!(response.text.as_deref(), Some("hello"));
    assert_eq!(ConversationState::of(recorder.session()).system_message.content, "You review.");
    // A state without a message has nothing to go on from.
    let empty = ConversationState { system_message: ConversationMessage::default(), ..asked };
    let error = block_on(evaluate::<Json2>(&agent, &prompt(), &mut fresh(), ResumeFrom::State(&empty))).unwrap_err();
    assert_eq!((error.kind(), error.is(Named::SnapshotRestore)), (ErrorKind::Corrupt, true));
}

type Json2 = serde_json::Value;

#[test]
fn a_session_with_another_conversation_does_not_go_on_with_a_state() {
    let state = pending_state();
    let world = World::default();
    let agent = charging(&world, Effect::Keyed, Consent::NotNeeded);
    let mut recorder = fresh();
    block_on(agent.run(&mut recorder, "something else")).unwrap();

    let error = block_on(evaluate::<Json2>(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap_err();

    assert_eq!((error.kind(), error.is(Named::ConversationStateMismatch)), (ErrorKind::Mismatch, true));
    assert_eq!(world.total(), 0);
}

#[test]
fn what_a_state_asks_is_asked_in_the_session_that_holds_the_rest() {
    let agent = agent(vec![Answer::text("one"), Answer::text("two")], vec![]);
    let mut recorder = recorded(&agent);
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();
    let mut state = ConversationState::latest(recorder.session()).unwrap();
    state.unanswered.push(message("user", "and then?", ""));

    let response: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap();

    assert_eq!(response.text.as_deref(), Some("two"));
    let told = ["0 user: go", "0 assistant: one", "1 user: and then?", "1 assistant: two"];
    assert_eq!(crate::kit::history(recorder.session()), told);
    // It is asked once: the same state finds its question answered.
    let again: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap();
    assert_eq!((again.text.as_deref(), recorder.session().turns.len()), (Some("two"), 2));
    // Another question there is another conversation.
    state.unanswered[0].content = "or else?".into();
    let error = block_on(evaluate::<Json2>(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap_err();
    assert!(error.is(Named::ConversationStateMismatch));
}

#[test]
fn a_state_with_a_result_that_the_session_lacks_is_refused_before_its_call_is_made_again() {
    let world = World::default();
    let agent = charging(&world, Effect::Keyed, Consent::NotNeeded);
    let mut recorder = block_on(Recorder::create(memory(), imported(), ports())).unwrap();
    let mut state = ConversationState::of(recorder.session());
    (state.prompt_ns, state.prompt_key) = ("code".into(), "review".into());
    let result = ConversationMessage { tool_call_id: Some("c1".into()), ..message("tool", "charged", "") };
    state.turns[1].tool_messages.push(result);

    let error = block_on(evaluate::<Json2>(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap_err();

    assert!(error.is(Named::ConversationStateMismatch), "{error}");
    assert_eq!(world.total(), 0);
}

#[test]
fn a_gap_or_a_repetition_in_the_turn_numbers_is_refused() {
    for numbers in [[1, 3], [2, 3], [1, 1], [0, 1]] {
        let mut state = pending_state();
        state.turns.iter_mut().zip(numbers).for_each(|(turn, number)| turn.turn_number = number);
        let world = World::default();
        let agent = charging(&world, Effect::Keyed, Consent::NotNeeded);

        let error =
            block_on(evaluate::<Json2>(&agent, &prompt(), &mut fresh(), ResumeFrom::State(&state))).unwrap_err();

        assert_eq!((error.kind(), error.is(Named::SnapshotRestore)), (ErrorKind::Corrupt, true), "{numbers:?}");
        assert_eq!(world.total(), 0, "{numbers:?}");
    }
}

#[test]
fn a_state_is_json_as_the_specification_writes_it_and_may_lack_what_has_a_default() {
    let state = pending_state();
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<ConversationState>(&text).unwrap(), state);

    let least = r#"{"evaluation_id":"e","prompt_ns":"n","prompt_key":"k","system_message":{"role":"system","content":"s"},
        "turns":[{"turn_number":1,"assistant_message":{"role":"assistant","content":"hi"}}]}"#;
    let read: ConversationState = serde_json::from_str(least).unwrap();
    assert_eq!((read.turns.len(), read.check().is_ok(), read.created_at), (1, true, None));
}

/// A session of another system, with a call that has no result.
fn imported() -> Session {
    let snapshot =
        Snapshot { session: Session { id: Some("i".into()), ..Session::default() }, seq: Default::default() };
    let mut session = snapshot.session;
    let mut recorder = fresh();
    let agent = charging(&World::default(), Effect::Pure, Consent::NotNeeded);
    let _ = block_on(evaluate::<Json2>(&agent, &prompt(), &mut recorder, ResumeFrom::State(&pending_state())));
    session.turns = recorder.session().turns.clone();
    session.turns.truncate(2);
    for turn in &mut session.turns {
        turn.run = None;
    }
    session.turns[1].blocks.retain(|block| block.body.kind() != "tool_result");
    session
}

#[test]
fn a_call_that_came_open_with_an_imported_session_is_a_resumed_one() {
    let world = World::default();
    let agent = charging(&world, Effect::Keyed, Consent::NotNeeded);
    let mut recorder = block_on(Recorder::create(memory(), imported(), ports())).unwrap();

    block_on(agent.resume(&mut recorder)).unwrap();

    assert_eq!((world.acted("i/c1 1 true"), world.total()), (1, 1));
}

#[test]
fn a_call_that_came_open_and_needs_consent_is_asked_about_first() {
    for effect in [Effect::Pure, Effect::Keyed] {
        let world = World::default();
        let agent = charging(&world, effect, Consent::Needed { within: None });
        let store = memory();
        let mut recorder = block_on(Recorder::create(store.clone(), imported(), ports())).unwrap();

        let stopped = block_on(agent.resume(&mut recorder)).unwrap();
        assert_eq!(stopped.waiting.iter().map(|one| one.what).collect::<Vec<_>>(), [WaitingFor::Consent], "{effect:?}");
        assert_eq!(world.total(), 0, "{effect:?}");

        let approve = turnkeep_runtime::human::ConsentDecision::approve();
        block_on(turnkeep_runtime::human::decide(&*store, &"i".into(), &stopped.waiting[0].call, &approve, &ports()))
            .unwrap();
        block_on(agent.resume(&mut recorder)).unwrap();
        assert_eq!((world.acted("i/c1 1 true"), world.total()), (1, 1), "{effect:?}");
    }
}

#[test]
fn a_tool_can_say_that_it_cannot_safely_run_again() {
    for effect in [Effect::Pure, Effect::Keyed, Effect::Once] {
        let refusing = Fake::new("act", effect, |_| Err(ToolError::idempotency("the receipt is gone")));
        let agent = agent(vec![calling(&[("c", "act", "{}")]), Answer::text("ok")], vec![refusing]);
        let mut recorder = recorded(&agent);

        let response: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();

        let error = response.stopped.needs_human().unwrap();
        assert_eq!((error.kind(), error.which()), (ErrorKind::NeedsHuman, Some(Named::ToolIdempotency)), "{effect:?}");
        assert_eq!(
            recorder.session().logs,
            ["call c of act cannot safely run again: the receipt is gone"],
            "{effect:?}"
        );
        // It stays so in the next process, until a person decides.
        let again = block_on(agent.resume(&mut recorder)).unwrap();
        assert!(again.needs_human().is_some(), "{effect:?}");
    }
}
