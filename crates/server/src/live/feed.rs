//! One session in one view: read once, written once, for all who follow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout};
use turnkeep_model::{ErrorKind, Seq, SessionId};
use turnkeep_runtime::{Result, Tail, TailItem};
use turnkeep_store::StoreExt;

use super::projection::{Projection, View};
use super::{Leaving, Live, LiveEvent, LiveItem};

/// How many items a follower may be behind before it is told that it lags.
const ROOM: usize = 512;

/// How many of the last events are kept for those who come back.
const KEPT: usize = 512;

/// And how many bytes of them.
const KEPT_BYTES: usize = 1 << 20;

/// How often it is looked whether anybody follows.
const LOOK: Duration = Duration::from_millis(500);

/// How long a feed stays when nobody follows it: a page that is loaded again finds it.
const LINGER: Duration = Duration::from_secs(5);

pub(super) type Receiver = broadcast::Receiver<LiveItem>;

/// The last events of a session in one view, and who is told of the next.
pub(super) struct Feed {
    state: Mutex<State>,
    sender: broadcast::Sender<LiveItem>,
    stage: watch::Sender<Stage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Beginning,
    Begun,
    Ended,
}

#[derive(Default)]
struct State {
    /// Every event of a later record is in `recent`, or will come.
    base: Seq,
    recent: VecDeque<Arc<LiveEvent>>,
    bytes: usize,
}

/// What a follower finds when it joins.
pub(super) struct Joined {
    pub(super) base: Seq,
    pub(super) recent: Vec<Arc<LiveEvent>>,
}

impl Feed {
    pub(super) fn new() -> Feed {
        Feed {
            state: Mutex::default(),
            sender: broadcast::Sender::new(ROOM),
            stage: watch::Sender::new(Stage::Beginning),
        }
    }

    pub(super) fn subscribe(&self) -> Receiver {
        self.sender.subscribe()
    }

    pub(super) fn followers(&self) -> usize {
        self.sender.receiver_count()
    }

    pub(super) fn has_ended(&self) -> bool {
        *self.stage.borrow() == Stage::Ended
    }

    /// Waits until it reads; whether it does.
    pub(super) async fn begun(&self) -> bool {
        let mut stage = self.stage.subscribe();
        let stage = stage.wait_for(|stage| *stage != Stage::Beginning).await;
        stage.is_ok_and(|stage| *stage == Stage::Begun)
    }

    /// The last events, and a receiver of everything after them: both of one moment.
    pub(super) fn join(&self) -> (Joined, Receiver) {
        let state = self.lock();
        let joined = Joined { base: state.base, recent: state.recent.iter().cloned().collect() };
        (joined, self.sender.subscribe())
    }

    pub(super) fn end_gone(&self) {
        let _state = self.lock();
        // Nobody may be there to hear of it.
        let _ = self.sender.send(LiveItem::Gone);
        self.stage.send_replace(Stage::Ended);
    }

    fn begin(&self, at: Seq) {
        self.lock().base = at;
        self.stage.send_if_modified(|stage| {
            let begins = *stage == Stage::Beginning;
            if begins {
                *stage = Stage::Begun;
            }
            begins
        });
    }

    fn push(&self, event: LiveEvent) {
        let event = Arc::new(event);
        let mut state = self.lock();
        state.keep(event.clone());
        let _ = self.sender.send(LiveItem::Event(event));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&mut self, event: Arc<LiveEvent>) {
        if event.seq.is_some() {
            // The block is there: the pieces before it are void.
            self.recent.retain(|kept| kept.seq.is_some());
        }
        self.recent.push_back(event);
        self.bytes = self.recent.iter().map(|event| event.json.len()).sum();
        while self.recent.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some(oldest) = self.recent.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.json.len());
            self.base = oldest.seq.unwrap_or(self.base);
        }
    }
}

/// Reads a session and hands out what happens, until nobody follows, the session is gone or the store fails.
pub(super) async fn run(live: Arc<Live>, feed: Arc<Feed>, session: SessionId, view: View) {
    match pump(&live, &feed, &session, view).await {
        Err(error) if error.kind() == ErrorKind::NotFound => feed.end_gone(),
        // Followers see the end, and their clients come back.
        Ok(()) | Err(_) => {}
    }
    feed.stage.send_replace(Stage::Ended);
    live.leave(&session, view, &feed);
}

async fn pump(live: &Arc<Live>, feed: &Arc<Feed>, session: &SessionId, view: View) -> Result<()> {
    let (mut projection, at) = caught_up(live, session, view).await?;
    let mut tail = Tail::across_runs(live.store.clone(), &live.hub, session, at);
    feed.begin(at);
    let mut followed = Instant::now();
    loop {
        let pause = projection.due().map_or(LOOK, |due| due.min(LOOK));
        let events = match timeout(pause, tail.next()).await {
            Ok(item) => match item? {
                Some(TailItem::Batch(batch)) => projection.batch(&batch),
                Some(TailItem::Delta(delta)) => projection.delta(&delta),
                Some(_) => Vec::new(),
                None => return Ok(()),
            },
            Err(_) => projection.tick(),
        };
        events.into_iter().for_each(|event| feed.push(event));
        if feed.followers() > 0 {
            followed = Instant::now();
        } else if followed.elapsed() > LINGER && live.leave(session, view, feed) == Leaving::Ends {
            return Ok(());
        }
        if feed.has_ended() {
            return Ok(());
        }
    }
}

/// A projection at the end of the journal, and where that is.
async fn caught_up(live: &Live, session: &SessionId, view: View) -> Result<(Projection, Seq)> {
    let mut at = live.store.last(session).await?;
    let mut projection = Projection::new(session, view, at);
    let begin = projection.reads_after();
    if begin == at {
        return Ok((projection, at));
    }
    let mut batches = live.store.read(session, begin);
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        at = batch.last();
        projection.batch(&batch);
    }
    Ok((projection, at))
}
