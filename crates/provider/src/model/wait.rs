//! Waiting no longer than one wants to.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use turnkeep_runtime::port::BoxFuture;
use turnkeep_runtime::port::Clock;

/// What a future gives, if it does so in time. A future that is ready at once costs no timer.
pub(super) async fn within<T>(clock: &dyn Clock, limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut end: Option<BoxFuture<'_, ()>> = None;
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        end.get_or_insert_with(|| clock.sleep(limit)).as_mut().poll(context).map(|()| None)
    })
    .await
}
