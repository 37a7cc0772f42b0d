//! SQLite files that lose what was not synced, and disks that fail under them.

use std::path::Path;

use pollster::block_on;
use tempfile::TempDir;
use turnkeep_model::Seq;
use turnkeep_model::event::LogAdded;
use turnkeep_store::{Durability, Options, Retention, SqliteStore, Store, StoreExt};
use turnkeep_testkit::laws::store::{batch, id, said};
use turnkeep_testkit::vfs::{DiskFault, Keep, Lost, Watch, restore};

/// What was acknowledged, and after how many changes of files.
#[derive(Debug, Clone)]
struct Acknowledged {
    session: &'static str,
    last: Seq,
    moment: usize,
}

fn open(folder: &Path, durability: Durability) -> turnkeep_store::Result<SqliteStore> {
    SqliteStore::open(&folder.join("store.db"), Options { durability, ..Options::default() })
}

/// A batch of three records, of which one is large now and then.
fn three(at: Seq) -> turnkeep_model::Batch {
    let filler = if at.0.is_multiple_of(2) { "large ".repeat(4000) } else { "small".to_owned() };
    let line = |n: u32| LogAdded { line: format!("{at} {n} {filler}") }.into();
    batch(at, (0..3).map(line).collect())
}

/// Appends to two sessions, forks, removes and cleans; stops at the first fault.
async fn run(store: &SqliteStore, watch: &Watch, done: &mut Vec<Acknowledged>) -> turnkeep_store::Result<()> {
    let mut ends = [("a", Seq::START), ("b", Seq::START), ("fork", Seq(6))];
    for round in 0..5 {
        if round == 3 {
            store.fork(&id("a"), Seq(6), &id("fork")).await?;
            done.push(Acknowledged { session: "fork", last: Seq(6), moment: watch.moment() });
            store.append(&id("gone"), Seq::START, &three(Seq::START)).await?;
            store.delete(&id("gone")).await?;
            store.maintenance().unwrap().gc(&Retention::default()).await?;
        }
        for (session, at) in ends.iter_mut().take(if round < 3 { 2 } else { 3 }) {
            *at = store.append(&id(session), *at, &three(*at)).await?;
            done.push(Acknowledged { session, last: *at, moment: watch.moment() });
        }
    }
    Ok(())
}

/// Everything acknowledged is there, in whole batches, and the store goes on; gives what is acknowledged then.
fn check(store: &SqliteStore, done: &[Acknowledged], context: &str) -> Vec<Acknowledged> {
    let mut ends = Vec::new();
    for session in ["a", "b", "fork"] {
        let Some(known) = done.iter().rfind(|known| known.session == session) else {
            continue;
        };
        let journal = block_on(store.journal(&id(session))).unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(journal.last() >= known.last, "{context}: {session} ends at {}, not {}", journal.last(), known.last);
        assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()), "{context}");
        for stored in &journal.batches {
            let at = Seq(stored.seq.0 - 1);
            let whole = *stored == three(at) || *stored == said(at, "on");
            assert!(whole, "{context}: half a batch at {}", stored.seq);
        }
        let at = journal.last();
        let on = block_on(store.append(&id(session), at, &said(at, "on")));
        let last = on.unwrap_or_else(|error| panic!("{context}: {error}"));
        ends.push(Acknowledged { session, last, moment: 0 });
        let findings = block_on(store.verify(&id(session))).unwrap().findings;
        assert!(findings.is_empty(), "{context}: {findings:?}");
    }
    assert!(block_on(store.repair().unwrap().check(None)).unwrap().is_empty(), "{context}");
    ends
}

#[test]
fn a_loss_of_power_at_any_moment_loses_nothing_acknowledged() {
    let home = TempDir::new().unwrap();
    let watch = Watch::new(home.path(), Keep::All);
    let mut done = Vec::new();
    let store = open(home.path(), Durability::Power).unwrap();
    block_on(run(&store, &watch, &mut done)).unwrap();
    drop(store);
    let changes = watch.changes();
    assert!(changes.len() > 100, "only {} changes", changes.len());

    for moment in 1..=changes.len() {
        let lost = match moment % 4 {
            0 => Lost::All,
            1 => Lost::Nothing,
            _ => Lost::Some(moment as u64),
        };
        let after = TempDir::new().unwrap();
        restore(&changes[..moment], lost, after.path()).unwrap();
        let known: Vec<_> = done.iter().filter(|known| known.moment <= moment).cloned().collect();
        let context = format!("power lost after change {moment} of {}, {lost:?}", changes.len());
        let store = open(after.path(), Durability::Process).unwrap_or_else(|error| panic!("{context}: {error}"));
        check(&store, &known, &context);
    }
}

#[test]
fn without_syncs_a_loss_of_power_would_be_seen() {
    let home = TempDir::new().unwrap();
    let watch = Watch::new(home.path(), Keep::All);
    let store = open(home.path(), Durability::Process).unwrap();
    block_on(store.append(&id("a"), Seq::START, &three(Seq::START))).unwrap();
    let changes = watch.changes();
    let after = TempDir::new().unwrap();

    restore(&changes, Lost::All, after.path()).unwrap();

    let dark = open(after.path(), Durability::Process).unwrap();
    assert!(block_on(dark.last(&id("a"))).is_err());
}

#[test]
fn a_second_opening_that_asks_for_more_durability_gets_it_for_all() {
    let home = TempDir::new().unwrap();
    let watch = Watch::new(home.path(), Keep::Nothing);
    let first = open(home.path(), Durability::Process).unwrap();
    let syncs_of_an_append = |at: Seq| {
        let before = watch.count("store.db").syncs;
        block_on(first.append(&id("a"), at, &said(at, "on"))).unwrap();
        watch.count("store.db").syncs - before
    };
    block_on(first.append(&id("a"), Seq::START, &said(Seq::START, "on"))).unwrap();
    assert_eq!(syncs_of_an_append(Seq(1)), 0);

    let second = open(home.path(), Durability::Power).unwrap();

    assert!(syncs_of_an_append(Seq(2)) > 0);
    drop(second);
    assert!(syncs_of_an_append(Seq(3)) > 0, "it stays until the file is closed");
}

/// Fails writes and syncs from every one on; `bad` of them.
fn fails_at_every_write(fault: DiskFault, bad: u32) {
    for good in 0.. {
        let home = TempDir::new().unwrap();
        let watch = Watch::new(home.path(), Keep::Nothing);
        let mut done = Vec::new();
        let store = open(home.path(), Durability::Power).unwrap();
        watch.fail(good, bad, fault);
        let ended = block_on(run(&store, &watch, &mut done));
        let failed = watch.failed();
        watch.mend();
        let context = format!("{fault:?} after {good} writes and syncs, {bad} times");
        assert!(ended.is_ok() || failed, "{context}: {ended:?}");

        let done = check(&store, &done, &format!("{context}, in the same process"));
        drop(store);
        check(&reopened(home.path()), &done, &format!("{context}, opened again"));
        if !failed {
            assert!(good > 50, "only {good} writes and syncs");
            return;
        }
    }
}

fn reopened(folder: &Path) -> SqliteStore {
    open(folder, Durability::Process).unwrap()
}

#[test]
fn a_full_disk_at_any_write_loses_nothing_and_what_made_room_goes_on() {
    fails_at_every_write(DiskFault::Full, 1);
}

#[test]
fn a_disk_that_breaks_at_any_write_loses_nothing() {
    fails_at_every_write(DiskFault::Broken, u32::MAX);
}
