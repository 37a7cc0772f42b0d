//! The Pusher protocol, version 7: channels over a WebSocket, and the HTTP API that publishes to them.
//!
//! What the protocol says is decided in plain code, without a socket or a clock: names of channels ([`channel`]), frames
//! ([`frame`]), signatures ([`signature`]), and what a connection answers to a message ([`protocol`]). Around it are the hub,
//! which knows who is connected and who listens where ([`hub`]), and the shell: the WebSocket and the routes ([`http`]).

pub mod app;
pub mod channel;
pub mod code;
mod connection;
pub mod feed;
mod following;
pub mod frame;
pub mod http;
pub mod hub;
mod lobby;
mod mailbox;
mod presence;
pub mod protocol;
mod rate;
mod replay;
mod room;
mod router;
pub mod signature;
pub mod socket_id;

pub use app::{App, ClientEvents, Limits, Origins};
pub use channel::Channel;
pub use code::Code;
pub use feed::{FeedItem, Items, SessionFeed};
pub use http::authorize::{AuthorizeRequest, Authorizer, Grant, NoAuthorizer, PresenceUser};
pub use hub::Hub;
pub use presence::Member;
pub use router::Pusher;
pub use socket_id::SocketId;
