//! `memory:` — a store that lives as long as the process. For tests and for trying things out.
//!
//! Journals are vectors of shared batches. A fork freezes what its parent has so far and shares it, so that it costs the same
//! however long the past is. Listings are kept in their orders, because a store of many sessions must not look at all of them to
//! show a page.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use turnkeep_model::{Batch, Head, Seq, SessionId};

use crate::capability::{Changed, Changes, HeadCache, Watch};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::query::{Cursor, Page, Query, Sort};
use crate::store::{self, Batches, BoxFuture, Deleted, Store, capabilities};
use crate::subscribers::Subscribers;
use crate::summary::{Effects, Mark, Summary};
use crate::thread_pool::lock;
use crate::window::{TurnFold, Window, take_in};

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    options: Options,
    sessions: Mutex<Sessions>,
    subscribers: Arc<Subscribers<Changed>>,
}

/// The sessions, and what is needed to find them otherwise than by id.
#[derive(Debug, Default)]
struct Sessions {
    /// Boxed, so that the table stays small: a lookup in a large one waits for memory.
    held: HashMap<SessionId, Box<Held>>,
    /// Every session in each order of a listing.
    orders: [BTreeSet<Cursor>; 3],
    /// Every fork: its parent, the last record that they share, and itself.
    forks: BTreeSet<(SessionId, Seq, SessionId)>,
}

/// The orders of a listing, as [`Sessions::orders`] has them.
const ORDERS: [Sort; 3] = [Sort::Updated, Sort::Created, Sort::Id];

#[derive(Debug, Clone)]
struct Held {
    summary: Summary,
    past: Option<Arc<Past>>,
    own: Vec<Kept>,
}

#[derive(Debug, Clone)]
struct Kept {
    batch: Arc<Batch>,
    mark: Mark,
}

/// Batches that no longer change, shared by forks up to `until`.
#[derive(Debug)]
struct Past {
    before: Option<Arc<Past>>,
    own: Arc<Vec<Kept>>,
    until: Seq,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(options: Options) -> MemoryStore {
        MemoryStore { options, sessions: Mutex::default(), subscribers: Arc::default() }
    }

    fn put(&self, session: &SessionId, at: Seq, batch: &Batch) -> Result<Seq> {
        store::check_batch(session, at, batch)?;
        let bytes = batch.to_line().len();
        store::check_size(session, bytes, self.options.max_batch)?;
        let effects = Effects::of(batch, bytes);
        let mut sessions = lock(&self.sessions);
        let last = sessions.held.get(session).map(|held| held.summary.last);
        match last {
            None if at != Seq::START => return Err(Error::unknown(session)),
            Some(last) if last != at => return Err(Error::stale(session, at, last)),
            _ => {}
        }
        let last = sessions.append(session, batch, &effects, self.options.clock.now());
        self.subscribers.tell(session, &Changed { last: Some(last) });
        Ok(last)
    }

    /// The batches of a session after `after`.
    fn journal(&self, session: &SessionId, after: Seq) -> Result<Vec<Kept>> {
        let sessions = lock(&self.sessions);
        sessions.held.get(session).map(|held| held.after(after)).ok_or_else(|| Error::unknown(session))
    }

    fn split(&self, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
        store::check_id(child)?;
        let mut sessions = lock(&self.sessions);
        if sessions.held.contains_key(child) {
            return Err(store::taken(child));
        }
        let held = sessions.held.get_mut(session).ok_or_else(|| Error::unknown(session))?;
        let mark = held.mark(at).ok_or_else(|| store::no_such_place(session, at))?;
        let summary = held.summary.forked(child.clone(), mark);
        let fork = Held { summary, past: Some(held.freeze(at)), own: Vec::new() };
        sessions.put(fork);
        self.subscribers.tell(child, &Changed { last: Some(at) });
        Ok(())
    }
}

