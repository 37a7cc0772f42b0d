//! The store over its writing thread and its readers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use turnkeep_model::{Batch, Head, Seq, SessionId};

use super::chain::Segment;
use super::damage::Damage;
use super::desk::Desk;
use super::heads::{Made, Worth};
use super::pack::check_length;
use super::search::Progress;
use super::shared::Shared;
use super::{account, append, check, damage, erase, gc, heads, lease, remove, repair, search, sound};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::power::{
    Accounting, Claim, Erased, Freed, HeadCache, Hit, Indexed, Lease, Leases, Maintenance, Repair, Repaired, Retention,
    Search, SearchQuery, Usage,
};
use crate::query::{Page, Query};
use crate::store::{Batches, BoxFuture, Deleted, Store, check_id, has_powers};
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
        job: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.shared.look(self.options.clock.clone(), job)
    }

    /// Runs a job in a transaction that it may share with others.
    fn submit<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.shared.writer.submit(self.timed(job))
    }

    /// Runs a job on the writing connection, outside of any transaction.
    fn alone<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.shared.writer.alone(self.timed(job))
    }

    /// A job that goes by the clock of this store.
    fn timed<T>(
        &self,
        job: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> impl FnOnce(&mut Desk) -> Result<T> + Send + 'static {
        let clock = self.options.clock.clone();
        move |desk| {
            desk.clock = clock;
            job(desk)
        }
    }

    fn save_head(&self, Made { sid, head, worth }: Made) {
        if worth == Worth::Saving {
            // Nobody waits for a cache.
            drop(self.submit(move |desk| heads::save(desk, sid, &head)));
        }
    }
}

/// The ranges of a journal to read after `after`, each of about one page.
fn pages(desk: &mut Desk, session: &SessionId, after: Seq) -> Result<Vec<Segment>> {
    let place = desk.must_find(session)?;
    check_length(place.last, place.bytes)?;
    let page = (place.bytes / SHARES).clamp(SHORTEST, PAGE);
    let step = (page / (place.bytes / place.last.0.max(1)).max(1)).max(4);
    let mut pages = Vec::new();
    for mut segment in desk.segments(place.sid, place.last)?.into_iter().filter(|segment| segment.until > after) {
        // The batch that holds the record after `after` may begin before it.
        if after > segment.after {
            segment.after = desk
                .row_with(segment.sid, after.next())?
                .map_or(after, |row| Seq(super::chain::seq_of(row.at).0.saturating_sub(1)));
        }
        pages.extend(segment.pieces(step));
    }
    Ok(pages)
}

/// What there is of a journal of one page, or else the pages to read.
fn first_or_pages(desk: &mut Desk, session: &SessionId, after: Seq) -> Result<(Vec<Batch>, Vec<Segment>)> {
    match pages(desk, session, after)?.as_slice() {
        [page] => Ok((desk.begun(*page)?, Vec::new())),
        pages => Ok((Vec::new(), pages.to_vec())),
    }
}

impl Store for SqliteStore {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        match append::ready(session, at, batch, self.options.max_batch, &self.shared.dictionaries) {
            Ok(ready) => {
                self.shared.learn(&ready.line);
                self.submit(move |desk| append::append(desk, &ready))
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        let id = session.clone();
        let first = self.look(move |desk| first_or_pages(desk, &id, after));
        let fetch = move |page: Segment| self.look(move |desk| desk.begun(page));
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
        self.look(move |desk| desk.list(&query))
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        if let Err(error) = check_id(child) {
            return Box::pin(std::future::ready(Err(error)));
        }
        let (session, child) = (session.clone(), child.clone());
        self.submit(move |desk| append::fork(desk, &session, at, &child))
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        let session = session.clone();
        self.submit(move |desk| remove::delete(desk, &session))
    }

    has_powers! {
        search: Search, leases: Leases, head_cache: HeadCache,
        accounting: Accounting, maintenance: Maintenance, repair: Repair,
    }
}

impl Search for SqliteStore {
    fn search<'a>(&'a self, query: &'a SearchQuery) -> BoxFuture<'a, Result<Vec<Hit>>> {
        Box::pin(async move {
            self.catch_up(&mut |_| {}).await?;
            let query = query.clone();
            self.look(move |desk| search::search(desk, &query)).await
        })
    }

    fn catch_up<'a>(&'a self, told: &'a mut (dyn FnMut(Indexed) + Send)) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (mut done, all) = (0, self.look(|desk| search::behind(desk)).await?);
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
        self.submit(move |desk| lease::claim_next(desk, &claim))
    }

    fn claim<'a>(&'a self, session: &'a SessionId, claim: &'a Claim) -> BoxFuture<'a, Result<Lease>> {
        let (session, claim) = (session.clone(), claim.clone());
        self.submit(move |desk| lease::claim(desk, &session, &claim))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, time: Duration) -> BoxFuture<'a, Result<Lease>> {
        let lease = lease.clone();
        self.submit(move |desk| lease::renew(desk, &lease, time))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>> {
        let lease = lease.clone();
        self.submit(move |desk| lease::release(desk, &lease))
    }
}

impl HeadCache for SqliteStore {
    fn head<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Head>> {
        Box::pin(async move {
            let id = session.clone();
            let made = self.look(move |desk| heads::head(desk, &id)).await?;
            let head = made.head.clone();
            self.save_head(made);
            Ok(head)
        })
    }

    fn window<'a>(&'a self, session: &'a SessionId, turns: u32) -> BoxFuture<'a, Result<Window>> {
        Box::pin(async move {
            let id = session.clone();
            let (window, made) = self.look(move |desk| heads::window(desk, &id, turns)).await?;
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
        self.look(|desk| account::usage(desk))
    }
}

impl Maintenance for SqliteStore {
    fn gc<'a>(&'a self, retention: &'a Retention) -> BoxFuture<'a, Result<Freed>> {
        let retention = *retention;
        self.alone(move |desk| gc::gc(desk, &retention))
    }

    fn erase<'a>(&'a self, session: &'a SessionId, seq: Option<Seq>, needle: &'a str) -> BoxFuture<'a, Result<Erased>> {
        let (session, needle, file) = (session.clone(), needle.to_owned(), self.shared.file.clone());
        self.alone(move |desk| {
            let erased = super::desk::transact(desk, |desk| erase::erase(desk, &session, seq, &needle))?;
            damage::empty(&file)?;
            erase::scour(desk)?;
            Ok(erased)
        })
    }
}

impl Repair for SqliteStore {
    fn check<'a>(&'a self, session: Option<&'a SessionId>) -> BoxFuture<'a, Result<Vec<Finding>>> {
        let (session, file) = (session.cloned(), self.shared.file.clone());
        self.look(move |desk| match session {
            Some(session) => check::check_session(desk, &session),
            None => {
                let mut findings = sound::check(desk)?;
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
