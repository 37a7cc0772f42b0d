//! Tests of the runtime.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "tests say how much they tried")]

mod acquire;
mod agent;
mod approval;
mod bad;
mod channel;
#[cfg(feature = "weakincentives")]
mod checkpoint;
mod chunks;
mod condense;
#[cfg(feature = "weakincentives")]
mod conversation;
#[cfg(feature = "weakincentives")]
mod conversation_readers;
mod crash;
mod dialect;
mod doubt;
mod endpoint;
mod envelope;
mod fleet;
mod forks;
#[cfg(feature = "schema")]
mod front;
mod inherited;
mod instructor;
mod interrupted;
mod kit;
mod lineage;
#[cfg(feature = "weakincentives")]
mod main_loop;
mod mortal;
mod plan;
mod reconcile;
mod recorder;
mod relay;
mod schema;
#[cfg(feature = "weakincentives")]
mod slices;
mod stores;
mod subscriptions;
mod tails;
mod wires;
