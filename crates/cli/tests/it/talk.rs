//! Commands that talk to models.

use crate::place::Place;

const FIXTURE: &str = r#"
turn:
  blocks:
    - {kind: user, role: user, payload: {text: "How warm is it in Oslo?"}}
followups:
  - {kind: user, role: user, payload: {text: "And in Rome?"}}
"#;

const TOOLS: &str = r#"
tools:
  - name: warmth
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
    command: 'grep -q Oslo && echo "{\"degrees\": 3}" || echo "{\"degrees\": 21}"'
    effect: pure
"#;

const SCRIPT: &str = r#"
turnkeep_script: 1
answers:
  - {reasoning: "I look it up.", calls: [{name: warmth, arguments: {city: Oslo}}]}
  - Three degrees.
  - calls: [{name: warmth, arguments: {city: Rome}}]
  - Twenty-one degrees.
"#;

fn place() -> Place {
    Place::new().with("f/warm.yaml", FIXTURE).with("f/warm.tools.yaml", TOOLS).with("f/warm.script.yaml", SCRIPT)
}

#[test]
fn a_run_writes_requests_turns_events_and_a_cassette_and_overwrites_none() {
    let place = place();

    place.run("run f/warm.yaml --endpoint scripted --out out").ends(0);

    assert_eq!(
        place.files("out"),
        [
            "warm.cassette.yaml",
            "warm.events-2.ndjson",
            "warm.events.ndjson",
            "warm.final_turn-2.yaml",
            "warm.final_turn.yaml",
            "warm.request-2.json",
            "warm.request-3.json",
            "warm.request-4.json",
            "warm.request.json",
        ]
    );
    assert!(place.text("out/warm.request.json").contains("How warm is it in Oslo?"));
    assert!(place.text("out/warm.request-4.json").contains("21"));
    assert!(place.text("out/warm.final_turn.yaml").contains("Three degrees."));
    assert!(!place.text("out/warm.final_turn.yaml").contains("Rome"));
    assert!(place.text("out/warm.final_turn-2.yaml").contains("Twenty-one degrees."));
    assert!(place.text("out/warm.events-2.ndjson").contains("tool-result-ready"));
}

#[test]
fn every_wire_runs_the_same_fixture_and_its_recording_gives_the_same_files() {
    let wires =
        ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];
    for wire in wires {
        let place = place();

        place.run(&format!("run f/warm.yaml --endpoint scripted:{wire} --out out")).ends(0);

        place.run(&format!("run f/warm.yaml --endpoint scripted:{wire} --out out --check")).ends(0);
        let replayed =
            format!("run f/warm.yaml --endpoint scripted:{wire} --out again --replay out/warm.cassette.yaml");
        place.run(&replayed).ends(0);
        for name in place.files("again") {
            assert_eq!(place.text(&format!("again/{name}")), place.text(&format!("out/{name}")), "{wire}: {name}");
        }
    }
}

/// The events of a file: their type, and their own fields.
fn events(text: &str) -> Vec<turnkeep_model::Object> {
    let parse = |line: &str| turnkeep_model::json::parse(line).unwrap().into_json();
    let event = |line: &str| parse(line).as_object().unwrap().get("event").unwrap().as_object().unwrap().clone();
    text.lines().map(event).collect()
}

fn kind(event: &turnkeep_model::Object) -> String {
    event.get_str("type").unwrap().into_owned()
}

#[test]
fn the_id_of_a_turn_survives_a_tool_loop_and_stands_in_its_events() {
    let fixture = "id: turn-7\nblocks:\n  - {kind: user, role: user, payload: {text: \"How warm is it in Oslo?\"}}\nmetadata: {trace: t1}\n";
    let place = place().with("f/warm.yaml", fixture);

    place.run("run f/warm.yaml --endpoint scripted --out out").ends(0);

    let turn = place.text("out/warm.final_turn.yaml");
    assert!(turn.contains("\nid: turn-7\n") || turn.starts_with("id: turn-7\n"), "{turn}");
    assert!(turn.contains("trace: t1") && turn.contains("Three degrees."), "{turn}");
    for event in events(&place.text("out/warm.events.ndjson")) {
        for part in ["meta", "correlation"] {
            let part = event.get(part).unwrap().as_object().unwrap();
            assert_eq!(part.get_str("turn_id").as_deref(), Some("turn-7"), "{}", kind(&event));
        }
    }
}

