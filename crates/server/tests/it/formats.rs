//! Documents of callers, and sessions in other forms.

use reqwest::Method;
use serde_json::json;
use turnkeep_server::auth::Scope;

use crate::stage::{Stage, send};

const CHAT: &str =
    r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#;

#[tokio::test]
async fn a_document_is_converted_with_its_losses() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Read, "default").await;
    let post = |path: &str, body: &'static str| send(client.request(Method::POST, path).body(body));

    let made = post("/v1/convert?to=anthropic.messages", CHAT).await.must(200).json();
    let wrong = post("/v1/convert?to=anthropic.messages", "hunter2").await.must(422);

    assert_eq!((&made["from"], &made["to"]), (&json!("openai.chat"), &json!("anthropic.messages")));
    assert!(made["document"].as_str().unwrap().contains("Hello"));
    assert!(made["losses"].is_array());
    assert!(!wrong.text.contains("hunter2"), "{}", wrong.text);
    assert_eq!(post("/v1/convert?to=nothing", CHAT).await.must(400).problem(), "bad_request");
    assert!(post("/v1/lint?for=openai.chat", CHAT).await.must(200).json()["findings"].is_array());
    let formats = client.get("/v1/formats").await.must(200).json();
    assert!(formats["formats"].as_array().unwrap().contains(&json!("openai.chat")));
}

#[tokio::test]
async fn a_stored_session_is_shown_slim_and_exported_with_losses() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s", "system": "Be brief."})).await.must(201);

    let slim = client.get("/v1/sessions/s/slim?preset=minimal").await.must(200).json();
    let exported = client.get("/v1/sessions/s/export?to=turnkeep.jsonl").await.must(200).json();

    assert_eq!(slim["agent_id"], json!("s"));
    assert!(exported["document"].as_str().unwrap().contains("Be brief."));
    client.get("/v1/sessions/s/slim?preset=huge").await.must(400);
    client.get("/v1/sessions/s/export").await.must(400);
}
