//! Runs: tasks of the server, recorded as the command line records them.

use serde_json::{Value, json};
use turnkeep_provider::endpoint::{Endpoints, Level, Source};
use turnkeep_server::auth::Scope;
use turnkeep_server::config::Config;

use crate::events::Events;
use crate::stage::{Client, Stage};
use crate::vendor::{Does, Vendor};

/// A server whose only endpoint is this vendor, with a tool that needs consent.
async fn stage(vendor: &Vendor, manifest: &str) -> Stage {
    let text = vendor.config();
    let manifest = manifest.to_owned();
    Stage::with(move |config| configure(config, &text, &manifest)).await
}

fn configure(config: &mut Config, text: &str, manifest: &str) {
    let place = config.store.split(':').nth(1).unwrap().split('?').next().unwrap();
    let folder = std::path::Path::new(place).parent().unwrap().to_owned();
    std::fs::write(folder.join("key"), "sk-test").unwrap();
    std::fs::write(folder.join("tools.yaml"), manifest.replace("{folder}", &folder.display().to_string())).unwrap();
    let text = text.replace("{ env = \"TURNKEEP_TEST_KEY\" }", "{ file = \"key\" }");
    let source = Source { path: folder.join("turnkeep.toml"), level: Level::User, text };
    config.endpoints = Endpoints::read(&[source]).unwrap();
    config.tools = vec![("shop".to_owned(), folder.join("tools.yaml"))];
}

const CHARGE: &str = "tools:\n  - {name: charge, command: \"echo x >> {folder}/charged; echo paid\", approve: true}\n";

/// Follows until the run stops, and says how.
pub(crate) async fn until_stopped(client: &Client, id: &str, after: &Value) -> Vec<String> {
    let mut events = Events::open(client, &format!("/v1/sessions/{id}/events?after={after}"), None).await;
    let mut names = Vec::new();
    loop {
        let event = events.next().await.unwrap();
        names.push(event.name.clone());
        if event.name == "run.stopped" {
            return names;
        }
    }
}

