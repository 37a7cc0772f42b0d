//! Clients that mean no good, or do not know better.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use super::kit::{Heard, Server, app, app_with};

#[tokio::test]
async fn nonsense_is_told_and_the_connection_survives() {
    let server = Server::start([app()]).await;
    let mut client = server.connect().await;
    let nonsense = [
        Message::text("{"),
        Message::text("null"),
        Message::text(r#"{"data":{}}"#),
        Message::text(r#"{"event":"pusher:nothing","data":{}}"#),
        Message::text(r#"{"event":"pusher:signin","data":{"auth":"a","user_data":"{}"}}"#),
        Message::text(format!(r#"{{"event":"client-x","data":{}1{}}}"#, "[".repeat(4000), "]".repeat(4000))),
        Message::binary(vec![0, 159, 146, 150]),
        Message::binary(br#"{"event":"pusher:ping"}"#.to_vec()),
    ];

    for message in nonsense {
        client.send(message.clone()).await;
        assert_eq!(client.error(4200).await, "Invalid message format", "{message:?}");
    }
    assert_eq!(client.until_pong().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_message_that_is_too_large_ends_the_connection() {
    let server = Server::start([app()]).await;
    let mut client = server.connect().await;

    client.send(Message::text("x".repeat(11_000))).await;

    assert_eq!(client.hear().await, Heard::Close(1009));
}

#[tokio::test]
async fn a_frame_that_claims_gigabytes_takes_no_memory() {
    let server = Server::start([app()]).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = "GET /app/app-key?protocol=7 HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                   sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    // A text of 2^40 bytes, of which none follows.
    let header = [0x81, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    stream.write_all(&header).await.unwrap();

    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;

    assert!(read.is_ok(), "the connection was not closed");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_closed_and_the_others_hear_everything() {
    const EVENTS: usize = 600;
    let small = app_with(|app| {
        app.limits.queue = 256 * 1024;
        app.limits.write = Duration::from_millis(200);
        app.limits.request = 200_000;
        app.limits.data = 100_000;
    });
    let server = Server::start([small]).await;
    let (mut deaf, mut listening) = (server.connect().await, server.connect().await);
    deaf.subscribe("a", None).await;
    listening.subscribe("a", None).await;
    let channel = turnkeep_server::pusher::Channel::parse("a").unwrap();
    let data = "x".repeat(64 * 1024);

    for _ in 0..EVENTS {
        assert!(server.hub.publish("app-id", &channel, "turn", &data));
        listening.next("turn").await;
    }

    while server.hub.connections() > 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut heard = 0;
    while let Heard::Frame(frame) = deaf.hear().await {
        heard += usize::from(frame["event"] == "turn");
    }
    assert!(heard < EVENTS, "it was closed before it had everything: {heard}");
    assert_eq!(listening.until_pong().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_flood_of_events_does_not_keep_a_client_from_leaving() {
    let server = Server::start([app()]).await;
    let mut client = server.connect().await;
    client.subscribe("a", None).await;
    let (hub, channel) = (server.hub.clone(), turnkeep_server::pusher::Channel::parse("a").unwrap());
    let flood = tokio::spawn(async move {
        loop {
            hub.publish("app-id", &channel, "turn", "1");
            tokio::task::yield_now().await;
        }
    });

    client.say(&json!({ "event": "pusher:unsubscribe", "data": { "channel": "a" } })).await;
    client.until_pong().await;

    assert_eq!(client.until_pong().await, Vec::<Value>::new());
    flood.abort();
}

#[tokio::test]
async fn what_is_no_upgrade_is_refused() {
    let server = Server::start([app()]).await;

    let plain = server.request("GET", "/app/app-key?protocol=7", &[], "").await;
    let posted = server.request("POST", "/app/app-key?protocol=7", &[], "{}").await;

    assert_eq!((plain.status, posted.status), (400, 405));
}

/// How many connections are open and silent; `TURNKEEP_IDLE=10000` is all of them.
fn idle() -> usize {
    std::env::var("TURNKEEP_IDLE").ok().and_then(|count| count.parse().ok()).unwrap_or(200)
}

#[tokio::test]
async fn silent_connections_do_not_keep_others_from_being_served() {
    let hub = turnkeep_server::pusher::Hub::new([app_with(|app| app.limits.connections = 20_000)], 20_000);
    let (feed, authorizer) = (turnkeep_server::pusher::feed::NoSessions, turnkeep_server::pusher::NoAuthorizer);
    let server = Server::with(hub, std::sync::Arc::new(feed), std::sync::Arc::new(authorizer), 0).await;
    let mut silent = Vec::new();
    for _ in 0..idle() {
        silent.push(server.connect().await);
    }
    let mut client = server.connect().await;
    client.subscribe("a", None).await;

    let answer = server.publish(&json!({ "name": "turn", "channel": "a", "data": "1" })).await;

    assert_eq!(answer.status, 200);
    assert_eq!(client.next("turn").await["data"], "1");
    assert_eq!(server.hub.connections(), idle() + 1);
    drop(silent);
    while server.hub.connections() > 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn whoever_begins_to_connect_and_says_no_more_holds_no_place() {
    let hub = turnkeep_server::pusher::Hub::new([app()], 1);
    let (feed, authorizer) = (turnkeep_server::pusher::feed::NoSessions, turnkeep_server::pusher::NoAuthorizer);
    let server = Server::with(hub, std::sync::Arc::new(feed), std::sync::Arc::new(authorizer), 0).await;
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(b"GET /app/app-key?protocol=7 HTTP/1.1\r\nhost: x\r\nupgr").await.unwrap();
        slow.push(stream);
    }

    server.connect().await.subscribe("a", None).await;
}
