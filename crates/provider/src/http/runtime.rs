//! The runtime that exchanges run on.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use tokio::runtime::{Builder, Runtime};

use crate::transport::{TransportError, TransportErrorKind};

/// How many threads it has.
const THREADS: usize = 2;

/// The runtime of this process, made when the first request is sent. Where it cannot be made, the next request tries again.
pub(super) fn runtime() -> Result<&'static Runtime, TransportError> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(made) = RUNTIME.get() {
        return Ok(made);
    }
    let made = check_threads().and_then(|()| {
        Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("turnkeep-http")
            .enable_io()
            .enable_time()
            .build()
    });
    made.map(|made| RUNTIME.get_or_init(|| made)).map_err(|error| {
        let what = format!(
            "no thread for the network can be started: {error}; end other programs, or raise the limit of processes \
             (`ulimit -u`)"
        );
        TransportError::new(TransportErrorKind::Connect, what)
    })
}

/// Whether the threads can be started, all of them at once: the runtime panics where they cannot.
fn check_threads() -> io::Result<()> {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock();
    let start = |_| {
        let gate = Arc::clone(&gate);
        thread::Builder::new().spawn(move || drop(gate.lock()))
    };
    let started: io::Result<Vec<_>> = (0..THREADS).map(start).collect();
    drop(closed);
    // Until they are gone there may be no room for others.
    started?.into_iter().for_each(|thread| drop(thread.join()));
    Ok(())
}
