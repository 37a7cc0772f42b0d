//! The runtime that exchanges run on.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

use crate::transport::{TransportError, TransportErrorKind};

/// The runtime of this process: two threads, made when the first request is sent.
pub(super) fn runtime() -> Result<&'static Runtime, TransportError> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(2).thread_name("turnkeep-http").enable_io().enable_time().build()
    });
    made.as_ref().map_err(|error| {
        TransportError::new(TransportErrorKind::Connect, format!("no thread for the network can be started: {error}"))
    })
}
