//! Whoever looks at a conversation sees it as it is at that record: it is made from the turns, and never stored twice.

use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target};
use turnkeep_model::event::{Effect, SliceChanged, SliceOp};
use turnkeep_model::{Archive, Event, Json, Session, SessionId, Snapshot};
use turnkeep_runtime::compat::weakincentives::{
    ConversationState, Evaluation, ResumeFrom, Template, enable_conversation_recording, evaluate,
};
use turnkeep_runtime::port::{Answer, ToolContext, ToolOutput};
use turnkeep_runtime::slices::{Reducers, SliceItem, query, replace_latest};
use turnkeep_runtime::{Agent, Checkpoint, CheckpointHandler, Recorder, Result};
use turnkeep_store::{BoxFuture, Store, StoreExt};
use turnkeep_testkit::Home;

use crate::kit::{Fake, agent, calling, json, memory, ports};

const STEPS: usize = 4;

fn prompt() -> Template {
    Template::new("code", "review", "go")
}

fn id() -> SessionId {
    "s".into()
}

fn recorded(agent: &Agent, store: Arc<dyn Store>) -> Recorder {
    let session = Session { id: Some(id()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(store, session, ports())).unwrap();
    block_on(enable_conversation_recording(&mut recorder)).unwrap();
    recorder
}

/// Keeps the last checkpoint.
#[derive(Clone, Default)]
struct Last(Arc<Mutex<Option<Snapshot>>>);

impl CheckpointHandler for Last {
    fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async { Ok(None) })
    }

    fn save<'a>(&'a self, _: &'a str, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            *self.0.lock().unwrap() = Some(snapshot.clone());
            Ok(())
        })
    }

    fn clear<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// The one state that a session holds as a plain slice.
fn held(session: &Session) -> Option<ConversationState> {
    let slice = session.slices.iter().find(|slice| slice.name == ConversationState::NAME)?;
    assert_eq!(slice.items.len(), 1);
    serde_json::from_str(&slice.items[0].to_text()).ok()
}

/// What a session says in the file of another system, read back.
fn exported(session: &Session, format: &str) -> Session {
    let target = Target::parse(format).unwrap();
    let mut options = EncodeOptions::default();
    options.variant = target.variant.clone();
    let written = target.codec.encode(&Archive::from(session.clone()), &options).unwrap();
    let read = target.codec.decode(Input::new(&written.bytes), &DecodeOptions::default()).unwrap();
    read.archive.sessions.into_iter().next().unwrap()
}

/// What every format keeps of a state: what was said, called and answered.
fn said(state: &ConversationState) -> Vec<(String, Vec<String>, Vec<String>)> {
    let turn = |turn: &turnkeep_runtime::compat::weakincentives::ConversationTurn| {
        let calls = turn.assistant_message.tool_calls.iter().map(|call| call.call_id.clone()).collect();
        let results = turn.tool_messages.iter().map(|message| message.content.clone()).collect();
        (turn.assistant_message.content.clone(), calls, results)
    };
    state.turns.iter().map(turn).collect()
}

/// Looks at the session from inside a call, with the eyes of every reader there is.
fn look(home: &Home, last: &Last, context: &ToolContext) -> usize {
    let stored = block_on(home.open().load(&id())).unwrap().session;
    let state = ConversationState::of(&stored);
    let number = state.turns.len();
    let open: Vec<&str> = state.pending().iter().map(|call| call.call_id.as_str()).collect();
    assert_eq!(open, [context.call_id.to_string()], "the call that runs is the only open one");

    // The tool itself.
    assert_eq!(context.slices.latest::<ConversationState>().unwrap().as_ref(), Some(&state), "tool {number}");
    // Another process, by type; the journal itself has no copy.
    assert_eq!(query::<ConversationState>(&stored).unwrap(), std::slice::from_ref(&state), "process {number}");
    assert_eq!(ConversationState::latest(&stored).as_ref(), Some(&state), "process {number}");
    assert_eq!(held(&stored), None, "journal {number}");
    // The checkpoint that was saved before the call.
    let snapshot = last.0.lock().unwrap().clone().unwrap();
    assert_eq!(held(&snapshot.session).as_ref(), Some(&state), "checkpoint {number}");
    // Whoever resumes from that checkpoint where the store was lost.
    let (read, _) = Snapshot::from_json(&snapshot.to_json()).unwrap();
    let resumed = block_on(Recorder::restore(memory(), read, ports())).unwrap();
    assert_eq!(ConversationState::latest(resumed.session()).as_ref(), Some(&state), "resumed {number}");
    assert_eq!(held(resumed.session()), None, "resumed {number}: no copy");
    assert_eq!(held(&resumed.snapshot().session).as_ref(), Some(&state), "resumed {number}");
    // An export in the middle of the evaluation, as messages and as one state.
    for format in ["wink.snapshot", "wink.conversation", "wink.conversation:state"] {
        let conversation = ConversationState::of(&exported(&stored, format));
        assert_eq!(said(&conversation), said(&state), "{format} {number}");
    }
    number
}

