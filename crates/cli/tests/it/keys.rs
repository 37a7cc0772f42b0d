//! A key is sent to its vendor and kept nowhere: not in a store, a cassette, an event or on the screen, whoever repeats it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use crate::place::{Place, Ran};

const KEY: &str = "sk-planted-key-1";

/// The key in base64.
const ENCODED: &str = "c2stcGxhbnRlZC1rZXktM";

/// A vendor on this machine that answers every request with the next of these: a status and the bodies that make it up,
/// sent one by one. The last one is for ever.
fn vendor(answers: Vec<(u16, Vec<String>)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (next, stream) in listener.incoming().flatten().enumerate() {
            answer(stream, &answers[next.min(answers.len() - 1)]);
        }
    });
    url
}

fn answer(stream: TcpStream, (status, pieces): &(u16, Vec<String>)) {
    let mut stream = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    while stream.read_line(&mut line).is_ok_and(|read| read > 2) {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    stream.read_exact(&mut vec![0; length]).unwrap();
    let kind = if *status == 200 { "text/event-stream" } else { "application/json" };
    let stream = stream.get_mut();
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n").unwrap();
    for piece in pieces {
        stream.write_all(piece.as_bytes()).unwrap();
        stream.flush().unwrap();
    }
}

fn event(delta: &str) -> String {
    format!("data: {{\"id\":\"1\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

fn end(reason: &str) -> String {
    format!(
        "data: {{\"id\":\"1\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
    )
}

/// An answer that says the key in events of four characters.
fn split() -> (u16, Vec<String>) {
    let text = format!("Your key is {KEY}, or {ENCODED}Q==.");
    let pieces = text.as_bytes().chunks(4).map(|piece| std::str::from_utf8(piece).unwrap().to_owned());
    let events = pieces.map(|piece| event(&format!("{{\"content\":\"{piece}\"}}")));
    (200, events.chain([end("stop")]).collect())
}

/// A call whose arguments hold the key.
fn call() -> (u16, Vec<String>) {
    let arguments = format!("{{\\\"key\\\":\\\"{KEY}\\\"}}");
    let function = format!("{{\"name\":\"leak\",\"arguments\":\"{arguments}\"}}");
    let delta =
        format!("{{\"tool_calls\":[{{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{function}}}]}}");
    (200, vec![event(&delta), end("tool_calls")])
}

fn error() -> (u16, Vec<String>) {
    (401, vec![format!("{{\"error\":{{\"message\":\"no such key {KEY} ({ENCODED}Q==)\",\"code\":\"{KEY}\"}}}}")])
}

/// A place with an endpoint whose key is in a variable, and a tool that says all it can find.
fn place(url: &str) -> Place {
    let config = format!(
        "[endpoint.v]\nprovider = \"openai-compatible\"\nmodel = \"m\"\nbase_url = \"{url}\"\nkey = {{ env = \"PLANTED\" }}\n\
         retry = {{ tries = 1 }}\nproxy = \"none\"\n"
    );
    let tools =
        "tools:\n  - {name: leak, command: 'cat; env; cat planted; base64 planted; cat planted >&2', effect: pure}\n";
    let fixture =
        r#"{"turnkeep":1,"sessions":[{"id":"f","turns":[{"blocks":[{"author":"user","type":"text","text":"Hi"}]}]}]}"#;
    let place = Place::new().with("turnkeep.toml", config).with("tools.yaml", tools).with("planted", KEY);
    place.with("f.json", fixture)
}

fn run(place: &Place, words: &str) -> Ran {
    let mut command = place.command(words);
    command.env("PLANTED", KEY).env("TURNKEEP_CONFIG_HOME", place.path("none")).stdin(std::process::Stdio::null());
    Ran::from(command.output().unwrap())
}

/// The files of the place in which the key stands, but for those that hold it on purpose.
fn holders(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            found.extend(holders(&path));
        } else if name != "planted" {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            found.extend([KEY, ENCODED].iter().any(|key| text.contains(key)).then_some(name));
        }
    }
    found
}

#[track_caller]
fn is_nowhere(place: &Place, ran: &Ran) {
    let said = format!("{}{}", ran.out, ran.err);
    assert!(!said.contains(KEY) && !said.contains(ENCODED), "{said}");
    assert_eq!(holders(&place.path("")), Vec::<String>::new());
}

#[test]
fn asking_a_vendor_that_repeats_the_key_keeps_it_nowhere() {
    for answers in [vec![split()], vec![call(), split()], vec![error()]] {
        let place = place(&vendor(answers));

        let ran = run(&place, "ask new Hi --endpoint v --tools tools.yaml --store file:kept");

        assert!(ran.code == 0 || ran.err.contains("no such key ****"), "{ran:#?}");
        is_nowhere(&place, &ran);
        let shown = run(&place, "ls --json --store file:kept").ends(0).out;
        if let Some(id) = shown.split(r#""id": ""#).nth(1).and_then(|rest| rest.split('"').next()) {
            is_nowhere(&place, &run(&place, &format!("tail {id} --envelopes full --store file:kept")));
            is_nowhere(&place, &run(&place, &format!("show {id} --json --store file:kept")));
        }
    }
}

#[test]
fn a_run_whose_vendor_repeats_the_key_leaves_no_file_with_it_and_neither_does_its_replay() {
    for answers in [vec![split()], vec![call(), split()], vec![error()]] {
        let place = place(&vendor(answers));

        let ran = run(&place, "run f.json --endpoint v --tools tools.yaml --out out");
        is_nowhere(&place, &ran);

        let replayed =
            run(&place, "run f.json --endpoint v --tools tools.yaml --out again --replay out/f.cassette.yaml");
        is_nowhere(&place, &replayed);
        if ran.code == 0 {
            assert!(place.text("out/f.final_turn.yaml").contains("Your key is ****, or ****Q=="));
        }
    }
}

#[test]
fn a_tool_is_not_given_the_key_of_an_endpoint_even_by_name() {
    let place = place("http://127.0.0.1:9").with("named.yaml", "tools: [{name: t, command: env, env: [PLANTED]}]");

    let ran = run(&place, "ask new Hi --endpoint v --tools named.yaml --store file:kept");

    assert!(ran.err.contains("`PLANTED` holds the key of an endpoint, and no tool is given it"), "{}", ran.err);
    assert!(ran.err.contains("help: give the tool a key of its own, in a variable of another name"), "{}", ran.err);
}
