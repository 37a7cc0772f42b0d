//! The Pusher HTTP API.

use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_broadcast::{Pusher, PusherApp, PusherLimits, body_md5, pusher_signature};
use turnkeep_model::{ErrorKind, Json};
use turnkeep_provider::{HttpRequest, Secret};
use turnkeep_runtime::envelope::{Channel, Dialect, Envelope};
use turnkeep_runtime::port::Broadcaster;
use turnkeep_testkit::laws::broadcast::{Audience, Line, check_broadcaster};

use crate::kit::{Peer, StoppedClock, body, envelope, json};

const KEY: &str = "278d425bdf160c739803";
const SECRET: &str = "7ad3773142a6692b25b8";

fn pusher(peer: &Arc<Peer>) -> Pusher {
    let app = PusherApp {
        url: "http://127.0.0.1:8080/".into(),
        id: "3".into(),
        key: KEY.into(),
        secret: Secret::new(SECRET),
    };
    Pusher::new(app, peer.clone()).with_clock(Arc::new(StoppedClock::default()))
}

fn channel() -> Channel {
    Channel::public(&"s/1".into())
}

fn published(peer: &Arc<Peer>, envelopes: &[Envelope]) -> Vec<HttpRequest> {
    block_on(pusher(peer).publish(&channel(), envelopes)).unwrap();
    peer.taken()
}

/// The events of a request, with their data read.
fn events(request: &HttpRequest) -> Vec<(String, String, Json)> {
    let body = body(request);
    let body = body.as_object().unwrap();
    let list = match body.get("batch") {
        Some(batch) => batch.as_array().unwrap().to_vec(),
        None => vec![Json::Object(body.clone())],
    };
    let one = |event: &Json| {
        let event = event.as_object().unwrap();
        let text = |key: &str| event.get_str(key).unwrap().into_owned();
        (text("name"), text("channel"), json(&text("data")))
    };
    list.iter().map(one).collect()
}

/// Whether the signature of a request is right, as a server checks it.
fn is_signed(request: &HttpRequest) -> bool {
    let (path, query) = request.url.strip_prefix("http://127.0.0.1:8080").unwrap().split_once('?').unwrap();
    let all: Vec<(&str, &str)> = query.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
    let (signature, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(key, _)| *key == "auth_signature");
    rest.contains(&("body_md5", &body_md5(&request.body)))
        && signature[0].1 == pusher_signature(SECRET, "POST", path, &rest)
}

#[test]
fn signatures_are_those_of_the_published_examples() {
    let path = format!("{}/../../fixtures/pusher/signature_vectors.json", env!("CARGO_MANIFEST_DIR"));
    let vectors = json(&std::fs::read_to_string(path).unwrap());
    for name in ["http_events", "http_channels_get"] {
        let vector = vectors.as_object().unwrap().get(name).unwrap().as_object().unwrap();
        let signed = vector.get_str("string_to_sign").unwrap();
        let [method, path, query] = signed.splitn(3, '\n').collect::<Vec<_>>()[..] else { panic!("{signed}") };
        let mut query: Vec<(&str, &str)> = query.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        query.reverse();
        assert_eq!(pusher_signature(SECRET, method, path, &query), vector.get_str("auth_signature").unwrap());
        if let Some(body) = vector.get_str("body") {
            assert_eq!(body_md5(body.as_bytes()), vector.get_str("body_md5").unwrap());
        }
    }
}

#[test]
fn an_event_has_the_name_of_its_envelope_and_is_signed() {
    let peer = Arc::new(Peer::new(|_| Some(200)));
    let got = published(&peer, &[envelope(7, "hi")]);

    assert!(got[0].url.starts_with("http://127.0.0.1:8080/apps/3/events?auth_key=278d425bdf160c739803&auth_timestamp=1353088179&auth_version=1.0&body_md5="), "{}", got[0].url);
    assert!(is_signed(&got[0]));
    assert_eq!(events(&got[0]), [("log.added".into(), "agent.s=2F1".into(), envelope(7, "hi").to_json())]);
}

#[test]
fn the_released_dialect_has_one_name_for_all_events() {
    let peer = Arc::new(Peer::new(|_| Some(200)));
    let got = published(&peer, &[Envelope { dialect: Dialect::Released, ..envelope(7, "hi") }]);

    assert_eq!(events(&got[0])[0].0, "instructor.agent.event");
}

