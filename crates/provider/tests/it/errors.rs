//! Everything that goes wrong, and that a session survives it.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::{Session, SessionId, Status};
use turnkeep_provider::{ProviderErrorKind, Retry, Streaming, Timeouts, WireModel};
use turnkeep_runtime::{Agent, Ports, Recorder};
use turnkeep_store::{MemoryStore, Store, StoreExt};

use crate::kit;
use crate::server::{End, Play, Server};

const ANSWER: &str = r#"{"id":"1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Sunny."},"finish_reason":"stop"}]}"#;

fn events(text: &str) -> Play {
    Play::new(200, "text/event-stream", text)
}

fn error(message: &str) -> String {
    format!(r#"{{"error":{{"message":"{message}","type":"some_error"}}}}"#)
}

/// Every failure that a server can play, with its kind and what of its message must be told.
fn failures() -> Vec<(Play, ProviderErrorKind, &'static str)> {
    let chunk = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Sun\"}}]}\n\n";
    let refused = |status: u16| Play::json(status, &error("the vendor's words")).header("x-request-id", "req-7");
    let words = "the vendor's words [request req-7]";
    vec![
        (refused(400), ProviderErrorKind::Invalid, words),
        (refused(422), ProviderErrorKind::Invalid, words),
        (
            Play::json(400, &error("prompt is too long: 9 tokens > 8 maximum")),
            ProviderErrorKind::ContextOverflow,
            "9 tokens",
        ),
        (refused(401), ProviderErrorKind::Unauthorized, words),
        (refused(402), ProviderErrorKind::Unpaid, words),
        (refused(403), ProviderErrorKind::Forbidden, words),
        (refused(404), ProviderErrorKind::NotFound, words),
        (refused(413), ProviderErrorKind::RequestTooLarge, words),
        (refused(429).header("retry-after", "7"), ProviderErrorKind::RateLimited, "[asks to wait 7 s]"),
        (refused(500), ProviderErrorKind::ServerError, words),
        (refused(502), ProviderErrorKind::Unavailable, words),
        (refused(503), ProviderErrorKind::Unavailable, words),
        (refused(504), ProviderErrorKind::Unavailable, words),
        (refused(529), ProviderErrorKind::Overloaded, words),
        (Play::new(502, "text/html", "<html>nginx</html>"), ProviderErrorKind::Unavailable, "a page came"),
        (
            Play::new(301, "text/html", "").header("location", "https://elsewhere.test/"),
            ProviderErrorKind::Redirect,
            "elsewhere",
        ),
        (Play::new(307, "text/html", "").header("location", "/v2"), ProviderErrorKind::Redirect, "/v2"),
        (Play::new(200, "text/html", "<html>Log in</html>"), ProviderErrorKind::WrongContentType, "text/html"),
        (Play::new(200, "application/json", "<html>Log in</html>"), ProviderErrorKind::WrongContentType, "a page"),
        (Play::json(200, "{\"choices\":[{\"ind"), ProviderErrorKind::Malformed, "not the JSON"),
        (Play::json(200, "[1, 2]"), ProviderErrorKind::Malformed, "not the JSON"),
        (events("data: {\"id\":\"1\",,}\n\n"), ProviderErrorKind::Malformed, "not the JSON"),
        (events(chunk), ProviderErrorKind::Cut, "ended before its end"),
        (events(chunk).ending(End::Cut), ProviderErrorKind::Cut, ""),
        (events(""), ProviderErrorKind::Cut, ""),
        (events(&format!("{chunk}data: {}\n\n", error("broke off"))), ProviderErrorKind::StreamError, "broke off"),
        (Play::json(200, &error("in an answer")), ProviderErrorKind::StreamError, "in an answer"),
        (events(chunk).ending(End::Hang), ProviderErrorKind::IdleTimeout, "nothing came for"),
        (events("").ending(End::Silence), ProviderErrorKind::FirstByteTimeout, "nothing came within"),
        (events("").ending(End::Slam), ProviderErrorKind::Closed, ""),
        (Play::json(200, "not gzip").header("content-encoding", "gzip"), ProviderErrorKind::Malformed, ""),
    ]
}

fn model(url: &str) -> WireModel {
    kit::model("groq", url).named("the-endpoint").with_retry(Retry::never())
}

/// A model for a server that plays this: where nothing will come, it is not waited for long.
fn model_for(play: &Play, url: &str) -> WireModel {
    let soon = Duration::from_millis(40);
    match play.end {
        End::Hang => model(url).with_timeouts(Timeouts { idle: soon, ..Timeouts::default() }),
        End::Silence => model(url).with_timeouts(Timeouts { first_byte: soon, ..Timeouts::default() }),
        End::Proper | End::Cut | End::Slam => model(url),
    }
}

#[test]
fn every_failure_has_its_kind_and_says_where_what_and_what_helps() {
    for (play, kind, words) in failures() {
        let server = Server::new([play.clone()]);

        let error = kit::asked(&model_for(&play, &server.url)).unwrap_err();

        let shown = error.to_string();
        assert_eq!(error.kind, kind, "{play:?}: {shown}");
        assert!(shown.starts_with("endpoint `the-endpoint`: ") && shown.ends_with(error.remedy()), "{shown}");
        assert!(shown.contains(words), "{shown}");
        assert!(!shown.contains("planted") && !shown.contains("What is the weather"), "{shown}");
    }
}

/// Runs an agent whose model fails as it is told, and then resumes it with one that answers.
fn survives(failing: WireModel, kind: ProviderErrorKind) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(turnkeep_store::Options::default()));
    let id = SessionId::new("s");
    let session = Session { id: Some(id.clone()), ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, Ports::default())).unwrap();
    let agent = Agent::new(Arc::new(failing)).with_retries(0);
    let stopped = block_on(agent.run(&mut recorder, "What is the weather?")).unwrap();
    assert!(matches!(stopped.status, Status::Failed(_)), "{kind:?}: {stopped:?}");
    let loaded = block_on(store.load(&id)).unwrap();
    assert_eq!(loaded.session.turns[0].errors[0].class.as_deref(), Some(kind.as_str()));
    assert_eq!(loaded.session.blocks().count(), 1, "half an answer is none");

    let server = Server::new([Play::json(200, ANSWER)]);
    let agent = Agent::new(Arc::new(kit::model("groq", &server.url)));
    let mut recorder = block_on(Recorder::resume(store.clone(), &id, Ports::default())).unwrap();
    let stopped = block_on(agent.resume(&mut recorder)).unwrap();

    assert_eq!(stopped.text.as_deref(), Some("Sunny."), "{kind:?}");
}

