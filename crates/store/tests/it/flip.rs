//! Stores with one bit changed: what that changes is found, or it changes nothing.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use pollster::block_on;
use turnkeep_model::{Seq, SessionId};
use turnkeep_store::{Loaded, Query, Result, Sort, Store, StoreExt, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, said, talk};

/// What a store says of its sessions: their places and counts in its listing, and all that is in them. Times, sizes and the
/// names of forks in a listing have nothing to be compared with, and a field that nobody knows changes no session.
#[derive(Debug, PartialEq)]
struct Told {
    counts: Vec<(SessionId, Seq, u64, u64)>,
    loaded: Vec<Loaded>,
}

async fn told(store: &dyn Store) -> Result<Told> {
    let listing = store.list(&Query { sort: Sort::Id, ..Query::default() }).await?.sessions;
    let mut loaded = Vec::new();
    for summary in &listing {
        let mut whole = store.load(&summary.id).await?;
        whole.session.parent = None;
        loaded.push(whole);
    }
    let counts = listing.into_iter().map(|summary| (summary.id, summary.last, summary.turns, summary.blocks));
    Ok(Told { counts: counts.collect(), loaded })
}

/// Whether the store says that something is wrong with it.
async fn complains(store: &dyn Store, sessions: &[SessionId]) -> Result<bool> {
    if !store.repair().unwrap().check(None).await?.is_empty() {
        return Ok(true);
    }
    for session in sessions {
        if !store.verify(session).await?.findings.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A small store with a fork, closed, and what it tells.
fn filled(home: &Home) -> Told {
    let store = home.open();
    block_on(talk(&*store, &id("s"), 1));
    block_on(store.fork(&id("s"), Seq(5), &id("fork"))).unwrap();
    block_on(store.append(&id("fork"), Seq(5), &said(Seq(5), "on"))).unwrap();
    block_on(told(&*store)).unwrap()
}

/// What became of a store with one bit changed.
#[derive(Debug, PartialEq)]
enum Verdict {
    Refused,
    Found,
    Harmless,
    Silent(String),
}

fn judge(home: &Home, before: &Told) -> Verdict {
    let Ok(store) = open(&home.url()) else { return Verdict::Refused };
    let sessions: Vec<SessionId> = before.counts.iter().map(|(session, ..)| session.clone()).collect();
    match (block_on(complains(&*store, &sessions)), block_on(told(&*store))) {
        (Err(_) | Ok(true), _) | (_, Err(_)) => Verdict::Found,
        (Ok(false), Ok(after)) if after == *before => Verdict::Harmless,
        (Ok(false), Ok(after)) => Verdict::Silent(format!("{after:?}")),
    }
}

/// Changes one bit of a file at every `step`-th byte; gives the places where that was not noticed.
fn unnoticed(home: &Home, file: &PathBuf, before: &Told, step: usize) -> Vec<(usize, String)> {
    let whole = fs::read(file).unwrap();
    let others: Vec<(PathBuf, Vec<u8>)> =
        files(home).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect();
    let mut silent = Vec::new();
    for at in (0..whole.len()).step_by(step) {
        for file in files(home) {
            fs::remove_file(file).unwrap();
        }
        others.iter().for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
        let mut bytes = whole.clone();
        bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << (at % 7));
        fs::write(file, &bytes).unwrap();
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(home, before)));
        match verdict.unwrap_or_else(|_| panic!("a panic at byte {at}")) {
            Verdict::Silent(listing) => silent.push((at, listing)),
            Verdict::Refused | Verdict::Found | Verdict::Harmless => {}
        }
    }
    silent
}

fn files(home: &Home) -> Vec<PathBuf> {
    let folder = if home.path().is_dir() { home.path() } else { home.folder().to_owned() };
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Which bytes are changed: all of them with `TURNKEEP_FLIPS=all`.
fn step(usual: usize) -> usize {
    if std::env::var("TURNKEEP_FLIPS").as_deref() == Ok("all") { 1 } else { usual }
}

#[test]
fn a_bit_that_changes_in_a_journal_file_is_noticed() {
    let home = Home::new("file");
    let before = filled(&home);

    for name in ["s", "fork"] {
        let file = home.path().join(format!("{name}.turnkeep.jsonl"));
        assert_eq!(unnoticed(&home, &file, &before, step(3)), [], "{name}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_bit_that_changes_in_an_sqlite_file_is_noticed() {
    let home = Home::new("sqlite");
    let before = filled(&home);

    assert_eq!(unnoticed(&home, &home.path(), &before, step(211)), []);
}
