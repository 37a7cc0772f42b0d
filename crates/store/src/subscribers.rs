//! Who follows which session of a store, inside this process.
//!
//! One watcher tells this table, and the table tells every follower, so that following costs a store the same however many
//! followers there are.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use turnkeep_model::SessionId;

use crate::capability::{Changed, Chunk};
use crate::thread_pool::lock;

/// How many pieces of an answer wait for a follower at most.
const ROOM: usize = 1024;

/// What can be told to followers.
pub(crate) trait Told: Clone + Send + 'static {
    /// Joins what a follower has not taken yet.
    fn join(self, waiting: &mut VecDeque<Self>);
}

impl Told for Changed {
    /// All changes are one. What is not known of one of them is not known of all.
    fn join(self, waiting: &mut VecDeque<Changed>) {
        let known = waiting.pop_front().is_none_or(|before| before.last.is_some());
        waiting.push_back(Changed { last: self.last.filter(|_| known) });
    }
}

impl Told for Chunk {
    /// The oldest are lost first.
    fn join(self, waiting: &mut VecDeque<Chunk>) {
        if waiting.len() >= ROOM {
            waiting.pop_front();
        }
        waiting.push_back(self);
    }
}

/// The followers of every session.
pub(crate) struct Subscribers<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    by_session: HashMap<SessionId, HashMap<u64, Arc<Mailbox<T>>>>,
    /// Sessions whose first follower came since the watcher last asked.
    fresh: Vec<SessionId>,
    next: u64,
    closed: bool,
}

impl<T> fmt::Debug for Subscribers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "followers of {} sessions", lock(&self.state).by_session.len())
    }
}

impl<T> Default for Subscribers<T> {
    fn default() -> Subscribers<T> {
        let state = State { by_session: HashMap::new(), fresh: Vec::new(), next: 0, closed: false };
        Subscribers { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T: Told> Subscribers<T> {
    /// A new follower of a session.
    pub(crate) fn follow(self: &Arc<Subscribers<T>>, session: &SessionId) -> Following<T> {
        let mailbox = Arc::new(Mailbox::default());
        let mut state = lock(&self.state);
        let number = state.next;
        state.next += 1;
        mailbox.set_ended(state.closed);
        let followers = state.by_session.entry(session.clone()).or_default();
        let is_first = followers.is_empty();
        followers.insert(number, Arc::clone(&mailbox));
        if is_first {
            state.fresh.push(session.clone());
        }
        self.changed.notify_all();
        Following { subscribers: Arc::clone(self), session: session.clone(), number, mailbox }
    }

    /// Tells the followers of a session.
    pub(crate) fn tell(&self, session: &SessionId, told: &T) {
        if let Some(followers) = lock(&self.state).by_session.get(session) {
            followers.values().for_each(|mailbox| mailbox.push(told.clone()));
        }
    }

    /// Tells everybody.
    pub(crate) fn tell_all(&self, told: &T) {
        let state = lock(&self.state);
        state.by_session.values().flat_map(HashMap::values).for_each(|mailbox| mailbox.push(told.clone()));
    }

    /// The sessions that are followed.
    pub(crate) fn sessions(&self) -> Vec<SessionId> {
        lock(&self.state).by_session.keys().cloned().collect()
    }

    pub(crate) fn is_followed(&self, session: &SessionId) -> bool {
        lock(&self.state).by_session.contains_key(session)
    }

    /// Waits for `pause`, and then until a session is followed. Gives the sessions that are newly followed; nothing once
    /// this was closed.
    pub(crate) fn wait(&self, pause: Duration) -> Option<Vec<SessionId>> {
        let state = lock(&self.state);
        let waited = self.changed.wait_timeout_while(state, pause, |state| !state.closed);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let idle = |state: &mut State<T>| !state.closed && state.by_session.is_empty();
        let mut state = self.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
        (!state.closed).then(|| std::mem::take(&mut state.fresh))
    }

    /// Ends every subscription.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.by_session.values().flat_map(HashMap::values).for_each(|mailbox| mailbox.set_ended(true));
        self.changed.notify_all();
    }

    fn leave(&self, session: &SessionId, number: u64) {
        let mut state = lock(&self.state);
        if let Some(followers) = state.by_session.get_mut(session) {
            followers.remove(&number);
            if followers.is_empty() {
                state.by_session.remove(session);
            }
        }
    }
}

/// What a follower has not taken yet.
struct Mailbox<T>(Mutex<Waiting<T>>);

struct Waiting<T> {
    told: VecDeque<T>,
    ended: bool,
    waker: Option<Waker>,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Mailbox<T> {
        Mailbox(Mutex::new(Waiting { told: VecDeque::new(), ended: false, waker: None }))
    }
}

impl<T: Told> Mailbox<T> {
    fn push(&self, told: T) {
        let mut waiting = lock(&self.0);
        told.join(&mut waiting.told);
        waiting.wake();
    }

    fn set_ended(&self, ended: bool) {
        let mut waiting = lock(&self.0);
        waiting.ended = ended;
        waiting.wake();
    }
}

impl<T> Waiting<T> {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// One follower of a session. Dropping it ends that.
pub(crate) struct Following<T: Told> {
    subscribers: Arc<Subscribers<T>>,
    session: SessionId,
    number: u64,
    mailbox: Arc<Mailbox<T>>,
}

impl<T: Told> Drop for Following<T> {
    fn drop(&mut self) {
        self.subscribers.leave(&self.session, self.number);
    }
}

impl<T: Told> Stream for Following<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut waiting = lock(&self.mailbox.0);
        match waiting.told.pop_front() {
            Some(told) => Poll::Ready(Some(told)),
            None if waiting.ended => Poll::Ready(None),
            None => {
                waiting.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, StreamExt};
    use turnkeep_model::Seq;

    use super::*;

    fn last(seq: u64) -> Changed {
        Changed { last: Some(Seq(seq)) }
    }

    #[test]
    fn changes_that_nobody_took_are_one() {
        let subscribers = Arc::new(Subscribers::default());
        let session = SessionId::new("s");
        let mut following = subscribers.follow(&session);

        [last(1), last(2)].iter().for_each(|change| subscribers.tell(&session, change));
        assert_eq!(following.next().now_or_never(), Some(Some(last(2))));

        // What is not known of one of them is not known of both.
        [Changed { last: None }, last(3)].iter().for_each(|change| subscribers.tell(&session, change));
        assert_eq!(following.next().now_or_never(), Some(Some(Changed { last: None })));
        assert_eq!(following.next().now_or_never(), None);
    }

    #[test]
    fn who_left_is_not_followed_and_who_stays_hears_the_end() {
        let subscribers = Arc::new(Subscribers::<Changed>::default());
        let (a, b) = (SessionId::new("a"), SessionId::new("b"));
        drop(subscribers.follow(&a));
        let mut following = subscribers.follow(&b);

        assert_eq!((subscribers.sessions(), subscribers.is_followed(&a)), (vec![b], false));
        subscribers.close();

        assert_eq!(following.next().now_or_never(), Some(None));
        assert_eq!(subscribers.wait(Duration::from_secs(3600)), None);
    }
}
