//! `memory:` — a store that lives as long as the process. For tests and for trying things out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use turnkeep_model::{Batch, Seq, SessionId};

use crate::error::{Error, Result};
use crate::options::Options;
use crate::query::{Page, Query};
use crate::store::{self, Batches, BoxFuture, Deleted, Store};
use crate::summary::{Effects, Mark, Summary};
use crate::work::lock;

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    options: Options,
    sessions: Mutex<BTreeMap<SessionId, Held>>,
}

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
        MemoryStore { options, sessions: Mutex::default() }
    }

    fn put(&self, session: &SessionId, at: Seq, batch: &Batch) -> Result<Seq> {
        store::check_batch(session, at, batch)?;
        let bytes = batch.to_line().len();
        store::check_size(session, bytes, self.options.max_batch)?;
        let effects = Effects::of(batch, bytes);
        let mut sessions = lock(&self.sessions);
        let last = sessions.get(session).map(|held| held.summary.last);
        match last {
            None if at != Seq::START => return Err(Error::unknown(session)),
            Some(last) if last != at => return Err(Error::stale(session, at, last)),
            _ => {}
        }
        let held = sessions.entry(session.clone()).or_insert_with(|| Held::new(session));
        held.summary.apply(&effects, self.options.clock.now());
        held.own.push(Kept { batch: Arc::new(batch.clone()), mark: held.summary.mark() });
        Ok(held.summary.last)
    }

    fn split(&self, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
        store::check_id(child)?;
        let mut sessions = lock(&self.sessions);
        if sessions.contains_key(child) {
            return Err(store::taken(child));
        }
        let held = sessions.get_mut(session).ok_or_else(|| Error::unknown(session))?;
        let mark = held.mark(at).ok_or_else(|| store::no_such_place(session, at))?;
        let summary = held.summary.forked(child.clone(), mark);
        let fork = Held { summary, past: Some(held.freeze(at)), own: Vec::new() };
        sessions.insert(child.clone(), fork);
        Ok(())
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
    fn after(&self, after: Seq) -> Vec<Arc<Batch>> {
        let mut parts: Vec<Vec<Arc<Batch>>> = vec![pick(&self.own, after, Seq(u64::MAX))];
        let mut past = self.past.as_ref();
        while let Some(shared) = past {
            parts.push(pick(&shared.own, after, shared.until));
            past = shared.before.as_ref();
        }
        parts.into_iter().rev().flatten().collect()
    }
}

fn pick(own: &[Kept], after: Seq, until: Seq) -> Vec<Arc<Batch>> {
    let from = own.partition_point(|kept| kept.mark.last <= after);
    let to = own.partition_point(|kept| kept.mark.last <= until);
    own.get(from..to).unwrap_or_default().iter().map(|kept| Arc::clone(&kept.batch)).collect()
}

impl Store for MemoryStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        Box::pin(async move { self.put(session, at, batch) })
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        let batches = lock(&self.sessions).get(session).map(|held| held.after(after));
        match batches {
            Some(batches) => Box::pin(stream::iter(batches.into_iter().map(|batch| Ok(Batch::clone(&batch))))),
            None => Box::pin(stream::iter([Err(Error::unknown(session))])),
        }
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        Box::pin(async move {
            let sessions = lock(&self.sessions);
            Ok(match &query.id {
                Some(id) => query.page(sessions.get(id).into_iter().map(|held| &held.summary)),
                None => query.page(sessions.values().map(|held| &held.summary)),
            })
        })
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.split(session, at, child) })
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        Box::pin(async move {
            let mut sessions = lock(&self.sessions);
            sessions.remove(session).ok_or_else(|| Error::unknown(session))?;
            let forks = sessions.values().filter_map(|held| held.summary.origin.as_ref());
            let shared = forks.filter(|origin| origin.session == *session).map(|origin| origin.seq).max();
            Ok(Deleted { shared: shared.unwrap_or_default() })
        })
    }
}
