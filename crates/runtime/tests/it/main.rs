//! Tests of the runtime.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "tests say how much they tried")]

mod agent;
mod approval;
mod bad;
mod checkpoint;
mod condense;
mod conversation;
mod crash;
mod doubt;
mod endpoint;
mod envelope;
mod family;
mod fleet;
mod forks;
mod interrupted;
mod kit;
mod main_loop;
mod mortal;
mod plan;
mod recorder;
mod schema;
mod slices;
mod stores;
mod subscriptions;
mod take_up;
mod wires;
