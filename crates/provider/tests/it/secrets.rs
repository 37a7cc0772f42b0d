//! A key is sent, and seen nowhere else.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::{Session, SessionId};
use turnkeep_provider::auth::Credentials;
use turnkeep_provider::auth::sigv4::AwsKeys;
use turnkeep_provider::endpoint::{Endpoints, Level, Source};
use turnkeep_provider::{Header, HeaderValue, KeySource, Proxy, Retry, Secret};
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
        let fault = kit::asked(&model).unwrap_err();
        let error = turnkeep_runtime::port::ModelError::from(fault.clone());
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(turnkeep_store::Options::default()));
        let id = SessionId::new("s");
        let session = Session { id: Some(id.clone()), ..Session::default() };
        let mut recorder = block_on(Recorder::create(store.clone(), session, Ports::default())).unwrap();
        let debug = format!("{model:?} {fault:?} {fault} {error:?} {error}");
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
