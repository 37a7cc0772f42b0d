//! Requests that are repeated.

use reqwest::Method;
use serde_json::json;
use turnkeep_server::auth::Scope;

use crate::stage::Stage;

#[tokio::test]
async fn a_repeated_request_is_done_once_and_answered_alike() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    let make = |key: &'static str, title: &'static str| {
        let client = client.clone();
        async move {
            let key = [("idempotency-key", key)];
            client.send_json(Method::POST, "/v1/sessions", json!({"title": title}), &key).await
        }
    };

    let first = make("\"k1\"", "a").await.must(201);
    let again = make("k1", "a").await.must(201);
    let other = make("k1", "b").await.must(422);
    make("k2", "a").await.must(201);

    assert_eq!(again.json(), first.json());
    assert_eq!((again.header("location"), again.header("etag")), (first.header("location"), "\"1\""));
    assert_eq!((first.header("idempotent-replay"), again.header("idempotent-replay")), ("", "true"));
    assert_eq!(other.problem(), "key_reused");
    assert_eq!(client.get("/v1/sessions").await.json()["sessions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn errors_of_the_caller_are_remembered_and_keys_are_of_one_tenant() {
    let stage = Stage::new().await;
    let one = stage.client(Scope::Write, "default").await;
    let two = stage.client(Scope::Write, "acme").await;
    let key = [("idempotency-key", "k")];

    one.send_json(Method::POST, "/v1/sessions", json!({"id": "s"}), &key).await.must(201);
    let theirs = two.send_json(Method::POST, "/v1/sessions", json!({"id": "other"}), &key).await.must(201);
    let wrong = one.send_json(Method::POST, "/v1/sessions/s/fork", json!({"at": 9}), &key).await.must(404);
    let again = one.send_json(Method::POST, "/v1/sessions/s/fork", json!({"at": 9}), &key).await.must(404);

    assert_eq!(theirs.json()["session"], json!("other"));
    assert_eq!(again.json(), wrong.json());
    for empty in ["", "\"\""] {
        one.send_json(Method::POST, "/v1/sessions", json!({}), &[("idempotency-key", empty)]).await.must(400);
    }
}

#[tokio::test]
async fn of_requests_with_one_key_that_come_at_once_one_is_done() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    let all = (0..8).map(|_| {
        let client = client.clone();
        tokio::spawn(async move {
            let key = [("idempotency-key", "k")];
            client.send_json(Method::POST, "/v1/sessions", json!({"title": "x"}), &key).await.status.as_u16()
        })
    });

    let mut statuses = Vec::new();
    for one in all.collect::<Vec<_>>() {
        statuses.push(one.await.unwrap());
    }

    assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
    assert_eq!(client.get("/v1/sessions").await.json()["sessions"].as_array().unwrap().len(), 1);
}
