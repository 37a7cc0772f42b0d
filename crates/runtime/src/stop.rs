//! Asking a run to stop.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A way to ask a run to stop; clones ask the same run.
///
/// ```
/// use turnkeep_runtime::StopSignal;
///
/// let stop = StopSignal::default();
/// let elsewhere = stop.clone();
///
/// elsewhere.ask();
///
/// assert!(stop.is_asked());
/// ```
#[derive(Debug, Clone, Default)]
pub struct StopSignal {
    own: Arc<Mutex<State>>,
    /// Others that stop the same run.
    also: Vec<StopSignal>,
}

#[derive(Debug, Default)]
struct State {
    asked: bool,
    wakers: Vec<Waker>,
}

impl StopSignal {
    /// Asks.
    pub fn ask(&self) {
        let mut state = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked = true;
        state.wakers.drain(..).for_each(Waker::wake);
    }

    /// Whether it was asked.
    pub fn is_asked(&self) -> bool {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).asked || self.also.iter().any(StopSignal::is_asked)
    }

    /// A signal that is asked when this one or `other` is; asking it asks this one.
    #[must_use]
    pub fn or(&self, other: &StopSignal) -> StopSignal {
        let also = self.also.iter().chain([other]).cloned().collect();
        StopSignal { own: self.own.clone(), also }
    }

    /// Ends when it is asked.
    pub async fn asked(&self) {
        poll_fn(|context| self.poll_asked(context)).await;
    }

    fn poll_asked(&self, context: &mut Context<'_>) -> Poll<()> {
        // All of them are polled, so that each knows whom to wake.
        let others = self.also.iter().filter(|other| other.poll_asked(context).is_ready()).count();
        let mut state = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if state.asked || others > 0 {
            return Poll::Ready(());
        }
        // A run polls this with every piece of an answer: one waker of each task is enough.
        if !state.wakers.iter().any(|known| known.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}
