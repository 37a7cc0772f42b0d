//! A store of one's own: journals in a map.
//!
//! A real one would keep the same things in a database. What it must decide is small: an append happens only directly
//! after the place that it names, and whole. Listings come from [`Summary`] and [`Query::page`], so that they are the
//! same in every store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream;
use turnkeep::SessionId;
use turnkeep::model::{Batch, Seq};
use turnkeep::store::driver::{check_batch, check_id, check_size, no_such_place, taken};
use turnkeep::store::{Batches, BoxFuture, Deleted, Error, Options, Page, Query, Result, Store, Summary};

/// A store in a map.
#[derive(Default)]
pub struct MapStore {
    options: Options,
    sessions: Mutex<BTreeMap<SessionId, Held>>,
}

/// A session: its batches, each with the summary that was true after it.
struct Held {
    summary: Summary,
    batches: Vec<(Arc<Batch>, Summary)>,
}

impl MapStore {
    /// An empty store.
    pub fn new(options: Options) -> MapStore {
        MapStore { options, sessions: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Held>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, session: &SessionId, at: Seq, batch: &Batch) -> Result<Seq> {
        check_batch(session, at, batch)?;
        check_size(session, batch.to_line().len(), self.options.max_batch)?;
        let now = self.options.clock.now();
        let mut sessions = self.lock();
        let new = || Held { summary: Summary::new(session.clone()), batches: Vec::new() };
        let held = match sessions.get_mut(session) {
            Some(held) => held,
            None if at == Seq::START => sessions.entry(session.clone()).or_insert_with(new),
            None => return Err(Error::unknown(session)),
        };
        if held.summary.last != at {
            return Err(Error::stale(session, at, held.summary.last));
        }
        held.summary.add(batch, now);
        held.batches.push((Arc::new(batch.clone()), held.summary.clone()));
        Ok(held.summary.last)
    }

    fn after(&self, session: &SessionId, after: Seq) -> Result<Vec<Arc<Batch>>> {
        let sessions = self.lock();
        let held = sessions.get(session).ok_or_else(|| Error::unknown(session))?;
        Ok(held.batches.iter().map(|(batch, _)| batch.clone()).filter(|batch| batch.last() > after).collect())
    }

    fn split(&self, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
        check_id(child)?;
        let mut sessions = self.lock();
        if sessions.contains_key(child) {
            return Err(taken(child));
        }
        let held = sessions.get(session).ok_or_else(|| Error::unknown(session))?;
        let end = held.batches.iter().position(|(batch, _)| batch.last() == at);
        let shared = end.and_then(|end| held.batches.get(..=end)).ok_or_else(|| no_such_place(session, at))?;
        let (_, then) = shared.last().ok_or_else(|| no_such_place(session, at))?;
        let fork = Held { summary: held.summary.fork(child.clone(), then), batches: shared.to_vec() };
        sessions.insert(child.clone(), fork);
        Ok(())
    }

    fn remove(&self, session: &SessionId) -> Result<Deleted> {
        let mut sessions = self.lock();
        sessions.remove(session).ok_or_else(|| Error::unknown(session))?;
        let forks = sessions.values().filter_map(|held| held.summary.origin.as_ref());
        let shared = forks.filter(|origin| origin.session == *session).map(|origin| origin.seq).max();
        Ok(Deleted { shared: shared.unwrap_or_default() })
    }
}

impl Store for MapStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        Box::pin(async move { self.put(session, at, batch) })
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        match self.after(session, after) {
            Ok(batches) => Box::pin(stream::iter(batches.into_iter().map(|batch| Ok(Batch::clone(&batch))))),
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        Box::pin(async move { Ok(query.page(self.lock().values().map(|held| &held.summary))) })
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.split(session, at, child) })
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        Box::pin(async move { self.remove(session) })
    }
}
