//! What holds for stores.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod damage;
#[cfg(unix)]
mod denied;
#[cfg(unix)]
mod double;
#[cfg(feature = "sqlite")]
mod erase;
mod flip;
#[cfg(all(unix, feature = "postgres"))]
mod flip_rows;
mod folder;
#[cfg(all(unix, feature = "postgres"))]
mod frozen;
mod frozen_lines;
#[cfg(unix)]
mod full;
mod growth;
mod kill;
mod laws;
mod mend;
#[cfg(all(unix, feature = "postgres"))]
mod outage;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
#[cfg(all(unix, feature = "sqlite"))]
mod power_loss;
#[cfg(all(unix, feature = "postgres"))]
mod silent;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(all(unix, feature = "postgres"))]
mod tls;
mod torn;
mod url;
mod watch;
