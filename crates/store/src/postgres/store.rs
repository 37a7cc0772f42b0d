//! The store: every request is a task of the small runtime that the store brings, so that any executor can wait for it.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::runtime::{Builder, Runtime};
use turnkeep_model::{Batch, Head, Seq, SessionId};

use super::address::Address;
use super::base::{Base, PATIENCE, patiently};
use super::lineage::{self, Segment};
use super::{account, announce, append, erase, fork, gc, heads, integrity, lease, list, remove, repair, search};
use crate::capability::{
    Accounting, Chunks, Claim, Erased, Freed, HeadCache, Hit, Indexed, Lease, Leases, Maintenance, Repair, Repaired,
    Retention, Search, SearchQuery, Usage, Watch,
};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::packed::prepared::{PreparedBatch, prepare};
use crate::query::{Page, Query};
use crate::store::{Batches, BoxFuture, Deleted, Store, capabilities, check_id};
use crate::thread_pool::{check_threads, gone};
use crate::verify::Finding;
use crate::window::Window;

/// How many threads the runtime has: a request and its connection need not wake each other up. Batches are read from
/// their rows on threads beside it.
const THREADS: usize = 1;

/// How many pages of a journal are fetched at the same time.
const AHEAD: usize = 3;

/// A schema of a PostgreSQL database.
pub struct PostgresStore {
    pub(super) base: Arc<Base>,
    // Only taken when it is dropped.
    pub(super) runtime: Option<Runtime>,
}

impl PostgresStore {
    /// Opens what follows `postgres:` in a URL; makes the schema and its tables if need be.
    ///
    /// # Errors
    /// `Unsupported` if the URL cannot be read or the schema is another program's or a newer version's, `Unavailable`
    /// where nobody answers.
    pub fn open(place: &str, options: Options) -> Result<PostgresStore> {
        let address = Address::parse(place, &options)?;
        let runtime = runtime()?;
        let base = wait(&runtime, Base::open(address, options))?;
        runtime.spawn(search::keep_up(Arc::clone(&base)));
        runtime.spawn(announce::announce(Arc::clone(&base)));
        Ok(PostgresStore { base, runtime: Some(runtime) })
    }

    /// Removes a store with everything in it: the schema of the URL and all of its tables.
    ///
    /// # Errors
    /// As [`open`](PostgresStore::open).
    pub fn destroy(place: &str) -> Result<()> {
        let address = Address::parse(place, &Options::default())?;
        let runtime = runtime()?;
        let done = wait(&runtime, Base::destroy(address));
        runtime.shutdown_background();
        done
    }

    /// Appends, whoever waits for it.
    fn submit(&self, prepared: PreparedBatch) -> BoxFuture<'static, Result<Seq>> {
        let (answer, recorded) = oneshot::channel();
        if let Some(runtime) = &self.runtime {
            let base = Arc::clone(&self.base);
            runtime.spawn(async move { append::append(&base, &prepared, answer).await });
        }
        Box::pin(async move { recorded.await.unwrap_or_else(|_| Err(gone())) })
    }

    /// Runs a task that takes moments, whoever waits for it. A server that does not answer ends it.
    fn run<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let base = Arc::clone(&self.base);
        self.spawn(async move { base.within(PATIENCE, task).await })
    }

    /// Runs a task that may take long. A server that answers nobody ends it.
    fn run_long<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let base = Arc::clone(&self.base);
        self.spawn(async move { base.while_answered(task).await })
    }

    fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let Some(runtime) = &self.runtime else {
            return Box::pin(std::future::ready(Err(gone())));
        };
        let task = runtime.spawn(task);
        Box::pin(async move { task.await.unwrap_or_else(|_| Err(gone())) })
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.base.listeners.close();
        // Waiting for its threads would panic inside of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn runtime() -> Result<Runtime> {
    // The runtime panics where it cannot start a thread; one more may be needed for what blocks.
    check_threads(THREADS + 1)?;
    let runtime =
        Builder::new_multi_thread().worker_threads(THREADS).thread_name("turnkeep-postgres").enable_all().build();
    runtime.map_err(|error| Error::new(ErrorKind::Io, "start the threads of the store").because(error))
}

/// Waits for a task on this thread, which may belong to another runtime.
fn wait<T: Send + 'static>(runtime: &Runtime, task: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let (reply, answer) = mpsc::channel();
    runtime.spawn(async move { reply.send(task.await) });
    answer.recv().unwrap_or_else(|_| Err(gone()))
}

async fn pages(base: &Base, session: &SessionId, after: Seq) -> Result<Vec<Segment>> {
    lineage::pages(&base.client().await?, session, after).await
}

async fn page(base: &Base, page: Segment) -> Result<Vec<Batch>> {
    lineage::batches(&base.client().await?, base, page).await
}

