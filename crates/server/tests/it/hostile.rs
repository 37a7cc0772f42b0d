//! Hostile ids and bodies: every answer is a problem that says nothing of what was sent, and never the server's fault.

use reqwest::Method;
use serde_json::json;
use turnkeep_server::config::Limits;

use crate::stage::{Stage, send};

/// Ids as they stand in a path.
const IDS: &[&str] = &[
    "..",
    "..%2F..%2Fetc%2Fpasswd",
    "%2e%2e%2f",
    "%00",
    "a%00b",
    "%ff%fe",
    "_server",
    "token%2F0123456789ab",
    "'%20OR%201=1--",
    "%0d%0aset-cookie:x",
    "%F0%9F%A6%AD",
    "a%5Cb",
    "C:%5Cx",
    "con",
];

#[tokio::test]
async fn hostile_ids_are_ids_like_others_or_refused() {
    let stage = Stage::new().await;
    let anyone = stage.anyone();
    let long = "x".repeat(4000);
    for id in IDS.iter().copied().chain([long.as_str()]) {
        for path in ["", "/snapshot", "/journal", "/ledger", "/window", "/verify", "/slim", "/events"] {
            let status = anyone.get(&format!("/v1/sessions/{id}{path}")).await.status.as_u16();
            assert!((400..500).contains(&status), "{id:.40}{path}: {status}");
        }
    }
}

#[tokio::test]
async fn a_session_of_a_hostile_id_stays_inside_its_store() {
    let stage = Stage::new().await;
    let anyone = stage.anyone();
    for id in ["../../escape", "a/b", "..", "x\u{202e}y", "'; DROP TABLE sessions; --"] {
        anyone.post("/v1/sessions", json!({"id": id, "title": "t"})).await.must(201);
    }
    let listed = anyone.get("/v1/sessions").await.must(200).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 5);
    for id in ["", "\u{0}", &"x".repeat(2000)] {
        anyone.post("/v1/sessions", json!({"id": id})).await.must(422);
    }
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused_without_repeating_them() {
    let stage = Stage::new().await;
    let anyone = stage.anyone();
    anyone.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"{\"id\": \"hunter2\", \"secret\": 1}".to_vec(),
        b"[1,2,3]".to_vec(),
        b"\"hunter2\"".to_vec(),
        b"null".to_vec(),
        vec![0, 159, 146, 150],
        vec![0xff; 1000],
        deep.into_bytes(),
        b"{\"id\": {\"hunter2\": 1}}".to_vec(),
    ];
    let writes = [
        "/v1/sessions",
        "/v1/sessions/s/records",
        "/v1/sessions/s/fork",
        "/v1/ask",
        "/v1/tickets",
        "/v1/sessions/s/chunks",
    ];
    for path in writes {
        for body in &bodies {
            let request = anyone.request(Method::POST, path).header("content-type", "application/json");
            let answer = send(request.header("if-match", "\"1\"").body(body.clone())).await;
            let status = answer.status.as_u16();
            assert!((400..500).contains(&status), "{path}: {status} {}", answer.text);
            assert!(!answer.text.contains("hunter2"), "{path}: {}", answer.text);
        }
    }
    assert_eq!(anyone.get("/v1/sessions/s").await.json()["last"], json!(1));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let stage = Stage::with(|config| config.limits = Limits { body: 10_000, ..Limits::default() }).await;
    let anyone = stage.anyone();
    let large = json!({"title": "x".repeat(20_000)});

    assert_eq!(anyone.post("/v1/sessions", large.clone()).await.must(413).problem(), "too_large");
    let keyed = anyone.send_json(Method::POST, "/v1/sessions", large, &[("idempotency-key", "k")]).await;
    assert_eq!(keyed.must(413).problem(), "too_large");
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let stage = Stage::new().await;
    let anyone = stage.anyone();

    assert_eq!(anyone.get("/v1/nothing").await.must(404).problem(), "not_found");
    assert_eq!(anyone.get("/etc/passwd").await.must(404).problem(), "not_found");
    assert_eq!(anyone.delete("/v1/sessions").await.must(405).problem(), "method");
}
