//! The store over a shelf: blocking work goes to threads.

use std::path::Path;
use std::sync::Arc;

use futures_util::{TryStreamExt, stream};
use turnkeep_model::{Batch, Seq, SessionId};

use super::shelf::{Ready, Shelf};
use crate::disk::{Disk, LocalDisk};
use crate::error::{Error, Result};
use crate::lent;
use crate::options::Options;
use crate::power::{Accounting, Erased, Freed, Maintenance, Repair, Repaired, Retention, Usage};
use crate::query::{Page, Query};
use crate::store::{self, Batches, BoxFuture, Deleted, Store, has_powers};
use crate::summary::Effects;
use crate::verify::Finding;
use crate::work::Workers;

/// How many threads read and write.
const THREADS: usize = 4;

/// One journal file a session, in a folder.
pub struct FileStore {
    shelf: Arc<Shelf>,
    workers: Workers<()>,
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
        let shelf = Arc::new(Shelf::open(disk, folder.to_owned(), options)?);
        Ok(FileStore { shelf, workers: Workers::start(THREADS, || ())? })
    }

    fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Shelf) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let shelf = Arc::clone(&self.shelf);
        self.workers.run(move |()| job(&shelf))
    }

    fn ready(&self, session: &SessionId, at: Seq, batch: &Batch) -> Result<Ready> {
        store::check_batch(session, at, batch)?;
        let line = batch.to_line();
        store::check_size(session, line.len(), self.shelf.options.max_batch)?;
        Ok(Ready { effects: Effects::of(batch, line.len()), line: lent::kept(line) })
    }
}

impl Store for FileStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        let ready = self.ready(session, at, batch);
        let session = session.clone();
        self.run(move |shelf| shelf.append(&session, at, &ready?))
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        let id = session.clone();
        let spans = self.run(move |shelf| shelf.spans(&id, after));
        let read = move |span| self.run(move |shelf| shelf.read(&span));
        let spans = stream::once(spans).map_ok(|spans| stream::iter(spans.into_iter().map(Ok::<_, Error>)));
        let pages = spans.try_flatten().and_then(read);
        let batches = pages.map_ok(|page| stream::iter(page.into_iter().map(Ok::<_, Error>))).try_flatten();
        Box::pin(batches.map_err(move |error: Error| error.session(session)))
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        let query = query.clone();
        self.run(move |shelf| shelf.list(&query))
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        let (session, child) = (session.clone(), child.clone());
        self.run(move |shelf| shelf.fork(&session, at, &child))
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        let session = session.clone();
        self.run(move |shelf| shelf.delete(&session))
    }

    has_powers! {
        accounting: Accounting, maintenance: Maintenance, repair: Repair,
    }
}

impl Accounting for FileStore {
    fn usage(&self) -> BoxFuture<'_, Result<Usage>> {
        self.run(Shelf::usage)
    }
}

impl Maintenance for FileStore {
    fn gc<'a>(&'a self, retention: &'a Retention) -> BoxFuture<'a, Result<Freed>> {
        let retention = *retention;
        self.run(move |shelf| shelf.gc(&retention))
    }

    fn erase<'a>(&'a self, session: &'a SessionId, seq: Option<Seq>, needle: &'a str) -> BoxFuture<'a, Result<Erased>> {
        let (session, needle) = (session.clone(), needle.to_owned());
        self.run(move |shelf| shelf.erase(&session, seq, &needle))
    }
}

impl Repair for FileStore {
    fn check<'a>(&'a self, session: Option<&'a SessionId>) -> BoxFuture<'a, Result<Vec<Finding>>> {
        let session = session.cloned();
        self.run(move |shelf| shelf.check(session.as_ref()))
    }

    fn repair(&self) -> BoxFuture<'_, Result<Vec<Repaired>>> {
        self.run(Shelf::repair)
    }
}
