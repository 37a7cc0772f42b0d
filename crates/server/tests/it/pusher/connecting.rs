//! Connecting, listening, members, client events, and closing.

use std::time::Duration;

use serde_json::{Value, json};
use turnkeep_server::pusher::{ClientEvents, Hub, NoAuthorizer};

use super::kit::{Heard, Server, app, app_with};

#[tokio::test]
async fn a_client_is_greeted_with_its_id_and_how_long_it_may_be_silent() {
    let server = Server::start([app()]).await;
    let mut client = server.open("app-key?protocol=7&client=js&version=8.6.0&flash=false", None).await;

    let data: Value =
        serde_json::from_str(client.next("pusher:connection_established").await["data"].as_str().unwrap()).unwrap();

    assert_eq!(data["activity_timeout"], 120);
    let (first, second) = data["socket_id"].as_str().unwrap().split_once('.').unwrap();
    assert!(first.parse::<u64>().is_ok() && second.parse::<u64>().is_ok(), "{data}");
}

#[tokio::test]
async fn whoever_may_not_connect_is_told_why_and_closed() {
    let disabled = app_with(|app| {
        app.key = "off".to_owned();
        app.enabled = false;
    });
    let server = Server::start([app(), disabled]).await;
    let table = [
        ("nothing?protocol=7", None, 4001),
        ("off?protocol=7", None, 4003),
        ("app-key/deeper?protocol=7", None, 4005),
        ("app-key?protocol=7&version=a%20b", None, 4006),
        ("app-key?protocol=99", None, 4007),
        ("app-key", None, 4008),
        ("app-key?protocol=7", Some("https://evil.example"), 4009),
    ];

    for (path, origin, code) in table {
        server.open(path, origin).await.refused(code).await;
    }
    server.open("app-key?protocol=7", Some("https://app.example")).await.next("pusher:connection_established").await;
}

#[tokio::test]
async fn an_app_and_a_server_have_so_many_connections() {
    let small = app_with(|app| app.limits.connections = 1);
    let other = app_with(|app| (app.id, app.key) = ("other".to_owned(), "other".to_owned()));
    let hub = Hub::new([small, other], 2);
    let server = Server::with(
        hub,
        std::sync::Arc::new(turnkeep_server::pusher::feed::NoSessions),
        std::sync::Arc::new(NoAuthorizer),
        0,
    )
    .await;

    let _first = server.connect().await;
    server.open("app-key?protocol=7", None).await.refused(4004).await;
    let mut second = server.open("other?protocol=7", None).await;
    second.next("pusher:connection_established").await;
    server.open("other?protocol=7", None).await.refused(4100).await;
}

#[tokio::test]
async fn a_subscription_needs_a_signature_and_the_connection_survives_without() {
    let server = Server::start([app()]).await;
    let mut client = server.connect().await;

    assert_eq!(client.subscribe("news", None).await["data"], "{}");
    client.subscribe("private-a", None).await;
    client.subscribe("private-encrypted-a", None).await;
    let wrong = json!({ "channel": "private-b", "auth": format!("app-key:{}", "0".repeat(64)) });
    client.say(&json!({ "event": "pusher:subscribe", "data": wrong })).await;

    assert_eq!(client.error(4009).await, "Connection is unauthorized");
    let failed = client.next("pusher:subscription_error").await;
    assert_eq!(failed["channel"], "private-b");
    assert_eq!(client.until_pong().await, Vec::<Value>::new());
}

