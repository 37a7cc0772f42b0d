//! Journals that were cut off, and disks that fail.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_store::disk::Disk;
use turnkeep_store::{FileStore, Finding, Listener, Notice, Options, Store, StoreExt};
use turnkeep_testkit::Home;
use turnkeep_testkit::disk::{CrashKind, SimDisk};
use turnkeep_testkit::laws::store::{id, said, talk};

/// The journal file of the session `s`, and its bytes.
fn journal_of_three(home: &Home) -> (std::path::PathBuf, Vec<u8>) {
    let store = home.open();
    block_on(talk(&*store, &id("s"), 1));
    let file = home.path().join("s.turnkeep.jsonl");
    let bytes = fs::read(&file).unwrap();
    (file, bytes)
}

#[test]
fn a_journal_cut_at_any_byte_keeps_its_whole_batches_and_goes_on() {
    let home = Home::new("file");
    let (file, bytes) = journal_of_three(&home);
    let ends = [1, 5, 7];
    for cut in 0..=bytes.len() {
        fs::write(&file, &bytes[..cut]).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearing = Arc::clone(&heard);
        let listener = Listener::new(move |notice| hearing.lock().unwrap().push(notice));
        let store = home.open_with(Options { listener, ..Options::default() });
        // A line that lacks only its line break is whole.
        let lines = bytes[..(cut + 1).min(bytes.len())].iter().filter(|byte| **byte == b'\n').count();
        let last = lines.checked_sub(2).map_or(Seq::START, |batch| Seq(ends[batch]));

        let found = block_on(store.last(&id("s"))).unwrap_or_default();
        let findings = block_on(store.verify(&id("s"))).map(|verified| verified.findings).unwrap_or_default();
        let next = block_on(store.append(&id("s"), last, &said(last, "on"))).unwrap();

        assert_eq!(found, last, "cut at {cut}");
        assert_eq!(next, last.next());
        let journal = block_on(store.journal(&id("s"))).unwrap();
        assert_eq!((journal.last(), journal.check().is_ok()), (next, true));
        let ended = cut == 0 || bytes[cut - 1] == b'\n' || bytes.get(cut) == Some(&b'\n');
        let torn = heard.lock().unwrap().iter().any(|notice| matches!(notice, Notice::TornTail { .. }));
        assert_eq!(torn, !ended || (last == Seq::START && cut > 0), "cut at {cut}");
        if last > Seq::START {
            assert_eq!(matches!(findings[..], [Finding::TornTail { .. }]), !ended, "cut at {cut}: {findings:?}");
        }
    }
}

#[test]
fn damage_in_the_middle_is_found_and_what_comes_before_it_is_saved() {
    let home = Home::new("file");
    let (file, mut bytes) = journal_of_three(&home);
    let third = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0;
    bytes[third + 40] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let store = home.open();

    let found = block_on(store.repair().unwrap().check(Some(&id("s")))).unwrap();
    let repaired = block_on(store.repair().unwrap().repair()).unwrap();

    assert!(matches!(found[..], [Finding::Damaged { .. }]), "{found:?}");
    assert_eq!(repaired.iter().map(|repaired| repaired.last).collect::<Vec<_>>(), [Seq(1)]);
    assert_eq!(block_on(store.verify(&id("s"))).unwrap().findings, []);
    assert_eq!(fs::read(file.with_extension("damaged")).unwrap(), bytes);
}

