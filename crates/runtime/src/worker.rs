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
use crate::stop::StopSignal;

/// How long a worker waits before it looks for work again.
const POLL: Duration = Duration::from_secs(1);

/// One of a fleet: claims a session that is unfinished and that nobody holds, and goes on with it. What a dead worker held
/// is claimed again when its lease is over.
///
/// ```
/// # #[cfg(feature = "sqlite")]
/// # pollster::block_on(async {
/// use turnkeep_runtime::port::Answer;
/// use turnkeep_runtime::{Agent, Job, Ports, Script, Worker, enqueue};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite:{}", folder.path().join("jobs.db").display());
/// let store = turnkeep_store::open(&url)?;
/// enqueue(&*store, "job-1", "Write the report.").await?;
/// Job::new("job-2", "Answer the mail.").tag("queue", "mail").enqueue(&*store).await?;
///
/// let agent = Agent::new(Script::new("a model", vec![Answer::text("Done.")]));
/// let worker = Worker::new("worker-1", agent, store, Ports::default()).with_tag("queue", Some("mail"));
///
/// let (session, stopped) = worker.work().await?.expect("a job waits");
/// assert_eq!((session.as_str(), stopped?.text.as_deref()), ("job-2", Some("Done.")));
/// assert!(worker.work().await?.is_none(), "the other job is of another queue");
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Worker {
    name: String,
    agent: Agent,
    store: Arc<dyn Store>,
    ports: Ports,
    lease: Duration,
    poll: Duration,
    tags: Vec<(String, Option<String>)>,
}

impl Worker {
    /// A worker of this name, for people to read.
    pub fn new(name: &str, agent: Agent, store: Arc<dyn Store>, ports: Ports) -> Worker {
        let lease = Duration::from_secs(30);
        Worker { name: name.to_owned(), agent, store, ports, lease, poll: POLL, tags: Vec::new() }
    }

    /// With leases that last so long without a heartbeat.
    #[must_use]
    pub fn with_lease(mut self, lease: Duration) -> Worker {
        self.lease = lease;
        self
    }

    /// With so much time between two looks for work.
    #[must_use]
    pub fn with_poll(mut self, poll: Duration) -> Worker {
        self.poll = poll;
        self
    }

    /// Only for sessions that carry this label, with this value or any. Of several labels, all are needed.
    #[must_use]
    pub fn with_tag(mut self, key: impl Into<String>, value: Option<&str>) -> Worker {
        self.tags.push((key.into(), value.map(str::to_owned)));
        self
    }

    /// Claims the session that has waited longest and goes on with it; `None` where none waits.
    ///
    /// # Errors
    /// `Unsupported` where the store has no leases, and those of running. A session whose run failed is let go.
    pub async fn work(&self) -> Result<Option<(SessionId, Result<Stopped>)>> {
        let leases = self.leases()?;
        let run = RunId::new(self.ports.ids.next());
        let mut claim = Claim::new(&self.name, run.clone(), self.lease).with_process(self.ports.processes.own());
        claim.tags.clone_from(&self.tags);
        let Some(lease) = leases.claim_next(&claim).await? else {
            return Ok(None);
        };
        let went = self.go_on(&lease, run).await;
        let id = lease.session.clone();
        leases.release(&lease).await?;
        Ok(Some((id, went)))
    }

    /// As [`Worker::work`]; where nothing waits, it waits until something does.
    ///
    /// # Errors
    /// Those of [`Worker::work`].
    pub async fn next(&self) -> Result<(SessionId, Result<Stopped>)> {
        loop {
            if let Some(worked) = self.work().await? {
                return Ok(worked);
            }
            self.ports.clock.sleep(self.poll).await;
        }
    }

    /// Works until someone asks it to stop, and tells of every session. One that is begun is finished first.
    ///
    /// # Errors
    /// Those of [`Worker::work`].
    pub async fn run(&self, stop: &StopSignal, mut told: impl FnMut(SessionId, Result<Stopped>)) -> Result<()> {
        while !stop.is_asked() {
            match self.work().await? {
                Some((id, went)) => told(id, went),
                None => drop(select(Box::pin(stop.asked()), self.ports.clock.sleep(self.poll)).await),
            }
        }
        Ok(())
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
