//! Models behind HTTP, against servers on this machine.

mod agent;
mod endpoints;
mod fallback;
mod faults;
mod kit;
mod network;
mod recorded;
mod retries;
mod secrets;
mod server;
mod wires;
