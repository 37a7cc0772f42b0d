//! Workers that take up sessions nobody runs.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use turnkeep_model::{ErrorKind, RunId, SessionId};
use turnkeep_store::{Claim, Lease, Leases, Store};

use crate::agent::{Agent, Stopped};
use crate::error::{Error, Result};
use crate::ports::Ports;
use crate::recorder::Recorder;

/// One of a fleet: claims a session that is unfinished and that nobody holds, and goes on with it. What a dead worker held
/// is claimed again when its lease is over.
pub struct Worker {
    name: String,
    agent: Agent,
    store: Arc<dyn Store>,
    ports: Ports,
    lease: Duration,
}

impl Worker {
    /// A worker of this name, for people to read.
    pub fn new(name: &str, agent: Agent, store: Arc<dyn Store>, ports: Ports) -> Worker {
        Worker { name: name.to_owned(), agent, store, ports, lease: Duration::from_secs(30) }
    }

    /// With leases that last so long without a heartbeat.
    #[must_use]
    pub fn with_lease(mut self, lease: Duration) -> Worker {
        self.lease = lease;
        self
    }

    /// Claims the session that has waited longest and goes on with it; `None` where none waits.
    ///
    /// # Errors
    /// `Unsupported` where the store has no leases, and those of running. A session whose run failed is let go.
    pub async fn work(&self) -> Result<Option<(SessionId, Result<Stopped>)>> {
        let leases = self.leases()?;
        let run = RunId::new(self.ports.ids.next());
        let claim = Claim {
            worker: self.name.clone(),
            run: run.clone(),
            time: self.lease,
            process: self.ports.processes.own(),
        };
        let Some(lease) = leases.claim_next(&claim).await? else {
            return Ok(None);
        };
        let went = self.go_on(&lease, run).await;
        let id = lease.session.clone();
        leases.release(&lease).await?;
        Ok(Some((id, went)))
    }

    fn leases(&self) -> Result<&dyn Leases> {
        self.store.leases().ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "the store has no leases")
                .hint("keep the sessions in SQLite or PostgreSQL")
        })
    }

    async fn go_on(&self, lease: &Lease, run: RunId) -> Result<Stopped> {
        let mut recorder = Recorder::claimed(self.store.clone(), &lease.session, run, self.ports.clone()).await?;
        let working = Box::pin(self.agent.resume(&mut recorder));
        match select(working, Box::pin(self.hold(lease))).await {
            Either::Left((stopped, _)) => stopped,
            Either::Right((lost, _)) => Err(lost),
        }
    }

    /// Holds on to a lease for as long as it can.
    async fn hold(&self, lease: &Lease) -> Error {
        loop {
            self.ports.clock.sleep(self.lease / 3).await;
            let renewed = match self.leases() {
                Ok(leases) => leases.renew(lease, self.lease).await.map_err(Error::from),
                Err(error) => Err(error),
            };
            if let Err(error) = renewed {
                return error;
            }
        }
    }
}