impl Sessions {
    /// Appends to a session, which begins with its first batch, and moves it in the listings. Most batches change one time, so
    /// the other orders are left alone.
    fn append(&mut self, session: &SessionId, batch: &Batch, effects: &Effects, now: i64) -> Seq {
        let is_new = !self.held.contains_key(session);
        let held = self.held.entry(session.clone()).or_insert_with(|| Box::new(Held::new(session)));
        let before = ORDERS.map(|sort| sort.time(&held.summary));
        held.summary.apply(effects, now);
        held.own.push(Kept { batch: Arc::new(batch.clone()), mark: held.summary.mark() });
        for ((order, sort), before) in self.orders.iter_mut().zip(ORDERS).zip(before) {
            if !is_new && sort.time(&held.summary) == before {
                continue;
            }
            if !is_new {
                order.remove(&Cursor { time: before, id: session.clone() });
            }
            order.insert(sort.place(&held.summary));
        }
        held.summary.last
    }

    /// Adds a session to the listings.
    fn put(&mut self, held: Held) {
        for (order, sort) in self.orders.iter_mut().zip(ORDERS) {
            order.insert(sort.place(&held.summary));
        }
        self.forks.extend(fork_of(&held.summary));
        self.held.insert(held.summary.id.clone(), Box::new(held));
    }

    /// Takes a session out of the listings.
    fn take(&mut self, session: &SessionId) -> Option<Box<Held>> {
        let held = self.held.remove(session)?;
        for (order, sort) in self.orders.iter_mut().zip(ORDERS) {
            order.remove(&sort.place(&held.summary));
        }
        if let Some(fork) = fork_of(&held.summary) {
            self.forks.remove(&fork);
        }
        Some(held)
    }

    /// The summaries in the order of a query, from where the page before ended.
    fn in_order(&self, query: &Query) -> impl Iterator<Item = &Summary> {
        let order = ORDERS.iter().zip(&self.orders).find(|(sort, _)| **sort == query.sort).map(|(_, order)| order);
        let after = query.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let places = order.into_iter().flat_map(move |order| order.range((after, Bound::Unbounded)));
        places.filter_map(|place| self.held.get(&place.id)).map(|held| &held.summary)
    }

    /// The last record that forks share with a session, if there are any.
    fn shared(&self, session: &SessionId) -> Option<Seq> {
        let at = |seq| (session.clone(), seq, SessionId::new(""));
        self.forks.range(at(Seq::START)..at(Seq(u64::MAX))).next_back().map(|(_, seq, _)| *seq)
    }
}

fn fork_of(summary: &Summary) -> Option<(SessionId, Seq, SessionId)> {
    summary.origin.as_ref().map(|origin| (origin.session.clone(), origin.seq, summary.id.clone()))
}

impl Drop for Past {
    /// One after the other: a long line of forks would need as many stack frames.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut past) = next.and_then(Arc::into_inner) {
            next = past.before.take();
        }
    }
}

impl Held {
    fn new(session: &SessionId) -> Held {
        Held { summary: Summary::new(session.clone()), past: None, own: Vec::new() }
    }

    /// What is counted up to the batch that ends at `at`.
    fn mark(&self, at: Seq) -> Option<Mark> {
        let find = |own: &[Kept]| {
            own.binary_search_by_key(&at, |kept| kept.mark.last).ok().and_then(|found| Some(own.get(found)?.mark))
        };
        let mut past = self.past.as_ref();
        let mut found = find(&self.own);
        while let (None, Some(shared)) = (found, past) {
            found = if at <= shared.until { find(&shared.own) } else { None };
            past = shared.before.as_ref();
        }
        found
    }

    /// Makes what is there shared, and gives the part up to `at`.
    fn freeze(&mut self, at: Seq) -> Arc<Past> {
        if !self.own.is_empty() {
            let own = Arc::new(std::mem::take(&mut self.own));
            self.past = Some(Arc::new(Past { before: self.past.take(), own, until: self.summary.last }));
        }
        let mut past = self.past.clone();
        // What lies wholly after the place is not shared.
        while let Some(shared) = &past {
            if shared.own.first().is_none_or(|kept| kept.batch.seq <= at) {
                break;
            }
            past = shared.before.clone();
        }
        let (before, own) = past.map_or_else(Default::default, |past| (past.before.clone(), Arc::clone(&past.own)));
        Arc::new(Past { before, own, until: at })
    }

