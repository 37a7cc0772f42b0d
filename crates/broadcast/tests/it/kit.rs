//! What the tests share: a transport that plays the peer, a clock, and envelopes.

use std::sync::Mutex;
use std::time::Duration;

use turnkeep_model::{Json, Object, Seq};
use turnkeep_provider::{HeaderValue, HttpRequest, HttpResponse, Transport, TransportError, TransportErrorKind};
use turnkeep_runtime::envelope::{Dialect, Envelope};
use turnkeep_runtime::port::{BoxFuture, Clock};

type Answers = dyn Fn(&HttpRequest) -> Option<u16> + Send + Sync;

/// A peer that keeps what it is sent, and answers as it is told to.
pub(crate) struct Peer {
    pub(crate) got: Mutex<Vec<HttpRequest>>,
    answer: Box<Answers>,
}

impl Peer {
    /// Answers with these statuses; `None` is no connection.
    pub(crate) fn new(answer: impl Fn(&HttpRequest) -> Option<u16> + Send + Sync + 'static) -> Peer {
        Peer { got: Mutex::default(), answer: Box::new(answer) }
    }

    pub(crate) fn taken(&self) -> Vec<HttpRequest> {
        self.got.lock().unwrap().clone()
    }
}

impl Transport for Peer {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        Box::pin(async move {
            let status = (self.answer)(&request);
            self.got.lock().unwrap().push(request);
            let status = status.ok_or_else(|| TransportError::new(TransportErrorKind::Connect, "nobody is there"))?;
            Ok(HttpResponse { status, headers: Vec::new(), body: Box::pin(futures_util::stream::empty()) })
        })
    }
}

/// A clock that stands still, and whose waits are over at once and noted.
#[derive(Default)]
pub(crate) struct StoppedClock(pub(crate) Mutex<Vec<Duration>>);

impl Clock for StoppedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_353_088_179).unwrap()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.0.lock().unwrap().push(time);
        Box::pin(async {})
    }
}

pub(crate) fn envelope(seq: u64, text: &str) -> Envelope {
    let mut payload = Object::new();
    payload.set("line", text);
    Envelope {
        kind: "log.added".into(),
        session: "s/1".into(),
        execution: None,
        time: Some("2026-01-16T10:05:00.123Z".into()),
        seq: Some(Seq(seq)),
        payload,
        dialect: Dialect::Native,
    }
}

pub(crate) fn header(request: &HttpRequest, name: &str) -> String {
    let found = request.headers.iter().find(|header| header.name == name);
    match found.map(|header| &header.value) {
        Some(HeaderValue::Plain(value)) => value.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

pub(crate) fn json(text: &str) -> Json {
    turnkeep_model::json::parse(text).unwrap().into_json()
}

pub(crate) fn body(request: &HttpRequest) -> Json {
    json(std::str::from_utf8(&request.body).unwrap())
}
