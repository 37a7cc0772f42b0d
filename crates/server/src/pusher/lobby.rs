//! One app: its connections, and who listens where.
//!
//! A frame is encoded once and shared by all who get it. Publishing takes one lock for all listeners of a channel, which also
//! gives every one of them the same order; a delivery takes none.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedReceiver;

use super::app::App;
use super::channel::Channel;
use super::code::Code;
use super::mailbox::{Mailbox, Note};
use super::presence::{Full, Member};
use super::protocol::ClientEvent;
use super::replay::SeenSignatures;
use super::room::{Event, Joining, Listener, Room};
use super::signature::{Verified, WINDOW};
use super::socket_id::SocketId;

/// The rooms of an app are in so many tables, each with a lock of its own.
const SHARDS: usize = 32;

type Rooms = HashMap<Box<str>, Room>;

/// One app, with its connections and channels.
#[derive(Debug)]
pub(super) struct Lobby {
    pub(super) app: Arc<App>,
    shards: [Mutex<Rooms>; SHARDS],
    hasher: RandomState,
    connections: Mutex<HashMap<SocketId, Arc<Mailbox>>>,
    seen: Mutex<SeenSignatures>,
}

/// How many listen on a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occupancy {
    pub(super) name: String,
    pub(super) listeners: usize,
    pub(super) users: usize,
    /// The last event's data, as JSON, where the channel keeps it.
    pub(super) last: Option<String>,
}

