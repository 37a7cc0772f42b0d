//! One WebSocket: reads what the client says, and writes what is in its mailbox.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::{FutureExt, SinkExt};
use tokio::time::{Duration, Sleep, sleep_until, timeout};

use super::code::Code;
use super::feed::{Items, SessionFeed};
use super::following::{self, Following, Told};
use super::frame::{self, Frame};
use super::hub::Seat;
use super::mailbox::Note;
use super::protocol::{Action, Protocol};

/// So many bytes are written at once, before the client is listened to again.
const BATCH: usize = 64 * 1024;

/// How long a client may take to agree to a close.
const FAREWELL: Duration = Duration::from_secs(2);

/// The code for a message that is too large or no message at all.
const TOO_LARGE: u16 = 1009;

/// Why a connection ends.
enum End {
    /// The client is gone, or does not read.
    Gone,
    /// The server closes.
    Close(Code),
    /// What the client sent cannot be read.
    Unreadable,
}

/// Refuses a client that asked to connect.
pub(super) async fn refuse(mut socket: WebSocket, code: Code) {
    farewell(&mut socket, code).await;
}

/// Serves a client until one of the two ends it.
pub(super) async fn serve(socket: WebSocket, seat: Seat, feed: Arc<dyn SessionFeed>) {
    let mut connection = Connection::new(socket, seat, feed);
    let end = connection.run().await;
    let Connection { mut socket, seat, .. } = connection;
    // It is nobody's listener while the client says goodbye.
    drop(seat);
    match end {
        End::Gone => {}
        End::Close(code) => farewell(&mut socket, code).await,
        End::Unreadable => close(&mut socket, TOO_LARGE, "Message too large or unreadable").await,
    }
}

struct Connection {
    socket: WebSocket,
    seat: Seat,
    protocol: Protocol,
    feed: Arc<dyn SessionFeed>,
    following: Following,
    opened: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Connection {
    fn new(socket: WebSocket, seat: Seat, feed: Arc<dyn SessionFeed>) -> Connection {
        let opened = Instant::now();
        let protocol = Protocol::new(seat.lobby.app.clone(), seat.socket);
        let timer = Box::pin(sleep_until((opened + protocol.deadline()).into()));
        Connection { socket, seat, protocol, feed, following: Following::default(), opened, timer }
    }

    async fn run(&mut self) -> End {
        let greeting = self.protocol.greeting();
        if let Err(end) = self.send(greeting).await {
            return end;
        }
        loop {
            let step = tokio::select! {
                note = self.seat.notes.recv() => self.deliver(note).await,
                told = self.following.next() => self.tell(told).await,
                message = self.socket.recv() => self.hear(message).await,
                () = self.timer.as_mut() => self.tick().await,
            };
            if let Err(end) = step {
                return end;
            }
        }
    }

    /// Writes what waits: many frames with one call of the system.
    async fn deliver(&mut self, first: Option<Note>) -> Result<(), End> {
        let (mut next, mut written) = (first, 0);
        while let Some(note) = next {
            let frame = match note {
                Note::Frame(frame) => frame,
                Note::Close(code) => return Err(End::Close(code)),
            };
            self.seat.mailbox.taken(&frame);
            written += frame.len();
            self.write(frame).await?;
            next = if written < BATCH { self.seat.notes.try_recv().ok() } else { None };
        }
        self.flush().await
    }

    /// Writes what sessions tell, as much as is there.
    async fn tell(&mut self, first: Told) -> Result<(), End> {
        let (mut next, mut written) = (Some(first), 0);
        while let Some(told) = next {
            // A client that comes back reads on; one that stayed would miss what follows.
            let Told::Frame(frame) = told else { return Err(End::Close(Code::OverCapacity)) };
            written += frame.len();
            self.write(frame).await?;
            next = if written < BATCH { self.following.next().now_or_never() } else { None };
        }
        self.flush().await
    }

    async fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Result<(), End> {
        let now = self.opened.elapsed();
        let actions = match message {
            Some(Ok(Message::Text(text))) => self.protocol.text(now, &text),
            Some(Ok(Message::Binary(_))) => self.protocol.binary(now),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                self.protocol.heard(now);
                Vec::new()
            }
            Some(Ok(Message::Close(_))) | None => return Err(End::Gone),
            Some(Err(_)) => return Err(End::Unreadable),
        };
        for action in actions {
            self.act(action).await?;
        }
        self.flush().await
    }