impl Store for PostgresStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        match prepare(session, at, batch, self.base.options.max_batch, &self.base.dictionaries) {
            Ok(prepared) => self.submit(prepared),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        let (base, id) = (Arc::clone(&self.base), session.clone());
        let first = self.run(async move { patiently(|| pages(&base, &id, after)).await });
        let fetch = move |part: Segment| {
            let base = Arc::clone(&self.base);
            self.run(async move { patiently(|| page(&base, part)).await })
        };
        let pages = stream::once(first).map_ok(move |pages| stream::iter(pages).map(fetch).buffered(AHEAD));
        let batches =
            pages.try_flatten().map_ok(|page| stream::iter(page.into_iter().map(Ok::<_, Error>))).try_flatten();
        Box::pin(batches.map_err(move |error: Error| error.session(session)))
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        let (base, query) = (Arc::clone(&self.base), query.clone());
        self.run(async move { patiently(|| list::list(&base, &query)).await })
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        if let Err(error) = check_id(child) {
            return Box::pin(std::future::ready(Err(error)));
        }
        let (base, session, child) = (Arc::clone(&self.base), session.clone(), child.clone());
        self.run(async move { fork::fork(&base, &session, at, &child).await })
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        let (base, session) = (Arc::clone(&self.base), session.clone());
        self.run(async move { remove::delete(&base, &session).await })
    }

    capabilities! {
        search: Search, leases: Leases, head_cache: HeadCache,
        accounting: Accounting, maintenance: Maintenance, repair: Repair, watch: Watch, chunks: Chunks,
    }
}

impl Search for PostgresStore {
    fn search<'a>(&'a self, query: &'a SearchQuery) -> BoxFuture<'a, Result<Vec<Hit>>> {
        Box::pin(async move {
            self.catch_up(&mut |_| {}).await?;
            let (base, query) = (Arc::clone(&self.base), query.clone());
            self.run_long(async move { patiently(|| search::search(&base, &query)).await }).await
        })
    }

    fn catch_up<'a>(&'a self, told: &'a mut (dyn FnMut(Indexed) + Send)) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let base = Arc::clone(&self.base);
            let all = self.run_long(async move { patiently(|| search::behind(&base)).await }).await?;
            let (mut done, mut until) = (0, 0);
            loop {
                let base = Arc::clone(&self.base);
                let step = self.run_long(async move { patiently(|| search::index_some(&base, until)).await }).await?;
                let Some(step) = step else {
                    return Ok(());
                };
                (done, until) = (done + step.caught_up, step.until);
                told(Indexed { done, all: all.max(done) });
            }
        })
    }
}

impl Leases for PostgresStore {
    fn claim_next<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Option<Lease>>> {
        let (base, claim) = (Arc::clone(&self.base), claim.clone());
        self.run(async move { lease::claim_next(&base, &claim).await })
    }

    fn claim<'a>(&'a self, session: &'a SessionId, claim: &'a Claim) -> BoxFuture<'a, Result<Lease>> {
        let (base, session, claim) = (Arc::clone(&self.base), session.clone(), claim.clone());
        self.run(async move { lease::claim(&base, &session, &claim).await })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, time: Duration) -> BoxFuture<'a, Result<Lease>> {
        let (base, lease) = (Arc::clone(&self.base), lease.clone());
        self.run(async move { patiently(|| lease::renew(&base, &lease, time)).await })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>> {
        let (base, lease) = (Arc::clone(&self.base), lease.clone());
        self.run(async move { patiently(|| lease::release(&base, &lease)).await })
    }
}

impl HeadCache for PostgresStore {
    fn head<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Head>> {
        let (base, session) = (Arc::clone(&self.base), session.clone());
        self.run(async move { patiently(|| heads::head(&base, &session)).await })
    }

    fn window<'a>(&'a self, session: &'a SessionId, turns: u32) -> BoxFuture<'a, Result<Window>> {
        let (base, session) = (Arc::clone(&self.base), session.clone());
        self.run(async move { patiently(|| heads::window(&base, &session, turns)).await })
    }

    fn forget(&self) -> BoxFuture<'_, Result<()>> {
        let base = Arc::clone(&self.base);
        self.run(async move { patiently(|| heads::forget(&base)).await })
    }
}

impl Accounting for PostgresStore {
    fn usage(&self) -> BoxFuture<'_, Result<Usage>> {
        let base = Arc::clone(&self.base);
        self.run_long(async move { patiently(|| account::usage(&base)).await })
    }
}

impl Maintenance for PostgresStore {
    fn gc<'a>(&'a self, retention: &'a Retention) -> BoxFuture<'a, Result<Freed>> {
        let (base, retention) = (Arc::clone(&self.base), *retention);
        self.run_long(async move { gc::gc(&base, &retention).await })
    }

    fn erase<'a>(&'a self, session: &'a SessionId, seq: Option<Seq>, needle: &'a str) -> BoxFuture<'a, Result<Erased>> {
        let (base, session, needle) = (Arc::clone(&self.base), session.clone(), needle.to_owned());
        self.run_long(async move { erase::erase(&base, &session, seq, &needle).await })
    }
}

impl Repair for PostgresStore {
    fn check<'a>(&'a self, session: Option<&'a SessionId>) -> BoxFuture<'a, Result<Vec<Finding>>> {
        let (base, session) = (Arc::clone(&self.base), session.cloned());
        self.run_long(async move { patiently(|| integrity::check(&base, session.as_ref())).await })
    }

    fn repair(&self) -> BoxFuture<'_, Result<Vec<Repaired>>> {
        let base = Arc::clone(&self.base);
        self.run_long(async move { repair::repair(&base).await })
    }
}