impl Lobby {
    pub(super) fn new(app: App) -> Lobby {
        Lobby {
            app: Arc::new(app),
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            connections: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// Takes a connection in, under an id that no other has.
    pub(super) fn enter(&self) -> Result<(SocketId, Arc<Mailbox>, UnboundedReceiver<Note>), Code> {
        let mut connections = lock(&self.connections);
        if connections.len() >= self.app.limits.connections {
            return Err(Code::ConnectionLimit);
        }
        let (mailbox, notes) = Mailbox::new(self.app.limits.queue);
        let mailbox = Arc::new(mailbox);
        loop {
            // A system without randomness is one without connections.
            let socket = SocketId::from_bits(getrandom::u64().map_err(|_| Code::OverCapacity)?);
            if let std::collections::hash_map::Entry::Vacant(vacant) = connections.entry(socket) {
                vacant.insert(mailbox.clone());
                return Ok((socket, mailbox, notes));
            }
        }
    }

    pub(super) fn exit(&self, socket: SocketId) {
        lock(&self.connections).remove(&socket);
    }

    pub(super) fn has(&self, socket: SocketId) -> bool {
        lock(&self.connections).contains_key(&socket)
    }

    pub(super) fn connections(&self) -> usize {
        lock(&self.connections).len()
    }

    pub(super) fn mailboxes(&self) -> Vec<Arc<Mailbox>> {
        lock(&self.connections).values().cloned().collect()
    }

    /// Whether a signed request is the first of its kind.
    pub(super) fn admit(&self, verified: Verified, now: u64) -> bool {
        lock(&self.seen).admit(verified.mark, verified.time, now, WINDOW)
    }

    #[expect(clippy::indexing_slicing, reason = "the remainder is below the number of shards")]
    fn rooms(&self, name: &str) -> MutexGuard<'_, Rooms> {
        lock(&self.shards[self.hasher.hash_one(name) as usize % SHARDS])
    }

    pub(super) fn join(
        &self,
        channel: &Channel,
        socket: SocketId,
        mailbox: Arc<Mailbox>,
        member: Option<&Member>,
    ) -> Result<(), Full> {
        let aliased = channel.base() != channel.name().as_ref();
        let user = member.map(|member| member.user.clone());
        let listener = Listener { socket, mailbox, name: channel.name().clone(), aliased, user };
        let limits = &self.app.limits;
        let joining = Joining {
            members: limits.members,
            cache: channel.is_cache(),
            expired: Instant::now().checked_sub(limits.cache_age),
            counts: self.counts(channel),
        };
        let mut rooms = self.rooms(channel.base());
        let joined = rooms.entry(channel.base().into()).or_default().join(listener, member, joining);
        drop_if_idle(&mut rooms, channel.base());
        joined
    }

    pub(super) fn leave(&self, channel: &Channel, socket: SocketId) {
        let mut rooms = self.rooms(channel.base());
        if let Some(room) = rooms.get_mut(channel.base()) {
            room.leave(socket, channel.name(), self.counts(channel));
        }
        drop_if_idle(&mut rooms, channel.base());
    }

    /// Members are told of each other; others, how many they are.
    fn counts(&self, channel: &Channel) -> bool {
        self.app.subscription_counts && !channel.is_presence()
    }

    pub(super) fn publish(&self, channel: &Channel, name: &str, data: &str, except: Option<SocketId>) {
        self.tell(channel, Event::new(name, channel.base(), data, None), except);
    }

    pub(super) fn relay(&self, event: ClientEvent, from: SocketId) {
        let ClientEvent { channel, name, data, user } = event;
        self.tell(&channel, Event::new(&name, channel.base(), &data, user), Some(from));
    }

    fn tell(&self, channel: &Channel, event: Event, except: Option<SocketId>) {
        let mut rooms = self.rooms(channel.base());
        match rooms.get_mut(channel.base()) {
            Some(room) => room.publish(event, except, channel.is_cache()),
            None if channel.is_cache() => {
                rooms.entry(channel.base().into()).or_default().publish(event, except, channel.is_cache());
                forget_oldest(&mut rooms, self.app.limits.cached.div_ceil(SHARDS));
            }
            None => {}
        }
    }

    /// How many listen on a channel; `None` where nobody does.
    pub(super) fn occupancy(&self, channel: &Channel) -> Option<Occupancy> {
        let rooms = self.rooms(channel.base());
        rooms.get(channel.base()).filter(|room| !room.is_vacant()).map(|room| occupancy(channel.base(), room))
    }

    /// Every channel that someone listens on, if its name begins so.
    pub(super) fn occupied(&self, prefix: &str) -> Vec<Occupancy> {
        let mut found = Vec::new();
        for shard in &self.shards {
            let rooms = lock(shard);
            let occupied = rooms.iter().filter(|(name, room)| name.starts_with(prefix) && !room.is_vacant());
            found.extend(occupied.map(|(name, room)| occupancy(name, room)));
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found
    }

    /// The users of a channel; `None` where nobody listens.
    pub(super) fn users(&self, channel: &Channel) -> Option<Vec<String>> {
        let rooms = self.rooms(channel.base());
        let room = rooms.get(channel.base()).filter(|room| !room.is_vacant())?;
        Some(room.members().ids().map(str::to_owned).collect())
    }

    /// Closes the connections of a user.
    pub(super) fn terminate(&self, user: &str) {
        for shard in &self.shards {
            let rooms = lock(shard);
            let listeners = rooms.values().flat_map(Room::listeners);
            let theirs = listeners.filter(|listener| listener.user.as_deref() == Some(user));
            theirs.for_each(|listener| listener.mailbox.close(Code::Unauthorized));
        }
    }
}

fn occupancy(name: &str, room: &Room) -> Occupancy {
    Occupancy {
        name: name.to_owned(),
        listeners: room.listeners().len(),
        users: room.members().len(),
        last: room.last().map(str::to_owned),
    }
}

/// A channel without listeners stays only where it keeps an event.
fn drop_if_idle(rooms: &mut Rooms, name: &str) {
    if rooms.get(name).is_some_and(|room| room.is_vacant() && room.kept_since().is_none()) {
        rooms.remove(name);
    }
}

/// Keeps `most` of the channels that are there for their last event alone.
fn forget_oldest(rooms: &mut Rooms, most: usize) {
    let idle = || rooms.iter().filter(|(_, room)| room.is_vacant());
    if idle().count() > most
        && let Some(name) = idle().min_by_key(|(_, room)| room.kept_since()).map(|(name, _)| name.clone())
    {
        rooms.remove(&name);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is locked is consistent between any two statements that could panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