    /// The batches after `after`, in order.
    fn after(&self, after: Seq) -> Vec<Kept> {
        let mut parts: Vec<&[Kept]> = vec![pick(&self.own, after, Seq(u64::MAX))];
        let mut past = self.past.as_ref();
        while let Some(shared) = past {
            parts.push(pick(&shared.own, after, shared.until));
            past = shared.before.as_ref();
        }
        parts.into_iter().rev().flatten().cloned().collect()
    }
}

fn pick(own: &[Kept], after: Seq, until: Seq) -> &[Kept] {
    let from = own.partition_point(|kept| kept.mark.last <= after);
    let to = own.partition_point(|kept| kept.mark.last <= until);
    own.get(from..to).unwrap_or_default()
}

/// The head of a journal. What is said in it is looked at, not copied.
fn head(journal: &[Kept]) -> Result<Head> {
    let mut head = Head::default();
    journal.iter().try_for_each(|kept| take_in(&mut head, &kept.batch))?;
    Ok(head)
}

/// The head and the last turns of a journal. Only the batches in which these are said are copied.
fn window(journal: &[Kept], turns: u32) -> Result<Window> {
    let opened_before = |at: usize| at.checked_sub(1).and_then(|at| journal.get(at)).map_or(0, |kept| kept.mark.turns);
    let left_out = opened_before(journal.len()).saturating_sub(u64::from(turns));
    let from = match turns {
        0 => journal.len(),
        _ => (0..journal.len()).rposition(|at| opened_before(at) <= left_out).unwrap_or_default(),
    };
    let mut fold = TurnFold::after(u32::try_from(opened_before(from)).unwrap_or(u32::MAX));
    for kept in journal.get(from..).unwrap_or_default() {
        fold.apply(Batch::clone(&kept.batch))?;
    }
    let (last, first) = fold.last(turns);
    let mut head = head(journal)?;
    head.session.turns = last;
    Ok(Window { head, first })
}

impl Store for MemoryStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        Box::pin(async move { self.put(session, at, batch) })
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        match self.journal(session, after) {
            Ok(journal) => Box::pin(stream::iter(journal.into_iter().map(|kept| Ok(Batch::clone(&kept.batch))))),
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        Box::pin(async move {
            let sessions = lock(&self.sessions);
            Ok(match &query.id {
                Some(id) => query.page(sessions.held.get(id).into_iter().map(|held| &held.summary)),
                None => query.page_in_order(sessions.in_order(query)),
            })
        })
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.split(session, at, child) })
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        Box::pin(async move {
            let mut sessions = lock(&self.sessions);
            sessions.take(session).ok_or_else(|| Error::unknown(session))?;
            self.subscribers.tell(session, &Changed { last: None });
            Ok(Deleted { shared: sessions.shared(session).unwrap_or_default() })
        })
    }

    capabilities! {
        head_cache: HeadCache, watch: Watch,
    }
}

/// Nobody but this process writes, so whoever writes tells.
impl Watch for MemoryStore {
    fn watch(&self, session: &SessionId) -> Result<Changes> {
        Ok(Box::pin(self.subscribers.follow(session)))
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        self.subscribers.close();
    }
}

/// Nothing is cached: every batch is in memory, and a head is made of them without copying what is said.
impl HeadCache for MemoryStore {
    fn head<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Head>> {
        Box::pin(async move { head(&self.journal(session, Seq::START)?).map_err(|error| error.session(session)) })
    }

    fn window<'a>(&'a self, session: &'a SessionId, turns: u32) -> BoxFuture<'a, Result<Window>> {
        Box::pin(
            async move { window(&self.journal(session, Seq::START)?, turns).map_err(|error| error.session(session)) },
        )
    }

    fn forget(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
