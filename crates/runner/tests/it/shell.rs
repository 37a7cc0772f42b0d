//! Tools that are programs.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::{Author, Block, Body, CallId, Part, Session, ToolCall, ToolResult};
use turnkeep_runner::manifest;
use turnkeep_runtime::port::Answer;
use turnkeep_runtime::{Agent, Ports, Recorder, Script, Stopped, Unsure};

/// The session after a model called the tool of a manifest with these arguments.
fn after(manifest: &str, arguments: &str) -> (Session, Stopped) {
    let tools = manifest::tools(manifest.as_bytes(), Path::new("/")).unwrap();
    let name = tools.specs()[0].name.clone();
    let call = ToolCall { call: CallId::given("c1"), name, arguments: arguments.into() };
    let calls = Answer { blocks: vec![Block::new(Author::Assistant, call)], ..Answer::default() };
    let model = Arc::new(Script::new("m", vec![calls, Answer::text("done")]));
    let agent = Agent::new(model).with_tools(tools).with_unsure(Unsure::TellModel);
    block_on(async {
        let store = turnkeep_store::open("memory:").unwrap();
        let mut recorder = Recorder::create(store, agent.session(), Ports::default()).await.unwrap();
        let stopped = agent.run(&mut recorder, "go").await.unwrap();
        (recorder.session().clone(), stopped)
    })
}

fn result(session: &Session) -> ToolResult {
    let found = session.blocks().find_map(|(_, block)| match &block.body {
        Body::ToolResult(result) => Some(result.clone()),
        _ => None,
    });
    found.expect("the call has a result")
}

fn text(session: &Session) -> String {
    let parts = result(session).parts;
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        other => format!("{other:?}"),
    });
    texts.collect()
}

#[test]
fn arguments_come_on_standard_input_and_the_output_is_the_result() {
    let (session, _) = after("tools: [{name: echo, command: [cat], effect: pure}]", r#"{"city":"Oslo"}"#);

    assert_eq!(text(&session), r#"{"city":"Oslo"}"#);
}

#[test]
fn a_program_is_told_its_call() {
    let (session, _) = after("tools: [{name: t, command: 'echo $TURNKEEP_CALL_ID $TURNKEEP_ATTEMPT'}]", "{}");

    assert_eq!(text(&session), "c1 1");
}

#[test]
fn a_failure_is_told_with_the_code_and_what_the_program_said() {
    let (session, _) = after("tools: [{name: t, command: 'echo no such city >&2; exit 3'}]", "{}");

    assert_eq!(text(&session), "it ended with exit code 3: no such city");
}

#[test]
fn a_program_that_does_not_read_and_one_that_says_much_are_no_trouble() {
    let arguments = format!(r#"{{"x":"{}"}}"#, "y".repeat(1 << 20));
    let (session, _) = after("tools: [{name: t, command: 'echo ok'}]", &arguments);
    assert_eq!(text(&session), "ok");

    let manifest = "tools: [{name: t, command: 'head -c 3000000 /dev/zero | tr \"\\\\0\" x', max_result: 1000}]";
    let (session, _) = after(manifest, "{}");
    assert!(text(&session).len() < 1200, "{}", text(&session).len());
}

#[test]
fn a_program_that_takes_too_long_is_ended_with_all_it_started() {
    let began = Instant::now();
    let (session, _) = after("tools: [{name: t, command: 'sleep 60 & sleep 60; wait', timeout: 100ms}]", "{}");

    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(!text(&session).is_empty());
}

#[test]
fn a_manifest_that_is_wrong_is_refused_with_the_place_and_what_helps() {
    let told = |text: &str| {
        let error = manifest::tools(text.as_bytes(), Path::new("/")).unwrap_err();
        format!("{error}{}", error.remedy().map(|remedy| format!(" | {remedy}")).unwrap_or_default())
    };
    let table = [
        ("tool: []", "a manifest has a list `tools` | begin the file with `tools:`"),
        ("tools:\n  - command: x", "the tool has no `name`"),
        ("tools:\n  - name: x", "the tool has no `command`"),
        ("tools:\n  - name: x\n    command: []", "`command` is a line for the shell, or a list"),
        ("tools:\n  - name: x\n    command: y\n    effects: pure", "a tool has no `effects`"),
        ("tools:\n  - name: x\n    command: y\n    effect: twice", "`effect` is one of pure, keyed, once"),
        ("tools:\n  - name: x\n    command: y\n    timeout: soon", "`timeout` is a time such as"),
        ("tools:\n  - {name: x, command: y}\n  - {name: x, command: z}", "two tools are named `x`"),
    ];
    for (manifest, wanted) in table {
        let told = told(manifest);
        assert!(told.contains(wanted), "{manifest:?}: {told}");
    }
    assert!(told("tools:\n  - name: x\n    command: y\n    timeout: soon").contains("line 4"));
}