fn answer(snapshot: &Value) -> Vec<String> {
    let turns = snapshot["sessions"][0]["turns"].as_array().unwrap();
    let blocks = turns.iter().flat_map(|turn| turn["blocks"].as_array().unwrap());
    blocks.filter_map(|block| block["text"].as_str()).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_question_is_durable_when_it_is_acknowledged_and_answered_without_anyone_waiting() {
    let vendor = Vendor::new(&[Does::Say("Paris."), Does::Say("Rome.")]);
    let stage = stage(&vendor, CHARGE).await;
    let client = stage.client(Scope::Run, "default").await;

    let asked = client.post("/v1/ask", json!({"text": "France?", "system": "Be brief."})).await.must(202).json();
    let id = asked["session"].as_str().unwrap();
    until_stopped(&client, id, &json!(0)).await;
    let again = client.post(&format!("/v1/sessions/{id}/ask"), json!({"text": "Italy?"})).await.must(202).json();
    until_stopped(&client, id, &again["seq"]).await;

    let snapshot = client.get(&format!("/v1/sessions/{id}/snapshot")).await.must(200).json();
    assert_eq!(answer(&snapshot), ["Be brief.", "France?", "Paris.", "Italy?", "Rome."]);
    assert_eq!(client.get(&format!("/v1/sessions/{id}")).await.json()["status"], json!("completed"));
    client.post("/v1/sessions/nothing/ask", json!({"text": "x"})).await.must(404);
    assert_eq!(
        client.post("/v1/ask", json!({"text": "x", "endpoint": "none"})).await.must(422).problem(),
        "no_endpoint"
    );
    client.post("/v1/ask", json!({"text": "  "})).await.must(400);
}

#[tokio::test]
async fn a_call_is_approved_by_its_digest_and_the_tokens_name_is_recorded() {
    let vendor = Vendor::new(&[Does::Call, Does::Say("Charged.")]);
    let stage = stage(&vendor, CHARGE).await;
    let client = stage.client(Scope::Run, "default").await;

    let asked = client.post("/v1/ask", json!({"text": "Charge me", "tools": ["shop"]})).await.must(202).json();
    let id = asked["session"].as_str().unwrap();
    until_stopped(&client, id, &json!(0)).await;
    let ledger = client.get(&format!("/v1/sessions/{id}/ledger")).await.must(200).json();
    let call = &ledger["calls"][0];
    assert_eq!((&call["state"], &call["tool"]), (&json!("waiting"), &json!("charge")));
    let approve = format!("/v1/sessions/{id}/calls/c1/approve");
    assert_eq!(client.post(&approve, json!({"digest": "other"})).await.must(409).problem(), "mismatch");
    client.post(&approve, json!({})).await.must(400);
    let approved = client.post(&approve, json!({"digest": call["digest"]})).await.must(200).json();
    until_stopped(&client, id, &approved["seq"]).await;

    assert_eq!(approved["resumed"], json!(true));
    let snapshot = client.get(&format!("/v1/sessions/{id}/snapshot")).await.json();
    assert_eq!(answer(&snapshot).last().unwrap(), "Charged.");
    let journal = client.get(&format!("/v1/sessions/{id}/journal?limit=1000")).await.text;
    assert!(journal.contains(r#""by":"run-default""#), "{journal}");
    assert_eq!(client.post(&approve, json!({"digest": call["digest"]})).await.must(409).problem(), "conflict");
}

#[tokio::test]
async fn a_denied_call_is_not_made() {
    let vendor = Vendor::new(&[Does::Call, Does::Say("As you wish.")]);
    let stage = stage(&vendor, CHARGE).await;
    let client = stage.client(Scope::Run, "default").await;
    let asked = client.post("/v1/ask", json!({"text": "Charge me", "tools": ["shop"]})).await.must(202).json();
    let id = asked["session"].as_str().unwrap();
    until_stopped(&client, id, &json!(0)).await;

    let denied =
        client.post(&format!("/v1/sessions/{id}/calls/c1/deny"), json!({"reason": "no"})).await.must(200).json();
    until_stopped(&client, id, &denied["seq"]).await;

    let place = stage.config.tools[0].1.with_file_name("charged");
    assert!(!place.exists());
}

#[tokio::test]
async fn a_run_is_stopped_and_resumed() {
    let vendor = Vendor::new(&[Does::Hang, Does::Say("Paris.")]);
    let stage = stage(&vendor, CHARGE).await;
    let client = stage.client(Scope::Run, "default").await;
    let asked = client.post("/v1/ask", json!({"text": "France?"})).await.must(202).json();
    let id = asked["session"].as_str().unwrap();
    let runs = client.get("/v1/runs").await.json();
    assert_eq!(runs["runs"], json!([{"session": id}]));
    assert_eq!(client.post(&format!("/v1/sessions/{id}/resume"), json!({})).await.must(409).problem(), "running");

    client.post(&format!("/v1/sessions/{id}/stop"), json!({})).await.must(202);
    until_stopped(&client, id, &json!(0)).await;
    while client.get("/v1/runs").await.json()["runs"] != json!([]) {
        tokio::task::yield_now().await;
    }
    let resumed = client.post(&format!("/v1/sessions/{id}/resume"), json!({})).await.must(202).json();
    until_stopped(&client, id, &resumed["seq"]).await;

    let snapshot = client.get(&format!("/v1/sessions/{id}/snapshot")).await.json();
    assert_eq!(answer(&snapshot).last().unwrap(), "Paris.");
    client.post(&format!("/v1/sessions/{id}/stop"), json!({})).await.must(404);
}

#[tokio::test]
async fn a_repeated_question_is_asked_once() {
    let vendor = Vendor::new(&[Does::Say("Paris.")]);
    let stage = stage(&vendor, CHARGE).await;
    let client = stage.client(Scope::Run, "default").await;
    let key = [("idempotency-key", "q1")];

    let first = client.send_json(reqwest::Method::POST, "/v1/ask", json!({"text": "France?"}), &key).await.must(202);
    let again = client.send_json(reqwest::Method::POST, "/v1/ask", json!({"text": "France?"}), &key).await.must(202);
    until_stopped(&client, first.json()["session"].as_str().unwrap(), &json!(0)).await;

    assert_eq!(first.json(), again.json());
    assert_eq!(vendor.requests().len(), 1);
}
