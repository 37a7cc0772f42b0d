//! A key is sent, and seen nowhere else.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pollster::block_on;
use turnkeep_model::{LossKind, Session, SessionId, ToolSpec};
use turnkeep_provider::auth::Credentials;
use turnkeep_provider::auth::sigv4::AwsKeys;
use turnkeep_provider::cassette::{Cassette, Mode, Tape};
use turnkeep_provider::endpoint::{Endpoints, Level, Source};
use turnkeep_provider::scripted::{Script, Scripted};
use turnkeep_provider::{
    Header, HeaderValue, KeySource, Provider, Proxy, Retry, Secret, Streaming, Transport, WireModel,
};
use turnkeep_runtime::port::Delta;
use turnkeep_runtime::{Agent, Ports, Recorder};
use turnkeep_store::{MemoryStore, Store, StoreExt};

use crate::kit;
use crate::server::{Play, Server};

const KEY: &str = "sk-planted-key";

/// A vendor that repeats the key wherever it can.
fn echo(status: u16) -> Play {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}","code":"{KEY}"}}}}"#);
    Play::json(status, &body).header("x-request-id", KEY)
}

#[test]
fn a_key_is_in_no_error_and_no_journal_even_if_the_vendor_repeats_it() {
    for play in [echo(401), echo(500), echo(200)] {
        let server = Server::new([play]);
        let header = Header { name: "x-more".into(), value: HeaderValue::Secret(Secret::new("planted-too")) };
        let model = kit::model("groq", &server.url).with_retry(Retry::never()).with_header(header);
        let error = kit::asked(&model).unwrap_err();
        let told = turnkeep_runtime::port::ModelError::from(error.clone());
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(turnkeep_store::Options::default()));
        let id = SessionId::new("s");
        let session = Session { id: Some(id.clone()), ..Session::default() };
        let mut recorder = block_on(Recorder::create(store.clone(), session, Ports::default())).unwrap();
        let debug = format!("{model:?} {error:?} {error} {told:?} {told}");
        block_on(Agent::new(Arc::new(model)).with_retries(0).run(&mut recorder, "hi")).unwrap();
        let journal = block_on(store.journal(&id)).unwrap();
        let journal: String = journal.records().map(|record| format!("{record:?}\n")).collect();

        assert_eq!(server.seen()[0].header("authorization"), Some("Bearer sk-planted-key"));
        assert!(!debug.contains("planted"), "{debug}");
        assert!(!journal.contains("planted"), "{journal}");
    }
}

#[test]
fn nothing_that_holds_a_key_shows_it() {
    let secret = Secret::new(KEY);
    let keys = AwsKeys {
        access_key: "AKID".into(),
        secret_key: secret.clone(),
        session_token: Some(secret.clone()),
        region: "r".into(),
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), KEY).unwrap();
    let text = "[endpoint.a]\nprovider = \"openai\"\nmodel = \"m\"\nkey = { file = \"key\" }\nheaders = { x = { file = \"key\" } }\n";
    let source = Source { path: folder.path().join("turnkeep.toml"), level: Level::User, text: text.into() };
    let endpoints = Endpoints::read(&[source]).unwrap();
    let models = endpoints.open("a", &|_| Ok(Arc::new(kit::http()))).unwrap();

    let shown = format!(
        "{secret:?} {:?} {:?} {:?} {:?} {:?} {endpoints:?} {models:?}",
        Credentials::Key(secret.clone()),
        Credentials::Aws(keys),
        HeaderValue::Secret(secret.clone()),
        KeySource::Command { words: vec!["echo".into(), KEY.into()], within: turnkeep_provider::COMMAND_TIME },
        Proxy::Url(format!("http://u:{KEY}@proxy:1")),
    );

    assert!(!shown.contains("planted"), "{shown}");
}

/// A vendor whose answer repeats the key in its thinking, its text and its call, in pieces that are shorter than the key.
fn repeating(wire: &str) -> Arc<Scripted> {
    let script = format!(
        "turnkeep_script: 1\npiece: 5\nanswers:\n  - {{reasoning: 'I see {KEY} here', text: 'Your key is {KEY}, isn''t it?', \
         calls: [{{name: use, arguments: {{key: '{KEY}', encoded: '{}'}}}}]}}\n",
        STANDARD.encode(format!("user:{KEY}"))
    );
    Arc::new(Scripted::new(wire, Script::parse(script.as_bytes(), "script").unwrap()).unwrap())
}

