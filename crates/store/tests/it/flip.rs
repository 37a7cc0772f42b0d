//! Stores with one bit changed: what that changes is found, or it changes nothing.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use pollster::block_on;
use turnkeep_model::event::{BlockAdded, SessionChanged};
use turnkeep_model::{Author, Batch, Block, Seq, SessionId, Status};
use turnkeep_store::{Loaded, Query, Result, SearchQuery, Sort, Store, StoreExt, Summary, Window, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{batch, id, said, talk};

/// Everything a store says of its sessions.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    listing: Vec<Summary>,
    loaded: Vec<Loaded>,
    windows: Vec<Window>,
    hits: Vec<(SessionId, Seq)>,
}

pub(crate) async fn told(store: &dyn Store) -> Result<Told> {
    let listing = store.list(&Query { sort: Sort::Id, ..Query::default() }).await?.sessions;
    let mut told = Told { listing, loaded: Vec::new(), windows: Vec::new(), hits: Vec::new() };
    for Summary { id, .. } in &told.listing {
        told.loaded.push(store.load(id).await?);
        told.windows.push(store.load_window(id, 1).await?);
    }
    if let Some(search) = store.search() {
        for text in ["question", "result", "zebra"] {
            let hits = search.search(&SearchQuery { text: text.to_owned(), ..SearchQuery::default() }).await?;
            told.hits.extend(hits.into_iter().map(|hit| (hit.session, hit.seq)));
        }
    }
    Ok(told)
}

/// Whether the store says that something is wrong with it.
async fn complains(store: &dyn Store, before: &Told) -> Result<bool> {
    if !store.repair().unwrap().check(None).await?.is_empty() {
        return Ok(true);
    }
    for Summary { id, .. } in &before.listing {
        if !store.verify(id).await?.findings.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn renamed(at: Seq, title: &str) -> Batch {
    let changed = SessionChanged {
        title: Some(title.to_owned()),
        status: Some(Status::InProgress(Default::default())),
        ..SessionChanged::default()
    };
    batch(at, vec![changed.into()])
}

/// A line that another program wrote, without a sum.
const FOREIGN: &str = r#"{ "seq": 1, "time": "2026-01-01T00:00:00Z", "events": [{"type": "log.added", "line": "a"}] }"#;

/// Fills a small store with something of everything: forks with and without batches of their own, of a session that is
/// there and of one that is not, a large body, lines without a sum, a cached head and an index.
pub(crate) fn fill(store: &dyn Store) {
    block_on(async {
        let last = talk(store, &id("s"), 3).await;
        store.fork(&id("s"), Seq(7), &id("fork")).await.unwrap();
        store.append(&id("s"), last, &renamed(last, "renamed")).await.unwrap();
        store.fork(&id("s"), Seq(5), &id("other")).await.unwrap();
        store.append(&id("fork"), Seq(7), &said(Seq(7), "on")).await.unwrap();
        store.fork(&id("fork"), Seq(8), &id("of-fork")).await.unwrap();
        store.delete(&id("fork")).await.unwrap();
        let large = Block::text(Author::User, format!("{} zebra", "0123456789 ".repeat(900)));
        let last = talk(store, &id("large"), 1).await;
        let large = batch(last, vec![BlockAdded { turn: 0, block: large }.into()]);
        store.append(&id("large"), last, &large).await.unwrap();
        let foreign = Batch::from_line(FOREIGN).unwrap().0;
        store.append(&id("foreign"), Seq::START, &foreign).await.unwrap();
        told(store).await.unwrap();
    });
}

/// A session that tells no times: its store remembers when it was appended to.
#[cfg(feature = "sqlite")]
fn fill_untimed(store: &dyn Store) {
    let mut untimed = said(Seq::START, "when?");
    untimed.time = None;
    block_on(store.append(&id("untimed"), Seq::START, &untimed)).unwrap();
}

/// What became of a store with one bit changed.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Refused,
    Found,
    Harmless,
    Silent(String),
}

pub(crate) fn judge(home: &Home, before: &Told) -> Verdict {
    let Ok(store) = open(&home.url()) else { return Verdict::Refused };
    match (block_on(complains(&*store, before)), block_on(told(&*store))) {
        (Err(_) | Ok(true), _) | (_, Err(_)) => Verdict::Found,
        (Ok(false), Ok(after)) if after == *before => Verdict::Harmless,
        (Ok(false), Ok(after)) => Verdict::Silent(difference(before, &after)),
    }
}

fn difference(before: &Told, after: &Told) -> String {
    let (before, after) = (format!("{before:#?}"), format!("{after:#?}"));
    let lines = before.lines().zip(after.lines()).filter(|(before, after)| before != after);
    lines.take(5).map(|(before, after)| format!("{} -> {}; ", before.trim(), after.trim())).collect()
}

/// What became of many stores, each with one bit changed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    refused: usize,
    found: usize,
    harmless: usize,
    silent: Vec<(String, String)>,
}

impl Tally {
    pub(crate) fn count(&mut self, place: String, verdict: Verdict) {
        match verdict {
            Verdict::Refused => self.refused += 1,
            Verdict::Found => self.found += 1,
            Verdict::Harmless => self.harmless += 1,
            Verdict::Silent(difference) => self.silent.push((place, difference)),
        }
    }

