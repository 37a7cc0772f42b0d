//! The built command, as a script sees it: output, errors, exit codes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod artifacts;
mod batch;
mod convert;
#[cfg(feature = "sqlite")]
mod damage;
#[cfg(all(unix, feature = "sqlite", feature = "http"))]
mod death;
mod hostile;
#[cfg(all(unix, feature = "sqlite"))]
mod injection;
#[cfg(feature = "http")]
mod keys;
mod look;
mod place;
mod policy;
mod recognise;
mod reduce;
mod repair;
mod run;
#[cfg(all(unix, feature = "sqlite", feature = "http", feature = "server"))]
mod serve;
#[cfg(feature = "sqlite")]
mod store;
#[cfg(feature = "sqlite")]
mod stores;
mod talk;
#[cfg(all(unix, feature = "sqlite"))]
mod terminal;
mod turns;
#[cfg(all(unix, feature = "sqlite", feature = "http"))]
mod vendor;
