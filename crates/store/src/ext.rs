//! What follows from [`Store`] alone, for every store: loading, verifying, copying, importing.
//!
//! Nothing here knows a driver. Where a store has a faster way, such as cached heads, it offers that as a capability.

use futures_core::Stream;
use futures_util::StreamExt;
use turnkeep_model::{Batch, Head, Journal, Ledger, Object, Parent, Seq, Session, SessionId, Turn, absorb};

use crate::copy::Copying;
use crate::error::{Error, ErrorKind, Result};
use crate::import::{self, Imported};
use crate::metadata::list_by_metadata;
use crate::query::{Page, Query};
use crate::store::{Store, summary_of};
use crate::summary::Summary;
use crate::turns::{self, Condensed, Outline};
use crate::verify::{self, Verified};
use crate::window::{self, Window};

/// A whole session, read from its journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loaded {
    /// The session.
    pub session: Session,
    /// The place of its last record.
    pub seq: Seq,
    /// What is known of its tool calls.
    pub ledger: Ledger,
}

/// What every store can do besides.
pub trait StoreExt: Store {
    /// All of a session.
    fn load(&self, session: &SessionId) -> impl Future<Output = Result<Loaded>> + Send {
        async move {
            let Summary { origin, last, .. } = self.summary(session).await?;
            let ledger = origin.as_ref().map(|origin| Ledger::of_fork(origin.seq)).unwrap_or_default();
            let mut loaded = fold(self, session, Seq(u64::MAX), ledger).await?;
            if loaded.seq < last {
                return Err(cut_short(session, loaded.seq, last));
            }
            loaded.session.id = Some(session.clone());
            if let Some(origin) = origin {
                loaded.session.parent =
                    Some(Parent { session: origin.session, seq: Some(origin.seq), ..Parent::default() });
            }
            Ok(loaded)
        }
    }

    /// The session as it was at `seq`.
    fn load_at(&self, session: &SessionId, seq: Seq) -> impl Future<Output = Result<Loaded>> + Send {
        async move {
            let mut loaded = fold(self, session, seq, Ledger::default()).await?;
            loaded.session.id = Some(session.clone());
            Ok(loaded)
        }
    }

    /// A session without its turns; [`StoreExt::turns`] reads them one by one.
    fn outline(&self, session: &SessionId, condensed: Condensed) -> impl Future<Output = Result<Outline>> + Send {
        turns::outline(self, session, condensed)
    }