#[test]
fn a_turn_without_an_id_gets_none_in_its_events() {
    let place = place();

    place.run("run f/warm.yaml --endpoint scripted --out out").ends(0);

    assert!(!place.text("out/warm.events.ndjson").contains("turn_id"));
}

#[test]
fn every_call_of_a_provider_ends_once_with_its_usage_and_its_class() {
    let place = place();

    place.run("run f/warm.yaml --endpoint scripted:anthropic.messages --out out").ends(0);

    let all = [events(&place.text("out/warm.events.ndjson")), events(&place.text("out/warm.events-2.ndjson"))].concat();
    let started = all.iter().filter(|event| kind(event) == "provider-call-started").count();
    let finished: Vec<_> = all.iter().filter(|event| kind(event) == "provider-call-finished").collect();
    let classes: Vec<_> = finished.iter().map(|event| event.get_str("finish_class").unwrap().into_owned()).collect();
    assert_eq!(started, 4);
    assert_eq!(classes, ["tool_calls_pending", "completed", "tool_calls_pending", "completed"]);
    assert!(finished.iter().all(|event| event.contains("usage") && event.contains("stop_reason")));
}

#[test]
fn a_call_that_fails_ends_too() {
    let script = "turnkeep_script: 1\nanswers:\n  - error: {status: 401, message: who are you}\n";
    let place = place().with("f/warm.script.yaml", script);

    place.run("run f/warm.yaml --endpoint scripted --out out").ends(1);

    let kinds: Vec<_> = events(&place.text("out/warm.events.ndjson")).iter().map(kind).collect();
    let expected = ["run-started", "provider-call-started", "error", "provider-call-finished", "run-failed"];
    assert_eq!(kinds, expected);
}

#[test]
fn what_arrived_piece_by_piece_is_in_the_events() {
    let place = place();

    place.run("run f/warm.yaml --endpoint scripted:anthropic.messages --out out").ends(0);

    let all = events(&place.text("out/warm.events.ndjson"));
    for (of, whole) in [("reasoning", "I look it up."), ("text", "Three degrees.")] {
        let deltas: Vec<_> = all.iter().filter(|event| kind(event) == format!("{of}-delta")).collect();
        let joined: String = deltas.iter().map(|event| event.get_str("delta").unwrap().into_owned()).collect();
        assert_eq!(joined, whole);
        assert_eq!(deltas.last().unwrap().get_str("text").as_deref(), Some(whole));
        let numbers: Vec<_> = deltas.iter().map(|event| event.get("sequence").unwrap().to_text()).collect();
        let expected: Vec<_> = (1..=deltas.len()).map(|n| n.to_string()).collect();
        assert_eq!(numbers, expected);
    }
}

#[test]
fn a_replay_needs_no_endpoint() {
    let wires =
        ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];
    for wire in wires {
        let place = place();
        place.run(&format!("run f/warm.yaml --endpoint scripted:{wire} --out out")).ends(0);

        place.run("run f/warm.yaml --out again --replay out/warm.cassette.yaml").ends(0);

        for name in place.files("again") {
            assert_eq!(place.text(&format!("again/{name}")), place.text(&format!("out/{name}")), "{wire}: {name}");
        }
    }
}

#[test]
fn what_a_turn_document_cannot_hold_is_told_after_a_run() {
    let session = r#"{"turnkeep":1,"sessions":[{"id":"s1","tags":{"team":"red"},"turns":[{"blocks":[
        {"author":"user","type":"text","text":"How warm is it in Oslo?"}]}]}]}"#;
    let place =
        place().with("g/warm.json", session).with("g/warm.tools.yaml", TOOLS).with("g/warm.script.yaml", SCRIPT);

    let ran = place.run("run g/warm.json --endpoint scripted --out out").ends(0);

    assert!(ran.err.contains("tags"), "{}", ran.err);
}

