//! The trait of all stores, and the checks that every driver makes before it appends.
//!
//! `append` is the only way to write and a compare-and-swap: from that follow atomic turns, the fencing of a second runner, and
//! the order of events. Futures and streams are boxed, so that the trait is object-safe and names no async runtime.

use std::pin::Pin;

use futures_core::Stream;
use turnkeep_model::{Batch, Seq, SessionId};

use crate::capability::{Accounting, Chunks, HeadCache, Leases, Maintenance, Repair, Search, Watch};
use crate::error::{Error, ErrorKind, Result};
use crate::query::{Page, Query};
use crate::summary::Summary;

/// A future that any runtime can drive.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Batches in order, as they are read.
pub type Batches<'a> = Pin<Box<dyn Stream<Item = Result<Batch>> + Send + 'a>>;

/// A durable home of journals.
///
/// For every session it keeps batches of records, numbered from 1 without gaps. `append` is the only way to write.
///
/// ```
/// use turnkeep_model::{Batch, Event, Seq, SessionId, event::LogAdded};
///
/// # pollster::block_on(async {
/// let store = turnkeep_store::open("memory:")?;
/// let (id, event) = (SessionId::new("s1"), Event::from(LogAdded { line: "hello".into() }));
/// let batch = Batch::new(Seq(1), vec![event.into()]);
///
/// assert_eq!(store.append(&id, Seq::START, &batch).await?, Seq(1));
/// // Whoever has not read what is there cannot write.
/// assert_eq!(store.append(&id, Seq::START, &batch).await.unwrap_err().kind(), turnkeep_store::ErrorKind::Conflict);
/// # Ok::<(), turnkeep_store::Error>(())
/// # }).unwrap();
/// ```
pub trait Store: Send + Sync + 'static {
    /// Appends `batch` directly after `at`, all of it or nothing, and returns the last place. It returns when the batch
    /// is durable. A session begins with an append after [`Seq::START`].
    ///
    /// Fails with `Conflict` when the session's last record is not `at`, and then nothing is written.
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>>;

    /// The batches whose last record comes after `after`, in order, up to the end at the time of the call or later.
    ///
    /// Fails with `NotFound` when there is no such session.
    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a>;

    /// One page of summaries.
    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>>;

    /// Makes `child`, which shares the past of `session` up to `at`, the end of a batch. Nothing is copied.
    ///
    /// Fails with `Conflict` when there is a `child` already, and with `NotFound` when no batch ends at `at`.
    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>>;

    /// Removes a session and everything derived from it. What forks share with it lives until the last of them goes;
    /// the answer says how much that is.
    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>>;

    /// The store that this one wraps, if it wraps one. Its capabilities are then this one's, unless they are overridden.
    /// They act on the wrapped store: a wrapper that has to see every write overrides [`Store::leases`] and
    /// [`Store::maintenance`], which write without [`Store::append`].
    fn inner(&self) -> Option<&dyn Store> {
        None
    }

    /// Full-text search, if this store has it.
    fn search(&self) -> Option<&dyn Search> {
        self.inner()?.search()
    }

    /// Leases for workers, if this store has them.
    fn leases(&self) -> Option<&dyn Leases> {
        self.inner()?.leases()
    }

    /// A cache of heads, if this store has one.
    fn head_cache(&self) -> Option<&dyn HeadCache> {
        self.inner()?.head_cache()
    }

    /// An account of what is stored, if this store keeps one.
    fn accounting(&self) -> Option<&dyn Accounting> {
        self.inner()?.accounting()
    }

    /// Removal and erasure, if this store can.
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        self.inner()?.maintenance()
    }

    /// Wakes followers of sessions, if this store can.
    fn watch(&self) -> Option<&dyn Watch> {
        None
    }

    /// Carries pieces of answers to other processes, if this store can.
    fn chunks(&self) -> Option<&dyn Chunks> {
        None
    }

    /// Finding and mending damage, if this store can.
    fn repair(&self) -> Option<&dyn Repair> {
        self.inner()?.repair()
    }
}

/// Declares the capabilities that a store implements itself, each by its method and its trait.
macro_rules! capabilities {
    ($($capability:ident: $of:ident,)*) => {
        $(fn $capability(&self) -> Option<&dyn $of> {
            Some(self)
        })*
    };
}

pub(crate) use capabilities;

/// What a deletion left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deleted {
    /// The last record that forks still share; [`Seq::START`] if nothing is left.
    pub shared: Seq,
}

/// The longest id that is taken, in bytes.
const MAX_ID: usize = 1024;

/// Refuses ids that no store can hold.
///
/// # Errors
/// `Unsupported`.
pub fn check_id(session: &SessionId) -> Result<()> {
    let id = session.as_str();
    let wrong = if id.is_empty() {
        "an id may not be empty"
    } else if id.contains('\0') {
        "an id may not hold NUL"
    } else if id.len() > MAX_ID {
        "an id may not be longer than 1024 bytes"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Unsupported, wrong).hint("choose another id"))
}

/// Refuses batches that do not belong after `at`.
///
/// # Errors
/// `Unsupported`.
pub fn check_batch(session: &SessionId, at: Seq, batch: &Batch) -> Result<()> {
    check_id(session)?;
    let refuse = |what: String| Err(Error::new(ErrorKind::Unsupported, what).session(session).seq(at));
    if batch.events.is_empty() {
        return refuse("a batch has at least one event".to_owned());
    }
    if batch.seq != at.next() {
        return refuse(format!("the batch begins at {} and was to be appended after {at}", batch.seq));
    }
    Ok(())
}

/// Refuses a line that is larger than the limit.
///
/// # Errors
/// `TooLarge`.
pub fn check_size(session: &SessionId, line: usize, limit: usize) -> Result<()> {
    if line <= limit {
        return Ok(());
    }
    let what = format!("the batch has {line} bytes, more than {limit}");
    Err(Error::new(ErrorKind::TooLarge, what).session(session).hint("raise `max_batch`, or keep large data elsewhere"))
}

/// The error that no batch ends at `at`.
pub fn no_such_place(session: &SessionId, at: Seq) -> Error {
    Error::new(ErrorKind::NotFound, "no batch ends there, so nothing can fork there")
        .session(session)
        .seq(at)
        .hint("fork at the last record of a batch")
}

/// The error that a child's id is taken.
pub fn taken(child: &SessionId) -> Error {
    Error::new(ErrorKind::Conflict, "there is a session of this id already").session(child).hint("choose another id")
}

/// The one summary of a session.
pub(crate) async fn summary_of(store: &(impl Store + ?Sized), session: &SessionId) -> Result<Summary> {
    let query = Query { id: Some(session.clone()), ..Query::default() };
    store.list(&query).await?.sessions.pop().ok_or_else(|| Error::unknown(session))
}
