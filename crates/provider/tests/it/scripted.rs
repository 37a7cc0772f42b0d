//! Vendors that play a script.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_codec::format;
use turnkeep_codec::wire::Parts;
use turnkeep_model::{Body, ErrorKind, Turn};
use turnkeep_provider::scripted::{Script, Scripted};
use turnkeep_provider::{Streaming, Transport, TransportErrorKind};
use turnkeep_runtime::Recorder;
use turnkeep_runtime::port::Clock;

use crate::stage::{Spy, Ticking, WIRES, agent, json, model, ports, post, send, vendor};

const SCRIPT: &str = "
turnkeep_script: 1
answers:
  - reasoning: The user wants the weather.
    text: Let me see.
    calls:
      - {name: weather, arguments: {city: Paris}}
      - {name: weather, arguments: {city: Rome}}
  - text: It is sunny.
    usage: {input: 120, output: 8}
";

/// The words of a session, as a person reads them.
fn history(turns: &[Turn]) -> Vec<String> {
    let line = |body: &Body| match body {
        Body::Text(text) => text.text.clone(),
        Body::Reasoning(reasoning) => {
            format!("({})", reasoning.text.clone().unwrap_or_else(|| reasoning.summary.join(" ")))
        }
        Body::ToolCall(call) => format!("{} {}", call.name, call.arguments),
        Body::ToolResult(_) => "result".to_owned(),
        other => other.kind().to_owned(),
    };
    turns.iter().flat_map(|turn| &turn.blocks).map(|block| line(&block.body)).collect()
}

#[test]
fn an_agent_meets_the_same_script_on_every_wire_streamed_or_not() {
    for (wire, ..) in WIRES {
        for streaming in [Streaming::On, Streaming::Off] {
            let agent = agent(model(wire, Arc::new(vendor(wire, SCRIPT))).with_streaming(streaming));
            let store = turnkeep_store::open("memory:").unwrap();
            let mut recorder = block_on(Recorder::create(store, agent.session(), ports())).unwrap();

            let stopped = block_on(agent.run(&mut recorder, "How is the weather?")).unwrap();

            assert_eq!(stopped.text.as_deref(), Some("It is sunny."), "{wire} {streaming:?}");
            let expected = [
                "How is the weather?",
                "(The user wants the weather.)",
                "Let me see.",
                r#"weather {"city":"Paris"}"#,
                r#"weather {"city":"Rome"}"#,
                "result",
                "result",
                "It is sunny.",
            ];
            assert_eq!(history(&recorder.session().turns), expected, "{wire} {streaming:?}");
            let usage = &recorder.session().turns.last().unwrap().usage;
            assert_eq!((usage.input, usage.output), (Some(120), Some(8)), "{wire} {streaming:?}");
        }
    }
}

#[test]
fn a_history_that_breaks_a_rule_gets_the_vendors_words() {
    let cases = [
        (
            "anthropic.messages",
            r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{}}]},{"role":"user","content":"b"}]}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message."}}"#,
        ),
        (
            "openai.chat",
            r#"{"model":"gpt-4o","messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c","content":"x"}]}"#,
            r#"{"error":{"message":"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.","type":"invalid_request_error","param":null,"code":null}}"#,
        ),
    ];
    for (wire, body, expected) in cases {
        let (status, chunks) = send(&vendor(wire, SCRIPT), post("https://vendor.test/v1", body)).unwrap();

        assert_eq!((status, chunks), (400, vec![Ok(expected.to_owned())]), "{wire}");
    }
}

#[test]
fn the_answer_of_a_place_is_counted_from_the_history() {
    let vendor = vendor("openai.chat", "turnkeep_script: 1\nanswers: [first, second]\n");
    let asked = |messages: &str| {
        let body = format!(r#"{{"model":"gpt-4o","messages":[{messages}]}}"#);
        let (status, chunks) = send(&vendor, post("https://vendor.test/v1", &body)).unwrap();
        let body = json(chunks[0].as_ref().unwrap());
        let (session, _) =
            format::wire("openai.chat").unwrap().decode(Parts { request: None, response: Some(body) }).unwrap();
        (status, history(&session.turns).join(" "))
    };
    let user = r#"{"role":"user","content":"a"}"#;
    let answer = r#"{"role":"assistant","content":"b"}"#;

    assert_eq!(asked(user), (200, "first".into()));
    assert_eq!(asked(&format!("{user},{answer},{user}")), (200, "second".into()));
    assert_eq!(asked(user), (200, "first".into()), "nothing is remembered");
    assert_eq!(asked(&format!("{user},{answer},{user},{answer},{user}")).0, 400);
}

#[test]
fn answers_can_wait_for_what_is_said() {
    let script = "
turnkeep_script: 1
answers:
  - when: {results: {matches: 'sun+y'}}
    text: Take a hat.
  - when: {user: weather, model: gpt}
    calls: [{name: weather, id: call_1, arguments: '{}'}]
  - text: What?
";
    let vendor = vendor("openai.chat", script);
    let asked = |messages: &str, model: &str| {
        let body = format!(r#"{{"model":"{model}","messages":[{messages}]}}"#);
        send(&vendor, post("https://vendor.test/v1", &body)).unwrap().1.remove(0).unwrap()
    };
    let weather = r#"{"role":"user","content":"the weather, please"}"#;
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"call_1","content":"it is sunny"}"#;

    assert!(asked(weather, "gpt-4o").contains("call_1"));
    assert!(asked(weather, "other").contains("What?"));
    assert!(asked(&format!("{weather},{call},{result}"), "gpt-4o").contains("Take a hat."));
}

#[test]
fn failures_come_first_and_then_the_answer() {
    let script = "
turnkeep_script: 1
answers:
  - failures:
      - {status: 429, message: slow down, retry_after: 7}
      - {status: 529}
      - {unreachable: true}
      - {silent: true}
      - {cut: 2}
      - {status: 500, after: 1, message: oh}
    text: Here I am.
";
    let vendor = vendor("anthropic.messages", script);
    let body =
        r#"{"model":"claude-sonnet-4-5","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"a"}]}"#;
    let ask = || send(&vendor, post("https://vendor.test/v1", body));

    let limited = block_on(vendor.send(post("https://vendor.test/v1", body))).unwrap();
    assert_eq!((limited.status, limited.header("retry-after")), (429, Some("7")));
    let (status, chunks) = ask().unwrap();
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"scripted failure"}}"#;
    assert_eq!((status, chunks), (529, vec![Ok(overloaded.to_owned())]));
    assert_eq!(ask().unwrap_err().kind, TransportErrorKind::Connect);
    assert_eq!(ask().unwrap_err().kind, TransportErrorKind::Timeout);
    let (_, cut) = ask().unwrap();
    assert_eq!((cut.len(), cut[2].as_ref().unwrap_err().kind), (3, TransportErrorKind::Cut));
    let (_, late) = ask().unwrap();
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"oh\"}}\n\n";
    assert_eq!((late.len(), late[1].as_deref()), (2, Ok(error)));
    assert!(ask().unwrap().1.iter().all(Result::is_ok));
}

