//! One channel: who listens, who is there, and what was said last.

use std::sync::Arc;
use std::time::Instant;

use super::frame::{self, Frame};
use super::mailbox::Mailbox;
use super::presence::{Change, Full, Member, Members};
use super::socket_id::SocketId;

/// Up to so many listeners are told of every change of their number; more are told when it has changed by a tenth.
const COUNTED_EXACTLY: usize = 100;

/// An event that is published, encoded for the channel's own name.
#[derive(Debug, Clone)]
pub(super) struct Event {
    name: Arc<str>,
    /// A JSON string.
    data: Arc<str>,
    user: Option<Arc<str>>,
    frame: Frame,
}

impl Event {
    pub(super) fn new(name: &str, channel: &str, data: &str, user: Option<Arc<str>>) -> Event {
        let data = frame::quote(data);
        let frame = frame::event(name, channel, &data, user.as_deref());
        Event { name: name.into(), data: data.into(), user, frame }
    }

    fn under(&self, alias: &str) -> Frame {
        frame::event(&self.name, alias, &self.data, self.user.as_deref())
    }
}

/// One who listens.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: SocketId,
    pub(super) mailbox: Arc<Mailbox>,
    /// The name it knows the channel by.
    pub(super) name: Arc<str>,
    /// Whether that is another name than the channel's own.
    pub(super) aliased: bool,
    pub(super) user: Option<Arc<str>>,
}

/// A channel.
#[derive(Debug, Default)]
pub(super) struct Room {
    listeners: Vec<Listener>,
    members: Members,
    last: Option<(Event, Instant)>,
    told: usize,
}

/// What those who join are told beside that they did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joining {
    /// The users that the channel may have.
    pub(super) members: usize,
    /// The last event, where the channel keeps it.
    pub(super) cache: bool,
    /// When a last event is too old to be told.
    pub(super) expired: Option<Instant>,
    /// How many listen.
    pub(super) counts: bool,
}

impl Room {
    /// Lets someone listen. Everything it is told goes through its mailbox, so that nothing is out of order.
    pub(super) fn join(&mut self, listener: Listener, member: Option<&Member>, joining: Joining) -> Result<(), Full> {
        let change = member.map(|member| self.members.join(member, joining.members)).transpose()?;
        let presence = member.map(|_| self.members.to_json());
        listener.mailbox.send(frame::subscribed(&listener.name, presence.as_deref()));
        if joining.cache {
            listener.mailbox.send(self.cached(&listener, joining.expired));
        }
        if let (Some(Change::Member), Some(member)) = (change, member) {
            self.announce("pusher_internal:member_added", &member.added());
        }
        self.listeners.push(listener);
        self.count(joining.counts);
        Ok(())
    }

    /// Ends listening under this name.
    pub(super) fn leave(&mut self, socket: SocketId, name: &str, counts: bool) {
        let found = self.listeners.iter().position(|one| one.socket == socket && *one.name == *name);
        let Some(listener) = found.map(|at| self.listeners.swap_remove(at)) else { return };
        if let Some(user) = listener.user.filter(|user| self.members.leave(user) == Change::Member) {
            self.announce("pusher_internal:member_removed", &Member::removed(&user));
        }
        self.count(counts);
    }

    /// Tells everyone but `except`.
    pub(super) fn publish(&mut self, event: Event, except: Option<SocketId>, cache: bool) {
        self.deliver(&event, except);
        if cache {
            self.last = Some((event, Instant::now()));
        }
    }

    fn deliver(&self, event: &Event, except: Option<SocketId>) {
        let mut aliases: Vec<(&str, Frame)> = Vec::new();
        for listener in self.listeners.iter().filter(|one| Some(one.socket) != except) {
            let frame =
                if listener.aliased { aliased(&mut aliases, event, &listener.name) } else { event.frame.clone() };
            listener.mailbox.send(frame);
        }
    }

    fn announce(&self, name: &str, data: &str) {
        if let Some(channel) = self.listeners.first().map(|one| one.name.clone()) {
            let event = Event::new(name, &channel, data, None);
            // All of them by their own names: the one that it is encoded for is the name of the first.
            for listener in &self.listeners {
                let same = listener.name == channel;
                listener.mailbox.send(if same { event.frame.clone() } else { event.under(&listener.name) });
            }
        }
    }

    fn cached(&self, listener: &Listener, expired: Option<Instant>) -> Frame {
        match &self.last {
            Some((event, at)) if expired.is_none_or(|expired| *at >= expired) => event.under(&listener.name),
            _ => frame::cache_miss(&listener.name),
        }
    }

    fn count(&mut self, counts: bool) {
        let now = self.listeners.len();
        if counts && (now <= COUNTED_EXACTLY || now.abs_diff(self.told) * 10 >= self.told) {
            self.told = now;
            for listener in &self.listeners {
                listener.mailbox.send(frame::subscription_count(&listener.name, now));
            }
        }
    }

    pub(super) fn is_vacant(&self) -> bool {
        self.listeners.is_empty()
    }

    /// When its last event was published; `None` without one.
    pub(super) fn kept_since(&self) -> Option<Instant> {
        self.last.as_ref().map(|(_, at)| *at)
    }

    pub(super) fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    pub(super) fn members(&self) -> &Members {
        &self.members
    }

    /// The last event's data, as JSON.
    pub(super) fn last(&self) -> Option<&str> {
        self.last.as_ref().map(|(event, _)| event.data.as_ref())
    }
}

/// The frame for one of the other names; most listeners with one share few of them.
fn aliased<'a>(aliases: &mut Vec<(&'a str, Frame)>, event: &Event, name: &'a str) -> Frame {
    if let Some((_, frame)) = aliases.iter().find(|(alias, _)| *alias == name) {
        return frame.clone();
    }
    let frame = event.under(name);
    if aliases.len() < 8 {
        aliases.push((name, frame.clone()));
    }
    frame
}