#[cfg(feature = "http")]
#[test]
fn a_key_that_is_not_accepted_goes_on_to_the_next_endpoint_and_the_error_names_both() {
    let config = |port: u16| {
        format!(
            "[endpoint.first]\nprovider = \"openai\"\nmodel = \"m1\"\nbase_url = \"http://127.0.0.1:{port}\"\nfallback = [\"second\"]\n[endpoint.second]\nprovider = \"openai\"\nmodel = \"m2\"\nbase_url = \"http://127.0.0.1:{port}\"\n"
        )
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().for_each(|stream| refuse(stream.unwrap())));
    let place = place().with("turnkeep.toml", config(port));

    let mut command = place.command("ask new Hello --endpoint first --store file:kept");
    let output = command.env("OPENAI_API_KEY", "k").output().unwrap();

    let told = String::from_utf8(output.stderr).unwrap();
    for part in ["none of 2 endpoints answered", "openai m1", "openai m2", "who are you"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Reads a request and answers that nobody is let in.
#[cfg(feature = "http")]
fn refuse(mut stream: std::net::TcpStream) {
    use std::io::{BufRead, BufReader, Read, Write};
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let body = r#"{"error":{"message":"who are you"}}"#;
    let head = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
}

const LUCEE: &str = r#"{"temperature":0.2,"limit":1,"connectionTimeout":-1,"socketTimeout":-1,"systemMessage":"Be brief.",
    "history":[{"question":"One?","answer":"1"},{"question":"Two?","answer":"2"},{"question":"Three?","answer":"3"}]}"#;

#[test]
fn the_limit_of_a_lucee_session_holds_for_what_a_model_is_asked() {
    let place = place().with("talk.json", LUCEE).with("s.yaml", "turnkeep_script: 1\nanswers: [Wrong., Four.]\n");
    place.run("import talk.json --store file:kept").ends(0);
    let listed = place.run("ls --json --store file:kept").ends(0).out;
    let id = listed.split(r#""id": ""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap();

    let ran = place.run(&format!("ask {id} Four? --script s.yaml --store file:kept")).ends(0);

    assert_eq!(ran.out, "Four.\n");
    assert!(ran.err.contains("turns[*]: it is outside of the window (2 times)"), "{}", ran.err);
    let shown = place.run(&format!("show {id} --store file:kept")).ends(0).out;
    assert!(shown.contains("One?"), "nothing is gone: {shown}");
}

#[test]
fn a_check_shows_what_differs_and_writes_nothing() {
    let place = place();
    place.run("run f/warm.yaml --endpoint scripted --out out").ends(0);
    let before = place.text("out/warm.final_turn.yaml");
    let place = place.with("out/warm.final_turn.yaml", before.replace("Three", "Four"));

    let ran = place.run("run f/warm.yaml --endpoint scripted --out out --check").ends(1);

    assert!(ran.out.contains("-        text: Four degrees.\n+        text: Three degrees."), "{}", ran.out);
    assert!(place.text("out/warm.final_turn.yaml").contains("Four"));
}

#[test]
fn a_directory_is_a_suite() {
    let place = place().with("f/other.yaml", FIXTURE);

    let ran = place.run("run f --endpoint scripted --out out --json").ends(2);

    assert!(ran.out.contains("the endpoint `scripted` needs a script"), "{}", ran.out);
    assert!(ran.out.contains("warm.final_turn-2.yaml"), "{}", ran.out);
}

#[test]
fn a_new_session_is_asked_and_goes_on() {
    let place = place();

    let first =
        place.run("ask new Oslo? --script f/warm.script.yaml --tools f/warm.tools.yaml --json --store file:kept");
    let first = first.ends(0).out;
    let id = first.split(r#""session": ""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let second = format!("ask {id} Rome? --script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept");
    let second = place.run(&second).ends(0);

    assert!(first.contains("Three degrees."), "{first}");
    assert_eq!(second.out, "Twenty-one degrees.\n");
    assert!(second.err.contains(id), "{}", second.err);
}

#[test]
fn a_question_that_is_not_answered_is_kept_and_said_to_be() {
    let refused = "turnkeep_script: 1\nanswers:\n  - error: {status: 401, message: who are you}\n";
    let place = place().with("refused.yaml", refused);

    let ran = place.run("ask new Hello --script refused.yaml --store file:kept").ends(1);

    assert!(ran.err.contains("who are you"), "{}", ran.err);
    assert!(ran.err.contains("the question is kept, unanswered"), "{}", ran.err);
    let id = ran.err.split("turnkeep resume ").nth(1).and_then(|rest| rest.split('`').next()).unwrap().to_owned();
    assert!(place.run(&format!("show {id} --store file:kept")).ends(0).out.contains("Hello"));
}

#[test]
fn a_chat_takes_lines_and_keeps_every_word() {
    let place = place();
    let command = "chat --script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";

    let ran = place.run_with(command, "Oslo?\n/nonsense\nRome?\n/quit\n").ends(0);

    assert_eq!(ran.out, "I look it up.\nThree degrees.\nTwenty-one degrees.\n");
    assert!(ran.err.contains("there is no /nonsense"), "{}", ran.err);
    let id = ran.err.split("turnkeep chat ").nth(1).unwrap().trim().to_owned();
    let shown = place.run(&format!("show {id} --store file:kept")).ends(0).out;
    for text in ["Oslo?", "Three degrees.", "Rome?", "Twenty-one degrees."] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn endpoints_are_listed_with_what_they_lack() {
    let config = "[endpoint.here]\nprovider = \"openai\"\nmodel = \"m\"\nkey = {env = \"TURNKEEP_TEST_NO_SUCH_KEY\"}\n";
    let place = place().with("turnkeep.toml", config);

    let ran = place.run("endpoints").ends(1);

    assert!(ran.out.contains("here"), "{}", ran.out);
    assert!(ran.out.contains("TURNKEEP_TEST_NO_SUCH_KEY"), "{}", ran.out);
    place.run("ask new Hi --endpoint her --store file:kept").ends(4).says("there is no endpoint `her`");
}

#[test]
fn a_session_begun_on_one_wire_is_finished_on_another_and_what_that_one_is_not_told_is_shown() {
    let place = place();
    let ask = |id: &str, text: &str, wire: &str| {
        let with = "--script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";
        place.run(&format!("ask {id} {text} --endpoint scripted:{wire} {with}")).ends(0)
    };

    let first = ask("new", "Oslo?", "openai.responses");
    let id = first.err.split_whitespace().nth(1).unwrap().to_owned();
    let second = ask(&id, "Rome?", "anthropic.messages");

    assert_eq!(first.out, "I look it up.\nThree degrees.\n");
    assert_eq!(second.out, "Twenty-one degrees.\n");
    let told = "dropped     turns[0].blocks[1]: the vendor takes thinking back only as the same model signed it";
    assert!(second.err.contains(told), "{}", second.err);
    let journal = place.run(&format!("tail {id} --store file:kept")).ends(0).out;
    assert!(journal.contains(r#""type":"loss.noted""#), "{journal}");
    assert!(journal.contains(r#""api":"anthropic.messages""#), "{journal}");
}

#[test]
fn a_session_is_resumed_on_an_endpoint() {
    let place = place();
    place.run("import f/warm.yaml --store file:kept").ends(0);
    let listed = place.run("ls --json --store file:kept").ends(0).out;
    let id = listed.split(r#""id": ""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap();

    let with = "--script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";
    let ran = place.run(&format!("resume {id} --endpoint scripted:gemini.contents {with}")).ends(0);

    assert!(ran.out.contains("degrees"), "{}", ran.out);
}

#[test]
fn endpoints_are_compared_side_by_side_each_in_a_session_of_its_own() {
    let place = place();
    let with = "--script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";

    let ran =
        place.run(&format!("ask new Oslo? --endpoint scripted:openai.chat,scripted:ollama.chat --compare {with}"));

    let ran = ran.ends(0);
    assert_eq!(ran.out.matches("Three degrees.").count(), 2, "{}", ran.out);
    assert!(ran.out.contains("endpoint  input  output  cost  time"), "{}", ran.out);
}

#[test]
fn a_comparison_with_an_endpoint_that_is_not_there_leaves_no_fork() {
    let place = place();
    place.run("import s.json --store file:kept").ends(0);
    let before = place.run("ls --json --store file:kept").ends(0).out;

    let with = "--script f/warm.script.yaml --store file:kept";
    place.run(&format!("ask s1 Oslo? --endpoint scripted,nowhere --compare {with}")).ends(4);

    assert_eq!(place.run("ls --json --store file:kept").ends(0).out, before);
}
