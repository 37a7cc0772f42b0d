//! The built command, as a script sees it: output, errors, exit codes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batch;
mod convert;
#[cfg(feature = "sqlite")]
mod damage;
mod hostile;
mod look;
mod place;
mod policy;
mod reduce;
mod repair;
mod run;
#[cfg(feature = "sqlite")]
mod store;
#[cfg(feature = "sqlite")]
mod stores;
mod talk;
mod turns;
