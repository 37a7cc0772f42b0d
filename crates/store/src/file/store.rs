//! The store over a directory of journals: its operations block, so each is a job of a thread pool.

use std::path::Path;
use std::sync::Arc;

use futures_util::{TryStreamExt, stream};
use turnkeep_model::{Batch, Seq, SessionId};

use super::journal_dir::{JournalDir, PreparedLine};
use super::watch::FileProbe;
use crate::capability::{Accounting, Changes, Erased, Freed, Maintenance, Repair, Repaired, Retention, Usage, Watch};
use crate::checksum;
use crate::disk::{Disk, LocalDisk};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::poll::Poller;
use crate::query::{Page, Query};
use crate::store::{self, Batches, BoxFuture, Deleted, Store, capabilities};
use crate::summary::Effects;
use crate::thread_pool::ThreadPool;
use crate::verify::Finding;

/// How many threads read and write.
const THREADS: usize = 4;

/// One journal file a session, in a folder.
pub struct FileStore {
    dir: Arc<JournalDir>,
    poller: Poller,
    workers: ThreadPool<()>,
}

impl FileStore {
    /// Opens the folder; makes it if need be.
    ///
    /// # Errors
    /// `Io` where the folder cannot be made.
    pub fn open(folder: &Path, options: Options) -> Result<FileStore> {
        FileStore::on(Arc::new(LocalDisk), folder, options)
    }

    /// Opens a folder on a disk of one's own.
    ///
    /// # Errors
    /// As [`FileStore::open`].
    pub fn on(disk: Arc<dyn Disk>, folder: &Path, options: Options) -> Result<FileStore> {
        let dir = Arc::new(JournalDir::open(disk, folder.to_owned(), options)?);
        let watched = Arc::clone(&dir);
        let poller = Poller::new(move || Ok(Box::new(FileProbe::new(Arc::clone(&watched)))));
        Ok(FileStore { dir, poller, workers: ThreadPool::start(THREADS, || ())? })
    }

    fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&JournalDir) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let dir = Arc::clone(&self.dir);
        self.workers.run(move |()| job(&dir))
    }

    fn prepare(&self, session: &SessionId, at: Seq, batch: &Batch) -> Result<PreparedLine> {
        store::check_batch(session, at, batch)?;
        let line = batch.to_line();
        store::check_size(session, line.len(), self.dir.options.max_batch)?;
        Ok(PreparedLine { effects: Effects::of(batch, line.len()), line: checksum::stored_line(line) })
    }
}

impl Store for FileStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        let prepared = self.prepare(session, at, batch);
        let session = session.clone();
        self.run(move |dir| dir.append(&session, at, &prepared?))
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        let id = session.clone();
        let spans = self.run(move |dir| dir.spans(&id, after));
        let read = move |span| self.run(move |dir| dir.read(&span));
        let spans = stream::once(spans).map_ok(|spans| stream::iter(spans.into_iter().map(Ok::<_, Error>)));
        let pages = spans.try_flatten().and_then(read);
        let batches = pages.map_ok(|page| stream::iter(page.into_iter().map(Ok::<_, Error>))).try_flatten();
        Box::pin(batches.map_err(move |error: Error| error.session(session)))
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        let query = query.clone();
        self.run(move |dir| dir.list(&query))
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        let (session, child) = (session.clone(), child.clone());
        self.run(move |dir| dir.fork(&session, at, &child))
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        let session = session.clone();
        self.run(move |dir| dir.delete(&session))
    }

    capabilities! {
        accounting: Accounting, maintenance: Maintenance, repair: Repair, watch: Watch,
    }
}

impl Accounting for FileStore {
    fn usage(&self) -> BoxFuture<'_, Result<Usage>> {
        self.run(JournalDir::usage)
    }
}

impl Maintenance for FileStore {
    fn gc<'a>(&'a self, retention: &'a Retention) -> BoxFuture<'a, Result<Freed>> {
        let retention = *retention;
        self.run(move |dir| dir.gc(&retention))
    }

    fn erase<'a>(&'a self, session: &'a SessionId, seq: Option<Seq>, needle: &'a str) -> BoxFuture<'a, Result<Erased>> {
        let (session, needle) = (session.clone(), needle.to_owned());
        self.run(move |dir| dir.erase(&session, seq, &needle))
    }
}

impl Watch for FileStore {
    fn watch(&self, session: &SessionId) -> Result<Changes> {
        self.poller.watch(session)
    }
}

impl Repair for FileStore {
    fn check<'a>(&'a self, session: Option<&'a SessionId>) -> BoxFuture<'a, Result<Vec<Finding>>> {
        let session = session.cloned();
        self.run(move |dir| dir.check(session.as_ref()))
    }

    fn repair(&self) -> BoxFuture<'_, Result<Vec<Repaired>>> {
        self.run(JournalDir::repair)
    }
}