#[test]
fn every_reader_sees_the_conversation_as_it_is_at_every_turn() {
    let (home, last) = (Arc::new(Home::new("file")), Last::default());
    let turns: Arc<Mutex<Vec<usize>>> = Arc::default();
    let looks = {
        let (home, last, turns) = (home.clone(), last.clone(), turns.clone());
        Fake::new("look", Effect::Pure, move |context| {
            turns.lock().unwrap().push(look(&home, &last, context));
            Ok(ToolOutput::text(format!("saw {}", context.call_id)))
        })
    };
    let mut answers: Vec<Answer> = (1..=STEPS).map(|n| calling(&[(&format!("c{n}"), "look", "{}")])).collect();
    answers.push(Answer::text("ok"));
    let reducers = Reducers::default().on::<ConversationState, ConversationState>(replace_latest);
    let agent = agent(answers, vec![looks]).with_reducers(Arc::new(reducers));
    let mut recorder = recorded(&agent, home.open());
    recorder.checkpoint_with(Arc::new(last.clone()) as Arc<dyn CheckpointHandler>, "r");

    let response: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();

    assert_eq!(response.text.as_deref(), Some("ok"), "no look failed");
    assert_eq!(*turns.lock().unwrap(), [1, 2, 3, 4], "one more turn at every look");
    let now = ConversationState::of(recorder.session());
    assert_eq!(now.turns.len(), STEPS + 1);
    let saved = last.0.lock().unwrap().clone().unwrap();
    assert_eq!(
        (held(&saved.session).as_ref(), saved.seq),
        (Some(&now), recorder.seq()),
        "the last checkpoint is the end"
    );
    assert_eq!(held(&block_on(recorder.savepoint().snapshot()).unwrap().session), Some(now));
}

#[test]
fn recording_a_conversation_adds_one_record_however_long_it_becomes() {
    let records = |is_recorded: bool| {
        let answers = vec![calling(&[("a", "act", "{}")]), calling(&[("b", "act", "{}")]), Answer::text("ok")];
        let acts = Fake::new("act", Effect::Pure, |_| Ok(ToolOutput::text("done")));
        let (agent, store) = (agent(answers, vec![acts]), memory());
        let session = Session { id: Some(id()), ..agent.session() };
        let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
        if is_recorded {
            block_on(enable_conversation_recording(&mut recorder)).unwrap();
        }
        let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();
        let journal = block_on(store.journal(&id())).unwrap();
        let kinds = journal.batches.into_iter().flat_map(|batch| batch.events).map(|entry| entry.event);
        kinds.filter(|event| !matches!(event, Event::SessionChanged(changed) if changed.tags.is_some())).collect()
    };
    let (plain, recorded): (Vec<Event>, Vec<Event>) = (records(false), records(true));

    assert_eq!(recorded, plain);
}

#[test]
fn a_copy_that_an_earlier_version_stored_is_dropped_before_it_is_out_of_date() {
    let answers = vec![Answer::text("one"), Answer::text("two")];
    let (agent, store) = (agent(answers, vec![]), memory());
    let mut recorder = recorded(&agent, store.clone());
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();
    let copy = serde_json::to_string(&ConversationState::of(recorder.session())).unwrap();
    let foreign = json(r#"{"state_id":"of a file","turns":[]}"#);
    let stored = |items: Vec<Json>| SliceChanged {
        name: ConversationState::NAME.into(),
        op: SliceOp::Replace,
        items,
        version: None,
        policy: None,
    };
    block_on(recorder.record(vec![stored(vec![foreign.clone(), json(&copy)]).into()])).unwrap();

    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();

    let session = block_on(store.load(&id())).unwrap().session;
    assert_eq!(session.slices[0].items, [foreign], "what came with a file stays");
    assert_eq!(ConversationState::latest(&session).unwrap().turns.len(), 2);
}

#[test]
fn a_session_whose_handler_is_left_waiting_keeps_its_turns() {
    /// Never ends.
    struct Stuck;
    impl CheckpointHandler for Stuck {
        fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
            Box::pin(async { Ok(None) })
        }
        fn save<'a>(&'a self, _: &'a str, _: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
            Box::pin(std::future::pending())
        }
        fn clear<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
            Box::pin(async { Ok(()) })
        }
    }
    let agent = agent(vec![Answer::text("one")], vec![]);
    let mut recorder = recorded(&agent, memory());
    recorder.checkpoint_with(Arc::new(Stuck) as Arc<dyn CheckpointHandler>, "r");

    let waits = {
        let run = std::pin::pin!(agent.run(&mut recorder, "go"));
        let left = block_on(futures_util::future::select(run, std::future::ready(())));
        matches!(left, futures_util::future::Either::Right(_))
    };

    assert!(waits, "it waits for its handler");
    assert_eq!(crate::kit::history(recorder.session()), ["0 user: go", "0 assistant: one"]);
    assert_eq!(recorder.session().slices, [], "without what the handler saw");
}
