//! Appends whose answer never came: given up by whoever waited, or failed after they were written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_model::event::LogAdded;
use turnkeep_model::{Batch, Event, Seq, Session, SessionId, StopReason};
use turnkeep_runtime::port::Answer;
use turnkeep_runtime::{Agent, Recorder};
use turnkeep_store::{Batches, BoxFuture, Deleted, Error, ErrorKind, Page, Query, Store, StoreExt};
use turnkeep_testkit::Home;

use crate::crash::cancel_and_go_on;
use crate::kit::{ports, schemes, script};
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
    /// It is given up, and written when the next append arrives: it was on its way.
    GivenUpAndWrittenLater,
}

impl Fate {
    fn is_given_up(self) -> bool {
        matches!(self, Fate::WrittenAndGivenUp | Fate::GivenUpAndWrittenLater)
    }
}

const FATES: [Fate; 5] = [
    Fate::WrittenAndGivenUp,
    Fate::WrittenAndFailed,
    Fate::Failed,
    Fate::WrittenAndInConflict,
    Fate::GivenUpAndWrittenLater,
];

/// A store one of whose appends has another fate.
pub(crate) struct Doubtful {
    inner: Arc<dyn Store>,
    fate: Fate,
    appends: AtomicUsize,
    at: AtomicUsize,
    /// Whether the append was written.
    met: AtomicBool,
    /// Whether whoever reads waits for ever.
    reads_wait: AtomicBool,
    /// What is still to be written.
    late: Mutex<Option<(Seq, Batch)>>,
}

impl Doubtful {
    fn new(inner: Arc<dyn Store>, fate: Fate, at: usize) -> Doubtful {
        let (appends, at) = (AtomicUsize::new(0), AtomicUsize::new(at));
        Doubtful {
            inner,
            fate,
            appends,
            at,
            met: AtomicBool::default(),
            reads_wait: AtomicBool::default(),
            late: Mutex::default(),
        }
    }

    fn next_has_its_fate(&self) {
        self.at.store(self.appends.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Whether that append has got as far as it gets.
    fn has_met_its_fate(&self) -> bool {
        let begun = self.appends.load(Ordering::SeqCst) > self.at.load(Ordering::SeqCst);
        begun && (self.fate != Fate::WrittenAndGivenUp || self.met.load(Ordering::SeqCst))
    }

    async fn write_late(&self, session: &SessionId) -> turnkeep_store::Result<()> {
        let late = self.late.lock().unwrap().take();
        if let Some((at, batch)) = late {
            self.inner.append(session, at, &batch).await?;
        }
        Ok(())
    }

    /// A store that fails the first append, and writes nothing.
    pub(crate) fn failing_once(inner: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Doubtful::new(inner, Fate::Failed, 0))
    }
}

impl Store for Doubtful {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        at: Seq,
        batch: &'a Batch,
    ) -> BoxFuture<'a, turnkeep_store::Result<Seq>> {
        Box::pin(async move {
            self.write_late(session).await?;
            if self.appends.fetch_add(1, Ordering::SeqCst) != self.at.load(Ordering::SeqCst) {
                return self.inner.append(session, at, batch).await;
            }
            match self.fate {
                Fate::Failed => {}
                Fate::GivenUpAndWrittenLater => *self.late.lock().unwrap() = Some((at, batch.clone())),
                _ => drop(self.inner.append(session, at, batch).await?),
            }
            self.met.store(true, Ordering::SeqCst);
            match self.fate {
                Fate::WrittenAndGivenUp | Fate::GivenUpAndWrittenLater => std::future::pending().await,
                Fate::WrittenAndInConflict => Err(Error::new(ErrorKind::Conflict, "it is there")),
                Fate::WrittenAndFailed | Fate::Failed => Err(Error::new(ErrorKind::Unavailable, "no answer")),
            }
        })
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        match self.reads_wait.load(Ordering::SeqCst) {
            true => Box::pin(futures_util::stream::pending()),
            false => self.inner.read(session, after),
        }
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
    let store: Arc<dyn Store> = Arc::new(Doubtful::new(home.open(), fate, 1));
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    if fate == Fate::WrittenAndGivenUp {
        let mut first = Box::pin(recorder.record(log(lines[0])));
        // The append of a store that works on another thread needs more than one look.
        while block_on(store.last(&SessionId::new("s"))).unwrap() == Seq(3) {
            assert!(give_up(&mut first).is_none());
        }
        drop(first);
    } else if fate == Fate::GivenUpAndWrittenLater {
        assert!(give_up(recorder.record(log(lines[0]))).is_none());
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
fn a_run_that_is_cancelled_as_it_begins_can_be_begun_again_whatever_became_of_its_first_append() {
    for scheme in schemes() {
        for fate in FATES {
            let home = Home::new(scheme);
            let doubtful = Arc::new(Doubtful::new(home.open(), fate, usize::MAX));
            let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
            let mut recorder = block_on(Recorder::create(doubtful.clone(), session, ports())).unwrap();
            let agent = Agent::new(script(vec![Answer::text("one"), Answer::text("two"), Answer::text("three")]));
            block_on(agent.run(&mut recorder, "first")).unwrap();

            doubtful.next_has_its_fate();
            if fate.is_given_up() {
                let mut second = Box::pin(agent.run(&mut recorder, "second"));
                while !doubtful.has_met_its_fate() {
                    assert!(give_up(&mut second).is_none());
                }
                drop(second);
            } else {
                let _ = block_on(agent.run(&mut recorder, "second"));
            }
            let stopped = block_on(agent.run(&mut recorder, "third"));

            let stopped = stopped.unwrap_or_else(|error| panic!("{scheme} {fate:?}: {error}"));
            assert_eq!(stopped.reason, Some(StopReason::Completed), "{scheme} {fate:?}");
            let loaded = block_on(doubtful.load(&SessionId::new("s"))).unwrap();
            assert_eq!(loaded.session, *recorder.session(), "{scheme} {fate:?}");
        }
    }
}

#[test]
fn a_batch_that_conflicted_is_known_again_when_looking_for_it_was_given_up() {
    let home = Home::new("memory");
    let doubtful = Arc::new(Doubtful::new(home.open(), Fate::WrittenAndInConflict, 1));
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let mut recorder = block_on(Recorder::create(doubtful.clone(), session, ports())).unwrap();
    doubtful.reads_wait.store(true, Ordering::SeqCst);
    assert!(give_up(recorder.record(log("same"))).is_none());
    doubtful.reads_wait.store(false, Ordering::SeqCst);

    block_on(recorder.record(log("same"))).unwrap();

    assert_eq!(block_on(doubtful.load(&SessionId::new("s"))).unwrap().session.logs, ["same", "same"]);
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
