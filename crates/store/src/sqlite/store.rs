//! The store over its writing thread and its reading threads. Parses, asks one of them, and waits.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use turnkeep_model::{Batch, Head, Seq, SessionId};

use super::damage::Damage;
use super::db::Db;
use super::heads::{Made, Worth};
use super::lineage::Segment;
use super::pack::check_length;
use super::search::Progress;
use super::shared::Shared;
use super::{account, append, check, damage, erase, gc, heads, integrity, lease, remove, repair, search};
use crate::capability::{
    Accounting, Changes, Claim, Erased, Freed, HeadCache, Hit, Indexed, Lease, Leases, Maintenance, Repair, Repaired,
    Retention, Search, SearchQuery, Usage, Watch,
};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::query::{Page, Query};
use crate::store::{Batches, BoxFuture, Deleted, Store, capabilities, check_id};
use crate::verify::Finding;
use crate::window::Window;

/// About how many bytes of lines are read at once, and how many such pages at the same time.
const PAGE: u64 = 1 << 18;
const AHEAD: usize = 4;

/// A short journal is read in this many pages, so that more than one thread reads it, unless they would be shorter than
/// what it costs to ask for one.
const SHARES: u64 = 4;
const SHORTEST: u64 = 1 << 16;

/// One SQLite file.
///
/// Stores of one file in a process, by whatever path it was opened, share its connections: they see each other's appends,
/// and the file is closed with the last of them. Each keeps its own `max_batch`, clock and listener; where one of them asks
/// for [`Durability::Power`](crate::Durability::Power), all of them have it.
pub struct SqliteStore {
    shared: Arc<Shared>,
    options: Options,
}

impl SqliteStore {
    /// Opens the file; makes it if need be, for its owner alone.
    ///
    /// # Errors
    /// `Unsupported` if the file is another program's or a newer version's, or is not a file; `Io` where it cannot be
    /// opened; `Corrupt` where commits in its log were lost and no listener hears of it, and where an empty database has a
    /// log.
    pub fn open(file: &Path, options: Options) -> Result<SqliteStore> {
        let shared = Shared::open(file, &options).map_err(|error| error.file(file))?;
        Ok(SqliteStore { shared, options })
    }

    /// Runs a job on a reading connection, as of one moment.
    fn look<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.shared.look(self.options.clock.clone(), job)
    }

    /// Runs a job in a transaction that it may share with others.
    fn submit<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.shared.writer.submit(self.timed(job))
    }

    /// Runs a job on the writing connection, outside of any transaction.
    fn alone<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.shared.writer.alone(self.timed(job))
    }

    /// A job that goes by the clock of this store.
    fn timed<T>(
        &self,
        job: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> impl FnOnce(&mut Db) -> Result<T> + Send + 'static {
        let clock = self.options.clock.clone();
        move |db| {
            db.clock = clock;
            job(db)
        }
    }

    fn save_head(&self, Made { sid, head, worth }: Made) {
        if worth == Worth::Saving {
            // Nobody waits for a cache.
            drop(self.submit(move |db| heads::save(db, sid, &head)));
        }
    }
}

/// The ranges of a journal to read after `after`, each of about one page.
fn pages(db: &mut Db, session: &SessionId, after: Seq) -> Result<Vec<Segment>> {
    let session_row = db.must_find(session)?;
    check_length(session_row.last, session_row.bytes)?;
    let page = (session_row.bytes / SHARES).clamp(SHORTEST, PAGE);
    let step = (page / (session_row.bytes / session_row.last.0.max(1)).max(1)).max(4);
    let mut pages = Vec::new();
    for mut segment in
        db.segments(session_row.sid, session_row.last)?.into_iter().filter(|segment| segment.until > after)
    {
        // The batch that holds the record after `after` may begin before it.
        if after > segment.after {
            segment.after = db
                .row_with(segment.sid, after.next())?
                .map_or(after, |row| Seq(super::lineage::seq_of(row.at).0.saturating_sub(1)));
        }
        pages.extend(segment.pieces(step));
    }
    Ok(pages)
}

/// What there is of a journal of one page, or else the pages to read.
fn first_or_pages(db: &mut Db, session: &SessionId, after: Seq) -> Result<(Vec<Batch>, Vec<Segment>)> {
    match pages(db, session, after)?.as_slice() {
        [page] => Ok((db.begun(*page)?, Vec::new())),
        pages => Ok((Vec::new(), pages.to_vec())),
    }
}

impl Store for SqliteStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        match append::prepare(session, at, batch, self.options.max_batch, &self.shared.dictionaries) {
            Ok(prepared) => {
                self.shared.learn(&prepared.line);
                self.submit(move |db| append::append(db, &prepared))
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        let id = session.clone();
        let first = self.look(move |db| first_or_pages(db, &id, after));
        let fetch = move |page: Segment| self.look(move |db| db.begun(page));
        let batches = stream::once(first).map_ok(move |(first, rest)| {
            let first = stream::once(std::future::ready(Ok(first)));
            first.chain(stream::iter(rest).map(fetch).buffered(AHEAD))
        });
        let batches =
            batches.try_flatten().map_ok(|page| stream::iter(page.into_iter().map(Ok::<_, Error>))).try_flatten();
        Box::pin(batches.map_err(move |error: Error| error.session(session)))
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        let query = query.clone();
        self.look(move |db| db.list(&query))
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        if let Err(error) = check_id(child) {
            return Box::pin(std::future::ready(Err(error)));
        }
        let (session, child) = (session.clone(), child.clone());
        self.submit(move |db| append::fork(db, &session, at, &child))
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        let session = session.clone();
        self.submit(move |db| remove::delete(db, &session))
    }

