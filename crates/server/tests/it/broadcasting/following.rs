//! A page that listens on the channel of a session.

use serde_json::{Value, json};
use turnkeep_server::auth::Scope;
use turnkeep_server::pusher::{App, signature};

use super::kit::{Page, address, stage, stored};
use crate::pusher::kit::{Client, Heard, app};
use crate::running::until_stopped;
use crate::vendor::{Does, Vendor};

/// The record that a frame comes from.
fn seq(frame: &Value) -> Option<u64> {
    serde_json::from_str::<Value>(frame["data"].as_str().unwrap()).unwrap()["seq"].as_u64()
}

/// What is stored after a place: everything up to the last envelope of the whole.
async fn replayed(client: &mut Client, id: &str, after: u64, count: usize) -> Vec<Value> {
    let channel = format!("private-agent.{id}@{after}");
    client.subscribe(&channel, None).await;
    let mut frames = Vec::new();
    while frames.len() < count {
        let mut frame = client.frame().await;
        assert_eq!(frame["channel"], channel);
        frame.as_object_mut().unwrap().remove("channel");
        frames.push(frame);
    }
    client.say(&json!({ "event": "pusher:unsubscribe", "data": { "channel": channel } })).await;
    assert_eq!(client.until_pong().await, Vec::<Value>::new());
    frames
}

#[tokio::test]
async fn a_page_sees_a_run_as_it_happens_and_ends_with_what_is_stored() {
    let vendor = Vendor::new(&[Does::Call, Does::Say("Charged.")]);
    let stage = stage(&vendor).await;
    let client = stage.client(Scope::Run, "default").await;
    client.post("/v1/sessions", json!({"id": "a/b"})).await.must(201);
    let mut page = Page::default();
    let mut socket = Client::connect(address(&stage.base), "app-key").await;

    socket.subscribe("private-agent.a=2Fb@0", None).await;
    client.post("/v1/sessions/a%2Fb/ask", json!({"text": "Charge me", "tools": ["shop"]})).await.must(202);

    assert!(page.hear(&mut socket, 2).await);
    assert_eq!(page.answer, "Charged.", "pieces of the answer are shown as they come");
    let stored = stored(&client, "a%2Fb").await;
    assert_eq!(page.shown(), stored);
    assert_eq!(stored["steps"][0]["tool_calls"], json!([{"id": "c1", "name": "charge"}]));
}

#[tokio::test]
async fn every_place_begins_with_the_record_after_it_and_nothing_is_missing_or_told_twice() {
    let vendor = Vendor::new(&[Does::Call, Does::Say("Charged.")]);
    let stage = stage(&vendor).await;
    let client = stage.client(Scope::Run, "default").await;
    let asked = client.post("/v1/ask", json!({"text": "Charge me", "tools": ["shop"]})).await.must(202).json();
    let id = asked["session"].as_str().unwrap();
    until_stopped(&client, id, &json!(0)).await;
    let mut socket = Client::connect(address(&stage.base), "app-key").await;
    let mut page = Page::default();
    let mut whole = Vec::new();
    socket.subscribe(&format!("private-agent.{id}@0"), None).await;
    while !page.is_done(2) {
        let mut frame = socket.frame().await;
        page.take(&frame);
        frame.as_object_mut().unwrap().remove("channel");
        whole.push(frame);
    }

    assert_eq!(page.shown(), stored(&client, id).await);
    for after in 1..=page.last {
        let wanted: Vec<Value> = whole.iter().filter(|frame| seq(frame) > Some(after)).cloned().collect();
        assert_eq!(replayed(&mut socket, id, after, wanted.len()).await, wanted, "after {after}");
    }
}

#[tokio::test]
async fn a_page_without_a_place_hears_all_that_it_causes_after_it_listens() {
    let vendor = Vendor::new(&[Does::Say("Paris.")]);
    let stage = stage(&vendor).await;
    let client = stage.client(Scope::Run, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    let (mut page, mut again) = (Page::default(), Page::default());
    let mut socket = Client::connect(address(&stage.base), "app-key").await;

    socket.subscribe("private-agent.s", None).await;
    client.post("/v1/sessions/s/ask", json!({"text": "France?"})).await.must(202);
    assert!(page.hear(&mut socket, 1).await);

    assert_eq!(page.shown(), stored(&client, "s").await);
    let mut late = Client::connect(address(&stage.base), "app-key").await;
    late.subscribe("private-agent.s@0", None).await;
    assert!(again.hear(&mut late, 1).await);
    assert_eq!(page.shown(), again.shown());
}

#[tokio::test]
async fn the_app_of_another_tenant_knows_no_such_session() {
    let vendor = Vendor::new(&[]);
    let stage = stage(&vendor).await;
    let client = stage.client(Scope::Run, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    let mut socket = Client::connect(address(&stage.base), "other-key").await;

    let other = App { key: "other-key".to_owned(), ..app() };
    let auth = signature::channel_auth(&other, &socket.socket_id, "private-agent.s@0", None);
    let data = json!({ "channel": "private-agent.s@0", "auth": auth });
    socket.say(&json!({ "event": "pusher:subscribe", "data": data })).await;
    socket.next("pusher_internal:subscription_succeeded").await;

    let error = socket.next("pusher:subscription_error").await;
    assert!(error["data"].as_str().unwrap().contains("404"), "{error}");
    client.post("/v1/sessions/s/ask", json!({"text": "x"})).await.must(202);
    until_stopped(&client, "s", &json!(0)).await;
    assert_eq!(socket.until_pong().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_server_that_stops_sends_its_pages_away_and_the_next_one_goes_on() {
    let vendor = Vendor::new(&[Does::Say("Paris."), Does::Say("Rome.")]);
    let stage = stage(&vendor).await;
    let client = stage.client(Scope::Run, "default").await;
    let asked = client.post("/v1/ask", json!({"text": "France?"})).await.must(202).json();
    let id = asked["session"].as_str().unwrap();
    let mut page = Page::default();
    let mut socket = Client::connect(address(&stage.base), "app-key").await;
    socket.subscribe(&format!("private-agent.{id}@0"), None).await;
    assert!(page.hear(&mut socket, 1).await);

    let (stage, ()) = tokio::join!(stage.restarted(), async {
        while let Heard::Frame(frame) = socket.hear().await {
            assert_eq!(frame["event"], "pusher:error");
        }
    });
    let client = stage.client(Scope::Run, "default").await;
    client.post(&format!("/v1/sessions/{id}/ask"), json!({"text": "Italy?"})).await.must(202);
    let mut socket = Client::connect(address(&stage.base), "app-key").await;
    socket.subscribe(&format!("private-agent.{id}@{}", page.place()), None).await;

    assert!(page.hear(&mut socket, 2).await);
    assert_eq!(page.shown(), stored(&client, id).await);
}

#[tokio::test]
async fn connections_and_deliveries_are_counted() {
    let stage = stage(&Vendor::new(&[])).await;
    let admin = stage.client(Scope::Admin, "default").await;
    let mut socket = Client::connect(address(&stage.base), "app-key").await;
    socket.until_pong().await;

    let metrics = admin.get("/metrics").await.must(200).text;

    for line in ["turnkeep_pusher_connections 1", "turnkeep_pusher_deliveries_total 2"] {
        assert!(metrics.lines().any(|one| one == line), "{line} is not in {metrics}");
    }
}
