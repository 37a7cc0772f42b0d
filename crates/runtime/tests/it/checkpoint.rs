//! Checkpoints, prompts and the loop over requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pollster::block_on;
use serde::Deserialize;
use turnkeep_model::event::Effect;
use turnkeep_model::{Block, ErrorKind, PromptId, Session, Snapshot};
use turnkeep_runtime::compat::weakincentives::{
    ConversationState, LoopDefinition, MainLoop, Prompt, ResumeFrom, StoreCheckpoints, Template,
    enable_conversation_recording, evaluate,
};
use turnkeep_runtime::port::{Answer, Found, ToolOutput};
use turnkeep_runtime::{CheckpointHandler, FileCheckpoints, Recorder};
use turnkeep_store::Store;

use crate::kit::{Fake, World, agent, calling, json, memory, ports};

fn snapshot() -> Snapshot {
    let session = Session { id: Some("r1".into()), logs: vec!["x".into()], ..Session::default() };
    Snapshot { session, seq: turnkeep_model::Seq(0) }
}

#[test]
fn files_are_loaded_saved_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let files = FileCheckpoints::new(folder.path().join("deep/er"));

    assert_eq!(block_on(files.load("r1")).unwrap(), None);
    block_on(files.save("r1", &snapshot())).unwrap();
    assert_eq!(block_on(files.load("r1")).unwrap().unwrap().snapshot, snapshot());
    block_on(files.clear("r1")).unwrap();
    block_on(files.clear("r1")).unwrap();
    assert_eq!(block_on(files.load("r1")).unwrap(), None);
}

#[test]
fn a_damaged_checkpoint_has_its_own_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r1.json"), b"{\"turnkeep\":1,").unwrap();

    let error = block_on(FileCheckpoints::new(folder.path()).load("r1")).unwrap_err();

    assert_eq!((error.kind(), error.name()), (ErrorKind::Corrupt, Some("SnapshotRestoreError")));
    assert_eq!(error.remedy(), Some("clear the checkpoint and start again"));
}

#[test]
fn ids_that_would_leave_the_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = FileCheckpoints::new(folder.path());
    for id in ["", "..", "../x", "a/b", "a\\b", ".hidden", "a\0b", &"x".repeat(300), "CON:"] {
        let error = block_on(files.save(id, &snapshot())).unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Unsupported, "{id:?}");
    }
}

/// A prompt that counts how often it is rendered.
struct Counted(Template, Arc<AtomicU32>);

impl Prompt for Counted {
    fn id(&self) -> PromptId {
        self.0.id()
    }

