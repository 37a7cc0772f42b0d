//! Sessions of a real server, heard with the Pusher protocol.

mod echo;
mod following;
mod killed;
mod kit;
mod signing;
mod storm;
