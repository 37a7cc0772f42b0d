//! Snapshots of weakincentives, in the runtime.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep::model::event::Effect;
use turnkeep::model::{Author, Block, CallId, Json, ToolCall};
use turnkeep::runtime::compat::weakincentives::{
    ConversationState, Evaluation, LoopDefinition, MainLoop, Prompt, ResumeFrom, Template,
    enable_conversation_recording, evaluate,
};
use turnkeep::runtime::port::{Answer, CallInfo, FnTool};
use turnkeep::runtime::slices::query;
use turnkeep::runtime::{Agent, CheckpointHandler, FileCheckpoints, Named, Ports, Recorder, Script, Tools};
use turnkeep::store::StoreExt;
use turnkeep::{Snapshot, WinkJson, WinkSnapshots};

fn fixture(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wink.conversation");
    std::fs::read_to_string(root.join(name).join("input.json")).unwrap()
}

#[derive(serde::Deserialize)]
struct Nothing {}

type Calls = Arc<Mutex<Vec<(String, bool)>>>;

/// A tool that notes the key of its calls and whether they are resumed.
fn tool(name: &str, effect: Effect, calls: &Calls) -> Arc<dyn turnkeep::runtime::port::Tool> {
    let calls = calls.clone();
    Arc::new(FnTool::blocking(name, "", Json::Null, effect, move |_: Nothing, call: CallInfo| {
        calls.lock().unwrap().push((call.key, call.is_resume));
        Ok("done")
    }))
}

fn agent(answers: Vec<Answer>, effect: Effect, calls: &Calls) -> Agent {
    let tools = ["search", "read"].map(|name| tool(name, effect, calls));
    Agent::new(Arc::new(Script::new("test", answers))).with_tools(Tools::new(tools).unwrap())
}

fn calling(id: &str, name: &str) -> Answer {
    let call = ToolCall { call: CallId::given(id), name: name.into(), arguments: "{}".into() };
    Answer { blocks: vec![Block::new(Author::Assistant, call)], ..Answer::default() }
}

fn prompt() -> Template {
    Template::new("demo", "chat", "Go")
}

fn memory() -> Arc<dyn turnkeep::store::Store> {
    turnkeep::store::open("memory:").unwrap()
}

#[test]
fn a_snapshot_of_weakincentives_is_resumed_where_its_conversation_ends() {
    let (snapshot, losses) = Snapshot::from_wink_json(&fixture("04_inner_messages_pending_tool")).unwrap();
    assert_eq!(losses, []);
    let calls = Calls::default();
    let agent = agent(vec![Answer::text("both done"); 2], Effect::Keyed, &calls);
    let mut recorder = block_on(Recorder::restore(memory(), snapshot, Ports::default())).unwrap();
    let state = query::<ConversationState>(recorder.session()).unwrap().pop().unwrap();
    assert_eq!(state.pending().iter().map(|call| call.call_id.as_str()).collect::<Vec<_>>(), ["c2"]);
    assert_eq!((state.evaluation_id.as_str(), state.system_message.content.as_str()), ("ev-2", "Sys"));

    let response: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap();

    assert_eq!(response.text.as_deref(), Some("both done"));
    // Only the call without a result is made, and the tool knows that it may have begun elsewhere.
    assert_eq!(*calls.lock().unwrap(), [("00000000-0000-0000-0000-00000000006e/c2".to_owned(), true)]);
    assert!(recorder.session().tags.iter().any(|(key, _)| key == "conversation_recording"));
}

#[test]
fn a_call_of_a_snapshot_that_must_not_be_repeated_waits_for_a_person() {
    let (snapshot, _) = Snapshot::from_wink_json(&fixture("04_inner_messages_pending_tool")).unwrap();
    let calls = Calls::default();
    let agent = agent(vec![], Effect::Once, &calls);
    let mut recorder = block_on(Recorder::restore(memory(), snapshot, Ports::default())).unwrap();
    let state = ConversationState::latest(recorder.session()).unwrap();

    let response: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::State(&state))).unwrap();

    assert!(response.into_output().unwrap_err().is(Named::ToolIdempotency));
    assert_eq!(*calls.lock().unwrap(), []);
}

#[test]
fn another_prompt_does_not_go_on_with_a_snapshot() {
    let (snapshot, _) = Snapshot::from_wink_json(&fixture("02_two_turns_with_tools")).unwrap();
    let agent = agent(vec![], Effect::Pure, &Calls::default());
    let mut recorder = block_on(Recorder::restore(memory(), snapshot, Ports::default())).unwrap();
    let state = ConversationState::latest(recorder.session()).unwrap();
    let other = Template::new("demo", "other", "Go");

    let error =
        block_on(evaluate::<serde_json::Value>(&agent, &other, &mut recorder, ResumeFrom::State(&state))).unwrap_err();

    assert!(error.is(Named::ConversationStateMismatch));
}

