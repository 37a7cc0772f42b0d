//! What a connection does with what it hears: plain code, without a socket or a clock.
//!
//! Times are counted from the beginning of the connection. The caller does what the returned [`Action`]s say.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::app::{App, ClientEvents};
use super::channel::{Access, Channel};
use super::code::Code;
use super::frame::{self, ClientFrame, Frame};
use super::presence::Member;
use super::rate::Rate;
use super::signature;
use super::socket_id::SocketId;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Say this.
    Send(Frame),
    /// Let it listen, as this member where the channel has members.
    Subscribe(Channel, Option<Member>),
    /// Let it listen no longer.
    Unsubscribe(Channel),
    /// Tell the others on the channel.
    Relay(ClientEvent),
    /// Say why, and close.
    Close(Code),
}

/// An event of one client for the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEvent {
    /// Where.
    pub channel: Channel,
    /// Its name.
    pub name: String,
    /// Its data, as JSON or text.
    pub data: String,
    /// Who sent it, on a presence channel.
    pub user: Option<Arc<str>>,
}

/// The state of one connection.
#[derive(Debug)]
pub struct Protocol {
    app: Arc<App>,
    socket: SocketId,
    heard: Duration,
    pinged: Option<Duration>,
    /// What it listens to, and as which user.
    channels: HashMap<Arc<str>, Option<Arc<str>>>,
    rate: Rate,
}

const MEMBERS_ONLY: &str = "The client is not a member of the specified channel.";
const GUARDED_ONLY: &str = "Client events are accepted on private and presence channels only.";
const TOO_MANY_EVENTS: &str = "Rate limit exceeded";
const TOO_MANY_CHANNELS: &str = "The connection listens to as many channels as it may.";
const NO_NAME: &str = "Invalid channel name";
const NO_MEMBER: &str = "channel_data names no user";

impl Protocol {
    /// A connection that has just been opened.
    pub fn new(app: Arc<App>, socket: SocketId) -> Protocol {
        let rate = Rate::new(app.limits.client_events);
        Protocol { app, socket, heard: Duration::ZERO, pinged: None, channels: HashMap::new(), rate }
    }

    /// What is said first.
    pub fn greeting(&self) -> Frame {
        frame::established(self.socket, &self.app.limits)
    }

    /// Anything at all was heard.
    pub fn heard(&mut self, now: Duration) {
        self.heard = now;
        self.pinged = None;
    }

    /// A text message was heard.
    pub fn text(&mut self, now: Duration, text: &str) -> Vec<Action> {
        self.heard(now);
        if text.len() > self.app.limits.message {
            return vec![refusal(Code::Reconnect, "Message too large")];
        }
        match frame::parse(text) {
            Err(frame::Malformed) => vec![refusal(Code::Reconnect, Code::Reconnect.message())],
            Ok(ClientFrame::Subscribe { channel, auth, channel_data }) => self.subscribe(&channel, &auth, channel_data),
            Ok(ClientFrame::Unsubscribe { channel }) => self.unsubscribe(&channel),
            Ok(ClientFrame::Ping) => vec![Action::Send(frame::pong())],
            Ok(ClientFrame::Event { name, channel, data }) => vec![self.client_event(now, name, &channel, data)],
            Ok(ClientFrame::Pong | ClientFrame::Other) => Vec::new(),
        }
    }

    /// A binary message was heard: the protocol has none.
    pub fn binary(&mut self, now: Duration) -> Vec<Action> {
        self.heard(now);
        vec![refusal(Code::Reconnect, Code::Reconnect.message())]
    }

    /// When [`tick`](Protocol::tick) is to be called.
    pub fn deadline(&self) -> Duration {
        let limits = &self.app.limits;
        self.pinged.map_or(self.heard + limits.activity, |pinged| pinged + limits.pong)
    }