    fn render(&self) -> Vec<Block> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.render()
    }

    fn output(&self) -> Option<turnkeep_model::Json> {
        self.0.output()
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Review {
    verdict: String,
}

fn prompt(rendered: &Arc<AtomicU32>, text: &str) -> Counted {
    let schema = json(r#"{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}"#);
    Counted(Template::new("code", "review", text).with("file", "a.rs").answering(schema), rendered.clone())
}

/// A loop whose requests are their own ids.
struct Reviews(Arc<AtomicU32>, &'static str);

impl LoopDefinition for Reviews {
    type Request = str;
    type Output = Review;

    fn create_prompt(&self, _: &str) -> Box<dyn Prompt> {
        Box::new(prompt(&self.0, self.1))
    }
}

fn dying_loop(
    store: &Arc<dyn Store>,
    world: &World,
    rendered: &Arc<AtomicU32>,
    handler: Arc<dyn CheckpointHandler>,
    found: Option<Found>,
) -> MainLoop<Reviews> {
    let world = world.clone();
    let mut tool = Fake::new("act", Effect::Once, move |context| {
        world.act(&context.call_id.to_string());
        panic!("dies after the effect")
    });
    tool.probe = found;
    let answers = vec![calling(&[("c", "act", "{}")]), Answer::text(r#"{"verdict":"good"}"#)];
    let definition = Reviews(rendered.clone(), "review {file}");
    MainLoop::new(definition, agent(answers, vec![tool]), store.clone(), ports()).with_checkpoints(handler)
}

#[test]
fn a_request_goes_on_in_a_new_process_without_rendering_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    let handlers: [Arc<dyn CheckpointHandler>; 2] =
        [Arc::new(StoreCheckpoints::new(store.clone(), ports())), Arc::new(FileCheckpoints::new(folder.path()))];
    for (handler, request) in handlers.into_iter().zip(["r1", "r2"]) {
        let (world, rendered) = (World::default(), Arc::new(AtomicU32::new(0)));
        let first = block_on(dying_loop(&store, &world, &rendered, handler.clone(), None).execute(request));
        assert_eq!(first.unwrap().output, None);
        assert!(block_on(handler.load(request)).unwrap().is_some(), "the call had begun");

        let found = Some(Found::Done(ToolOutput::text("was done")));
        let next = dying_loop(&store, &world, &rendered, handler.clone(), found);
        let response = block_on(next.execute(request)).unwrap();

        assert_eq!(response.output, Some(Review { verdict: "good".into() }));
        assert_eq!((world.acted("c"), rendered.load(Ordering::SeqCst)), (1, 1));
        assert_eq!(block_on(handler.load(request)).unwrap(), None);
    }
}

#[test]
fn another_prompt_cannot_go_on_with_a_state() {
    let rendered = Arc::new(AtomicU32::new(0));
    let agent = agent(vec![Answer::text(r#"{"verdict":"good"}"#)], vec![]);
    let mut recorder = block_on(Recorder::create(memory(), agent.session(), ports())).unwrap();
    block_on(enable_conversation_recording(&mut recorder)).unwrap();
    block_on(evaluate::<Review>(&agent, &prompt(&rendered, "review {file}"), &mut recorder, ResumeFrom::Nothing))
        .unwrap();
    let state = ConversationState::latest(recorder.session()).unwrap();
    let changed = prompt(&rendered, "judge {file}");
    let other = Template::new("code", "other", "x");

    for prompt in [&changed as &dyn Prompt, &other] {
        let error = block_on(evaluate::<Review>(&agent, prompt, &mut recorder, ResumeFrom::State(&state))).unwrap_err();

        assert_eq!((error.kind(), error.name()), (ErrorKind::Mismatch, Some("ConversationStateMismatch")));
        assert!(error.to_string().contains("Cannot resume with mismatched prompt"));
    }
    // Without a hash, namespace and key decide.
    let unhashed = ConversationState { prompt_hash: None, ..state };
    assert!(block_on(evaluate::<Review>(&agent, &changed, &mut recorder, ResumeFrom::State(&unhashed))).is_ok());
}

#[test]
fn an_output_that_breaks_its_schema_is_refused() {
    let agent = agent(vec![Answer::text(r#"{"verdict":1}"#)], vec![]);
    let mut recorder = block_on(Recorder::create(memory(), agent.session(), ports())).unwrap();
    let prompt = prompt(&Arc::default(), "review");

    let error = block_on(evaluate::<Review>(&agent, &prompt, &mut recorder, ResumeFrom::Nothing)).unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Mismatch);
}

#[test]
fn the_conversation_is_recorded_only_where_it_is_asked_for() {
    let world = World::default();
    let answers = || vec![calling(&[("c", "act", r#"{"n":1}"#)]), Answer::text("ok")];
    let agent = agent(answers(), vec![Fake::acting("act", Effect::Pure, &world)]);
    let mut recorder = block_on(Recorder::create(memory(), agent.session(), ports())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();
    assert_eq!(ConversationState::latest(recorder.session()), None);

    block_on(enable_conversation_recording(&mut recorder)).unwrap();
    let state = ConversationState::latest(recorder.session()).unwrap();

    assert_eq!(state.turns.iter().map(|turn| turn.turn_number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(state.turns[0].assistant_message.tool_calls[0].arguments, r#"{"n":1}"#);
    assert_eq!(state.turns[0].tool_messages[0].content, "c done");
    assert!(state.check().is_ok() && state.pending().is_empty());
}

#[test]
fn a_checkpoint_without_a_conversation_says_so_in_the_words_of_the_specification() {
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(FileCheckpoints::new(folder.path()));
    block_on(files.save("r1", &snapshot())).unwrap();
    let definition = Reviews(Arc::default(), "review");
    let looping = MainLoop::new(definition, agent(vec![], vec![]), memory(), ports()).with_checkpoints(files);

    let error = block_on(looping.execute("r1")).unwrap_err();

    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::NotFound, "No conversation state in checkpoint".to_owned())
    );
    assert_eq!(error.remedy(), Some("clear the checkpoint and start again"));
}
