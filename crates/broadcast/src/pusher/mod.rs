//! The Pusher HTTP API, which Reverb, Sockudo and Soketi speak as well.

mod message;
mod sign;

use std::sync::Arc;

use turnkeep_model::{ErrorKind, Json, Object};
use turnkeep_provider::{Header, HeaderValue, HttpRequest, Method, Secret, Transport};
use turnkeep_runtime::Result;
use turnkeep_runtime::envelope::{Channel, Envelope};
use turnkeep_runtime::port::{BoxFuture, Broadcaster, Clock, SystemClock};

use self::message::Message;
pub use self::sign::{body_md5, pusher_signature};

/// An application at a server that speaks the Pusher HTTP API.
#[derive(Debug, Clone)]
pub struct PusherApp {
    /// Where the server is, as `https://api-eu.pusher.com` or `http://127.0.0.1:8080`, with a path before `/apps` if it has
    /// one.
    pub url: String,
    /// The id of the application.
    pub id: String,
    /// Its key, which is sent.
    pub key: String,
    /// Its secret, which signs and is never sent.
    pub secret: Secret,
}

/// What a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PusherLimits {
    /// How many events a request may have.
    pub batch: usize,
    /// How many bytes the body of a request may have. Reverb counts its head as well, and refuses more than 10,000.
    pub body: usize,
}

impl Default for PusherLimits {
    fn default() -> PusherLimits {
        PusherLimits { batch: 10, body: 9_000 }
    }
}

/// Publishes over the Pusher HTTP API: signed, in batches, and an event that is too large as a pointer `{seq, fetch}` to
/// where a page gets it.
///
/// A relay that tries again sends all of its envelopes again: a page that has heard some of them passes over what it has.
pub struct Pusher {
    app: PusherApp,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    limits: PusherLimits,
    fetch: String,
}

impl Pusher {
    /// Where pages get events that are too large to be sent: `{session}`, `{seq}` and `{before}`, the place before it, are
    /// replaced.
    pub const FETCH: &'static str = "/v1/sessions/{session}/journal?after={before}&limit=1";

    /// Publishes to an application.
    pub fn new(app: PusherApp, transport: Arc<dyn Transport>) -> Pusher {
        let (clock, limits) = (Arc::new(SystemClock), PusherLimits::default());
        Pusher { app, transport, clock, limits, fetch: Pusher::FETCH.to_owned() }
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: PusherLimits) -> Pusher {
        self.limits = limits;
        self
    }

    /// With another address for events that are too large, as [`Pusher::FETCH`].
    #[must_use]
    pub fn with_fetch(mut self, fetch: impl Into<String>) -> Pusher {
        self.fetch = fetch.into();
        self
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Pusher {
        self.clock = clock;
        self
    }

    async fn publish_all(&self, channel: &Channel, envelopes: &[Envelope]) -> Result<()> {
        let messages = envelopes.iter().map(|envelope| Message::of(channel, envelope, &self.fetch, self.limits.body));
        for group in grouped(messages.collect(), self.limits) {
            self.send_group(&group).await?;
        }
        Ok(())
    }

    /// A server that takes less than we thought gets pointers.
    async fn send_group(&self, group: &[Message]) -> Result<()> {
        match self.post(group.iter().map(|message| &message.whole)).await {
            Err(error) if error.kind() == ErrorKind::TooLarge => {}
            done => return done,
        }
        for message in group {
            self.post([&message.pointer]).await?;
        }
        Ok(())
    }

    async fn post<'a>(&self, events: impl IntoIterator<Item = &'a Object>) -> Result<()> {
        let mut events: Vec<Json> = events.into_iter().map(|event| Json::Object(event.clone())).collect();
        let (path, body) = match (events.pop(), events.is_empty()) {
            (None, _) => return Ok(()),
            (Some(event), true) => ("events", event),
            (Some(event), false) => {
                events.push(event);
                ("batch_events", Json::Object([("batch", Json::Array(events))].into_iter().collect()))
            }
        };
        let peer = format!("the Pusher server of app {}", self.app.id);
        crate::exchange::send(self.transport.as_ref(), self.request(path, body.to_text().into_bytes()), &peer).await
    }

    fn request(&self, path: &str, body: Vec<u8>) -> HttpRequest {
        let path = format!("/apps/{}/{path}", self.app.id);
        let query = sign::query(&self.app, "POST", &path, &body, self.clock.now().as_second());
        let header =
            Header { name: "content-type".to_owned(), value: HeaderValue::Plain("application/json".to_owned()) };
        let url = format!("{}{path}?{query}", self.app.url.trim_end_matches('/'));
        HttpRequest { method: Method::Post, url, headers: vec![header], body }
    }
}

/// Messages in order, in as few requests as the limits allow.
fn grouped(messages: Vec<Message>, limits: PusherLimits) -> Vec<Vec<Message>> {
    let mut groups: Vec<Vec<Message>> = Vec::new();
    let mut size = 0;
    for message in messages {
        let own = message.size() + 1;
        match groups.last_mut() {
            Some(group) if group.len() < limits.batch && size + own <= limits.body => {
                size += own;
                group.push(message);
            }
            _ => {
                size = own + r#"{"batch":[]}"#.len();
                groups.push(vec![message]);
            }
        }
    }
    groups
}

impl Broadcaster for Pusher {
    fn publish<'a>(&'a self, channel: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.publish_all(channel, envelopes))
    }
}
