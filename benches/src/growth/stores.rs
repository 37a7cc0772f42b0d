//! Stores of a hundred sessions, of ten times and of a hundred times as many.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::event::{SessionChanged, TurnOpened};
use turnkeep_model::{Author, Batch, Block, Event, Object, Seq, SessionId, Turn};
use turnkeep_store::{
    Copying, Durability, MemoryStore, Options, Query, Retention, SearchQuery, Store, StoreExt, open_with,
};

use super::rows;
use crate::Outcome;
use crate::race::clocked;
use crate::report::Report;

const SIZES: [usize; 3] = [100, 1_000, 10_000];

/// Every so many sessions one is forked.
const FORKED: usize = 10;

/// How many sessions are labelled.
const LABELLED: usize = 50;

/// What is read before each measurement of a store in memory, so that none of the store is left in the processor's caches. A small
/// store that stays there is faster by that alone, and a larger one would seem to grow by more than its size.
const CACHES: usize = 64 << 20;

/// How long, and how often at least, work that changes nothing is repeated; the best time counts. Without a least number a large
/// store would be measured once where a small one is measured often, and its best would be worse by that alone.
const PATIENCE: Duration = Duration::from_millis(300);
const REPEATED: usize = 3;

/// What takes less is done several times in one measurement: the processor's clock is not exact enough for less.
const SHORTEST: Duration = Duration::from_millis(1);

/// How often a store is filled anew and everything done to it; the best time counts.
const ROUNDS: [usize; 3] = [5, 3, 2];

/// What is done to a store: nothing where it cannot do it.
type Work = fn(&dyn Store) -> Outcome<Option<()>>;

/// Whether doing it again is the same work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Same,
    Other,
}

/// The commands, each as the library does it. The first search comes first: while a store is open and idle it catches its index up.
/// Those that change journals come last.
const WORK: &[(&str, Work, Again)] = &[
    ("the first search", search, Again::Other),
    ("ls", list, Again::Same),
    ("ls --tag", list_by_label, Again::Same),
    ("ls --meta", list_by_metadata, Again::Same),
    ("du", account, Again::Same),
    ("verify", verify, Again::Same),
    ("copy", copy, Again::Same),
    ("search", search, Again::Same),
    ("tag", label, Again::Other),
    ("gc", collect, Again::Other),
];

pub(super) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    for scheme in ["memory", "file", "sqlite"] {
        let url = |size| match scheme {
            "memory" => "memory:".to_owned(),
            _ => format!("{scheme}:{}", scratch.join(format!("growth-{scheme}-{size}")).display()),
        };
        measure(report, scheme, Clock::Processor, url)?;
    }
    postgres::all(report)
}

