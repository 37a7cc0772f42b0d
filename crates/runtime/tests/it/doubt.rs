//! Appends whose answer never came: given up by whoever waited, or failed after they were written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pollster::block_on;
use turnkeep_model::event::LogAdded;
use turnkeep_model::{Batch, Event, Seq, Session, SessionId};
use turnkeep_runtime::Recorder;
use turnkeep_store::{Batches, BoxFuture, Deleted, Error, ErrorKind, Page, Query, Store, StoreExt};
use turnkeep_testkit::Home;

use crate::crash::cancel_and_go_on;
use crate::kit::{ports, schemes};
use crate::mortal::{Story, cases};

/// What becomes of the next append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is written, and its answer never comes: the caller gives up.
    WrittenAndGivenUp,
    /// It is written, and fails for the caller.
    WrittenAndFailed,
    /// It is not written, and fails.
    Failed,
    /// It is written, and the store itself sends it again and finds it there.
    WrittenAndInConflict,
}

const FATES: [Fate; 4] = [Fate::WrittenAndGivenUp, Fate::WrittenAndFailed, Fate::Failed, Fate::WrittenAndInConflict];

/// A store one of whose appends has another fate.
struct Doubtful {
    inner: Arc<dyn Store>,
    fate: Fate,
    appends: AtomicUsize,
    at: usize,
}

impl Store for Doubtful {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        at: Seq,
        batch: &'a Batch,
    ) -> BoxFuture<'a, turnkeep_store::Result<Seq>> {
        Box::pin(async move {
            if self.appends.fetch_add(1, Ordering::SeqCst) != self.at {
                return self.inner.append(session, at, batch).await;
            }
            if self.fate != Fate::Failed {
                self.inner.append(session, at, batch).await?;
            }
            match self.fate {
                Fate::WrittenAndGivenUp => std::future::pending().await,
                Fate::WrittenAndInConflict => Err(Error::new(ErrorKind::Conflict, "it is there")),
                Fate::WrittenAndFailed | Fate::Failed => Err(Error::new(ErrorKind::Unavailable, "no answer")),
            }
        })
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        self.inner.read(session, after)
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, turnkeep_store::Result<Page>> {
        self.inner.list(query)
    }

    fn fork<'a>(
        &'a self,
        session: &'a SessionId,
        at: Seq,
        child: &'a SessionId,
    ) -> BoxFuture<'a, turnkeep_store::Result<()>> {
        self.inner.fork(session, at, child)
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, turnkeep_store::Result<Deleted>> {
        self.inner.delete(session)
    }
}

fn log(line: &str) -> Vec<Event> {
    vec![LogAdded { line: line.into() }.into()]
}

/// Polls once, and gives up.
fn give_up<T>(work: impl Future<Output = T>) -> Option<T> {
    futures_util::FutureExt::now_or_never(work)
}

/// Records a line whose append has this fate, then another, and says what is in the store.
fn two_lines(scheme: &str, fate: Fate, lines: [&str; 2]) -> Vec<String> {
    let home = Home::new(scheme);
    let doubtful = Doubtful { inner: home.open(), fate, appends: AtomicUsize::new(0), at: 1 };
    let store: Arc<dyn Store> = Arc::new(doubtful);
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    if fate == Fate::WrittenAndGivenUp {
        let mut first = Box::pin(recorder.record(log(lines[0])));
        // The append of a store that works on another thread needs more than one look.
        while block_on(store.last(&SessionId::new("s"))).unwrap() == Seq(3) {
            assert!(give_up(&mut first).is_none());
        }
        drop(first);
    } else {
        let _ = block_on(recorder.record(log(lines[0])));
    }

    block_on(recorder.record(log(lines[1]))).unwrap();

    let loaded = block_on(store.load(&SessionId::new("s"))).unwrap();
    assert_eq!(loaded.session, *recorder.session(), "{scheme} {fate:?}");
    loaded.session.logs
}

#[test]
fn what_record_acknowledges_is_there_whatever_became_of_the_append_before() {
    for scheme in schemes() {
        for fate in FATES {
            let expected = if fate == Fate::Failed { vec!["two"] } else { vec!["one", "two"] };
            assert_eq!(two_lines(scheme, fate, ["one", "two"]), expected, "{scheme} {fate:?}");
            // Equal batches are told apart as well: one of them is not taken for the other.
            let expected = if fate == Fate::Failed { vec!["same"] } else { vec!["same", "same"] };
            assert_eq!(two_lines(scheme, fate, ["same", "same"]), expected, "{scheme} {fate:?}");
        }
    }
}

#[test]
fn an_agent_that_is_cancelled_anywhere_goes_on_with_the_same_recorder() {
    for case in cases().filter(|case| case.story == Story::Turn) {
        let cancelled = (0..).take_while(|at| cancel_and_go_on(*at, case, "memory")).count();
        assert!(cancelled > 10, "{case:?}: {cancelled}");
    }
    for scheme in schemes().into_iter().filter(|scheme| *scheme != "memory") {
        for (case, round) in cases().filter(|case| case.story == Story::Turn).zip(0..) {
            let cancelled = (round % 5..).step_by(6).take_while(|at| cancel_and_go_on(*at, case, scheme)).count();
            assert!(cancelled >= 1, "{scheme} {case:?}");
        }
    }
}