#[test]
fn a_snapshot_with_a_gap_in_its_turn_numbers_is_refused() {
    let text = fixture("02_two_turns_with_tools").replace(r#""turn_number": 2"#, r#""turn_number": 3"#);
    let (snapshot, _) = Snapshot::from_wink_json(&text).unwrap();
    let agent = agent(vec![], Effect::Pure, &Calls::default());
    let mut recorder = block_on(Recorder::restore(memory(), snapshot, Ports::default())).unwrap();
    let state = ConversationState::latest(recorder.session()).unwrap();
    let (ns, key) = (state.prompt_ns.clone(), state.prompt_key.clone());

    let prompt = Template::new(&ns, &key, "Go");
    let error =
        block_on(evaluate::<serde_json::Value>(&agent, &prompt, &mut recorder, ResumeFrom::State(&state))).unwrap_err();

    assert!(error.is(Named::SnapshotRestore), "{error}");
    assert!(error.to_string().contains("turn 3 where turn 2 is due"), "{error}");
}

#[test]
fn a_snapshot_of_a_recorder_is_read_back_with_its_conversation() {
    let agent = agent(vec![calling("c1", "search"), Answer::text("ok")], Effect::Pure, &Calls::default());
    let mut recorder = block_on(Recorder::create(memory(), agent.session(), Ports::default())).unwrap();
    block_on(enable_conversation_recording(&mut recorder)).unwrap();
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();

    let (text, _) = recorder.snapshot().to_wink_json().unwrap();
    let (read, losses) = Snapshot::from_wink_json(&text).unwrap();

    assert_eq!(losses, []);
    assert!(text.contains(r#""slice_type": "weakincentives.runtime.conversation:ConversationState""#), "{text}");
    let (then, now) = (ConversationState::of(recorder.session()), ConversationState::of(&read.session));
    assert_eq!(said(&now), said(&then));
    let roles: Vec<String> = said(&then).into_iter().map(|(role, ..)| role).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(
        (now.evaluation_id, now.prompt_ns, now.prompt_key),
        (then.evaluation_id, then.prompt_ns, then.prompt_key)
    );
    assert_eq!(read.session.id, Some(recorder.id().clone()));
}

/// The messages of a conversation: who said what, in answer to which call.
fn said(state: &ConversationState) -> Vec<(String, String, Option<String>)> {
    let messages = state
        .turns
        .iter()
        .flat_map(|turn| turn.user_messages.iter().chain([&turn.assistant_message]).chain(&turn.tool_messages));
    messages.map(|one| (one.role.clone(), one.content.clone(), one.tool_call_id.clone())).collect()
}

struct Chat;

impl LoopDefinition for Chat {
    type Request = str;
    type Output = serde_json::Value;

    fn create_prompt(&self, _: &str) -> Box<dyn Prompt> {
        Box::new(prompt())
    }
}

#[test]
fn a_file_of_weakincentives_is_a_checkpoint_of_a_loop() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r1.json"), fixture("04_inner_messages_pending_tool")).unwrap();
    let files = Arc::new(FileCheckpoints::new(folder.path()).with_format(Arc::new(WinkSnapshots)));
    let (calls, store) = (Calls::default(), memory());
    let agent = agent(vec![Answer::text("both done"); 2], Effect::Keyed, &calls);
    let looping = MainLoop::new(Chat, agent, store.clone(), Ports::default()).with_checkpoints(files.clone());

    let response = block_on(looping.execute("r1")).unwrap();

    assert_eq!(response.text.as_deref(), Some("both done"));
    assert_eq!(calls.lock().unwrap().len(), 1);
    assert_eq!(block_on(files.load("r1")).unwrap(), None);
    let id = "00000000-0000-0000-0000-00000000006e".into();
    assert_eq!(block_on(store.load(&id)).unwrap().session.open_calls(), Vec::<&ToolCall>::new());
}

#[test]
fn checkpoint_files_of_weakincentives_are_written_and_damaged_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = FileCheckpoints::new(folder.path()).with_format(Arc::new(WinkSnapshots));
    let agent = agent(vec![calling("c1", "search")], Effect::Once, &Calls::default());
    let mut recorder = block_on(Recorder::create(memory(), agent.session(), Ports::default())).unwrap();
    block_on(enable_conversation_recording(&mut recorder)).unwrap();
    let _: Evaluation = block_on(evaluate(&agent, &prompt(), &mut recorder, ResumeFrom::Nothing)).unwrap();
    let snapshot = recorder.snapshot();

    block_on(files.save("r1", &snapshot)).unwrap();
    let text = std::fs::read_to_string(folder.path().join("r1.json")).unwrap();
    assert_eq!(text, snapshot.to_wink_json().unwrap().0);
    assert_eq!(block_on(files.load("r1")).unwrap().unwrap().snapshot, Snapshot::from_wink_json(&text).unwrap().0);
    // A file of the native format is a checkpoint as well.
    std::fs::write(folder.path().join("r2.json"), snapshot.to_json()).unwrap();
    assert_eq!(block_on(files.load("r2")).unwrap().unwrap().snapshot, snapshot);
    for damaged in ["", "{", "[]", r#"{"version": "1"}"#] {
        std::fs::write(folder.path().join("r3.json"), damaged).unwrap();
        assert!(block_on(files.load("r3")).unwrap_err().is(Named::SnapshotRestore), "{damaged}");
    }
}
