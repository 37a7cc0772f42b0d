//! Tests of the runtime.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "tests say how much they tried")]

mod agent;
mod approval;
mod checkpoint;
mod condense;
mod crash;
mod envelope;
mod fleet;
mod kit;
mod plan;
mod recorder;
mod schema;
mod slices;
