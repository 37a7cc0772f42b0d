//! An envelope as an event of the Pusher HTTP API.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use turnkeep_model::{Json, Object};
use turnkeep_runtime::envelope::{Channel, Envelope};

/// An event, whole and as a pointer.
pub(super) struct Message {
    /// What is sent: the pointer, where the whole is too large.
    pub(super) whole: Object,
    /// What is sent where a server refuses the whole.
    pub(super) pointer: Object,
}

impl Message {
    pub(super) fn of(channel: &Channel, envelope: &Envelope, fetch: &str, limit: usize) -> Message {
        let pointer = event(channel, envelope, &pointer(envelope, fetch));
        let whole = event(channel, envelope, &envelope.to_json());
        let fits = size(&whole) <= limit;
        Message { whole: if fits { whole } else { pointer.clone() }, pointer }
    }

    /// How many bytes it takes in a request.
    pub(super) fn size(&self) -> usize {
        size(&self.whole)
    }
}

fn size(event: &Object) -> usize {
    Json::Object(event.clone()).to_text().len()
}

/// The data of an event is a text of JSON.
fn event(channel: &Channel, envelope: &Envelope, data: &Json) -> Object {
    let fields = [
        ("name", Json::from(envelope.event_name())),
        ("channel", channel.as_str().into()),
        ("data", data.to_text().into()),
    ];
    fields.into_iter().collect()
}

/// The envelope without its payload, and where to get it.
fn pointer(envelope: &Envelope, fetch: &str) -> Json {
    let mut told = match (Envelope { payload: Object::new(), ..envelope.clone() }).to_json() {
        Json::Object(told) => told,
        _ => Object::new(),
    };
    told.remove("payload");
    let seq = envelope.seq.map(|seq| seq.0);
    told.set("seq", seq.map_or(Json::Null, Json::from));
    told.set("fetch", address(envelope, fetch));
    Json::Object(told)
}

fn address(envelope: &Envelope, fetch: &str) -> String {
    let session = utf8_percent_encode(envelope.session.as_str(), NON_ALPHANUMERIC).to_string();
    let seq = envelope.seq.map_or(0, |seq| seq.0);
    let before = seq.saturating_sub(1).to_string();
    fetch.replace("{session}", &session).replace("{seq}", &seq.to_string()).replace("{before}", &before)
}
