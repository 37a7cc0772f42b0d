//! From a session to a broadcaster, beside the agent that runs it.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use jiff::Timestamp;
use turnkeep_model::{ErrorKind, Seq, SessionId};
use turnkeep_store::Store;

use crate::envelope::{Channel, ChannelKind, Envelope, EnvelopeOptions, Projection};
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::port::{Broadcaster, Clock, SystemClock};
use crate::tail::{Tail, TailItem};

/// How many envelopes of an old session are handed to a broadcaster at once.
const AT_ONCE: usize = 100;

/// How a session is relayed.
#[derive(Clone)]
pub struct RelayOptions {
    /// Which envelopes.
    pub envelopes: EnvelopeOptions,
    /// The place after which they begin.
    pub after: Seq,
    /// Who may listen.
    pub channel: ChannelKind,
    /// How long it goes on.
    pub until: RelayUntil,
    /// How often a broadcaster that is unavailable is tried again.
    pub retries: u32,
    /// How long to wait before the first of these; each wait is twice the one before.
    pub wait: Duration,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
}

/// How long a relay goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RelayUntil {
    /// Until the run that is heard ends.
    #[default]
    RunEnds,
    /// Over all runs, until the hub goes.
    HubGoes,
}

impl Default for RelayOptions {
    fn default() -> RelayOptions {
        RelayOptions {
            envelopes: EnvelopeOptions::default(),
            after: Seq::START,
            channel: ChannelKind::default(),
            until: RelayUntil::default(),
            retries: 4,
            wait: Duration::from_millis(250),
            clock: Arc::new(SystemClock),
        }
    }
}

/// Publishes a session: first what is stored, then what happens, each envelope once and in order.
///
/// It is a future of its own beside the agent. A broadcaster that is slow slows only the relay, which then reads on in the
/// store; one that fails is counted. A reader that finds a gap in `seq` fetches what it lacks.
pub struct Relay {
    tail: Tail,
    projection: Projection,
    channel: Channel,
    broadcaster: Arc<dyn Broadcaster>,
    options: RelayOptions,
    watch: RelayWatch,
}

/// What a relay has done so far.
#[derive(Debug, Clone, Default)]
pub struct RelayReport {
    /// How many envelopes were published.
    pub published: u64,
    /// How many were given up.
    pub failed: u64,
    /// How often a broadcaster was tried again.
    pub retried: u64,
    /// The last record of which all envelopes were published.
    pub last: Option<Seq>,
    /// Why the last of those that were given up was.
    pub error: Option<Error>,
}

/// Where others see what a relay has done so far.
#[derive(Debug, Clone, Default)]
pub struct RelayWatch(Arc<Mutex<RelayReport>>);

impl RelayWatch {
    /// What was done so far.
    pub fn report(&self) -> RelayReport {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, change: impl FnOnce(&mut RelayReport)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What wakes a relay.
enum Woken {
    Told(Option<TailItem>),
    Due,
}

impl Relay {
    /// Follows a session from now on; nothing is published until [`Relay::run`].
    pub fn new(
        store: Arc<dyn Store>,
        hub: &Hub,
        session: &SessionId,
        broadcaster: Arc<dyn Broadcaster>,
        options: RelayOptions,
    ) -> Relay {
        let projection = Projection::new(session.clone(), options.envelopes.clone(), options.after);
        let start = projection.reads_after();
        let tail = match options.until {
            RelayUntil::RunEnds => Tail::new(store, hub, session, start),
            RelayUntil::HubGoes => Tail::across_runs(store, hub, session, start),
        };
        let channel = Channel::new(options.channel, session);
        Relay { tail, projection, channel, broadcaster, options, watch: RelayWatch::default() }
    }

    /// What it has done so far, for others to look at while it runs.
    pub fn watch(&self) -> RelayWatch {
        self.watch.clone()
    }

    /// Publishes until nothing more will happen, and says what was done. Drop the future to end it earlier.
    ///
    /// # Errors
    /// What the store says. What the broadcaster says is in the report.
    pub async fn run(mut self) -> Result<RelayReport> {
        loop {
            let (envelopes, last) = match self.woken().await? {
                Woken::Told(None) => return Ok(self.watch.report()),
                Woken::Told(Some(TailItem::Batch(batch))) => {
                    let envelopes = self.projection.batch(&batch);
                    self.with_read(envelopes, batch.last())
                }
                Woken::Told(Some(TailItem::Delta(delta))) => {
                    (self.projection.delta(&delta, self.options.clock.now()), None)
                }
                Woken::Due => (self.projection.tick(self.options.clock.now()), None),
            };
            self.publish(&envelopes, last).await;
        }
    }

    async fn woken(&mut self) -> Result<Woken> {
        let next = Box::pin(self.tail.next());
        let Some(due) = self.projection.due() else {
            return next.await.map(Woken::Told);
        };
        let wait = until(due, self.options.clock.now());
        match select(next, self.options.clock.sleep(wait)).await {
            Either::Left((told, _)) => told.map(Woken::Told),
            Either::Right(((), _)) => Ok(Woken::Due),
        }
    }

    /// The envelopes of what was read already join those of the batch before.
    fn with_read(&mut self, mut envelopes: Vec<Envelope>, mut last: Seq) -> (Vec<Envelope>, Option<Seq>) {
        while envelopes.len() < AT_ONCE {
            let Some(batch) = self.tail.take_read() else { break };
            last = batch.last();
            envelopes.extend(self.projection.batch(&batch));
        }
        (envelopes, Some(last))
    }

    // Exclusive, although nothing is changed: a shared tail could not be held across threads while something is sent.
    async fn publish(&mut self, envelopes: &[Envelope], last: Option<Seq>) {
        let published = match envelopes.is_empty() {
            true => Ok(()),
            false => self.publish_or_retry(envelopes).await,
        };
        let count = envelopes.len() as u64;
        self.watch.note(|report| match published {
            Ok(()) => {
                report.published += count;
                report.last = last.or(report.last);
            }
            Err(error) => {
                report.failed += count;
                report.error = Some(error);
            }
        });
    }

    async fn publish_or_retry(&mut self, envelopes: &[Envelope]) -> Result<()> {
        let mut wait = self.options.wait;
        for _ in 0..self.options.retries {
            match self.publish_once(envelopes).await {
                Err(error) if error.kind() == ErrorKind::Unavailable => {}
                done => return done,
            }
            self.watch.note(|report| report.retried += 1);
            self.options.clock.sleep(wait).await;
            wait = wait.saturating_mul(2);
        }
        self.publish_once(envelopes).await
    }

    /// A broadcaster that panics has failed; making its future may panic as well as driving it.
    async fn publish_once(&mut self, envelopes: &[Envelope]) -> Result<()> {
        let publishing = async { self.broadcaster.publish(&self.channel, envelopes).await };
        let panicked = || Error::new(ErrorKind::Io, "the broadcaster panicked");
        AssertUnwindSafe(publishing).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
    }
}

fn until(due: Timestamp, now: Timestamp) -> Duration {
    let left = due.duration_since(now);
    if left.is_positive() { left.unsigned_abs() } else { Duration::ZERO }
}
