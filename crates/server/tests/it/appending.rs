//! Appending by compare-and-swap.

use reqwest::Method;
use serde_json::json;
use turnkeep_server::auth::Scope;

use crate::stage::{Stage, line};

#[tokio::test]
async fn an_append_says_what_it_comes_after() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);

    let missing = client.post("/v1/sessions/s/records", json!({"events": [line("x")]})).await.must(428);
    let done = client.append("s", 1, json!([line("a"), line("b")])).await.must(200);
    let stale = client.append("s", 1, json!([line("c")])).await.must(412);

    assert_eq!(missing.problem(), "no_if_match");
    assert_eq!((done.json(), done.header("etag")), (json!({"session": "s", "seq": 3}), "\"3\""));
    assert_eq!((stale.problem().as_str(), stale.header("etag")), ("stale", "\"3\""));
    assert_eq!(client.get("/v1/sessions/s").await.json()["last"], json!(3));
}

#[tokio::test]
async fn of_two_clients_that_append_after_the_same_record_one_is_told_to_read_on() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    let append = |name: String| {
        let client = client.clone();
        tokio::spawn(async move {
            let mut tries = 0;
            loop {
                tries += 1;
                let last = client.get("/v1/sessions/s").await.json()["last"].as_u64().unwrap();
                match client.append("s", last, json!([line(&name)])).await.status.as_u16() {
                    200 => return tries,
                    412 => {}
                    other => panic!("{other}"),
                }
            }
        })
    };

    let all: Vec<_> = (0..20).map(|number| append(format!("line {number}"))).collect();
    for one in all {
        one.await.unwrap();
    }

    let logs = client.get("/v1/sessions/s/snapshot").await.json()["sessions"][0]["logs"].clone();
    let mut logs: Vec<String> = serde_json::from_value(logs).unwrap();
    logs.sort();
    let mut wanted: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();
    wanted.sort();
    assert_eq!(logs, wanted);
}

#[tokio::test]
async fn a_session_can_be_begun_by_its_first_record() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;

    let opened = json!([{"type": "session.opened", "session": {"title": "From elsewhere"}}]);
    client.append("new", 0, opened.clone()).await.must(200);

    assert_eq!(client.get("/v1/sessions/new").await.json()["title"], json!("From elsewhere"));
    assert_eq!(client.append("new", 0, opened.clone()).await.must(412).problem(), "stale");
    assert_eq!(client.append("new", 1, opened).await.must(422).problem(), "illegal");
    assert_eq!(client.append("other", 0, json!([line("x")])).await.must(422).problem(), "illegal");
}

#[tokio::test]
async fn nothing_is_appended_that_would_make_a_session_unreadable() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Admin, "default").await;
    client.post("/v1/sessions", json!({"id": "s", "system": "x"})).await.must(201);
    let block = json!({"author": "user", "type": "text", "text": "hi"});
    let table = [
        (json!([{"type": "block.added", "turn": 7, "block": block}]), "illegal"),
        (json!([{"type": "turn.closed", "turn": 1}]), "illegal"),
        (json!([{"type": "approval.given", "call": "c", "digest": "d", "verdict": "approve"}]), "illegal"),
        (json!([{"type": "tool.resolved", "call": "c", "resolution": "retry"}]), "illegal"),
        (json!([{"type": "block.added", "turn": 0}]), "unreadable"),
        (json!([{"turn": 0}]), "unreadable"),
        (json!([]), "unreadable"),
        (json!({"a": 1}), "unreadable"),
        (json!([1, 2]), "unreadable"),
    ];
    for (events, word) in table {
        let refused = client.append("s", 2, events.clone()).await.must(422);
        assert_eq!(refused.problem(), word, "{events}");
    }
    assert_eq!(client.get("/v1/sessions/s").await.json()["last"], json!(2));
    client.append("s", 2, json!([{"type": "block.added", "turn": 0, "block": block}])).await.must(200);
    client.get("/v1/sessions/s/snapshot").await.must(200);
}

#[tokio::test]
async fn numbers_and_unknown_fields_are_kept_as_they_are_spelled() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    let body = r#"{"events":[{"type":"thing.happened","big":9007199254740993,"one":1.0,"huge":1e400}]}"#;
    let request = client.request(Method::POST, "/v1/sessions/s/records").header("if-match", "1");

    crate::stage::send(request.header("content-type", "application/json").body(body)).await.must(200);

    let journal = client.get("/v1/sessions/s/journal?after=1").await.text;
    assert!(journal.contains(r#""big":9007199254740993,"one":1.0,"huge":1e400"#), "{journal}");
}
