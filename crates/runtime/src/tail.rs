//! A session from a place on, and then as it grows: no gap, no repetition.
//!
//! What is recorded in this process comes from its hub. What another process records is read from the store when that tells of a
//! change, and pieces of its answers come through the store where it can carry them.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::StreamExt;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_store::{BoxFuture, Changed, Changes, Chunk, ChunkStream, ErrorKind, Store};

use crate::changes::changes;
use crate::chunks::IncomingChunks;
use crate::error::Result;
use crate::hub::{Hub, HubItem, RunChange, Subscription, run_change};
use crate::port::Delta;

/// Follows one session, as a stream.
///
/// ```
/// use turnkeep_model::{Seq, SessionId};
/// use turnkeep_runtime::port::Answer;
/// use turnkeep_runtime::{Agent, Script, Tail, TailItem};
///
/// # pollster::block_on(async {
/// let script = Script::new("a model", vec![Answer::text("Hello!")]);
/// let agent = Agent::builder().model(script).store("memory:").build()?;
/// let talk = agent.open("s1")?;
/// talk.ask("Are you there?").await?;
///
/// let mut tail = talk.tail(Seq::START);
/// let Some(TailItem::Batch(first)) = tail.next().await? else { panic!("nothing is stored") };
/// assert_eq!(first.events[0].event.kind(), "session.opened");
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
pub struct Tail {
    store: Arc<dyn Store>,
    session: SessionId,
    seen: Seq,
    /// What is heard in this process, if that is heard at all.
    live: Option<Subscription>,
    until: Until,
    watching: Watching,
    changes: Option<Changes>,
    chunks: Option<ChunkStream>,
    incoming: IncomingChunks,
    read: VecDeque<Batch>,
    caught_up: bool,
    /// Whether another process recorded what is read next.
    reads_others: bool,
    /// The reading that is under way. One that was given up goes on with the next call.
    looking: Option<BoxFuture<'static, Result<Vec<Batch>>>>,
}

/// What a tail gives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TailItem {
    /// The next records.
    Batch(Arc<Batch>),
    /// A piece of an answer on its way.
    Delta(Delta),
}

/// How long a session is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Until the run that is heard ends.
    RunEnds,
    /// Over all runs.
    NobodyTells,
    /// Nothing more is given.
    Now,
}

/// Whether the store is asked to tell of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watching {
    /// From the first wait on.
    NotYet,
    Yes,
    /// Whoever writes is in this process.
    Never,
}

/// What wakes a tail.
enum Heard {
    Live(HubItem),
    Changed(Changed),
    Chunk(Chunk),
    Ended,
}

impl Tail {
    /// Follows `session` after `after`: first what is stored, then what happens until the run that is heard ends, in this
    /// process or in another. A session that is not there yet is waited for.
    pub fn new(store: Arc<dyn Store>, hub: &Hub, session: &SessionId, after: Seq) -> Tail {
        Tail::over(store, session, after, Some(hub.subscribe(session)), Until::RunEnds)
    }

    /// The same over all runs of the session, until the hub goes.
    pub fn across_runs(store: Arc<dyn Store>, hub: &Hub, session: &SessionId, after: Seq) -> Tail {
        Tail::over(store, session, after, Some(hub.subscribe_across_runs(session)), Until::NobodyTells)
    }

    /// The same without a hub: over all runs of the session, whichever process runs it, until the tail is dropped.
    pub fn of_store(store: Arc<dyn Store>, session: &SessionId, after: Seq) -> Tail {
        Tail::over(store, session, after, None, Until::NobodyTells)
    }

    /// The same where `after` is the last record there is, and whoever writes does so in this process: nothing has to be
    /// read first, and the store need not tell.
    pub(crate) fn from_end(store: Arc<dyn Store>, hub: &Hub, session: &SessionId, after: Seq) -> Tail {
        Tail { caught_up: true, watching: Watching::Never, ..Tail::new(store, hub, session, after) }
    }

    /// Subscribed before the store is read, so that nothing falls between.
    fn over(store: Arc<dyn Store>, session: &SessionId, after: Seq, live: Option<Subscription>, until: Until) -> Tail {
        Tail {
            store,
            session: session.clone(),
            seen: after,
            live,
            until,
            watching: Watching::NotYet,
            changes: None,
            chunks: None,
            incoming: IncomingChunks::default(),
            read: VecDeque::new(),
            caught_up: false,
            reads_others: false,
            looking: None,
        }
    }

    /// The same, with pieces of answers from elsewhere than the store.
    #[must_use]
    pub fn with_chunks(mut self, chunks: ChunkStream) -> Tail {
        self.chunks = Some(chunks);
        self
    }

    /// The next thing that happens, in whichever process; `None` when nothing more will.
    ///
    /// # Errors
    /// What the store says; `NotFound` when the session was deleted.
    pub async fn next(&mut self) -> Result<Option<TailItem>> {
        futures_util::TryStreamExt::try_next(self).await
    }

    /// What an item from outside gives; most only wake it.
    fn hear(&mut self, heard: Heard) -> Option<TailItem> {
        match heard {
            Heard::Live(HubItem::Delta(delta)) => return Some(TailItem::Delta(delta)),
            Heard::Live(HubItem::Batch(batch)) if batch.last() <= self.seen => {}
            Heard::Live(HubItem::Batch(batch)) if batch.seq == self.seen.next() => {
                self.give(&batch);
                return Some(TailItem::Batch(batch));
            }
            // A gap, or dropped items: the store has them.
            Heard::Live(HubItem::Batch(_) | HubItem::Lagged { .. }) => self.caught_up = false,
            // What this process recorded was heard from the hub.
            Heard::Changed(Changed { last: Some(last) }) if last <= self.seen => {}
            Heard::Changed(_) => {
                self.caught_up = false;
                self.reads_others = true;
            }
            Heard::Chunk(chunk) => return self.piece(chunk).map(TailItem::Delta),
            Heard::Ended => self.until = Until::Now,
        }
        None
    }

