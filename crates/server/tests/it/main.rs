//! The tests of the server, through a real socket with a real client.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(clippy::print_stdout, reason = "tests say what they skip")]

mod access;
mod appending;
#[cfg(feature = "http")]
mod broadcasting;
mod browsers;
mod events;
mod formats;
mod hostile;
mod matrix;
mod pusher;
mod repeating;
#[cfg(feature = "http")]
mod running;
mod sessions;
mod stage;
mod tenants;
#[cfg(feature = "http")]
#[path = "../../../cli/tests/it/vendor.rs"]
#[expect(dead_code, reason = "the tests of the command use the rest")]
mod vendor;
mod viewer;
