//! Messages on the wire: what a server says, and what a client may say.
//!
//! A server's `data` is always a text that holds JSON; a client's is JSON or such a text.

use std::borrow::Cow;

use axum::extract::ws::Utf8Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::app::Limits;
use super::code::Code;
use super::socket_id::SocketId;

/// A message that is encoded once; a clone of it shares the bytes.
pub type Frame = Utf8Bytes;

/// `pusher:connection_established`.
pub fn established(socket: SocketId, limits: &Limits) -> Frame {
    // Clients refuse a timeout of zero.
    let timeout = limits.activity.as_secs().max(1);
    system("pusher:connection_established", &format!(r#"{{"socket_id":"{socket}","activity_timeout":{timeout}}}"#))
}

/// `pusher:error`.
pub fn error(code: Code, message: &str) -> Frame {
    system("pusher:error", &format!(r#"{{"code":{},"message":{}}}"#, code.number(), quote(message)))
}

/// `pusher:ping`.
pub fn ping() -> Frame {
    Frame::from_static(r#"{"event":"pusher:ping","data":"{}"}"#)
}

/// `pusher:pong`, without data.
pub fn pong() -> Frame {
    Frame::from_static(r#"{"event":"pusher:pong"}"#)
}

/// What tells the listeners of one channel that they cannot listen.
pub fn subscription_error(channel: &str, kind: &str, message: &str, status: u16) -> Frame {
    let data = format!(r#"{{"type":{},"error":{},"status":{status}}}"#, quote(kind), quote(message));
    event("pusher:subscription_error", channel, &quote(&data), None)
}

/// `pusher_internal:subscription_succeeded`, with the members where the channel has some.
pub fn subscribed(channel: &str, presence: Option<&str>) -> Frame {
    event("pusher_internal:subscription_succeeded", channel, &quote(presence.unwrap_or("{}")), None)
}

/// `pusher:cache_miss`.
pub fn cache_miss(channel: &str) -> Frame {
    event("pusher:cache_miss", channel, r#""{}""#, None)
}

/// `pusher_internal:subscription_count`.
pub fn subscription_count(channel: &str, count: usize) -> Frame {
    let data = format!(r#"{{"subscription_count":{count}}}"#);
    event("pusher_internal:subscription_count", channel, &quote(&data), None)
}

/// An event on a channel. `data` is a JSON string already: it is made once for many channels.
pub fn event(name: &str, channel: &str, data: &str, user: Option<&str>) -> Frame {
    let mut text = String::with_capacity(48 + name.len() + channel.len() + data.len());
    text.push_str(r#"{"event":"#);
    text.push_str(&quote(name));
    text.push_str(r#","channel":"#);
    text.push_str(&quote(channel));
    text.push_str(r#","data":"#);
    text.push_str(data);
    if let Some(user) = user {
        text.push_str(r#","user_id":"#);
        text.push_str(&quote(user));
    }
    text.push('}');
    text.into()
}

/// A text as a JSON string.
pub fn quote(text: &str) -> String {
    // A string can always be written.
    serde_json::to_string(text).unwrap_or_default()
}

fn system(name: &str, data: &str) -> Frame {
    format!(r#"{{"event":"{name}","data":{}}}"#, quote(data)).into()
}

/// What a client says.
#[derive(Debug, PartialEq, Eq)]
pub enum ClientFrame {
    /// It wants to listen.
    Subscribe {
        /// Where.
        channel: String,
        /// `KEY:SIGNATURE`, where one is needed.
        auth: String,
        /// Who it is, as it was signed.
        channel_data: Option<String>,
    },
    /// It listens no longer.
    Unsubscribe {
        /// Where.
        channel: String,
    },
    /// It asks whether the server is there.
    Ping,
    /// It is there.
    Pong,
    /// It has something to say to the others.
    Event {
        /// The name of the event, which begins with `client-`.
        name: String,
        /// Where.
        channel: String,
        /// JSON or text, as it came.
        data: String,
    },
    /// An event that nobody handles.
    Other,
}

/// A message that is none.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    channel: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Subscription {
    channel: String,
    auth: Option<String>,
    channel_data: Option<String>,
}

/// Reads what a client says.
pub fn parse(text: &str) -> Result<ClientFrame, Malformed> {
    let message: Message<'_> = serde_json::from_str(text).map_err(|_| Malformed)?;
    let data = message.data.map(unquote).unwrap_or_default();
    let subscription = || serde_json::from_str::<Subscription>(&data).map_err(|_| Malformed);
    match message.event.as_ref() {
        "pusher:subscribe" => subscription().map(|Subscription { channel, auth, channel_data }| {
            ClientFrame::Subscribe { channel, auth: auth.unwrap_or_default(), channel_data }
        }),
        "pusher:unsubscribe" => subscription().map(|said| ClientFrame::Unsubscribe { channel: said.channel }),
        "pusher:ping" => Ok(ClientFrame::Ping),
        "pusher:pong" => Ok(ClientFrame::Pong),
        name if name.starts_with("client-") => {
            let channel = message.channel.ok_or(Malformed)?.into_owned();
            Ok(ClientFrame::Event { name: name.to_owned(), channel, data: data.into_owned() })
        }
        name if name.starts_with("pusher:") || name.starts_with("pusher_internal:") => Err(Malformed),
        _ => Ok(ClientFrame::Other),
    }
}

/// JSON that stands in a string, or JSON as it stands there.
fn unquote(raw: &RawValue) -> Cow<'_, str> {
    serde_json::from_str::<String>(raw.get()).map_or(Cow::Borrowed(raw.get()), Cow::Owned)
}

#[cfg(test)]
mod tests;