    capabilities! {
        search: Search, leases: Leases, head_cache: HeadCache,
        accounting: Accounting, maintenance: Maintenance, repair: Repair, watch: Watch,
    }
}

impl Search for SqliteStore {
    fn search<'a>(&'a self, query: &'a SearchQuery) -> BoxFuture<'a, Result<Vec<Hit>>> {
        Box::pin(async move {
            self.catch_up(&mut |_| {}).await?;
            let query = query.clone();
            self.look(move |db| search::search(db, &query)).await
        })
    }

    fn catch_up<'a>(&'a self, told: &'a mut (dyn FnMut(Indexed) + Send)) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (mut done, all) = (0, self.look(|db| search::behind(db)).await?);
            // In steps, so that nobody who appends waits for long.
            while let Progress::More(caught_up) = self.alone(search::index_some).await? {
                done += caught_up;
                told(Indexed { done, all: all.max(done) });
            }
            Ok(())
        })
    }
}

impl Leases for SqliteStore {
    fn claim_next<'a>(&'a self, claim: &'a Claim) -> BoxFuture<'a, Result<Option<Lease>>> {
        let claim = claim.clone();
        self.submit(move |db| lease::claim_next(db, &claim))
    }

    fn claim<'a>(&'a self, session: &'a SessionId, claim: &'a Claim) -> BoxFuture<'a, Result<Lease>> {
        let (session, claim) = (session.clone(), claim.clone());
        self.submit(move |db| lease::claim(db, &session, &claim))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, time: Duration) -> BoxFuture<'a, Result<Lease>> {
        let lease = lease.clone();
        self.submit(move |db| lease::renew(db, &lease, time))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>> {
        let lease = lease.clone();
        self.submit(move |db| lease::release(db, &lease))
    }
}

impl HeadCache for SqliteStore {
    fn head<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Head>> {
        Box::pin(async move {
            let id = session.clone();
            let made = self.look(move |db| heads::head(db, &id)).await?;
            let head = made.head.clone();
            self.save_head(made);
            Ok(head)
        })
    }

    fn window<'a>(&'a self, session: &'a SessionId, turns: u32) -> BoxFuture<'a, Result<Window>> {
        Box::pin(async move {
            let id = session.clone();
            let (window, made) = self.look(move |db| heads::window(db, &id, turns)).await?;
            self.save_head(made);
            Ok(window)
        })
    }

    fn forget(&self) -> BoxFuture<'_, Result<()>> {
        self.submit(heads::forget)
    }
}

impl Accounting for SqliteStore {
    fn usage(&self) -> BoxFuture<'_, Result<Usage>> {
        self.look(|db| account::usage(db))
    }
}

impl Maintenance for SqliteStore {
    fn gc<'a>(&'a self, retention: &'a Retention) -> BoxFuture<'a, Result<Freed>> {
        let retention = *retention;
        self.alone(move |db| gc::gc(db, &retention))
    }

    fn erase<'a>(&'a self, session: &'a SessionId, seq: Option<Seq>, needle: &'a str) -> BoxFuture<'a, Result<Erased>> {
        let (session, needle, file) = (session.clone(), needle.to_owned(), self.shared.file.clone());
        self.alone(move |db| {
            let erased = super::db::transact(db, |db| erase::erase(db, &session, seq, &needle))?;
            damage::empty(&file)?;
            erase::scrub_file(db)?;
            Ok(erased)
        })
    }
}

impl Watch for SqliteStore {
    fn watch(&self, session: &SessionId) -> Result<Changes> {
        self.shared.poller.watch(session)
    }
}

impl Repair for SqliteStore {
    fn check<'a>(&'a self, session: Option<&'a SessionId>) -> BoxFuture<'a, Result<Vec<Finding>>> {
        let (session, file) = (session.cloned(), self.shared.file.clone());
        self.look(move |db| match session {
            Some(session) => check::check_session(db, &session),
            None => {
                let mut findings = integrity::check(db)?;
                findings.extend(damage::kept(&file)?.iter().map(Damage::finding));
                Ok(findings)
            }
        })
    }

    fn repair(&self) -> BoxFuture<'_, Result<Vec<Repaired>>> {
        self.alone(repair::repair)
    }

    fn clear(&self) -> BoxFuture<'_, Result<Vec<Finding>>> {
        let file = self.shared.file.clone();
        self.alone(move |_| Ok(damage::clear(&file)?.iter().map(Damage::cleared).collect()))
    }
}