#[cfg(not(feature = "postgres"))]
mod postgres {
    pub(super) fn all(report: &mut super::Report) -> super::Outcome<()> {
        report.skipped("growth in postgres:", "no PostgreSQL could be started");
        Ok(())
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use turnkeep_store::PostgresStore;

    use super::{Clock, Outcome, Report};

    pub(super) fn all(report: &mut Report) -> Outcome<()> {
        let Ok(url) = std::env::var("TURNKEEP_POSTGRES") else {
            report.skipped("growth in postgres:", "TURNKEEP_POSTGRES names no database");
            return Ok(());
        };
        let place = format!("{url}{}schema=turnkeep_growth", if url.contains('?') { '&' } else { '?' });
        // What the server does is not in our processor time.
        let measured = super::measure(report, "postgres", Clock::Wall, |_| place.clone());
        PostgresStore::destroy(place.strip_prefix("postgres:").unwrap_or(&place))?;
        measured
    }
}

/// Measures everything on stores of every size, each at this URL.
fn measure(report: &mut Report, scheme: &str, clock: Clock, url: impl Fn(usize) -> String) -> Outcome<()> {
    let mut times = vec![Vec::new(); WORK.len()];
    for (size, rounds) in SIZES.into_iter().zip(ROUNDS) {
        let mut best = vec![None; WORK.len()];
        for _ in 0..rounds {
            let place = Place::filled(url(size), clock, size)?;
            for ((_, work, again), best) in WORK.iter().zip(&mut best) {
                *best = least(*best, place.best(*work, *again)?);
            }
            place.remove()?;
        }
        times.iter_mut().zip(best).for_each(|(times, best)| times.extend(best));
    }
    for ((what, ..), times) in WORK.iter().zip(&times) {
        rows(report, &format!("{what} in {scheme}:"), "sessions", &SIZES, times);
    }
    Ok(())
}

/// The lesser of what was measured.
fn least(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    a.into_iter().chain(b).min()
}

/// By which clock a store is measured.
#[derive(Clone, Copy)]
enum Clock {
    /// The processor time of this process, which does not run while others have the processor.
    Processor,
    /// The time that passes: a server's work is done by another process.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "no other store has a server"))]
    Wall,
}

/// A store that is opened for every measurement, as a command does. One in memory stays open.
struct Place {
    url: String,
    clock: Clock,
    memory: Option<Arc<dyn Store>>,
    /// As large as the processor's caches, where they have to be emptied.
    caches: Vec<u8>,
}

impl Place {
    fn filled(url: String, clock: Clock, sessions: usize) -> Outcome<Place> {
        let mut place = Place { url, clock, memory: None, caches: Vec::new() };
        place.remove()?;
        let store = place.open()?;
        (0..sessions).try_for_each(|n| fill(&*store, n))?;
        if place.url == "memory:" {
            (place.memory, place.caches) = (Some(store), vec![1; CACHES]);
        }
        Ok(place)
    }

    /// Removes what is there.
    fn remove(&self) -> Outcome<()> {
        #[cfg(feature = "postgres")]
        if let Some(place) = self.url.strip_prefix("postgres:") {
            return Ok(turnkeep_store::PostgresStore::destroy(place)?);
        }
        if let Some(folder) = self.url.strip_prefix("file:") {
            let _ = std::fs::remove_dir_all(folder);
        }
        if let Some(file) = self.url.strip_prefix("sqlite:") {
            for suffix in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{file}{suffix}"));
            }
        }
        Ok(())
    }

    fn open(&self) -> Outcome<Arc<dyn Store>> {
        let options = Options { durability: Durability::Process, ..Options::default() };
        Ok(match &self.memory {
            Some(store) => Arc::clone(store),
            None => open_with(&self.url, options)?,
        })
    }