#[test]
fn many_events_go_in_batches_within_the_limits_and_in_order() {
    let peer = Arc::new(Peer::new(|_| Some(200)));
    let many: Vec<Envelope> = (1..=40).map(|seq| envelope(seq, &"x".repeat(if seq > 20 { 2000 } else { 1 }))).collect();
    let got = published(&peer, &many);

    assert!(got.iter().all(|request| is_signed(request) && request.body.len() <= 9_000), "a request is too large");
    assert!(got.iter().all(|request| events(request).len() <= 10));
    let told: Vec<Json> = got.iter().flat_map(events).map(|(_, _, data)| data).collect();
    assert_eq!(told, many.iter().map(Envelope::to_json).collect::<Vec<_>>());
    assert_eq!(events(&got[0]).len(), 10);
    assert!(got[0].url.contains("/apps/3/batch_events?"));
}

fn pointer(seq: u64) -> Json {
    json(&format!(
        r#"{{"type":"log.added","session_id":"s/1","execution_id":null,"timestamp":"2026-01-16T10:05:00.123Z","seq":{seq},"fetch":"/v1/sessions/s%2F1/journal?after={}&limit=1"}}"#,
        seq - 1
    ))
}

#[test]
fn an_event_too_large_becomes_a_pointer_to_where_it_is() {
    let peer = Arc::new(Peer::new(|_| Some(200)));
    let got = published(&peer, &[envelope(41, "small"), envelope(42, &"é".repeat(6000)), envelope(43, "small")]);

    let told: Vec<Json> = got.iter().flat_map(events).map(|(_, _, data)| data).collect();
    assert_eq!(told, [envelope(41, "small").to_json(), pointer(42), envelope(43, "small").to_json()]);
}

#[test]
fn a_server_that_takes_less_gets_pointers() {
    let peer = Arc::new(Peer::new(|request| Some(if request.body.len() > 500 { 413 } else { 200 })));
    let got = published(&peer, &[envelope(1, &"x".repeat(600)), envelope(2, "y")]);

    let taken = got.iter().filter(|request| request.body.len() <= 500).flat_map(events);
    assert_eq!(taken.map(|(_, _, data)| data).collect::<Vec<_>>(), [pointer(1), pointer(2)]);
}

#[test]
fn what_a_server_says_is_what_a_caller_can_do() {
    let table = [
        (Some(401), ErrorKind::Mismatch),
        (Some(404), ErrorKind::NotFound),
        (Some(422), ErrorKind::Unsupported),
        (Some(429), ErrorKind::Unavailable),
        (Some(503), ErrorKind::Unavailable),
        (None, ErrorKind::Unavailable),
    ];
    for (status, kind) in table {
        let peer = Arc::new(Peer::new(move |_| status));
        let error = block_on(pusher(&peer).publish(&channel(), &[envelope(1, "x")])).unwrap_err();
        assert_eq!(error.kind(), kind, "{status:?}");
        assert!(!format!("{error} {error:?}").contains(SECRET));
    }
}

/// A server that follows pointers for its pages, as they would.
struct Server {
    peer: Arc<Peer>,
    line: Arc<Mutex<Line>>,
}

impl Server {
    fn new() -> Server {
        let line = Arc::new(Mutex::new(Line::Up));
        let own = line.clone();
        let peer = Peer::new(move |_| Some(if *own.lock().unwrap() == Line::Up { 200 } else { 503 }));
        Server { peer: Arc::new(peer), line }
    }
}

impl Audience for Server {
    fn broadcaster(&self) -> Arc<dyn Broadcaster> {
        Arc::new(pusher(&self.peer).with_limits(PusherLimits::default()))
    }

    fn heard(&self, channel: &Channel) -> Vec<Json> {
        let all = self.peer.taken();
        all.iter().flat_map(events).filter(|(_, on, _)| on == channel.as_str()).map(|(_, _, data)| data).collect()
    }

    fn set(&self, line: Line) {
        *self.line.lock().unwrap() = line;
        if line == Line::Up {
            // What was refused did not arrive.
            self.peer.got.lock().unwrap().clear();
        }
    }
}

#[test]
fn a_pusher_keeps_the_laws() {
    let audience: Arc<dyn Audience> = Arc::new(Server::new());

    check_broadcaster(&audience);
}
