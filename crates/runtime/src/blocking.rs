//! Work that blocks its thread, awaited.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::port::ToolError;

/// Runs `work` on a thread of its own. Whoever stops waiting leaves it running.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    let (sender, receiver) = futures_channel::oneshot::channel();
    let started = std::thread::Builder::new().name("turnkeep-tool".into()).spawn(move || {
        // A panic drops the sender, which is what the receiver hears of it.
        if let Ok(value) = catch_unwind(AssertUnwindSafe(work)) {
            let _ = sender.send(value);
        }
    });
    started.map_err(|error| ToolError::retryable(format!("no thread could be started: {error}")))?;
    receiver.await.map_err(|_| ToolError::unsure("the tool panicked"))
}
