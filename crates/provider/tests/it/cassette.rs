//! Cassettes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use pollster::block_on;
use turnkeep_model::ErrorKind;
use turnkeep_provider::cassette::{Cassette, Mode, Pace, RecordedClock, RecordedIds, Tape};
use turnkeep_provider::{
    Header, HeaderValue, HttpRequest, HttpResponse, Secret, Transport, TransportError, TransportErrorKind,
};
use turnkeep_runtime::port::{Clock, Ids};
use turnkeep_runtime::{Ports, Recorder};
use turnkeep_store::{BoxFuture, StoreExt};

use crate::stage::{Counting, Ticking, agent, model, post, send, vendor};

type Chunks = Vec<Result<Vec<u8>, TransportError>>;

/// Answers the n-th request with the n-th of some answers.
struct Line(Mutex<Vec<Result<(u16, Chunks), TransportError>>>);

impl Line {
    fn of(answers: Vec<Result<(u16, Chunks), TransportError>>) -> Arc<Line> {
        Arc::new(Line(Mutex::new(answers)))
    }

    fn texts(answers: &[&[&str]]) -> Arc<Line> {
        let chunks = |texts: &[&str]| texts.iter().map(|text| Ok(text.as_bytes().to_vec())).collect();
        Line::of(answers.iter().map(|texts| Ok((200, chunks(texts)))).collect())
    }
}

impl Transport for Line {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        let next = self.0.lock().unwrap().remove(0);
        let headers =
            [("content-type", "text/plain"), ("set-cookie", "id=sk-planted-1"), ("openai-organization", "acme")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let answer =
            next.map(|(status, chunks)| HttpResponse { status, headers, body: Box::pin(stream::iter(chunks)) });
        Box::pin(async move { answer })
    }
}

/// Nobody is there.
struct Nobody;

impl Transport for Nobody {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        panic!("a replay must not send anything")
    }
}

fn path() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.cassette.yaml");
    (folder, path)
}

fn tape(path: &Path, mode: Mode) -> Arc<Tape> {
    Arc::new(Tape::open(path, mode, &[]).unwrap())
}

fn recorded(path: &Path, inner: Arc<dyn Transport>) -> Cassette {
    Cassette::new(tape(path, Mode::Record), inner).with_clock(Ticking::from(0))
}

fn replayed(path: &Path) -> Cassette {
    Cassette::new(tape(path, Mode::Replay), Arc::new(Nobody))
}

const URL: &str = "https://vendor.test/v1/messages";

