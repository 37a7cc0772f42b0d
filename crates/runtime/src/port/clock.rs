//! Time.

use std::time::Duration;

use jiff::Timestamp;
use turnkeep_store::BoxFuture;

/// Where a run takes the time from.
pub trait Clock: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// Ends after `time`.
    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()>;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(futures_timer::Delay::new(time))
    }
}

/// The seconds from one moment to another; none where the clock was set back meanwhile.
pub(crate) fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}
