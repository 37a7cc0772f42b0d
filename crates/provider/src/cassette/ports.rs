//! The time and the ids of a run, on tape.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use turnkeep_runtime::port::BoxFuture;
use turnkeep_runtime::port::{Clock, Ids};

use super::tape::{Pace, Tape, Wait};

/// A clock whose times are recorded, or come from the recording.
pub struct RecordedClock {
    tape: Arc<Tape>,
    inner: Arc<dyn Clock>,
}

impl RecordedClock {
    /// Records `inner`, or stands for it.
    pub fn new(tape: Arc<Tape>, inner: Arc<dyn Clock>) -> RecordedClock {
        RecordedClock { tape, inner }
    }
}

impl Clock for RecordedClock {
    fn now(&self) -> Timestamp {
        let text = self.tape.time(|| self.inner.now().to_string());
        text.parse().unwrap_or_else(|_| self.inner.now())
    }

    /// A wait that came to its end in the recording does so again; one that something else came before never ends.
    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        let (number, wait) = self.tape.wait();
        Box::pin(async move {
            match wait {
                Wait::Over if self.tape.pace() == Pace::Fast => {}
                Wait::Over => self.inner.sleep(time).await,
                Wait::Never => std::future::pending().await,
                Wait::Live => {
                    self.inner.sleep(time).await;
                    self.tape.waited(number);
                }
            }
        })
    }
}

/// Ids that are recorded, or come from the recording.
pub struct RecordedIds {
    tape: Arc<Tape>,
    inner: Arc<dyn Ids>,
}

impl RecordedIds {
    /// Records `inner`, or stands for it.
    pub fn new(tape: Arc<Tape>, inner: Arc<dyn Ids>) -> RecordedIds {
        RecordedIds { tape, inner }
    }
}

impl Ids for RecordedIds {
    fn next(&self) -> String {
        self.tape.id(|| self.inner.next())
    }
}