    async fn act(&mut self, action: Action) -> Result<(), End> {
        match action {
            Action::Send(frame) => self.write(frame).await?,
            Action::Close(code) => return Err(End::Close(code)),
            Action::Relay(event) => self.seat.lobby.relay(event, self.seat.socket),
            Action::Unsubscribe(channel) => {
                self.following.stop(&channel);
                self.seat.leave(&channel);
            }
            Action::Subscribe(channel, member) => {
                if self.seat.join(channel.clone(), member.as_ref()).is_err() {
                    let refused = self.protocol.refused(&channel);
                    return self.write(refused).await;
                }
                self.follow(&channel).await?;
            }
        }
        Ok(())
    }

    /// Begins to tell of the channel's session, after what is in the mailbox: that the subscription succeeded.
    async fn follow(&mut self, channel: &super::Channel) -> Result<(), End> {
        let is_told = channel.is_guarded() || self.seat.lobby.app.public_sessions;
        let items = if is_told { self.items(channel).await? } else { None };
        let waiting = self.seat.notes.try_recv().ok();
        self.deliver(waiting).await?;
        match items {
            Some(items) => self.following.start(channel, items),
            None if channel.after().is_some() => self.write(following::no_session(channel)).await?,
            None => {}
        }
        Ok(())
    }

    /// The events of the channel's session, if it has one. They are asked for before the client hears that it listens: what it
    /// does after that is told to it.
    async fn items(&mut self, channel: &super::Channel) -> Result<Option<Items>, End> {
        let Some(session) = channel.session() else { return Ok(None) };
        let (app, feed) = (self.seat.lobby.app.clone(), self.feed.clone());
        let items = timeout(app.limits.write, feed.follow(&app, session, channel.after())).await;
        items.map(Some).map_err(|_| End::Close(Code::OverCapacity))
    }

    async fn tick(&mut self) -> Result<(), End> {
        if let Some(action) = self.protocol.tick(self.opened.elapsed()) {
            self.act(action).await?;
            self.flush().await?;
        }
        // Whatever was heard in the meantime only moved the deadline: the timer is set when it fires, not with every message.
        self.timer.as_mut().reset((self.opened + self.protocol.deadline()).into());
        Ok(())
    }

    async fn send(&mut self, frame: Frame) -> Result<(), End> {
        self.write(frame).await?;
        self.flush().await
    }

    async fn write(&mut self, frame: Frame) -> Result<(), End> {
        self.seat.count_delivery();
        let limit = self.seat.lobby.app.limits.write;
        within(limit, self.socket.feed(Message::Text(frame))).await
    }

    async fn flush(&mut self) -> Result<(), End> {
        within(self.seat.lobby.app.limits.write, self.socket.flush()).await
    }
}

/// A client whose network takes nothing for so long is closed.
async fn within<E>(limit: Duration, work: impl Future<Output = Result<(), E>>) -> Result<(), End> {
    match timeout(limit, work).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(End::Gone),
        Err(_) => Err(End::Close(Code::OverCapacity)),
    }
}

/// Says why, and closes.
async fn farewell(socket: &mut WebSocket, code: Code) {
    let said = socket.feed(Message::Text(frame::error(code, reason(code))));
    if timeout(FAREWELL, said).await.is_ok_and(|said| said.is_ok()) {
        close(socket, code.number(), reason(code)).await;
    }
}

/// A close that asks to come back is none that complains of a message.
fn reason(code: Code) -> &'static str {
    if code == Code::Reconnect { "The server goes away" } else { code.message() }
}

async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: reason.into() };
    let goodbye = async {
        socket.send(Message::Close(Some(frame))).await?;
        // Until the client agrees: a connection that is cut may lose what was said last.
        while let Some(Ok(_)) = socket.recv().await {}
        Ok::<(), axum::Error>(())
    };
    // A client that does not agree is cut off.
    let _ = timeout(FAREWELL, goodbye).await;
}
