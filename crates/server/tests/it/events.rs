//! Following sessions.

use reqwest::Method;
use serde_json::{Value, json};
use turnkeep_server::auth::Scope;

use crate::stage::{Client, Stage, line};

/// An event as it was received.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Received {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// A stream, read event by event.
pub(crate) struct Events {
    response: reqwest::Response,
    text: String,
}

impl Events {
    pub(crate) async fn open(client: &Client, path: &str, last: Option<&str>) -> Events {
        let request = client.request(Method::GET, path);
        let request = last.into_iter().fold(request, |request, last| request.header("last-event-id", last));
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert!(!response.headers().contains_key("content-encoding"));
        Events { response, text: String::new() }
    }

    /// The next event; `None` where the stream ends.
    pub(crate) async fn next(&mut self) -> Option<Received> {
        loop {
            while let Some((frame, rest)) = self.text.split_once("\n\n") {
                let received = received(frame);
                self.text = rest.to_owned();
                if received.is_some() {
                    return received;
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    pub(crate) async fn take(&mut self, count: usize) -> Vec<Received> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.next().await.unwrap());
        }
        all
    }
}

fn received(frame: &str) -> Option<Received> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let data = serde_json::from_str(&field("data: ")?).unwrap();
    Some(Received { id: field("id: "), name: field("event: ")?, data })
}

fn lines(events: &[Received]) -> Vec<&str> {
    events.iter().filter_map(|event| event.data["payload"]["line"].as_str()).collect()
}

async fn stage_with_session() -> (Stage, Client) {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    (stage, client)
}

#[tokio::test]
async fn whoever_follows_gets_what_was_recorded_and_then_what_happens() {
    let (_stage, client) = stage_with_session().await;
    client.append("s", 1, json!([line("one"), line("two")])).await.must(200);

    let mut events = Events::open(&client, "/v1/sessions/s/events?after=1", None).await;
    let before = events.take(2).await;
    client.append("s", 3, json!([line("three")])).await.must(200);
    let live = events.take(1).await;

    assert_eq!(lines(&before), ["one", "two"]);
    assert_eq!(before[1].id.as_deref(), Some("3"));
    assert_eq!(live[0].name, "log.added");
    let wanted = json!({"line": "three"});
    assert_eq!(
        (&live[0].data["payload"], &live[0].data["seq"], live[0].id.as_deref()),
        (&wanted, &json!(4), Some("4"))
    );
}

#[tokio::test]
async fn whoever_comes_back_misses_nothing_and_sees_nothing_twice() {
    let (_stage, client) = stage_with_session().await;
    let mut seen = Vec::new();
    let mut last = "1".to_owned();
    for round in 0..10u64 {
        let mut events = Events::open(&client, "/v1/sessions/s/events", Some(&last)).await;
        client.append("s", round * 2 + 1, json!([line("a"), line("b")])).await.must(200);
        // Every other time the connection breaks in the middle of a batch.
        for event in events.take(if round % 2 == 0 { 1 } else { 3 }).await {
            last = event.id.clone().unwrap();
            seen.push(event.data["seq"].as_u64().unwrap());
        }
    }
    assert_eq!(seen, (2..=21).collect::<Vec<_>>());
}

#[tokio::test]
async fn chunks_are_shown_and_void_when_their_block_arrives() {
    let (_stage, client) = stage_with_session().await;
    let mut events = Events::open(&client, "/v1/sessions/s/events", None).await;
    // The stream is joined when its first event comes.
    client.append("s", 1, json!([line("joined")])).await.must(200);
    events.take(1).await;

    client.post("/v1/sessions/s/chunks", json!({"chunks": [{"text": "Hel"}, {"text": "lo"}]})).await.must(204);
    let chunks = events.take(2).await;
    let mut late = Events::open(&client, "/v1/sessions/s/events?after=2", None).await;
    let so_far = late.take(2).await;
    client.append("s", 2, json!([line("the block")])).await.must(200);
    let mut later = Events::open(&client, "/v1/sessions/s/events?after=2", None).await;

    let texts = |events: &[Received]| {
        events.iter().map(|event| event.data["payload"]["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (texts(&chunks), chunks[0].name.as_str(), &chunks[0].id),
        (vec!["Hel".into(), "lo".into()], "answer.delta", &None)
    );
    assert_eq!(texts(&so_far), ["Hel", "lo"]);
    assert_eq!(later.take(1).await[0].name, "log.added");
    client.post("/v1/sessions/s/chunks", json!({"chunks": [{}]})).await.must(400);
}

#[tokio::test]
async fn several_sessions_share_a_connection_and_its_ids_tell_of_all() {
    let (_stage, client) = stage_with_session().await;
    client.post("/v1/sessions", json!({"id": "t&=,"})).await.must(201);
    let path = "/v1/events?session=s,t%2526%253D%252C";
    let append = |id: &'static str, after: u64, text: &'static str| {
        let client = client.clone();
        async move { client.append(id, after, json!([line(text)])).await.must(200) }
    };

    let mut events = Events::open(&client, path, None).await;
    append("s", 1, "one").await;
    append("t%26%3D%2C", 1, "two").await;
    let first = events.take(2).await;
    let last = first[1].id.clone().unwrap();
    drop(events);
    append("s", 2, "three").await;
    append("t%26%3D%2C", 2, "four").await;
    let mut again = Events::open(&client, path, Some(&last)).await;
    let second = again.take(2).await;

    let mut texts = [lines(&first), lines(&second)];
    texts.iter_mut().for_each(|texts| texts.sort_unstable());
    assert_eq!(texts, [vec!["one", "two"], vec!["four", "three"]]);
    let none = client.request(Method::GET, "/v1/events?session=s,nothing").send().await.unwrap();
    assert_eq!(none.status().as_u16(), 404);
}

#[tokio::test]
async fn a_session_that_is_deleted_ends_its_streams() {
    let (_stage, client) = stage_with_session().await;
    let mut events = Events::open(&client, "/v1/sessions/s/events?after=0", None).await;
    events.take(1).await;

    client.delete("/v1/sessions/s").await.must(200);

    assert_eq!(events.next().await.unwrap().name, "turnkeep.gone");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn another_process_that_writes_to_the_store_is_followed_too() {
    use turnkeep_model::event::LogAdded;
    use turnkeep_model::{Batch, Event, Seq, SessionId};
    let (stage, client) = stage_with_session().await;
    let mut events = Events::open(&client, "/v1/sessions/s/events?after=0", None).await;
    events.take(1).await;
    let store = turnkeep_store::open(&stage.config.store).unwrap();
    let event = Event::from(LogAdded { line: "elsewhere".to_owned() });

    store.append(&SessionId::new("s"), Seq(1), &Batch::new(Seq(2), vec![event.into()])).await.unwrap();

    assert_eq!(lines(&events.take(1).await), ["elsewhere"]);
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams_and_the_next_one_goes_on() {
    let (stage, client) = stage_with_session().await;
    let mut events = Events::open(&client, "/v1/sessions/s/events?after=0", None).await;
    let last = events.take(1).await[0].id.clone().unwrap();
    client.append("s", 1, json!([line("before")])).await.must(200);

    let stage = stage.restarted().await;
    let client = stage.client(Scope::Write, "default").await;
    client.append("s", 2, json!([line("after")])).await.must(200);
    let mut again = Events::open(&client, "/v1/sessions/s/events", Some(&last)).await;

    assert_eq!(lines(&again.take(2).await), ["before", "after"]);
}
