//! Waiting for another process that runs the session.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, FutureExt, select};
use turnkeep_store::{Changed, Loaded, StoreExt};

use super::{Conversation, elsewhere};
use crate::acquire::{Acquired, busy_run};
use crate::agent::Stopped;
use crate::changes::changes;
use crate::error::Result;
use crate::stop::StopSignal;

/// How often a process that runs the session is looked at: one that died says nothing.
const ALIVE: Duration = Duration::from_millis(250);

impl Conversation {
    /// Waits for the process that runs the session, and answers what was said there. What it leaves undone is done here, unless someone else is faster.
    pub(super) async fn follow(&self, said: &str, stop: &StopSignal) -> Result<Stopped> {
        loop {
            let loaded = self.until_idle(stop).await?;
            if stop.is_asked() || self.agent.is_done(&loaded) {
                return Ok(elsewhere::stopped(&self.saw(loaded), said));
            }
            if let Acquired::Here(recorder) = self.acquire(None).await? {
                return self.answer(*recorder, stop).await;
            }
        }
    }

    /// The session once no other process runs it, or once the caller would not wait any longer. A long session is loaded
    /// again only where there is more of it.
    async fn until_idle(&self, stop: &StopSignal) -> Result<Loaded> {
        // Watched before it is loaded, so that nothing falls between.
        let mut changes = changes(&*self.store, &self.id)?;
        let mut loaded = self.store.load(&self.id).await?;
        while !stop.is_asked() && busy_run(&loaded, self.ports()).is_some() {
            let over = select(self.ports().clock.sleep(ALIVE), Box::pin(stop.asked()));
            let last = match select(changes.next(), over).await {
                Either::Left((Some(Changed { last: Some(last) }), _)) => last,
                Either::Left((Some(Changed { last: None }), _)) => self.store.last(&self.id).await?,
                Either::Left((None, over)) => over.map(|_| loaded.seq).await,
                Either::Right(_) => continue,
            };
            if last > loaded.seq {
                loaded = self.store.load(&self.id).await?;
            }
        }
        Ok(loaded)
    }
}
