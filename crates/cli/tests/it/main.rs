//! The built command, as a script sees it: output, errors, exit codes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod artifacts;
mod batch;
mod convert;
mod hostile;
mod look;
mod place;
mod policy;
mod recognise;
mod reduce;
mod repair;
mod run;
#[cfg(feature = "sqlite")]
mod store;
#[cfg(feature = "sqlite")]
mod stores;
mod talk;
mod turns;