    /// The turns of a session in order, each as soon as nothing in the journal changes it any more: of a session of any
    /// length, only those are in memory that are not complete.
    ///
    /// ```
    /// # use futures_util::StreamExt;
    /// # use turnkeep_model::{Batch, Event, Seq, SessionId, Turn, event::TurnOpened};
    /// # use turnkeep_store::{Condensed, StoreExt, open};
    /// # pollster::block_on(async {
    /// # let (store, id) = (open("memory:")?, SessionId::new("s1"));
    /// # let opened = Event::from(TurnOpened { turn: Box::new(Turn::default()) });
    /// # store.append(&id, Seq::START, &Batch::new(Seq(1), vec![opened.into()])).await?;
    /// let outline = store.outline(&id, Condensed::Summary).await?;
    /// let mut turns = std::pin::pin!(store.turns(&id, &outline));
    /// while let Some(turn) = turns.next().await.transpose()? {
    ///     println!("{} blocks", turn.blocks.len());
    /// }
    /// # Ok::<(), turnkeep_store::Error>(())
    /// # }).unwrap();
    /// ```
    fn turns<'a>(
        &'a self,
        session: &'a SessionId,
        outline: &'a Outline,
    ) -> impl Stream<Item = Result<Turn>> + Send + 'a {
        turns::turns(self, session, outline)
    }

    /// The journal of a session line by line, as the format `turnkeep.jsonl` has it: the head, then every batch, each
    /// without its line break.
    fn lines<'a>(&'a self, session: &'a SessionId) -> impl Stream<Item = Result<String>> + Send + 'a {
        turns::lines(self, session)
    }

    /// The last `turns` turns of a session, and all of it that is not turns. A store with cached heads does not read
    /// the rest.
    fn load_window(&self, session: &SessionId, turns: u32) -> impl Future<Output = Result<Window>> + Send {
        async move {
            let mut window = match self.head_cache() {
                Some(cache) => cache.window(session, turns).await?,
                None => {
                    let (head, session) = fold_with_head(self, session).await?;
                    Window::of(head, session, turns)
                }
            };
            window.head.session.id = Some(session.clone());
            Ok(window)
        }
    }

    /// What a listing shows of the session.
    fn summary(&self, session: &SessionId) -> impl Future<Output = Result<Summary>> + Send {
        summary_of(self, session)
    }

    /// One page of the sessions whose metadata, which an application keeps with them, `matches` accepts. Every candidate
    /// is looked at; there may be no more matches where a page says that there are more sessions.
    fn list_by_metadata<'a>(
        &'a self,
        query: &'a Query,
        matches: &'a (dyn Fn(&Object) -> bool + Send + Sync),
    ) -> impl Future<Output = Result<Page>> + Send + 'a {
        list_by_metadata(self, query, matches)
    }

    /// The place of the last record.
    fn last(&self, session: &SessionId) -> impl Future<Output = Result<Seq>> + Send {
        async move { Ok(self.summary(session).await?.last) }
    }

    /// The journal of a session.
    fn journal(&self, session: &SessionId) -> impl Future<Output = Result<Journal>> + Send {
        async move {
            let mut journal = Journal { session: Some(session.clone()), ..Journal::default() };
            let mut batches = self.read(session, Seq::START);
            while let Some(batch) = batches.next().await {
                journal.batches.push(batch?);
            }
            Ok(journal)
        }
    }

    /// Checks every sum of a session, that nothing is missing, and what the store itself knows to be wrong.
    fn verify(&self, session: &SessionId) -> impl Future<Output = Result<Verified>> + Send {
        verify::verify(self, session)
    }

    /// Copies a session to another store, byte for byte, and checks the copy. A copy that was begun goes on where it
    /// ended; a fork shares its past there too, if its parent is there. [`Copying`] is for several.
    fn copy_to<'a>(
        &'a self,
        session: &'a SessionId,
        to: &'a dyn Store,
    ) -> impl Future<Output = Result<Verified>> + Send + 'a {
        async move { Copying::default().copy(self, session, to, &mut |_| {}).await }
    }

    /// Appends a journal as a new session; the same journal twice gives one session.
    fn import<'a>(&'a self, journal: &'a Journal) -> impl Future<Output = Result<Imported>> + Send + 'a {
        import::import(self, journal)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

async fn fold(store: &(impl Store + ?Sized), session: &SessionId, until: Seq, ledger: Ledger) -> Result<Loaded> {
    let mut loaded = Loaded { ledger, ..Loaded::default() };
    let mut batches = store.read(session, Seq::START);
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        if batch.last() > until {
            break;
        }
        take_in(&mut loaded, batch).map_err(|error| error.session(session))?;
    }
    Ok(loaded)
}

fn take_in(loaded: &mut Loaded, batch: Batch) -> Result<()> {
    for (entry, seq) in batch.events.into_iter().zip(batch.seq.0..) {
        loaded.seq = Seq(seq);
        loaded.ledger.apply(loaded.seq, &entry.event);
        absorb(&mut loaded.session, entry.event).map_err(|error| crate::Error::from(error).seq(Seq(seq)))?;
    }
    Ok(())
}

async fn fold_with_head(store: &(impl Store + ?Sized), session: &SessionId) -> Result<(Head, Session)> {
    let mut head = Head::default();
    let mut loaded = Loaded::default();
    let mut batches = store.read(session, Seq::START);
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        window::take_in(&mut head, &batch)?;
        take_in(&mut loaded, batch)?;
    }
    Ok((head, loaded.session))
}

pub(crate) fn cut_short(session: &SessionId, end: Seq, last: Seq) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the journal ends at {end} where {last} was recorded"))
        .session(session)
        .hint("run `turnkeep verify --repair`, or restore the store")
}
