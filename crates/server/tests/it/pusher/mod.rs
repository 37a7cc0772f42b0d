//! The Pusher protocol over the network of this machine.

mod api;
mod authorization;
mod connecting;
mod hostile;
pub(crate) mod kit;
mod real_clients;
mod sessions;