    /// Asks the store to tell of changes, before anything is waited for.
    fn watch(&mut self) -> Result<()> {
        if self.watching == Watching::NotYet {
            self.changes = Some(changes(&*self.store, &self.session)?);
            if let (None, Some(chunks)) = (&self.chunks, self.store.chunks()) {
                self.chunks = Some(chunks.subscribe(&self.session)?);
            }
            self.watching = Watching::Yes;
            // What was recorded before this is not told of.
            self.caught_up = false;
        }
        Ok(())
    }

    /// What happens first. Where several things have happened, pieces come before the records that make them void.
    fn poll_heard(&mut self, context: &mut Context<'_>) -> Poll<Heard> {
        if let Some(Poll::Ready(item)) = self.live.as_mut().map(|live| Pin::new(live).poll_next(context)) {
            return Poll::Ready(item.map_or(Heard::Ended, Heard::Live));
        }
        if let Poll::Ready(chunk) = poll_open(&mut self.chunks, context) {
            return Poll::Ready(Heard::Chunk(chunk));
        }
        if let Poll::Ready(changed) = poll_open(&mut self.changes, context) {
            return Poll::Ready(Heard::Changed(changed));
        }
        match (&self.live, &self.changes) {
            (None, None) => Poll::Ready(Heard::Ended),
            _ => Poll::Pending,
        }
    }

    /// Reads until the end of the store. The end of another process's run is the end of one that is heard.
    fn poll_catch_up(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_look(context))?;
        self.caught_up = true;
        let change = self.read.iter().rev().find_map(run_change);
        let others = std::mem::take(&mut self.reads_others);
        if others && self.until == Until::RunEnds && matches!(change, Some(RunChange::Ended)) {
            self.until = Until::Now;
        }
        Poll::Ready(Ok(()))
    }

    /// A piece of an answer of another process; those of this one were heard from the hub.
    fn piece(&mut self, chunk: Chunk) -> Option<Delta> {
        let is_heard = self.live.as_ref().is_some_and(|live| live.hears_run(&chunk.run));
        if is_heard { None } else { self.incoming.take(chunk) }
    }

    /// Reads what the store has beyond what was seen; says how many batches that is.
    ///
    /// # Errors
    /// What the store says.
    pub async fn look(&mut self) -> Result<usize> {
        poll_fn(|context| self.poll_look(context)).await
    }

    fn poll_look(&mut self, context: &mut Context<'_>) -> Poll<Result<usize>> {
        let after = self.read.back().map_or(self.seen, Batch::last);
        let (store, session) = (&self.store, &self.session);
        let looking = self.looking.get_or_insert_with(|| Box::pin(stored(store.clone(), session.clone(), after)));
        let found = ready!(looking.as_mut().poll(context));
        self.looking = None;
        // Something may have been heard while the store was read.
        let new = found?.into_iter().filter(|batch| batch.last() > self.seen);
        let before = self.read.len();
        self.read.extend(new);
        Poll::Ready(Ok(self.read.len().saturating_sub(before)))
    }

    /// What was read and not given yet.
    pub fn take_read(&mut self) -> Option<Batch> {
        let batch = self.read.pop_front()?;
        self.give(&batch);
        Some(batch)
    }

    fn give(&mut self, batch: &Batch) {
        self.seen = batch.last();
        self.incoming.note(batch);
    }
}

impl Stream for Tail {
    type Item = Result<TailItem>;

    /// After an error the store is read again; the stream ends when nothing more will happen.
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<TailItem>>> {
        let tail = self.get_mut();
        if let Err(error) = tail.watch() {
            return Poll::Ready(Some(Err(error)));
        }
        loop {
            if let Some(batch) = tail.take_read() {
                return Poll::Ready(Some(Ok(TailItem::Batch(Arc::new(batch)))));
            }
            if tail.until == Until::Now {
                return Poll::Ready(None);
            }
            if !tail.caught_up {
                if let Err(error) = ready!(tail.poll_catch_up(context)) {
                    return Poll::Ready(Some(Err(error)));
                }
                continue;
            }
            let heard = ready!(tail.poll_heard(context));
            if let Some(item) = tail.hear(heard) {
                return Poll::Ready(Some(Ok(item)));
            }
        }
    }
}

impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").field("session", &self.session).field("seen", &self.seen).finish_non_exhaustive()
    }
}

/// The batches after a place; none where the session is not there yet.
async fn stored(store: Arc<dyn Store>, session: SessionId, after: Seq) -> Result<Vec<Batch>> {
    let mut reading = store.read(&session, after);
    let mut batches = Vec::new();
    while let Some(batch) = reading.next().await {
        match batch {
            Err(error) if error.kind() == ErrorKind::NotFound && after == Seq::START => return Ok(Vec::new()),
            batch => batches.push(batch?),
        }
    }
    Ok(batches)
}

/// The next item of a stream; one that ended is let go.
fn poll_open<S: Stream + Unpin>(stream: &mut Option<S>, context: &mut Context<'_>) -> Poll<S::Item> {
    match stream.as_mut().map(|stream| stream.poll_next_unpin(context)) {
        Some(Poll::Ready(Some(item))) => Poll::Ready(item),
        Some(Poll::Ready(None)) => {
            *stream = None;
            Poll::Pending
        }
        Some(Poll::Pending) | None => Poll::Pending,
    }
}