    /// How long the work takes once, opening the store included; nothing where it cannot be done.
    fn once(&self, work: Work) -> Outcome<Option<Duration>> {
        black_box(self.caches.iter().step_by(64).fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
        let (done, cpu, wall) = clocked(|| work(&*self.open()?))?;
        let time = match self.clock {
            Clock::Processor => cpu,
            Clock::Wall => wall,
        };
        Ok(done.map(|()| time))
    }

    /// How long the work takes at best. What takes little is done several times, and the mean of those counts.
    fn best(&self, work: Work, again: Again) -> Outcome<Option<Duration>> {
        let Some(first) = self.once(work)? else {
            return Ok(None);
        };
        let (mut best, start, mut runs) = (first, Instant::now(), 1);
        let times = SHORTEST.div_duration_f64(first.max(Duration::from_micros(10))).ceil() as u32;
        while again == Again::Same && (start.elapsed() < PATIENCE || runs < REPEATED) {
            let mut total = Duration::ZERO;
            for _ in 0..times {
                total += self.once(work)?.unwrap_or_default();
            }
            best = if runs == 1 { total / times } else { best.min(total / times) };
            runs += 1;
        }
        Ok(Some(best))
    }
}

/// The id of a session.
fn id(n: usize) -> SessionId {
    SessionId::new(format!("session-{n:06}"))
}

/// A session with a title, a label, metadata, and one turn; some have a fork.
fn fill(store: &dyn Store, n: usize) -> Outcome<()> {
    let mut metadata = Object::new();
    metadata.set("owner", format!("user {}", n % 7));
    let title = Some(format!("session number {n}"));
    let tags = Some(vec![("team".to_owned(), format!("team {}", n % 3))]);
    let changed = SessionChanged { title, tags, metadata: Some(metadata), ..SessionChanged::default() };
    let mut turn = Turn::default();
    turn.blocks.push(Block::text(Author::User, format!("What became of order {n}, and where is it now?")));
    turn.blocks.push(Block::text(Author::Assistant, format!("Order {n} left the warehouse yesterday.")).in_message(1));
    let events = vec![Event::from(changed).into(), Event::from(TurnOpened { turn: Box::new(turn) }).into()];
    let id = id(n);
    let last = block_on(store.append(&id, Seq::START, &Batch::new(Seq(1), events)))?;
    if n.is_multiple_of(FORKED) {
        block_on(store.fork(&id, last, &SessionId::new(format!("fork-{n:06}"))))?;
    }
    Ok(())
}

fn list(store: &dyn Store) -> Outcome<Option<()>> {
    block_on(store.list(&Query { limit: 50, ..Query::default() }))?;
    Ok(Some(()))
}

fn list_by_label(store: &dyn Store) -> Outcome<Option<()>> {
    let tags = vec![("team".to_owned(), Some("team 1".to_owned()))];
    block_on(store.list(&Query { tags, limit: 50, ..Query::default() }))?;
    Ok(Some(()))
}

fn list_by_metadata(store: &dyn Store) -> Outcome<Option<()>> {
    block_on(store.list_by_metadata(&Query { limit: 50, ..Query::default() }, &|kept| kept.contains("nobody")))?;
    Ok(Some(()))
}

fn account(store: &dyn Store) -> Outcome<Option<()>> {
    let Some(accounting) = store.accounting() else {
        return Ok(None);
    };
    block_on(accounting.usage())?;
    Ok(Some(()))
}

fn verify(store: &dyn Store) -> Outcome<Option<()>> {
    for summary in block_on(Copying::all(store))?.sessions() {
        if !block_on(store.verify(&summary.id))?.findings.is_empty() {
            return Err("a store that was just made is damaged".into());
        }
    }
    if let Some(repair) = store.repair() {
        block_on(repair.check(None))?;
    }
    Ok(Some(()))
}

fn copy(store: &dyn Store) -> Outcome<Option<()>> {
    let (copying, to) = (block_on(Copying::all(store))?, MemoryStore::default());
    for summary in copying.sessions() {
        block_on(copying.copy(store, &summary.id, &to, &mut |_| {}))?;
    }
    Ok(Some(()))
}

/// Labels some sessions, as many in every store.
fn label(store: &dyn Store) -> Outcome<Option<()>> {
    for n in 0..LABELLED {
        let last = block_on(store.summary(&id(n)))?.last;
        block_on(store.load_window(&id(n), 0))?;
        let tags = Some(vec![("seen".to_owned(), "yes".to_owned())]);
        let changed = Event::from(SessionChanged { tags, ..SessionChanged::default() });
        block_on(store.append(&id(n), last, &Batch::new(last.next(), vec![changed.into()])))?;
    }
    Ok(Some(()))
}

fn search(store: &dyn Store) -> Outcome<Option<()>> {
    let Some(search) = store.search() else {
        return Ok(None);
    };
    block_on(search.search(&SearchQuery { text: "warehouse".to_owned(), ..SearchQuery::default() }))?;
    Ok(Some(()))
}

/// Every other session goes.
fn collect(store: &dyn Store) -> Outcome<Option<()>> {
    let Some(maintenance) = store.maintenance() else {
        return Ok(None);
    };
    let count = block_on(Copying::all(store))?.sessions().len() as u64;
    block_on(maintenance.gc(&Retention { count: Some(count / 2), ..Retention::default() }))?;
    Ok(Some(()))
}
