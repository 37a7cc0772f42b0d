//! An app: who may connect, and how much.

use std::time::Duration;

use turnkeep_provider::Secret;

use crate::live::{Preset, View};

/// An application that connects: its browsers by key, its server by id and signature.
#[derive(Debug, Clone)]
pub struct App {
    /// What stands in the paths of the HTTP API.
    pub id: String,
    /// What browsers name.
    pub key: String,
    /// What signatures are made with.
    pub secret: Secret,
    /// Whose sessions its channels tell of.
    pub tenant: String,
    /// What its channels tell of a session.
    pub view: View,
    /// The pages that may connect, beside those of this server.
    pub origins: Origins,
    /// Who may send events to other clients.
    pub client_events: ClientEvents,
    /// Whether it may be used at all.
    pub enabled: bool,
    /// Whether listeners are told how many they are.
    pub subscription_counts: bool,
    /// Whether `agent.ID` tells of a session to everybody, without a signature.
    pub public_sessions: bool,
    /// How much of everything.
    pub limits: Limits,
}

impl App {
    /// An app with the defaults: private sessions, client events of members, no page but those of this server's origin.
    pub fn new(id: impl Into<String>, key: impl Into<String>, secret: Secret, tenant: impl Into<String>) -> App {
        App {
            id: id.into(),
            key: key.into(),
            secret,
            tenant: tenant.into(),
            view: View::Agent(Preset::default()),
            origins: Origins::default(),
            client_events: ClientEvents::Members,
            enabled: true,
            subscription_counts: false,
            public_sessions: false,
            limits: Limits::default(),
        }
    }
}

/// Pages by their origin: `https://app.example`, `https://*.example`, or `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// These origins.
    pub fn new(origins: impl IntoIterator<Item = impl Into<String>>) -> Origins {
        Origins(origins.into_iter().map(Into::into).collect())
    }

    /// Whether a page of this origin may connect. Programs that are no browsers name no origin, and are let in: they show
    /// a signature where it matters.
    pub fn admit(&self, origin: Option<&str>) -> bool {
        origin.is_none_or(|origin| self.0.iter().any(|pattern| matches(pattern, origin)))
    }
}

/// `*` is everything, a leading `*.` in the host every name below it.
fn matches(pattern: &str, origin: &str) -> bool {
    if pattern == "*" || pattern.eq_ignore_ascii_case(origin) {
        return true;
    }
    let (Some((scheme, host)), Some((theirs, name))) = (pattern.split_once("://*."), origin.split_once("://")) else {
        return false;
    };
    let below =
        name.len().checked_sub(host.len() + 1).and_then(|at| name.get(at..)).and_then(|end| end.strip_prefix('.'));
    scheme.eq_ignore_ascii_case(theirs) && below.is_some_and(|end| end.eq_ignore_ascii_case(host))
}

/// Who may send events to other clients of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientEvents {
    /// Nobody.
    Nobody,
    /// Whoever listens on the channel.
    #[default]
    Members,
    /// Every connection of the app.
    Everybody,
}

/// How much an app, a connection and a message may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections of the app at a time.
    pub connections: usize,
    /// Channels that one connection listens on.
    pub channels: usize,
    /// Bytes of a message that a client sends.
    pub message: usize,
    /// Bytes of an HTTP request's body.
    pub request: usize,
    /// Bytes of an event's data.
    pub data: usize,
    /// Characters of an event's name.
    pub event_name: usize,
    /// Channels that one event is published to.
    pub publish_channels: usize,
    /// Events in one batch.
    pub batch: usize,
    /// Client events a second and connection.
    pub client_events: u32,
    /// Users of a presence channel.
    pub members: usize,
    /// Bytes of the id of a user.
    pub user_id: usize,
    /// Bytes of what is told of a user.
    pub user_info: usize,
    /// Bytes that wait for a connection that does not read.
    pub queue: usize,
    /// Cache channels without listeners whose last event is kept.
    pub cached: usize,
    /// How long a last event is kept.
    pub cache_age: Duration,
    /// How long a connection may be silent before it is asked whether it is there.
    pub activity: Duration,
    /// How long it may take to answer that.
    pub pong: Duration,
    /// How long the network may take to accept what is sent.
    pub write: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 10_000,
            channels: 100,
            message: 10_240,
            request: 128 * 1024,
            data: 10_240,
            event_name: 200,
            publish_channels: 100,
            batch: 10,
            client_events: 10,
            members: 100,
            user_id: 128,
            user_info: 1024,
            queue: 1024 * 1024,
            cached: 1024,
            cache_age: Duration::from_secs(30 * 60),
            activity: Duration::from_secs(120),
            pong: Duration::from_secs(30),
            write: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_named_origins_connect_and_no_others() {
        let origins = Origins::new(["https://app.example", "https://*.shop.example"]);
        let table = [
            (None, true),
            (Some("https://app.example"), true),
            (Some("https://APP.example"), true),
            (Some("http://app.example"), false),
            (Some("https://app.example.evil"), false),
            (Some("https://a.shop.example"), true),
            (Some("https://shop.example"), false),
            (Some("https://evilshop.example"), false),
            (Some("http://a.shop.example"), false),
            (Some("null"), false),
            (Some(""), false),
        ];
        for (origin, admitted) in table {
            assert_eq!(origins.admit(origin), admitted, "{origin:?}");
        }
        assert!(Origins::new(["*"]).admit(Some("https://any.example")));
        assert!(!Origins::default().admit(Some("https://any.example")));
    }
}