    /// Nothing was silent, though something was changed.
    pub(crate) fn is_loud(&self, what: &str) {
        eprintln!("{what}: {} refused, {} found, {} harmless", self.refused, self.found, self.harmless);
        assert_eq!(self.silent, [], "{what}");
        assert!(self.refused + self.found > 0, "{what}: nothing was changed");
    }
}

/// Which bits of a file are changed: in every `step`-th byte one of them, or all.
#[derive(Clone, Copy)]
struct Places {
    step: usize,
    bits: usize,
}

impl Places {
    fn of(self, length: usize) -> impl Iterator<Item = (usize, usize)> {
        let Places { step, bits } = self;
        (0..length).step_by(step).flat_map(move |at| (0..bits).map(move |bit| (at, (at / step + bit) % 8)))
    }
}

/// Changes bits of a file, one at a time.
fn tally(home: &Home, file: &Path, before: &Told, places: Places) -> Tally {
    let whole = fs::read(file).unwrap();
    let others: Vec<(PathBuf, Vec<u8>)> =
        files(home).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect();
    let restore = || {
        files(home).iter().for_each(|file| fs::remove_file(file).unwrap());
        others.iter().for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
    };
    let mut tally = Tally::default();
    for (at, bit) in places.of(whole.len()) {
        restore();
        let mut bytes = whole.clone();
        bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << bit);
        fs::write(file, &bytes).unwrap();
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(home, before)));
        let place = format!("bit {bit} of byte {at}");
        tally.count(place.clone(), verdict.unwrap_or_else(|_| panic!("a panic at {place}")));
    }
    restore();
    tally
}

fn files(home: &Home) -> Vec<PathBuf> {
    let folder = if home.path().is_dir() { home.path() } else { home.folder().to_owned() };
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What is changed: this, or more of it with `TURNKEEP_FLIPS=all`.
pub(crate) fn usual_or_all<T>(usual: T, all: T) -> T {
    if std::env::var("TURNKEEP_FLIPS").as_deref() == Ok("all") { all } else { usual }
}

/// What a home tells after it was opened anew.
fn opened(home: &Home) -> Told {
    block_on(told(&*home.open())).unwrap()
}

#[test]
fn a_bit_that_changes_in_any_file_of_a_folder_is_noticed() {
    let home = Home::new("file");
    fill(&*home.open());
    let before = opened(&home);
    let names: Vec<String> = files(&home).iter().map(|file| file.file_name().unwrap().display().to_string()).collect();
    let journals = ["foreign", "fork", "large", "of-fork", "other", "s"].map(|name| format!("{name}.turnkeep.jsonl"));
    let others = [".lock", "fork.gone"].map(str::to_owned);
    assert_eq!(names.len(), journals.len() + others.len(), "{names:?}");

    for name in journals {
        let places = usual_or_all(Places { step: 7, bits: 1 }, Places { step: 1, bits: 8 });
        tally(&home, &home.path().join(&name), &before, places).is_loud(&name);
    }
    for name in others {
        let tally = tally(&home, &home.path().join(&name), &before, Places { step: 1, bits: 8 });
        assert_eq!(tally.silent, [], "{name}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_bit_that_changes_in_an_sqlite_file_is_noticed() {
    let home = Home::new("sqlite");
    let store = home.open();
    fill(&*store);
    fill_untimed(&*store);
    drop(store);
    let before = opened(&home);
    let connection = rusqlite::Connection::open(home.path()).unwrap();
    for table in ["session", "fork", "fork_tag", "tag", "batch", "body", "head", "words_data"] {
        let text = format!("SELECT count(*) FROM {table}");
        assert_ne!(connection.query_row(&text, [], |row| row.get(0)), Ok(0i64), "{table}");
    }
    drop(connection);
    let places = Places { step: usual_or_all(199, 1), bits: 1 };

    tally(&home, &home.path(), &before, places).is_loud("the database");
}

/// A home with what the process that had the other one open left when it was killed.
#[cfg(feature = "sqlite")]
pub(crate) fn killed(home: &Home) -> Home {
    let left = Home::new("sqlite");
    for suffix in ["", "-wal"] {
        let name = |home: &Home| PathBuf::from(format!("{}{suffix}", home.path().display()));
        fs::copy(name(home), name(&left)).unwrap();
    }
    left
}

#[cfg(feature = "sqlite")]
#[test]
fn a_bit_that_changes_in_the_log_of_a_killed_process_is_noticed() {
    let home = Home::new("sqlite");
    let store = home.open();
    fill(&*store);
    let (left, before) = (killed(&home), opened(&killed(&home)));
    let log = PathBuf::from(format!("{}-wal", left.path().display()));
    let bytes = fs::read(&log).unwrap();
    let places = Places { step: usual_or_all(4507, 61), bits: 1 };

    tally(&left, &log, &before, places).is_loud("the log");
    // What stands before all pages, and before the first and the last.
    let frame = 24 + 4096;
    let last = 32 + ((bytes.len() - 32) / frame - 1) * frame;
    let mut tally = Tally::default();
    for at in (0..32 + 24).chain(last..last + 24) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let again = killed(&home);
        fs::write(format!("{}-wal", again.path().display()), &changed).unwrap();
        tally.count(format!("byte {at}"), judge(&again, &before));
    }
    tally.is_loud("the heads of the log");
}