#[test]
fn a_session_is_valid_and_resumed_after_every_failure() {
    for (play, kind, _) in failures() {
        let server = Server::new([play.clone()]);
        survives(model_for(&play, &server.url), kind);
    }
}

#[test]
fn nobody_listening_is_told() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = model(&format!("http://{free}"));

    assert_eq!(kit::asked(&model).unwrap_err().kind, ProviderErrorKind::Refused);
    survives(model, ProviderErrorKind::Refused);
}

#[test]
fn a_host_without_an_address_is_told() {
    let model = model("http://no-such-host.invalid");

    assert_eq!(kit::asked(&model).unwrap_err().kind, ProviderErrorKind::Dns);
    survives(model, ProviderErrorKind::Dns);
}

#[test]
fn an_address_that_is_none_is_told() {
    let error = kit::asked(&model("http://[")).unwrap_err();

    assert_eq!(error.kind, ProviderErrorKind::Unsendable);
}

#[test]
fn a_body_that_is_too_large_is_given_up() {
    let megabyte = vec![b' '; 1 << 20];
    let play =
        Play { chunks: std::iter::once(b"{".to_vec()).chain(vec![megabyte; 65]).collect(), ..Play::json(200, "") };
    let server = Server::new([play]);
    let model = model(&server.url).with_streaming(Streaming::Off);

    assert_eq!(kit::asked(&model).unwrap_err().kind, ProviderErrorKind::TooLarge);
    survives(model, ProviderErrorKind::TooLarge);
}

#[test]
fn every_kind_has_a_word_of_its_own() {
    for kind in ProviderErrorKind::ALL {
        assert_eq!(ProviderErrorKind::from_word(kind.as_str()), Some(*kind));
    }
}
