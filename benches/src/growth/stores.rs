//! Stores of a hundred sessions, of ten times and of a hundred times as many.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::event::{SessionChanged, TurnOpened};
use turnkeep_model::{Author, Batch, Block, Event, Object, Seq, SessionId, Turn};
use turnkeep_store::{Copying, Durability, Options, Query, Retention, SearchQuery, Store, StoreExt, open_with};

use super::rows;
use crate::race::clocked;
use crate::report::Report;
use crate::{Outcome, store};

const SIZES: [usize; 3] = [100, 1_000, 10_000];

/// Every so many sessions one is forked.
const FORKED: usize = 10;

/// How long work that changes nothing is repeated; the best time counts.
const PATIENCE: Duration = Duration::from_millis(300);

/// What is done to a store: nothing where it cannot do it.
type Work = fn(&dyn Store) -> Outcome<Option<()>>;

/// Whether doing it again is the same work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Same,
    Other,
}

/// The commands, each as the library does it; those that change the store come last.
const WORK: &[(&str, Work, Again)] = &[
    ("ls", list, Again::Same),
    ("ls --meta", list_by_metadata, Again::Same),
    ("du", account, Again::Same),
    ("verify", verify, Again::Same),
    ("the first search", search, Again::Other),
    ("search", search, Again::Same),
    ("gc", collect, Again::Other),
];

pub(super) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    for scheme in ["memory", "file", "sqlite"] {
        let mut times = vec![Vec::new(); WORK.len()];
        for size in SIZES {
            let place = Place::filled(scheme, scratch, size)?;
            for ((_, work, again), times) in WORK.iter().zip(&mut times) {
                times.extend(place.best(*work, *again)?);
            }
        }
        for ((what, ..), times) in WORK.iter().zip(&times) {
            rows(report, &format!("{what} in {scheme}:"), "sessions", &SIZES, times);
        }
    }
    Ok(())
}

/// A store that is opened for every measurement, as a command does. One in memory stays open.
struct Place {
    url: String,
    memory: Option<Arc<dyn Store>>,
}

impl Place {
    fn filled(scheme: &str, scratch: &Path, sessions: usize) -> Outcome<Place> {
        let file = store::fresh(scratch, &format!("growth-{scheme}"));
        let _ = std::fs::remove_dir_all(&file);
        let url = if scheme == "memory" { "memory:".to_owned() } else { format!("{scheme}:{}", file.display()) };
        let mut place = Place { url, memory: None };
        let store = place.open()?;
        (0..sessions).try_for_each(|n| fill(&*store, n))?;
        place.memory = (scheme == "memory").then_some(store);
        Ok(place)
    }

    fn open(&self) -> Outcome<Arc<dyn Store>> {
        let options = Options { durability: Durability::Process, ..Options::default() };
        Ok(match &self.memory {
            Some(store) => Arc::clone(store),
            None => open_with(&self.url, options)?,
        })
    }

    /// How much of the processor the work takes, opening the store included.
    fn best(&self, work: Work, again: Again) -> Outcome<Option<Duration>> {
        let (mut best, mut spent) = (None, Duration::ZERO);
        while best.is_none() || (again == Again::Same && spent < PATIENCE) {
            let (done, cpu, wall) = clocked(|| work(&*self.open()?))?;
            if done.is_none() {
                return Ok(None);
            }
            best = Some(best.map_or(cpu, |best: Duration| best.min(cpu)));
            spent += wall;
        }
        Ok(best)
    }
}

/// A session with a title, metadata, and one turn; some have a fork.
fn fill(store: &dyn Store, n: usize) -> Outcome<()> {
    let mut metadata = Object::new();
    metadata.set("owner", format!("user {}", n % 7));
    let title = Some(format!("session number {n}"));
    let changed = SessionChanged { title, metadata: Some(metadata), ..SessionChanged::default() };
    let mut turn = Turn::default();
    turn.blocks.push(Block::text(Author::User, format!("What became of order {n}, and where is it now?")));
    turn.blocks.push(Block::text(Author::Assistant, format!("Order {n} left the warehouse yesterday.")).in_message(1));
    let events = vec![Event::from(changed).into(), Event::from(TurnOpened { turn: Box::new(turn) }).into()];
    let id = SessionId::new(format!("session-{n:06}"));
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