#[test]
fn an_agent_gets_over_failures_on_every_wire() {
    for (wire, ..) in WIRES {
        let script = "
turnkeep_script: 1
answers:
  - failures: [{status: 429, retry_after: 1}, {status: 503, message: busy}]
    text: Here I am.
";
        let spy = Spy::on(vendor(wire, script));
        let agent = agent(model(wire, spy.clone()).with_clock(Ticking::from(0)));
        let store = turnkeep_store::open("memory:").unwrap();
        let mut recorder = block_on(Recorder::create(store, agent.session(), ports())).unwrap();

        let stopped = block_on(agent.run(&mut recorder, "Hello?")).unwrap();

        assert_eq!((stopped.text.as_deref(), spy.count()), (Some("Here I am."), 3), "{wire}");
    }
}

#[test]
fn a_session_file_is_a_script() {
    let session = r#"{"request":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]},"response":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"recorded words"}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4}}}"#;
    let script = Script::parse(session.as_bytes(), "exchange.json").unwrap();
    let vendor = Scripted::new("openai.chat", script).unwrap();

    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"a"}]}"#;
    let (_, chunks) = send(&vendor, post("https://vendor.test/v1", body)).unwrap();

    let answer = json(chunks[0].as_ref().unwrap());
    let (session, _) =
        format::wire("openai.chat").unwrap().decode(Parts { request: None, response: Some(answer) }).unwrap();
    assert_eq!(history(&session.turns), ["recorded words"]);
    assert_eq!(session.turns[0].finish.as_ref().unwrap().word.as_deref(), Some("length"));
}

#[test]
fn delays_are_waited_for() {
    let script = "turnkeep_script: 1\npiece: 100\nanswers:\n  - {text: hi, delay: {first: 2s, between: 100ms}}\n";
    let clock = Ticking::from(0);
    let vendor = vendor("openai.chat", script).with_clock(clock.clone());
    let body = r#"{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"a"}]}"#;

    let (_, chunks) = send(&vendor, post("https://vendor.test/v1", body)).unwrap();

    let between = Duration::from_millis(100) * u32::try_from(chunks.len()).unwrap();
    assert_eq!(clock.now().as_millisecond(), i64::try_from((Duration::from_secs(2) + between).as_millis()).unwrap());
}

#[test]
fn wrong_scripts_are_refused_with_their_line() {
    let wrong = [
        ("turnkeep_script: 1\nanswers:\n  - txt: a\n", 3, "there is no field `txt` here"),
        ("turnkeep_script: 1\nanswers:\n  - text: a\n  - {calls: [{arguments: {}}]}\n", 4, "a call has a `name`"),
        ("turnkeep_script: 1\nanswers:\n  - text: a\n    delay: soon\n", 4, "expected a time as `250ms` or `2s`"),
        ("turnkeep_script: 1\nanswers:\n  - error: {status: 200}\n", 3, "the status of a failure is from 400 to 599"),
        (
            "turnkeep_script: 1\nanswers:\n  - when: {user: {matches: '('}}\n    text: a\n",
            3,
            "this is no pattern that can be read",
        ),
        ("turnkeep_script: 1\nanswers: [\n", 2, ""),
    ];
    for (text, line, what) in wrong {
        let error = Script::parse(text.as_bytes(), "script.yaml").unwrap_err();
        assert_eq!((error.kind(), error.at_line()), (ErrorKind::Corrupt, Some(line)), "{text}: {error}");
        assert!(error.what().contains(what), "{error}");
    }
}

#[test]
fn an_unknown_wire_is_told() {
    let Err(error) = Scripted::new("smoke.signals", Script::default()) else { panic!("there is no such wire") };
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn the_example_of_the_documentation_is_a_script() {
    let page = include_str!("../../../../docs/scripted.md");
    let example = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();

    let script = Script::parse(example.as_bytes(), "weather.script.yaml").unwrap();

    assert_eq!(script.answers.len(), 4);
}
