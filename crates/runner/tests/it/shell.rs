//! Tools that are programs.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::{Author, Block, Body, CallId, Part, Session, ToolCall, ToolResult};
use turnkeep_provider::endpoint::{Endpoints, Level, Source};
use turnkeep_runner::{Keys, manifest};
use turnkeep_runtime::port::Answer;
use turnkeep_runtime::{Agent, Ports, Recorder, Script, Stopped, Tools, Unsure};

/// The session after a model called the tool of a manifest with these arguments.
fn after(manifest: &str, arguments: &str) -> (Session, Stopped) {
    with(manifest::tools(manifest.as_bytes(), Path::new("/")).unwrap(), arguments)
}

/// The same of tools.
fn with(tools: Tools, arguments: &str) -> (Session, Stopped) {
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
fn a_program_sees_of_the_environment_what_it_needs_and_what_is_named() {
    let manifest = "tools: [{name: t, command: 'env | cut -d= -f1 | LC_ALL=C sort', env: [CARGO_PKG_NAME]}]";
    let (session, _) = after(manifest, "{}");
    let text = text(&session);
    let own = |name: &&str| !["_", "PWD", "OLDPWD", "SHLVL"].contains(name) && !name.starts_with("LC_");
    let seen: Vec<&str> = text.lines().filter(own).collect();

    let usual = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER"];
    let set = usual.iter().copied().filter(|name| std::env::var_os(name).is_some());
    let told = ["TURNKEEP_ATTEMPT", "TURNKEEP_CALL_ID", "TURNKEEP_IS_RESUME", "TURNKEEP_KEY", "CARGO_PKG_NAME"];
    let mut expected: Vec<&str> = set.chain(told).collect();
    expected.sort_unstable();
    assert_eq!(seen, expected);
    assert!(std::env::vars_os().count() > seen.len());
}

#[test]
fn a_manifest_gives_a_variable_a_value() {
    let (session, _) = after("tools: [{name: t, command: 'echo $GREETING', env: {GREETING: hello there}}]", "{}");

    assert_eq!(text(&session), "hello there");
}

#[test]
fn a_key_in_what_a_program_says_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "sk-planted-key\n").unwrap();
    let config = "[endpoint.a]\nprovider = \"openai\"\nmodel = \"m\"\nkey = { file = \"key\" }\n";
    let source = Source { path: folder.path().join("turnkeep.toml"), level: Level::User, text: config.into() };
    let keys = Keys::of(&Endpoints::read(&[source]).unwrap());
    let programs = [
        ("cat key", 100, "****"),
        ("base64 key", 100, "****"),
        ("printf '{\\\"a\\\": \\\"%s\\\"}' $(cat key)", 100, r#"{"a":"****"}"#),
        ("cat key >&2; exit 3", 100, "it ended with exit code 3: ****"),
        // What is kept ends within the key.
        ("printf '0123456 '; cat key", 14, "0123456 ****"),
    ];
    for (program, most, expected) in programs {
        let manifest = format!("tools: [{{name: t, command: \"{program}\", max_result: {most}}}]");
        let tools = manifest::tools_without(manifest.as_bytes(), folder.path(), keys.clone()).unwrap();
        let (session, _) = with(tools, "{}");

        assert!(!format!("{session:?}").contains("planted"), "{program}: {session:?}");
        assert!(text(&session).starts_with(expected), "{program}: {}", text(&session));
    }
}

#[test]
fn no_manifest_gives_a_tool_the_key_of_an_endpoint() {
    for env in ["[OPENAI_API_KEY]", "{AWS_SECRET_ACCESS_KEY: x}"] {
        let manifest = format!("tools:\n  - name: t\n    command: env\n    env: {env}\n");
        let error = manifest::tools(manifest.as_bytes(), Path::new("/")).unwrap_err();

        assert!(error.to_string().contains("holds the key of an endpoint, and no tool is given it"), "{error}");
        assert!(error.remedy().is_some());
    }
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
        ("tools:\n  - name: x\n    command: y\n    env: FOO", "`env` is a list of names of variables, or a mapping"),
        (
            "tools:\n  - name: x\n    command: y\n    env: ['A=1']",
            "`env` is a list of names of variables, or a mapping",
        ),
        ("tools:\n  - {name: x, command: y}\n  - {name: x, command: z}", "two tools are named `x`"),
    ];
    for (manifest, wanted) in table {
        let told = told(manifest);
        assert!(told.contains(wanted), "{manifest:?}: {told}");
    }
    assert!(told("tools:\n  - name: x\n    command: y\n    timeout: soon").contains("line 4"));
}