fn over(wire: &str, transport: Arc<dyn Transport>, credentials: Credentials) -> WireModel {
    let provider = kit::WIRES.iter().find(|(id, _)| *id == wire).unwrap().1;
    let model = WireModel::new(Provider::by_name(provider).unwrap(), "m-1", transport).unwrap();
    model.with_wire(wire).unwrap().with_credentials(credentials)
}

fn question() -> Session {
    Session { tools: vec![ToolSpec { name: "use".into(), ..ToolSpec::default() }], ..kit::question() }
}

/// The answer, what was told on the way, and the journal, as texts.
fn all_of(model: WireModel, streaming: Streaming) -> String {
    let heard = kit::Heard::default();
    let answer = kit::ask(&model, &question(), &heard).unwrap();
    let pieces = heard.0.lock().unwrap();
    let of = |kind: fn(&Delta) -> Option<&str>| pieces.iter().filter_map(kind).collect::<String>();
    let texts = of(|delta| if let Delta::Text(text) = delta { Some(text) } else { None });
    let thoughts = of(|delta| if let Delta::Reasoning(text) = delta { Some(text) } else { None });
    let arguments = of(|delta| if let Delta::Arguments { text, .. } = delta { Some(text) } else { None });
    assert!(
        answer.blocks.iter().filter_map(|block| block.body.as_text()).any(|text| text == "Your key is ****, isn't it?")
    );
    assert!(answer.losses.iter().any(|loss| loss.kind == LossKind::Redacted), "{:?}", answer.losses);
    assert!(texts == if streaming == Streaming::On { "Your key is ****, isn't it?" } else { "" }, "{texts}");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(turnkeep_store::Options::default()));
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, Ports::default())).unwrap();
    let _ = block_on(Agent::new(Arc::new(model)).with_retries(0).run(&mut recorder, "hi"));
    let journal = block_on(store.journal(&SessionId::new("s"))).unwrap();
    let journal: String = journal.records().map(|record| format!("{record:?}\n")).collect();
    format!("{answer:?}\n{texts}\n{thoughts}\n{arguments}\n{journal}")
}

#[test]
fn an_answer_that_repeats_the_key_is_recorded_without_it_on_every_wire_streamed_or_not() {
    let inner = STANDARD.encode(format!("user:{KEY}"));
    for (wire, _) in kit::WIRES {
        for streaming in [Streaming::On, Streaming::Off] {
            let model = over(wire, repeating(wire), Credentials::Key(Secret::new(KEY))).with_streaming(streaming);

            let said = all_of(model, streaming);

            assert!(!said.contains("planted"), "{wire}, {streaming:?}: {said}");
            assert!(!said.contains(&inner[8..16]), "{wire}, {streaming:?}: {said}");
        }
    }
}

#[test]
fn a_cassette_does_not_say_the_key_again_when_it_is_replayed() {
    for (wire, _) in kit::WIRES.iter().filter(|(wire, _)| *wire != "bedrock.converse") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.yaml");
        let tape = Arc::new(Tape::open(&path, Mode::Record, &[]).unwrap());
        let recorded = Cassette::new(tape.clone(), repeating(wire));
        let (key, session) = (Credentials::Key(Secret::new(KEY)), question());
        kit::ask(&over(wire, Arc::new(recorded), key), &session, &turnkeep_runtime::port::NoDeltas).unwrap();
        tape.finish().unwrap();
        drop(tape);

        let text = std::fs::read_to_string(&path).unwrap();
        let tape = Arc::new(Tape::open(&path, Mode::Replay, &[]).unwrap());
        let replayed = over(wire, Arc::new(Cassette::new(tape, repeating(wire))), Credentials::Nobody);
        let answer = kit::ask(&replayed, &session, &turnkeep_runtime::port::NoDeltas).unwrap();

        assert!(!text.contains("planted"), "{wire}: {text}");
        assert!(!format!("{answer:?}").contains("planted"), "{wire}: {answer:?}");
    }
}

#[test]
fn an_error_that_repeats_the_key_in_another_spelling_is_scrubbed() {
    let encoded = STANDARD.encode(KEY);
    let body = format!(r#"{{"error":{{"message":"bad header Basic {encoded}","code":"x"}}}}"#);
    let server = Server::new([Play::json(401, &body)]);

    let error = kit::asked(&kit::model("groq", &server.url).with_retry(Retry::never())).unwrap_err();

    assert!(error.message.starts_with("bad header Basic ****"), "{error}");
}
