//! Who hears of what is recorded, inside this process.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use turnkeep_model::{Batch, Seq, SessionId};

use crate::port::Delta;

/// How many items a subscriber may be behind before it is told that it lags.
const ROOM: usize = 1024;

/// The in-process broadcaster. Publishing never waits and never fails: who is too slow is told so.
#[derive(Debug, Clone, Default)]
pub struct Hub {
    channels: Arc<Mutex<HashMap<SessionId, Vec<Weak<Queue>>>>>,
}

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
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

#[derive(Debug, Default)]
struct Queue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<Heard>,
    heard: Seq,
    lagging: bool,
    waker: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, item: Heard) {
        let mut waiting = self.lock();
        if waiting.items.len() >= ROOM {
            waiting.items.clear();
            waiting.lagging = true;
        } else if !waiting.lagging {
            waiting.items.push_back(item);
        }
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
    }

    fn pop(&self) -> Option<Heard> {
        let mut waiting = self.lock();
        if waiting.lagging {
            waiting.lagging = false;
            return Some(Heard::Lagged { resume_from: waiting.heard });
        }
        let item = waiting.items.pop_front()?;
        if let Heard::Batch(batch) = &item {
            waiting.heard = batch.last();
        }
        Some(item)
    }
}

impl Hub {
    /// Hears everything that is published about a session from now on.
    pub fn subscribe(&self, session: &SessionId) -> Subscription {
        let queue = Arc::new(Queue::default());
        self.lock().entry(session.clone()).or_default().push(Arc::downgrade(&queue));
        Subscription { queue }
    }

    /// Tells of records that are durable.
    pub fn publish(&self, session: &SessionId, batch: &Batch) {
        self.tell(session, || Heard::Batch(Arc::new(batch.clone())));
    }

    /// Tells of a piece of an answer.
    pub fn publish_delta(&self, session: &SessionId, delta: &Delta) {
        self.tell(session, || Heard::Delta(delta.clone()));
    }

    fn tell(&self, session: &SessionId, make: impl FnOnce() -> Heard) {
        let mut channels = self.lock();
        let Some(queues) = channels.get_mut(session) else {
            return;
        };
        queues.retain(|queue| queue.strong_count() > 0);
        if queues.is_empty() {
            channels.remove(session);
            return;
        }
        let item = make();
        queues.iter().filter_map(Weak::upgrade).for_each(|queue| queue.push(item.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<Weak<Queue>>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream of what is published about one session.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
}

impl Subscription {
    /// What is there already, without waiting.
    pub fn try_next(&mut self) -> Option<Heard> {
        self.queue.pop()
    }
}

impl Stream for Subscription {
    type Item = Heard;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Heard>> {
        self.queue.lock().waker = Some(context.waker().clone());
        self.queue.pop().map_or(Poll::Pending, |item| Poll::Ready(Some(item)))
    }
}
