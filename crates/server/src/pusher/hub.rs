//! Who is connected, over all apps of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use super::app::App;
use super::channel::Channel;
use super::code::Code;
use super::lobby::Lobby;
use super::mailbox::{Mailbox, Note};
use super::presence::{Full, Member};
use super::socket_id::SocketId;

/// How often connections are closed while draining.
const DRAIN_STEP: Duration = Duration::from_millis(20);

/// How long closed connections may take to end.
const DRAIN_END: Duration = Duration::from_secs(1);

/// All apps of a server, with their connections.
#[derive(Debug)]
pub struct Hub {
    apps: Vec<Arc<Lobby>>,
    connections: AtomicUsize,
    deliveries: AtomicU64,
    most: usize,
    draining: AtomicBool,
}

impl Hub {
    /// A hub for these apps, with so many connections in all.
    pub fn new(apps: impl IntoIterator<Item = App>, most: usize) -> Hub {
        let apps = apps.into_iter().map(|app| Arc::new(Lobby::new(app))).collect();
        let (connections, deliveries) = (AtomicUsize::new(0), AtomicU64::new(0));
        Hub { apps, connections, deliveries, most, draining: AtomicBool::new(false) }
    }

    pub(super) fn by_key(&self, key: &str) -> Option<&Arc<Lobby>> {
        self.apps.iter().find(|lobby| lobby.app.key == key)
    }

    pub(super) fn by_id(&self, id: &str) -> Option<&Arc<Lobby>> {
        self.apps.iter().find(|lobby| lobby.app.id == id)
    }

    /// The app of a connection that is open here.
    pub(super) fn of_socket(&self, socket: SocketId) -> Option<&Arc<Lobby>> {
        self.apps.iter().find(|lobby| lobby.has(socket))
    }

    pub(super) fn of_tenant(&self, tenant: &str) -> impl Iterator<Item = &Arc<Lobby>> {
        self.apps.iter().filter(move |lobby| lobby.app.tenant == tenant)
    }

    pub(super) fn apps(&self) -> impl Iterator<Item = &App> {
        self.apps.iter().map(|lobby| lobby.app.as_ref())
    }

    /// Connections of all apps.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Frames that were sent, over all connections since the hub was made.
    pub fn deliveries(&self) -> u64 {
        self.deliveries.load(Ordering::Relaxed)
    }

    /// Publishes to a channel of an app; `false` where there is no such app.
    pub fn publish(&self, app_id: &str, channel: &Channel, event: &str, data: &str) -> bool {
        let lobby = self.by_id(app_id);
        lobby.inspect(|lobby| lobby.publish(channel, event, data, None)).is_some()
    }

    /// Takes a connection in, or tells why not.
    pub(super) fn enter(self: &Arc<Hub>, lobby: &Arc<Lobby>) -> Result<Seat, Code> {
        let place = self.place().ok_or(Code::OverCapacity)?;
        let (socket, mailbox, notes) = lobby.enter()?;
        Ok(Seat { lobby: lobby.clone(), socket, mailbox, notes, channels: Vec::new(), place })
    }

    fn place(self: &Arc<Hub>) -> Option<Place> {
        if self.draining.load(Ordering::Acquire) {
            return None;
        }
        let before = self.connections.fetch_add(1, Ordering::AcqRel);
        let place = Place(self.clone());
        (before < self.most).then_some(place)
    }

    /// Closes every connection, spread over `time`: clients come back at once, and not all in the same moment. Returns when
    /// they have ended.
    pub async fn drain(&self, time: Duration) {
        self.draining.store(true, Ordering::Release);
        let open: Vec<Arc<Mailbox>> = self.apps.iter().flat_map(|lobby| lobby.mailboxes()).collect();
        let steps = (time.as_millis() / DRAIN_STEP.as_millis()).max(1) as usize;
        for some in open.chunks(open.len().div_ceil(steps).max(1)) {
            some.iter().for_each(|mailbox| mailbox.close(Code::Reconnect));
            tokio::time::sleep(DRAIN_STEP).await;
        }
        // Whoever connected in the moment when draining began.
        self.apps.iter().flat_map(|lobby| lobby.mailboxes()).for_each(|mailbox| mailbox.close(Code::Reconnect));
        let ended = async {
            while self.connections() > 0 {
                tokio::time::sleep(DRAIN_STEP).await;
            }
        };
        // One that does not end is ended with the process.
        let _ = tokio::time::timeout(DRAIN_END, ended).await;
    }
}

/// One of the connections that a server may have.
#[derive(Debug)]
struct Place(Arc<Hub>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A connection in the hub; it leaves everything when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) lobby: Arc<Lobby>,
    pub(super) socket: SocketId,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) notes: UnboundedReceiver<Note>,
    channels: Vec<Channel>,
    place: Place,
}

impl Seat {
    pub(super) fn join(&mut self, channel: Channel, member: Option<&Member>) -> Result<(), Full> {
        self.lobby.join(&channel, self.socket, self.mailbox.clone(), member)?;
        self.channels.push(channel);
        Ok(())
    }

    pub(super) fn count_delivery(&self) {
        self.place.0.deliveries.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn leave(&mut self, channel: &Channel) {
        self.channels.retain(|one| one != channel);
        self.lobby.leave(channel, self.socket);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.channels.iter().for_each(|channel| self.lobby.leave(channel, self.socket));
        self.lobby.exit(self.socket);
    }
}