#[test]
fn what_was_recorded_is_replayed_chunk_by_chunk() {
    let (_folder, path) = path();
    let chunks: Chunks = vec![
        Ok(b"data: {\"a\":1}\n\n".to_vec()),
        Ok("half \u{fc}".as_bytes()[..6].to_vec()),
        Ok(vec![0xbc, 0, 255]),
        Ok(b"{\"json\":[1.0,2e3]}".to_vec()),
        Ok(b"  trailing \r\n\n".to_vec()),
    ];
    let expected: Vec<_> =
        chunks.iter().cloned().map(|chunk| chunk.map(|b| String::from_utf8_lossy(&b).into_owned())).collect();
    let live = recorded(&path, Line::of(vec![Ok((206, chunks))]));
    let first = send(&live, post(URL, r#"{"b":1,"a":[true]}"#)).unwrap();
    drop(live);

    let again = send(&replayed(&path), post(URL, r#"{ "a" : [true], "b" : 1 }"#)).unwrap();

    assert_eq!(first, (206, expected));
    assert_eq!(again, first);
}

#[test]
fn failures_are_replayed_too() {
    let (_folder, path) = path();
    let cut = TransportError { kind: TransportErrorKind::Cut, message: "the connection ended".into() };
    let refused = TransportError { kind: TransportErrorKind::Connect, message: "nobody listens".into() };
    let live =
        recorded(&path, Line::of(vec![Err(refused.clone()), Ok((200, vec![Ok(b"da".to_vec()), Err(cut.clone())]))]));
    let outcomes = |transport: &dyn Transport| [send(transport, post(URL, "{}")), send(transport, post(URL, "{}"))];
    let first = outcomes(&live);
    drop(live);

    assert_eq!(outcomes(&replayed(&path)), first);
    assert_eq!(first, [Err(refused), Ok((200, vec![Ok("da".into()), Err(cut)]))]);
}

#[test]
fn equal_requests_are_answered_in_their_order_and_only_as_often() {
    let (_folder, path) = path();
    let live = recorded(&path, Line::texts(&[&["one"], &["two"]]));
    let _ = (send(&live, post(URL, "{}")), send(&live, post(URL, "{}")));
    drop(live);

    let again = replayed(&path);
    let texts: Vec<_> = (0..2).map(|_| send(&again, post(URL, "{}")).unwrap().1.remove(0).unwrap()).collect();
    let third = send(&again, post(URL, "{}")).unwrap_err();

    assert_eq!(texts, ["one", "two"]);
    assert_eq!(third.kind, TransportErrorKind::Mismatch);
    assert_eq!(third.message, "the cassette answers this request 2 times, and it is made once more");
}

#[test]
fn a_request_that_was_not_recorded_is_told_apart_by_paths() {
    let (_folder, path) = path();
    let live = recorded(&path, Line::texts(&[&["one"], &["two"]]));
    let _ = send(&live, post(URL, r#"{"model":"other","messages":[]}"#));
    let body = r#"{"temperature":0.2,"messages":[{"role":"user","content":"My secret plan"}],"top_p":1}"#;
    let _ = send(&live, post(URL, body));
    drop(live);

    let asked = r#"{"temperature":0.7,"messages":[{"role":"user","content":"My secret idea"},{}],"stream":true}"#;
    let error = send(&replayed(&path), post(URL, asked)).unwrap_err();

    let expected = "the cassette has no such request; exchange 1 comes nearest, and differs in: \
                    `temperature` (0.2 recorded, 0.7 asked); `messages[0].content` (texts part at character 11); \
                    `messages` (1 elements recorded, 2 asked); `top_p` (only recorded); `stream` (only asked)";
    assert_eq!(error, TransportError { kind: TransportErrorKind::Mismatch, message: expected.into() });
}

#[test]
fn another_address_is_named() {
    let (_folder, path) = path();
    let live = recorded(&path, Line::texts(&[&["one"]]));
    let _ = send(&live, post(URL, "{}"));
    drop(live);

    let error = send(&replayed(&path), post("https://vendor.test/v2?key=sk-planted-9", "{}")).unwrap_err();

    let expected = "the cassette has no request to https://vendor.test/v2?key=****; it was recorded with https://vendor.test/v1/messages";
    assert_eq!(error.message, expected);
}

#[test]
fn no_secret_reaches_the_file() {
    let (_folder, path) = path();
    let answer = ["echo sk-pla", "nted-1 and sk-planted-2", " and sk-planted-3"];
    let live = Tape::open(&path, Mode::Record, &[Secret::new("sk-planted-2")]).unwrap();
    let live = Cassette::new(Arc::new(live), Line::texts(&[&answer]));
    let secret = |name: &str, value: &str| Header { name: name.into(), value: HeaderValue::Secret(Secret::new(value)) };
    let plain = |name: &str, value: &str| Header { name: name.into(), value: HeaderValue::Plain(value.into()) };
    let mut request =
        post(&format!("{URL}?key=sk-planted-4&alt=sse"), r#"{"text":"sk-planted-1, sk-planted-2, sk-planted-4"}"#);
    request.headers =
        vec![secret("authorization", "Bearer sk-planted-1"), plain("x-api-key", "sk-planted-3"), plain("accept", "x")];
    let heard = send(&live, request).unwrap();
    drop(live);

    let text = std::fs::read_to_string(&path).unwrap();

    assert_eq!(heard.1.len(), 3, "whoever asks hears all of it");
    assert!(!text.contains("planted") && !text.contains("acme"), "{text}");
    assert!(text.contains("alt=sse") && text.contains("accept: x"), "{text}");
}

#[test]
fn a_replay_needs_no_secret() {
    let (_folder, path) = path();
    let keyed = |key: &str| post(&format!("{URL}?key={key}"), "{}");
    let live = recorded(&path, Line::texts(&[&["one"]]));
    let first = send(&live, keyed("sk-planted-1"));
    drop(live);

    assert_eq!(send(&replayed(&path), keyed("none")), first);
}

#[test]
fn a_recording_that_was_cut_off_is_read_as_far_as_it_goes() {
    let (_folder, path) = path();
    let live = recorded(&path, Line::texts(&[&["one"], &["two"]]));
    let _ = (send(&live, post(URL, "[1]")), send(&live, post(URL, "[2]")));
    drop(live);
    let text = std::fs::read_to_string(&path).unwrap();
    let second = text.match_indices("---\n").nth(2).unwrap().0;

    for end in second..text.len() {
        if !text.is_char_boundary(end) {
            continue;
        }
        std::fs::write(&path, &text[..end]).unwrap();
        let again = replayed(&path);
        assert!(send(&again, post(URL, "[1]")).is_ok(), "cut at {end}");
    }
}

#[test]
fn what_is_missing_is_recorded() {
    let (_folder, path) = path();
    let or_record = |inner: Arc<dyn Transport>| Cassette::new(tape(&path, Mode::ReplayOrRecord), inner);
    let one = send(&or_record(Line::texts(&[&["one"]])), post(URL, "[1]"));
    let both = or_record(Line::texts(&[&["two"]]));
    let again = [send(&both, post(URL, "[1]")), send(&both, post(URL, "[2]"))];
    drop(both);
    let only = replayed(&path);

    assert_eq!(again[0], one);
    assert_eq!([send(&only, post(URL, "[1]")), send(&only, post(URL, "[2]"))], again);
}

#[test]
fn a_cassette_that_is_off_does_nothing() {
    let (_folder, path) = path();
    let off = Cassette::new(tape(&path, Mode::Off), Line::texts(&[&["one"]]));

    assert_eq!(send(&off, post(URL, "{}")).unwrap().1, [Ok("one".to_owned())]);
    assert!(!path.exists());
}

#[test]
fn a_replay_waits_only_where_it_is_told_to() {
    let (_folder, path) = path();
    let text = "---\nturnkeep_cassette: 1\n...\n---\nexchange:\n  number: 0\n  request: {method: POST, url: \"https://v.test\", json: {}}\n  response:\n    status: 200\n    after: 40\n    chunks: [{at: 50, text: a}, {at: 90, text: b}]\n    end: complete\n...\n";
    std::fs::write(&path, text).unwrap();
    let waits = |pace: Pace| {
        let clock = Ticking::from(0);
        let tape = Tape::open(&path, Mode::Replay, &[]).unwrap().at_pace(pace);
        let cassette = Cassette::new(Arc::new(tape), Arc::new(Nobody)).with_clock(clock.clone());
        send(&cassette, post("https://v.test", "{}")).unwrap();
        clock.now().as_millisecond()
    };

    assert_eq!((waits(Pace::Fast), waits(Pace::Recorded)), (0, 90));
}

#[test]
fn errors_of_a_cassette_name_file_and_line() {
    let (_folder, path) = path();
    let opened = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let error = Tape::open(&path, Mode::Replay, &[]).unwrap_err();
        (error.kind(), error.at_line())
    };

    assert_eq!(Tape::open(Path::new("/nowhere/x"), Mode::Replay, &[]).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(opened("---\nturnkeep_cassette: 9\n...\n"), (ErrorKind::Unsupported, Some(1)));
    assert_eq!(opened("---\nturnkeep_cassette: 1\n...\n---\nexchange:\n  a: [\n...\n"), (ErrorKind::Corrupt, Some(6)));
    assert_eq!(opened("---\nturnkeep_cassette: 1\n...\n---\nexchange: {}\n...\n"), (ErrorKind::Corrupt, Some(4)));
    assert_eq!(opened("hello: 1\n").0, ErrorKind::NotThisFormat);
}

const VCR: &str = r#"---
version: 1
interactions:
- request:
    body: '{"model":"m"}'
    form: {}
    headers:
      Content-Type:
      - application/json
    url: https://api.openai.com/v1/responses
    method: POST
  response:
    body: |-
      {"error": 1}
    headers:
      Content-Length:
      - "160"
      X-Request-Id:
      - req_1
    status: 401 Unauthorized
    code: 401
    duration: ""
- request:
    body: ""
    url: https://api.openai.com/v1/responses
    method: POST
  response:
    body: "data: x\n\n"
    headers: {}
    status: 200 OK
    code: 200
    duration: 1.5s
"#;

#[test]
fn cassettes_of_go_vcr_are_replayed_by_method_and_address() {
    let (_folder, path) = path();
    std::fs::write(&path, VCR).unwrap();
    let again = replayed(&path);
    let url = "https://api.openai.com/v1/responses";

    let heard = [send(&again, post(url, r#"{"model":"other"}"#)), send(&again, post(url, "{}"))];

    let text = |text: &str| vec![Ok(text.to_owned())];
    assert_eq!(heard, [Ok((401, text(r#"{"error": 1}"#))), Ok((200, text("data: x\n\n")))]);
    assert_eq!(send(&again, post(url, "{}")).unwrap_err().kind, TransportErrorKind::Mismatch);
    let written = Tape::open(&path, Mode::ReplayOrRecord, &[]).unwrap_err();
    assert_eq!(written.kind(), ErrorKind::Unsupported);
}

#[test]
fn times_ids_and_waits_come_back() {
    let (_folder, path) = path();
    let run = |mode: Mode, start: i64, prefix: &'static str| {
        let tape = tape(&path, mode);
        let clock = RecordedClock::new(tape.clone(), Ticking::from(start));
        let ids = RecordedIds::new(tape, Counting::from(prefix));
        let first = clock.now();
        block_on(clock.sleep(Duration::from_secs(1)));
        let limit = clock.sleep(Duration::from_secs(1000));
        let never = block_on(futures_util::future::select(limit, std::future::ready(())));
        let is_pending = matches!(never, futures_util::future::Either::Right(_));
        (first, clock.now(), ids.next(), ids.next(), is_pending)
    };

    let recorded = run(Mode::Record, 1_700_000_000_000, "old");
    assert_eq!(run(Mode::Replay, 0, "new"), recorded);
    assert!(recorded.4);
}

/// A script of `turns` answers that each call a tool, and a last one that does not.
fn long_script(turns: usize) -> String {
    let call = |n: usize| {
        format!("  - reasoning: thought {n}\n    calls: [{{name: weather, arguments: {{city: City {n}}}}}]\n")
    };
    let calls: String = (1..turns).map(call).collect();
    format!("turnkeep_script: 1\nanswers:\n{calls}  - text: all done\n")
}

/// The journal of an agent that runs over a cassette.
fn journal(wire: &str, tape: Arc<Tape>, inner: Arc<dyn Transport>, start: i64, prefix: &'static str) -> String {
    let clock: Arc<dyn Clock> = Arc::new(RecordedClock::new(tape.clone(), Ticking::from(start)));
    let ids: Arc<dyn Ids> = Arc::new(RecordedIds::new(tape.clone(), Counting::from(prefix)));
    let cassette = Arc::new(Cassette::new(tape, inner));
    let agent = agent(model(wire, cassette).with_clock(clock.clone()));
    let store = turnkeep_store::open("memory:").unwrap();
    let ports = Ports { clock, ids, ..Ports::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), agent.session(), ports)).unwrap();
    let stopped = block_on(agent.run(&mut recorder, "How is the weather everywhere?")).unwrap();
    assert_eq!(stopped.text.as_deref(), Some("all done"), "{:?}", recorder.session().turns.last());
    let journal = block_on(store.journal(recorder.id())).unwrap();
    journal.batches.iter().map(|batch| batch.to_line() + "\n").collect()
}

#[test]
fn a_run_of_fifty_turns_replays_to_the_same_journal() {
    let (_folder, path) = path();
    let wires =
        ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];
    for wire in wires {
        let script = Arc::new(vendor(wire, &long_script(50)));
        let first = journal(wire, tape(&path, Mode::Record), script, 1_800_000_000_000, "old");
        let replay = tape(&path, Mode::Replay);
        let again = journal(wire, replay.clone(), Arc::new(Nobody), 5, "new");

        assert_eq!(again, first, "{wire}");
        assert_eq!(replay.unused(), 0);
        assert!(first.lines().count() >= 100, "{}", first.lines().count());
    }
}

#[test]
fn the_example_of_the_documentation_is_a_cassette() {
    let page = include_str!("../../../../docs/cassettes.md");
    let example = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let (_folder, path) = path();
    std::fs::write(&path, example).unwrap();

    let heard = send(
        &replayed(&path),
        post(
            "https://api.anthropic.com/v1/messages",
            r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"Say hi."}]}"#,
        ),
    )
    .unwrap();

    assert_eq!(heard.0, 200);
    assert_eq!(heard.1.len(), 2);
}
