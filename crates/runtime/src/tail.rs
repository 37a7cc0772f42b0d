//! A session from a place on, and then as it grows: no gap, no repetition.

use std::sync::Arc;

use futures_util::StreamExt;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::{ErrorKind, Store};

use crate::error::Result;
use crate::hub::{Heard, Hub, Subscription};
use crate::port::Delta;

/// Follows one session.
pub struct Tail {
    store: Arc<dyn Store>,
    session: SessionId,
    seen: Seq,
    live: Subscription,
    read: std::collections::VecDeque<Batch>,
    caught_up: bool,
}

/// What a tail gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Followed {
    /// The next records.
    Batch(Arc<Batch>),
    /// A piece of an answer on its way.
    Delta(Delta),
}

impl Tail {
    /// Follows `session` after `after`: first what is stored, then what happens until the run that is heard ends. A session
    /// that is not there yet is waited for.
    pub fn new(store: Arc<dyn Store>, hub: &Hub, session: &SessionId, after: Seq) -> Tail {
        Tail::over(store, session, after, hub.subscribe(session))
    }

    /// The same over all runs of the session, until the hub goes.
    pub fn across_runs(store: Arc<dyn Store>, hub: &Hub, session: &SessionId, after: Seq) -> Tail {
        Tail::over(store, session, after, hub.subscribe_across_runs(session))
    }

    /// Subscribed before the store is read, so that nothing falls between.
    fn over(store: Arc<dyn Store>, session: &SessionId, after: Seq, live: Subscription) -> Tail {
        Tail { store, session: session.clone(), seen: after, live, read: Default::default(), caught_up: false }
    }

    /// The next thing that happens; `None` when nothing more will. It waits for this process only; call [`Tail::look`] to
    /// see what others wrote.
    ///
    /// # Errors
    /// What the store says.
    pub async fn next(&mut self) -> Result<Option<Followed>> {
        loop {
            if let Some(batch) = self.read.pop_front() {
                self.seen = batch.last();
                return Ok(Some(Followed::Batch(Arc::new(batch))));
            }
            if !self.caught_up {
                self.look().await?;
                self.caught_up = true;
                continue;
            }
            match self.live.next().await {
                None => return Ok(None),
                Some(Heard::Delta(delta)) => return Ok(Some(Followed::Delta(delta))),
                Some(Heard::Batch(batch)) if batch.last() <= self.seen => {}
                Some(Heard::Batch(batch)) if batch.seq == self.seen.next() => {
                    self.seen = batch.last();
                    return Ok(Some(Followed::Batch(batch)));
                }
                // A gap, or dropped items: the store has them.
                Some(Heard::Batch(_) | Heard::Lagged { .. }) => self.caught_up = false,
            }
        }
    }

    /// Reads what the store has beyond what was seen; says how many batches that is.
    ///
    /// # Errors
    /// What the store says.
    pub async fn look(&mut self) -> Result<usize> {
        let after = self.read.back().map_or(self.seen, Batch::last);
        let mut batches = self.store.read(&self.session, after);
        let mut found = 0;
        while let Some(batch) = batches.next().await {
            match batch {
                Err(error) if error.kind() == ErrorKind::NotFound && after == Seq::START => return Ok(0),
                batch => self.read.push_back(batch?),
            }
            found += 1;
        }
        Ok(found)
    }

    /// What was read and not given yet.
    pub fn take_read(&mut self) -> Option<Batch> {
        let batch = self.read.pop_front()?;
        self.seen = batch.last();
        Some(batch)
    }
}