    /// Time has passed: asks a silent client whether it is there, and closes where it does not answer.
    pub fn tick(&mut self, now: Duration) -> Option<Action> {
        if now < self.deadline() {
            return None;
        }
        match self.pinged {
            Some(_) => Some(Action::Close(Code::PongTimeout)),
            None => {
                self.pinged = Some(now);
                Some(Action::Send(frame::ping()))
            }
        }
    }

    /// The channel could not take one more user: it does not listen after all.
    pub fn refused(&mut self, channel: &Channel) -> Frame {
        self.channels.remove(channel.name());
        frame::subscription_error(channel.name(), "LimitReached", "The channel has as many members as it may.", 403)
    }

    fn subscribe(&mut self, name: &str, auth: &str, data: Option<String>) -> Vec<Action> {
        let Some(channel) = Channel::parse(name) else {
            return denied(Code::Reconnect, name, NO_NAME, "InvalidChannel", 400);
        };
        if self.channels.contains_key(name) {
            return vec![refusal(Code::Reconnect, "Existing subscription to channel")];
        }
        if self.channels.len() >= self.app.limits.channels {
            return denied(Code::OverCapacity, name, TOO_MANY_CHANNELS, "LimitReached", 403);
        }
        let socket = self.socket.to_string();
        if channel.is_guarded() && !signature::allows(&self.app, auth, &socket, &channel, data.as_deref()) {
            return denied(Code::Unauthorized, name, Code::Unauthorized.message(), "AuthError", 401);
        }
        if !channel.is_presence() {
            return vec![self.admit(channel, None)];
        }
        match Member::parse(&data.unwrap_or_default(), &self.app.limits) {
            Some(member) => vec![self.admit(channel, Some(member))],
            None => denied(Code::Unauthorized, name, NO_MEMBER, "AuthError", 400),
        }
    }
    fn admit(&mut self, channel: Channel, member: Option<Member>) -> Action {
        let user = member.as_ref().map(|member| member.user.clone());
        self.channels.insert(channel.name().clone(), user);
        Action::Subscribe(channel, member)
    }

    fn unsubscribe(&mut self, name: &str) -> Vec<Action> {
        let left = self.channels.remove(name).and_then(|_| Channel::parse(name));
        left.map(Action::Unsubscribe).into_iter().collect()
    }

    fn client_event(&mut self, now: Duration, name: String, channel: &str, data: String) -> Action {
        let limits = &self.app.limits;
        let fits = name.len() <= limits.event_name && data.len() <= limits.data;
        let Some(channel) = Channel::parse(channel).filter(|_| fits) else {
            return refusal(Code::Reconnect, Code::Reconnect.message());
        };
        if let Err((code, message)) = self.may_send(&channel) {
            return refusal(code, message);
        }
        if !self.rate.take(now) {
            return refusal(Code::ClientEvent, TOO_MANY_EVENTS);
        }
        let user = self.channels.get(channel.name()).cloned().flatten();
        Action::Relay(ClientEvent { channel, name, data, user })
    }

    fn may_send(&self, channel: &Channel) -> Result<(), (Code, &'static str)> {
        let guarded = matches!(channel.access(), Access::Private | Access::Presence);
        match self.app.client_events {
            ClientEvents::Nobody => Err((Code::ClientEvent, Code::ClientEvent.message())),
            ClientEvents::Members if !self.channels.contains_key(channel.name()) => {
                Err((Code::Unauthorized, MEMBERS_ONLY))
            }
            ClientEvents::Members if !guarded => Err((Code::Unauthorized, GUARDED_ONLY)),
            ClientEvents::Members | ClientEvents::Everybody => Ok(()),
        }
    }
}

fn refusal(code: Code, message: &str) -> Action {
    Action::Send(frame::error(code, message))
}

/// A subscription that failed is told twice: by the error that servers send, and on the channel, where pages look for it.
fn denied(code: Code, channel: &str, message: &str, kind: &str, status: u16) -> Vec<Action> {
    vec![refusal(code, message), Action::Send(frame::subscription_error(channel, kind, message, status))]
}

#[cfg(test)]
mod tests;