/// What a run acknowledged: appends by session, and deletions.
#[derive(Default, Debug)]
struct Acknowledged {
    last: Vec<(&'static str, Seq)>,
    deleted: Vec<&'static str>,
}

/// Appends, forks and deletes until something fails.
async fn run(store: &dyn Store, done: &mut Acknowledged) -> turnkeep_store::Result<()> {
    for name in ["a", "b"] {
        let mut at = Seq::START;
        for n in 0..3 {
            at = store.append(&id(name), at, &said(at, &format!("{name}{n}"))).await?;
            done.last.retain(|(known, _)| *known != name);
            done.last.push((name, at));
        }
    }
    store.fork(&id("a"), Seq(2), &id("fork")).await?;
    done.last.push(("fork", Seq(2)));
    let at = store.append(&id("fork"), Seq(2), &said(Seq(2), "fork0")).await?;
    done.last.retain(|(known, _)| *known != "fork");
    done.last.push(("fork", at));
    for name in ["b", "a"] {
        done.last.retain(|(known, _)| *known != name);
        store.delete(&id(name)).await?;
        done.deleted.push(name);
    }
    Ok(())
}

async fn check(store: &dyn Store, done: &Acknowledged, context: &str) {
    for (name, last) in &done.last {
        let journal = store.journal(&id(name)).await.unwrap_or_else(|error| panic!("{context}: {name}: {error}"));
        assert_eq!(journal.check().map_err(|error| error.to_string()), Ok(()), "{context}");
        assert!(journal.last() >= *last && journal.last() <= last.next(), "{context}: {name} is at {}", journal.last());
        let at = journal.last();
        store.append(&id(name), at, &said(at, "on")).await.unwrap_or_else(|error| panic!("{context}: {error}"));
    }
    for name in &done.deleted {
        assert!(store.last(&id(name)).await.is_err(), "{context}: {name} is still there");
    }
}

#[test]
fn a_fault_at_any_write_loses_nothing_acknowledged() {
    let folder = Path::new("/store");
    for fault in 1.. {
        let disk = Arc::new(SimDisk::failing_at(fault));
        let mut done = Acknowledged::default();
        let store = FileStore::on(disk.clone(), folder, Options::default()).unwrap();
        let ended = block_on(run(&store, &mut done));
        assert_eq!(ended.is_err(), disk.failed());
        for aftermath in CrashKind::ALL {
            let after = Arc::new(disk.after(aftermath));
            let store = FileStore::on(after, folder, Options::default()).unwrap();
            block_on(check(&store, &done, &format!("fault at {fault}, {aftermath:?}")));
        }
        if !disk.failed() {
            assert!(fault > 20, "only {fault} writes");
            return;
        }
    }
}

#[test]
fn a_write_that_fails_once_loses_nothing_and_the_store_goes_on() {
    let folder = Path::new("/store");
    for fault in 1.. {
        let disk = Arc::new(SimDisk::stumbling_at(fault));
        let mut done = Acknowledged::default();
        let store = FileStore::on(disk.clone(), folder, Options::default()).unwrap();
        let ended = block_on(run(&store, &mut done));
        if !disk.failed() {
            assert!(ended.is_ok() && fault > 20, "only {fault} writes");
            return;
        }

        block_on(check(&store, &done, &format!("the write {fault} failed, in the same process")));

        let after = SimDisk::after(&disk, CrashKind::PowerLost);
        let dark = FileStore::on(Arc::new(after), folder, Options::default()).unwrap();
        for (name, _) in &done.last {
            let (here, there) = (block_on(store.journal(&id(name))), block_on(dark.journal(&id(name))));
            assert_eq!(there.unwrap(), here.unwrap(), "the write {fault} failed, then the power went: {name}");
        }
    }
}

#[test]
fn without_syncs_a_loss_of_power_loses_what_was_acknowledged() {
    let folder = Path::new("/store");
    let disk = Arc::new(SimDisk::default());
    let options = Options { durability: turnkeep_store::Durability::Process, ..Options::default() };
    let store = FileStore::on(disk.clone(), folder, options).unwrap();
    block_on(store.append(&id("a"), Seq::START, &said(Seq(0), "a"))).unwrap();

    let killed = FileStore::on(Arc::new(disk.after(CrashKind::Kill)), folder, Options::default()).unwrap();
    let dark = FileStore::on(Arc::new(disk.after(CrashKind::PowerLost)), folder, Options::default()).unwrap();

    assert_eq!(block_on(killed.last(&id("a"))).unwrap(), Seq(1));
    assert!(block_on(dark.last(&id("a"))).is_err());
}

/// Every byte of every file of a disk, as text.
fn everything(disk: &SimDisk, folder: &Path) -> String {
    let names = disk.list(folder).unwrap();
    let bytes = names.iter().flat_map(|name| disk.read(&folder.join(name), 0, u64::MAX).unwrap());
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

#[test]
fn a_fault_at_any_write_of_an_erasure_keeps_every_record() {
    let (folder, secret) = (Path::new("/store"), "hunter2");
    for fault in 1.. {
        let disk = Arc::new(SimDisk::failing_at(fault));
        let store = FileStore::on(disk.clone(), folder, Options::default()).unwrap();
        let filled = block_on(async {
            store.append(&id("a"), Seq::START, &said(Seq(0), secret)).await?;
            store.append(&id("a"), Seq(1), &said(Seq(1), "plain")).await?;
            store.fork(&id("a"), Seq(2), &id("fork")).await?;
            store.append(&id("fork"), Seq(2), &said(Seq(2), secret)).await
        });
        let erased = block_on(store.maintenance().unwrap().erase(&id("fork"), None, secret));
        for aftermath in CrashKind::ALL.into_iter().filter(|_| filled.is_ok()) {
            let after = Arc::new(disk.after(aftermath));
            let store = FileStore::on(after.clone(), folder, Options::default()).unwrap();
            for (name, last) in [("a", Seq(2)), ("fork", Seq(3))] {
                let journal = block_on(store.journal(&id(name))).unwrap();
                assert_eq!((journal.last(), journal.check().is_ok()), (last, true), "fault at {fault}, {aftermath:?}");
            }
            block_on(store.maintenance().unwrap().erase(&id("fork"), None, secret)).unwrap();
            block_on(store.maintenance().unwrap().gc(&turnkeep_store::Retention::default())).unwrap();
            assert!(!everything(&after, folder).contains(secret), "fault at {fault}, {aftermath:?}");
            assert_eq!(block_on(store.load(&id("fork"))).unwrap().session.logs, ["[erased]", "plain", "[erased]"]);
        }
        if !disk.failed() {
            assert_eq!(erased.unwrap().records, [Seq(1), Seq(3)]);
            assert!(!everything(&disk, folder).contains(secret));
            return;
        }
    }
}

#[test]
fn whoever_reads_while_a_secret_is_erased_reads_on() {
    let home = Home::new("file");
    let store = home.open();
    let mut at = Seq::START;
    for n in 0..40 {
        at = block_on(store.append(&id("s"), at, &said(at, &format!("{n} hunter2 {}", "x".repeat(40_000))))).unwrap();
    }
    let session = id("s");
    let mut reading = store.read(&session, Seq::START);
    let first = block_on(futures_util::StreamExt::next(&mut reading)).unwrap().unwrap();

    block_on(home.open().maintenance().unwrap().erase(&id("s"), None, "hunter2")).unwrap();

    let rest: Vec<_> = block_on(futures_util::TryStreamExt::try_collect(reading)).unwrap();
    let seqs: Vec<Seq> = std::iter::once(&first).chain(&rest).map(|batch| batch.seq).collect();
    assert_eq!(seqs, (1..=40).map(Seq).collect::<Vec<_>>());
}
