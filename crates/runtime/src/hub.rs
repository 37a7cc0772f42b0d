//! Who hears of what is recorded, inside this process.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use turnkeep_model::{Batch, Event, RunId, Seq, SessionId};

use crate::port::Delta;

/// How many items a subscriber may be behind before it is told that it lags.
const ROOM: usize = 1024;

/// The in-process broadcaster. Publishing never waits and never fails: who is too slow is told so.
#[derive(Debug, Clone, Default)]
pub struct Hub {
    channels: Arc<Channels>,
}

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HubItem {
    /// Records that are durable.
    Batch(Arc<Batch>),
    /// A piece of an answer on its way. It carries no place, and is void when its block arrives.
    Delta(Delta),
    /// Items were dropped: read the store after this place, then go on.
    Lagged {
        /// The last place that was heard.
        resume_from: Seq,
    },
}

/// The subscribers of every session. When the last hub goes, so does this, and it ends their subscriptions.
#[derive(Debug, Default)]
struct Channels(Mutex<Subscribers>);

#[derive(Debug, Default)]
struct Subscribers {
    /// By a number of their own, so that one that goes is found at once.
    by_session: HashMap<SessionId, HashMap<u64, Arc<Queue>>>,
    /// The run of every session that goes on in this process, as far as was published here.
    runs: HashMap<SessionId, RunId>,
    next: u64,
}

impl Channels {
    fn lock(&self) -> MutexGuard<'_, Subscribers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        self.lock().by_session.values().flat_map(HashMap::values).for_each(|queue| queue.end());
    }
}

#[derive(Debug)]
struct Queue {
    until: Until,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<HubItem>,
    heard: Seq,
    lagging: bool,
    ended: bool,
    waker: Option<Waker>,
}

/// How long a subscription lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    RunEnds,
    HubGoes,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, item: HubItem) {
        let mut waiting = self.lock();
        if waiting.ended {
            return;
        }
        if waiting.items.len() >= ROOM {
            waiting.items.clear();
            waiting.lagging = true;
        } else if !waiting.lagging {
            waiting.items.push_back(item);
        }
        waiting.wake();
    }

    fn run_ended(&self) {
        if self.until == Until::RunEnds {
            self.end();
        }
    }

    fn end(&self) {
        let mut waiting = self.lock();
        waiting.ended = true;
        waiting.wake();
    }
}

impl Waiting {
    fn pop(&mut self) -> Option<HubItem> {
        if self.lagging {
            self.lagging = false;
            return Some(HubItem::Lagged { resume_from: self.heard });
        }
        let item = self.items.pop_front()?;
        if let HubItem::Batch(batch) = &item {
            self.heard = batch.last();
        }
        Some(item)
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Hub {
    /// Hears everything that is published about a session from now on, until the run that is heard ends, or the hub goes.
    pub fn subscribe(&self, session: &SessionId) -> Subscription {
        self.subscribe_until(session, Until::RunEnds)
    }

    /// The same over all runs of the session, until the hub goes.
    pub fn subscribe_across_runs(&self, session: &SessionId) -> Subscription {
        self.subscribe_until(session, Until::HubGoes)
    }

    fn subscribe_until(&self, session: &SessionId, until: Until) -> Subscription {
        let queue = Arc::new(Queue { until, waiting: Mutex::default() });
        let mut subscribers = self.channels.lock();
        let number = subscribers.next;
        subscribers.next += 1;
        subscribers.by_session.entry(session.clone()).or_default().insert(number, queue.clone());
        Subscription { queue, session: session.clone(), number, channels: Arc::downgrade(&self.channels) }
    }

    /// Tells of records that are durable.
    pub fn publish(&self, session: &SessionId, batch: &Batch) {
        let mut subscribers = self.channels.lock();
        let change = run_change(batch);
        match &change {
            Some(RunChange::Began(run)) => drop(subscribers.runs.insert(session.clone(), run.clone())),
            Some(RunChange::Ended) => drop(subscribers.runs.remove(session)),
            None => {}
        }
        let Some(queues) = subscribers.by_session.get(session) else {
            return;
        };
        let batch = Arc::new(batch.clone());
        queues.values().for_each(|queue| queue.push(HubItem::Batch(batch.clone())));
        if matches!(change, Some(RunChange::Ended)) {
            queues.values().for_each(|queue| queue.run_ended());
        }
    }

    /// Tells of a piece of an answer.
    pub fn publish_delta(&self, session: &SessionId, delta: &Delta) {
        if let Some(queues) = self.channels.lock().by_session.get(session) {
            queues.values().for_each(|queue| queue.push(HubItem::Delta(delta.clone())));
        }
    }

    /// Notes that a run goes on here whose beginning was recorded by someone else.
    pub(crate) fn run_claimed(&self, session: &SessionId, run: &RunId) {
        self.channels.lock().runs.insert(session.clone(), run.clone());
    }

    /// Tells that a run ended without a record of it: its recorder was dropped. Where another run of this process has taken
    /// the session over, that one is heard on.
    pub(crate) fn run_dropped(&self, session: &SessionId, run: &RunId) {
        let mut subscribers = self.channels.lock();
        if subscribers.runs.get(session) != Some(run) {
            return;
        }
        subscribers.runs.remove(session);
        if let Some(queues) = subscribers.by_session.get(session) {
            queues.values().for_each(|queue| queue.run_ended());
        }
    }
}

/// What a batch says of the runs of its session, after all of it.
pub(crate) enum RunChange {
    Began(RunId),
    Ended,
}

pub(crate) fn run_change(batch: &Batch) -> Option<RunChange> {
    batch.events.iter().rev().find_map(|entry| match &entry.event {
        Event::RunStopped(_) => Some(RunChange::Ended),
        Event::RunStarted(started) => started.run.id.clone().map(RunChange::Began),
        _ => None,
    })
}

/// A stream of what is published about one session. It ends when the run does, or with the hub.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
    session: SessionId,
    number: u64,
    channels: Weak<Channels>,
}

impl Subscription {
    /// What is there already, without waiting.
    pub fn try_next(&mut self) -> Option<HubItem> {
        self.queue.lock().pop()
    }

    /// Whether this run of the session goes on in the process of the hub.
    pub(crate) fn hears_run(&self, run: &RunId) -> bool {
        self.channels.upgrade().is_some_and(|channels| channels.lock().runs.get(&self.session) == Some(run))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(channels) = self.channels.upgrade() else {
            return;
        };
        let mut subscribers = channels.lock();
        if let Some(queues) = subscribers.by_session.get_mut(&self.session) {
            queues.remove(&self.number);
            if queues.is_empty() {
                subscribers.by_session.remove(&self.session);
            }
        }
    }
}

impl Stream for Subscription {
    type Item = HubItem;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<HubItem>> {
        let mut waiting = self.queue.lock();
        match waiting.pop() {
            Some(item) => Poll::Ready(Some(item)),
            None if waiting.ended => Poll::Ready(None),
            None => {
                waiting.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