#[tokio::test]
async fn members_see_each_other_come_and_go() {
    let server = Server::start([app()]).await;
    let (mut ann, mut bob, mut bobs_tab) = (server.connect().await, server.connect().await, server.connect().await);

    let joined = ann.subscribe("presence-a", Some("ann")).await;
    assert_eq!(joined["data"], r#"{"presence":{"count":1,"ids":["ann"],"hash":{"ann":{"name":"ann"}}}}"#);
    bob.subscribe("presence-a", Some("bob")).await;
    let added = ann.next("pusher_internal:member_added").await;
    assert_eq!(added["data"], r#"{"user_id":"bob","user_info":{"name":"bob"}}"#);
    bobs_tab.subscribe("presence-a", Some("bob")).await;

    drop(bob);
    bobs_tab.say(&json!({ "event": "pusher:unsubscribe", "data": { "channel": "presence-a" } })).await;
    let removed = ann.next("pusher_internal:member_removed").await;
    assert_eq!(removed["data"], r#"{"user_id":"bob"}"#);
}

#[tokio::test]
async fn client_events_reach_the_others_with_their_user() {
    let server = Server::start([app()]).await;
    let (mut ann, mut bob) = (server.connect().await, server.connect().await);
    ann.subscribe("presence-a", Some("ann")).await;
    bob.subscribe("presence-a", Some("bob")).await;
    ann.next("pusher_internal:member_added").await;

    ann.say(&json!({ "event": "client-typing", "channel": "presence-a", "data": { "on": true } })).await;

    let heard = bob.next("client-typing").await;
    assert_eq!(
        heard,
        json!({ "event": "client-typing", "channel": "presence-a", "data": r#"{"on":true}"#, "user_id": "ann" })
    );
    assert_eq!(ann.until_pong().await, Vec::<Value>::new(), "it is not told to who said it");
}

#[tokio::test]
async fn client_events_are_refused_by_name() {
    let nobody = app_with(|app| app.client_events = ClientEvents::Nobody);
    let (off, on) = (Server::start([nobody]).await, Server::start([app()]).await);
    let event = json!({ "event": "client-x", "channel": "private-a", "data": {} });
    let (mut refused, mut stranger) = (off.connect().await, on.connect().await);
    refused.subscribe("private-a", None).await;

    refused.say(&event).await;
    stranger.say(&event).await;

    assert_eq!(refused.error(4301).await, "The app does not have client messaging enabled.");
    assert_eq!(stranger.error(4009).await, "The client is not a member of the specified channel.");
    stranger.subscribe("private-a", None).await;
    for _ in 0..12 {
        stranger.say(&event).await;
    }
    assert_eq!(stranger.error(4301).await, "Rate limit exceeded");
}

#[tokio::test]
async fn a_client_that_does_not_answer_a_ping_is_closed() {
    let quick = app_with(|app| {
        app.limits.activity = Duration::from_millis(50);
        app.limits.pong = Duration::from_millis(400);
    });
    let server = Server::start([quick]).await;
    let mut client = server.connect().await;

    client.next("pusher:ping").await;
    client.say(&json!({ "event": "pusher:pong", "data": {} })).await;
    client.next("pusher:ping").await;

    client.refused(4201).await;
}

#[tokio::test]
async fn how_many_listen_is_told_where_the_app_wants_it() {
    let server = Server::start([app_with(|app| app.subscription_counts = true)]).await;
    let (mut one, mut other) = (server.connect().await, server.connect().await);

    one.subscribe("news", None).await;
    assert_eq!(one.next("pusher_internal:subscription_count").await["data"], r#"{"subscription_count":1}"#);
    other.subscribe("news", None).await;

    assert_eq!(one.next("pusher_internal:subscription_count").await["data"], r#"{"subscription_count":2}"#);
}

#[tokio::test]
async fn a_server_that_goes_away_closes_its_clients_one_after_the_other() {
    let server = Server::start([app()]).await;
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(server.connect().await);
    }
    let hub = server.hub.clone();
    let start = std::time::Instant::now();
    let draining = tokio::spawn(async move { hub.drain(Duration::from_millis(400)).await });

    let closed = futures_util::future::join_all(clients.iter_mut().map(|client| async move {
        client.error(4200).await;
        assert_eq!(client.hear().await, Heard::Close(4200));
        start.elapsed()
    }));
    let (closed, drained) = tokio::join!(closed, draining);

    drained.unwrap();
    let (first, last) = (closed.iter().min().unwrap(), closed.iter().max().unwrap());
    assert!(*last - *first >= Duration::from_millis(300), "{first:?} {last:?}");
    assert_eq!(server.hub.connections(), 0);
    server.open("app-key?protocol=7", None).await.refused(4100).await;
}

#[tokio::test]
async fn a_connection_that_ends_leaves_its_channels() {
    let server = Server::start([app()]).await;
    let mut client = server.connect().await;
    client.subscribe("news", None).await;
    assert_eq!(
        server.signed("GET", "/apps/app-id/channels", &[], "").await.json(),
        json!({ "channels": { "news": {} } })
    );

    drop(client);

    while server.hub.connections() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.signed("GET", "/apps/app-id/channels", &[], "").await.json(), json!({ "channels": {} }));
}
