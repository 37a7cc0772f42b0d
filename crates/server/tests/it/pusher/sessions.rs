//! Channels that tell of a session: what was stored, and then what happens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use futures_util::stream::StreamExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use turnkeep_server::pusher::{App, FeedItem, Hub, Items, NoAuthorizer, SessionFeed};

use super::kit::{Client, Server, app_with};

/// Journals in memory. A reader is told after every third item that it was too slow.
#[derive(Default)]
pub(super) struct Journals {
    lengths: Mutex<HashMap<String, watch::Sender<u64>>>,
}

impl Journals {
    pub(super) fn append(&self, session: &str) {
        let mut lengths = self.lengths.lock().unwrap();
        let length = lengths.entry(session.to_owned()).or_insert_with(|| watch::channel(0).0);
        length.send_modify(|length| *length += 1);
    }

    /// Ends whoever reads a session, as a store that fails does.
    fn fail(&self, session: &str) {
        self.lengths.lock().unwrap().remove(session);
    }
}

impl SessionFeed for Journals {
    fn follow<'a>(&'a self, app: &'a App, session: &'a str, after: Option<u64>) -> BoxFuture<'a, Items> {
        Box::pin(std::future::ready(self.items(app, session, after)))
    }
}

impl Journals {
    fn items(&self, app: &App, session: &str, after: Option<u64>) -> Items {
        let lengths = self.lengths.lock().unwrap();
        let Some(length) = lengths.get(&format!("{}/{session}", app.tenant)) else {
            return futures_util::stream::iter([FeedItem::Gone]).boxed();
        };
        let length = length.subscribe();
        let last = after.unwrap_or(*length.borrow());
        let items = futures_util::stream::unfold((length, last, 1), |(mut length, last, number)| async move {
            if number % 4 == 0 {
                return Some((FeedItem::Lagged, (length, last, number + 1)));
            }
            length.wait_for(|length| *length > last).await.ok()?;
            let json = json!({ "seq": last + 1 }).to_string().into();
            let event = FeedItem::Event { seq: Some(last + 1), name: "record".to_owned(), json };
            Some((event, (length, last + 1, number + 1)))
        });
        items.boxed()
    }
}

async fn server(change: impl FnOnce(&mut App)) -> (Server, Arc<Journals>) {
    let journals = Arc::new(Journals::default());
    let hub = Hub::new([app_with(change)], 100);
    (Server::with(hub, journals.clone(), Arc::new(NoAuthorizer), 0).await, journals)
}

async fn records(client: &mut Client, count: usize) -> Vec<u64> {
    let mut heard = Vec::new();
    for _ in 0..count {
        let frame = client.next("record").await;
        let data: Value = serde_json::from_str(frame["data"].as_str().unwrap()).unwrap();
        heard.push(data["seq"].as_u64().unwrap());
    }
    heard
}

#[tokio::test]
async fn a_reader_gets_what_was_stored_after_its_place_and_then_what_happens() {
    let (server, journals) = server(|_| {}).await;
    (0..50).for_each(|_| journals.append("tenant/x"));
    let mut client = server.connect().await;

    client.subscribe("private-agent.x@41", None).await;
    assert_eq!(records(&mut client, 9).await, (42..=50).collect::<Vec<_>>());
    for _ in 0..20 {
        journals.append("tenant/x");
    }

    assert_eq!(records(&mut client, 20).await, (51..=70).collect::<Vec<_>>());
    assert_eq!(client.until_pong().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_reader_without_a_place_hears_what_happens_from_now_on() {
    let (server, journals) = server(|_| {}).await;
    journals.append("tenant/x");
    let mut client = server.connect().await;

    client.subscribe("private-agent.x", None).await;
    client.until_pong().await;
    journals.append("tenant/x");

    assert_eq!(records(&mut client, 1).await, [2]);
}

#[tokio::test]
async fn a_reader_that_left_hears_no_more() {
    let (server, journals) = server(|_| {}).await;
    journals.append("tenant/x");
    let mut client = server.connect().await;
    client.subscribe("private-agent.x@0", None).await;
    assert_eq!(records(&mut client, 1).await, [1]);

    client.say(&json!({ "event": "pusher:unsubscribe", "data": { "channel": "private-agent.x@0" } })).await;
    client.until_pong().await;
    journals.append("tenant/x");

    assert_eq!(client.until_pong().await, Vec::<Value>::new());
    client.subscribe("private-agent.x@1", None).await;
    assert_eq!(records(&mut client, 1).await, [2]);
}

#[tokio::test]
async fn sessions_are_told_on_public_channels_only_where_the_app_says_so() {
    let (closed, journals) = server(|_| {}).await;
    let (open, public) = server(|app| app.public_sessions = true).await;
    journals.append("tenant/x");
    public.append("tenant/x");
    let (mut refused, mut told) = (closed.connect().await, open.connect().await);

    refused.subscribe("agent.x@0", None).await;
    told.subscribe("agent.x@0", None).await;

    let error = refused.next("pusher:subscription_error").await;
    assert!(error["data"].as_str().unwrap().contains("404"), "{error}");
    assert_eq!(records(&mut told, 1).await, [1]);
}

#[tokio::test]
async fn sessions_of_other_tenants_are_not_there() {
    let (server, journals) = server(|_| {}).await;
    journals.append("other/x");
    let mut client = server.connect().await;

    client.subscribe("private-agent.x@0", None).await;

    let error = client.next("pusher:subscription_error").await;
    assert!(error["data"].as_str().unwrap().contains("404"), "{error}");
}

#[tokio::test]
async fn a_slow_reader_of_a_session_gets_everything_in_the_end() {
    const RECORDS: u64 = 20_000;
    let (server, journals) = server(|_| {}).await;
    let mut client = server.connect().await;
    journals.append("tenant/x");
    client.subscribe("private-agent.x@0", None).await;

    // Far more than the network holds, while nothing is read.
    (1..RECORDS).for_each(|_| journals.append("tenant/x"));

    assert_eq!(records(&mut client, RECORDS as usize).await, (1..=RECORDS).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reader_whose_session_cannot_be_read_further_is_sent_to_come_back() {
    let (server, journals) = server(|_| {}).await;
    journals.append("tenant/x");
    let mut client = server.connect().await;
    client.subscribe("private-agent.x@0", None).await;
    assert_eq!(records(&mut client, 1).await, [1]);

    journals.fail("tenant/x");

    client.refused(4100).await;
}
