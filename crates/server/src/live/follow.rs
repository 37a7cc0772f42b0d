//! One follower: first the store, then the feed, without a gap and without a repetition.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use tokio::sync::broadcast::error::RecvError;
use turnkeep_model::{Seq, SessionId};
use turnkeep_store::{ErrorKind, Result};

use super::feed::{Feed, Receiver};
use super::projection::Projection;
use super::{Live, LiveEvent, LiveItem, View};

/// How many batches are read from the store at once.
const PAGE: usize = 256;

pub(super) struct Follow {
    live: Arc<Live>,
    session: SessionId,
    view: View,
    /// The last place that was given whole.
    seen: Option<Seq>,
    /// Where reading the store ended: records that show nothing were seen as well.
    read_to: Option<Seq>,
    waiting: VecDeque<LiveItem>,
    stage: Stage,
}

enum Stage {
    /// Reads the store; `at` is where the projection stands.
    Reading {
        projection: Box<Projection>,
        at: Seq,
    },
    /// Begins, or begins again at `seen`.
    Joining,
    Live {
        _feed: Arc<Feed>,
        receiver: Receiver,
    },
    Ended,
}

impl Follow {
    pub(super) fn new(live: Arc<Live>, session: SessionId, after: Option<Seq>, view: View) -> Follow {
        Follow { live, session, view, seen: after, read_to: None, waiting: VecDeque::new(), stage: Stage::Joining }
    }

    pub(super) async fn next(&mut self) -> Option<LiveItem> {
        loop {
            if let Some(item) = self.waiting.pop_front() {
                return Some(self.given(item));
            }
            match std::mem::replace(&mut self.stage, Stage::Ended) {
                Stage::Ended => return None,
                Stage::Joining => self.join().await,
                Stage::Reading { projection, at } => self.read(projection, at).await,
                Stage::Live { _feed, mut receiver } => {
                    let received = receiver.recv().await;
                    self.stage = Stage::Live { _feed, receiver };
                    self.receive(received);
                }
            }
        }
    }

    fn given(&mut self, item: LiveItem) -> LiveItem {
        match &item {
            LiveItem::Event(event) => self.seen = event.resume.or(self.seen),
            LiveItem::Gone => self.stage = Stage::Ended,
            LiveItem::Lagged { .. } => {}
        }
        item
    }

    fn receive(&mut self, received: std::result::Result<LiveItem, RecvError>) {
        match received {
            Ok(LiveItem::Event(event)) => {
                if self.is_new(&event) {
                    self.waiting.push_back(LiveItem::Event(event));
                }
            }
            Ok(item) => self.waiting.push_back(item),
            Err(RecvError::Lagged(_)) => {
                self.waiting.push_back(LiveItem::Lagged { resume_from: self.seen.unwrap_or(Seq::START) });
                self.stage = Stage::Joining;
            }
            Err(RecvError::Closed) => self.stage = Stage::Ended,
        }
    }

    fn is_new(&self, event: &LiveEvent) -> bool {
        event.seq.is_none_or(|seq| Some(seq) > self.seen)
    }

    /// Joins the feed where it has all that is missing; else reads the store first.
    async fn join(&mut self) {
        let (feed, waiting) = self.live.join(&self.session, self.view);
        if !feed.begun().await {
            return self.no_feed(waiting);
        }
        let (joined, receiver) = feed.join();
        // All that was read is given by now.
        self.seen = self.seen.max(self.read_to.take());
        let seen = *self.seen.get_or_insert(joined.base.max(last(&joined.recent)));
        if seen >= joined.base {
            let new: Vec<_> = joined.recent.into_iter().filter(|event| self.is_new(event)).collect();
            self.waiting.extend(new.into_iter().map(LiveItem::Event));
            self.stage = Stage::Live { _feed: feed, receiver };
        } else {
            let projection = Box::new(Projection::new(&self.session, self.view, seen));
            let at = projection.reads_after();
            self.stage = Stage::Reading { projection, at };
        }
    }

    /// The feed could not begin: it says why, if the session is gone.
    fn no_feed(&mut self, mut waiting: Receiver) {
        self.waiting.extend(std::iter::from_fn(|| waiting.try_recv().ok()));
    }

    async fn read(&mut self, projection: Box<Projection>, at: Seq) {
        match self.page(projection, at).await {
            Ok(stage) => self.stage = stage,
            Err(error) if error.kind() == ErrorKind::NotFound => self.waiting.push_back(LiveItem::Gone),
            Err(_) => {}
        }
    }

    /// One page of the journal. After the last one the feed is joined.
    async fn page(&mut self, mut projection: Box<Projection>, mut at: Seq) -> Result<Stage> {
        let store = self.live.store.clone();
        let mut batches = store.read(&self.session, at).take(PAGE);
        let mut count = 0;
        while let Some(batch) = batches.next().await {
            let batch = batch?;
            at = batch.last();
            count += 1;
            let events = projection.batch(&batch).into_iter().filter(|event| event.seq > self.seen);
            self.waiting.extend(events.map(Arc::new).map(LiveItem::Event));
        }
        if count == PAGE {
            return Ok(Stage::Reading { projection, at });
        }
        self.read_to = Some(at);
        Ok(Stage::Joining)
    }
}

fn last(recent: &[Arc<LiveEvent>]) -> Seq {
    recent.iter().filter_map(|event| event.seq).max().unwrap_or(Seq::START)
}
