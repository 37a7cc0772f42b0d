//! Tests of the runtime.

mod agent;
mod approval;
mod checkpoint;
mod crash;
mod envelope;
mod fleet;
mod kit;
mod plan;
mod recorder;
mod schema;
mod slices;
