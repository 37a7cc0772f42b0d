//! Damage that was found stays found, until a person deals with it.

use std::fs;
use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_store::{ErrorKind, Finding, Listener, Notice, Options, Store, StoreExt, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, said, talk};

/// What a listener heard.
type Heard = Arc<Mutex<Vec<Notice>>>;

/// Opens a store with a listener.
fn hearing(home: &Home) -> (Arc<dyn Store>, Heard) {
    let heard = Heard::default();
    let told = Arc::clone(&heard);
    let listener = Listener::new(move |notice| told.lock().unwrap().push(notice));
    (home.open_with(Options { listener, ..Options::default() }), heard)
}

/// What is wrong with a store as a whole and with its session.
fn findings(store: &dyn Store) -> Vec<Finding> {
    let mut findings = block_on(store.repair().unwrap().check(None)).unwrap();
    // A repair removes a session of which nothing is left.
    findings.extend(block_on(store.verify(&id("s"))).map(|verified| verified.findings).unwrap_or_default());
    findings
}

/// However often a damaged store is opened, appended to and closed, the damage is found.
fn is_found_until_it_is_dealt_with(home: &Home) {
    for round in 0..3 {
        let store = hearing(home).0;
        assert_ne!(findings(&*store), [], "opened {round} times before");
        block_on(store.append(&id("other"), Seq(round), &said(Seq(round), "on"))).unwrap();
    }
    let store = hearing(home).0;

    block_on(store.repair().unwrap().repair()).unwrap();
    block_on(store.repair().unwrap().clear()).unwrap();

    assert_eq!(findings(&*store), []);
    drop(store);
    assert_eq!(findings(&*open(&home.url()).unwrap()), []);
}

#[test]
fn a_damaged_line_of_a_file_is_found_until_it_is_dealt_with() {
    let home = Home::new("file");
    block_on(talk(&*home.open(), &id("s"), 3));
    let file = home.path().join("s.turnkeep.jsonl");
    let damaged = fs::read_to_string(&file).unwrap().replace("{\"seq\":8,", "{\"seq\":9,");
    fs::write(file, damaged).unwrap();

    is_found_until_it_is_dealt_with(&home);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn a_damaged_row_of_postgres_is_found_until_it_is_dealt_with() {
    let Some(home) = crate::postgres::home() else { return };
    block_on(talk(&*home.open(), &id("s"), 3));
    crate::postgres::psql(&home, "UPDATE batch SET data = set_byte(data, length(data) / 2, 7) WHERE first = 8");

    is_found_until_it_is_dealt_with(&home);
}

#[test]
fn a_fork_without_its_parent_is_found_until_it_is_dealt_with() {
    let home = Home::new("file");
    let store = home.open();
    block_on(talk(&*store, &id("parent"), 2));
    block_on(store.fork(&id("parent"), Seq(7), &id("s"))).unwrap();
    block_on(store.append(&id("s"), Seq(7), &said(Seq(7), "on"))).unwrap();
    block_on(store.fork(&id("s"), Seq(8), &id("of-fork"))).unwrap();
    drop(store);
    fs::remove_file(home.path().join("parent.turnkeep.jsonl")).unwrap();

    let store = home.open();
    let whole = block_on(store.repair().unwrap().check(None)).unwrap();
    let own = block_on(store.verify(&id("of-fork"))).unwrap().findings;
    let refused = block_on(store.load(&id("s"))).unwrap_err();

    let missing =
        |finding: &Finding| matches!(finding, Finding::Damaged { what, .. } if what.contains("parent.turnkeep.jsonl"));
    assert!(whole.len() == 1 && whole.iter().all(missing), "{whole:?}");
    assert!(!own.is_empty() && own.iter().all(missing), "{own:?}");
    assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
    assert!(refused.remedy().is_some());
    drop(store);
    is_found_until_it_is_dealt_with(&home);
}

#[cfg(feature = "sqlite")]
mod log {
    use std::path::{Path, PathBuf};

    use turnkeep_store::Repaired;

    use super::*;
    use crate::flip::killed;

    fn log_of(home: &Home) -> PathBuf {
        PathBuf::from(format!("{}-wal", home.path().display()))
    }

    /// A store whose process was killed, with a changed bit in the middle of its log; and that log.
    fn damaged() -> (Home, Vec<u8>) {
        let home = Home::new("sqlite");
        let store = home.open();
        block_on(talk(&*store, &id("s"), 3));
        let left = killed(&home);
        let mut log = fs::read(log_of(&left)).unwrap();
        let middle = log.len() / 2;
        *log.get_mut(middle).unwrap() ^= 4;
        fs::write(log_of(&left), &log).unwrap();
        (left, log)
    }

    /// A store whose process was killed, with these bytes in the place of those of its log.
    fn overwritten(range: std::ops::Range<usize>, with: impl Fn(usize) -> u8) -> Home {
        let home = Home::new("sqlite");
        let store = home.open();
        block_on(talk(&*store, &id("s"), 3));
        let left = killed(&home);
        let mut log = fs::read(log_of(&left)).unwrap();
        range.for_each(|at| *log.get_mut(at).unwrap() = with(at));
        fs::write(log_of(&left), &log).unwrap();
        left
    }

    #[test]
    fn a_log_whose_header_is_gone_is_damaged() {
        let noise = |at: usize| (at * 37 % 251) as u8;
        for (what, range) in [("header", 0..32), ("salts and sum", 16..32), ("sector", 0..512)] {
            for (how, home) in [("zeros", overwritten(range.clone(), |_| 0)), ("noise", overwritten(range, noise))] {
                let refused = open(&home.url()).err().map(|error| error.kind());

                assert_eq!(refused, Some(ErrorKind::Corrupt), "{how} in the {what}");
            }
        }
    }

    #[test]
    fn space_that_a_log_was_given_and_nobody_wrote_to_is_not_damaged() {
        let home = Home::new("sqlite");
        drop(home.open());
        fs::write(log_of(&home), vec![0; 1 << 20]).unwrap();

        assert_eq!(findings(&*open(&home.url()).unwrap()), []);
    }

    /// The files beside a database whose names have this in them.
    fn beside(home: &Home, part: &str) -> Vec<PathBuf> {
        let files = fs::read_dir(home.folder()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|file| file.file_name().unwrap().to_str().unwrap().contains(part)).collect()
    }

    fn contents(files: &[PathBuf]) -> Vec<Vec<u8>> {
        files.iter().map(|file| fs::read(file).unwrap()).collect()
    }

    #[test]
    fn a_damaged_log_is_found_until_it_is_dealt_with() {
        is_found_until_it_is_dealt_with(&damaged().0);
    }

    #[test]
    fn without_a_listener_a_damaged_log_is_an_error_and_nothing_is_changed() {
        let (home, log) = damaged();
        let database = fs::read(home.path()).unwrap();

        for _ in 0..3 {
            let Err(error) = open(&home.url()) else { panic!("it was opened") };

            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            let remedy = error.remedy().unwrap();
            let [copy] = &beside(&home, ".damaged-")[..] else { panic!("one copy") };
            assert!(remedy.contains(copy.to_str().unwrap()) && remedy.contains("verify --clear"), "{remedy}");
            assert_eq!(
                contents(&[copy.clone(), log_of(&home), home.path()]),
                [log.clone(), log.clone(), database.clone()]
            );
        }
    }

    #[test]
    fn a_damaged_log_is_kept_and_told_whenever_the_store_is_opened() {
        let (home, log) = damaged();

        for _ in 0..2 {
            let (store, heard) = hearing(&home);
            assert!(matches!(heard.lock().unwrap()[..], [Notice::LostCommits { count: 1.. }]), "{heard:?}");
            let at = block_on(store.last(&id("on"))).unwrap_or_default();
            block_on(store.append(&id("on"), at, &said(at, "on"))).unwrap();
        }
        let (first, (_second, heard)) = (hearing(&home), hearing(&home));

        assert_eq!(heard.lock().unwrap().len(), 1, "a second store of the file hears of it, too");
        assert_eq!(contents(&beside(&home, ".damaged-")), [log]);
        let repaired = block_on(first.0.repair().unwrap().repair()).unwrap();
        assert_eq!((repaired, findings(&*first.0).len()), (Vec::<Repaired>::new(), 1), "no repair brings it back");
    }

    #[test]
    fn a_damaged_log_is_found_once_though_the_store_stays_open_elsewhere() {
        let (home, log) = damaged();
        let store = hearing(&home).0;
        block_on(store.append(&id("on"), Seq::START, &said(Seq(0), "on"))).unwrap();
        // As another process would find it.
        let left = killed(&home);
        for copy in beside(&home, ".damaged-") {
            fs::copy(&copy, left.folder().join(copy.file_name().unwrap())).unwrap();
        }

        let (_other, heard) = hearing(&left);

        assert_eq!((heard.lock().unwrap().len(), contents(&beside(&left, ".damaged-"))), (1, vec![log]));
    }

    #[test]
    fn a_cleared_finding_is_told_no_more_and_the_copy_stays() {
        let (home, log) = damaged();
        let store = hearing(&home).0;

        let cleared = block_on(store.repair().unwrap().clear()).unwrap();

        let [copy] = &beside(&home, ".cleared-")[..] else { panic!("one copy") };
        assert!(
            matches!(&cleared[..], [Finding::Damaged { what, .. }] if what.contains(copy.to_str().unwrap())),
            "{cleared:?}"
        );
        assert_eq!((contents(std::slice::from_ref(copy)), beside(&home, ".damaged-")), (vec![log], Vec::new()));
        drop(store);
        let store = open(&home.url()).unwrap();
        assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), []);
        assert_eq!(block_on(store.repair().unwrap().clear()).unwrap(), []);
    }

    #[test]
    fn erasing_empties_the_copy_of_a_log_and_the_finding_stays() {
        let (home, log) = damaged();
        let store = hearing(&home).0;
        block_on(store.append(&id("new"), Seq::START, &said(Seq(0), "a secret text"))).unwrap();
        assert!(!log.is_empty());

        block_on(store.maintenance().unwrap().erase(&id("new"), None, "secret")).unwrap();

        assert_eq!(contents(&beside(&home, ".damaged-")), [Vec::<u8>::new()]);
        assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_damaged_log_is_found_through_a_link() {
        let (home, log) = damaged();
        let link = home.folder().join("link");
        std::os::unix::fs::symlink(home.path(), &link).unwrap();

        let Err(error) = open(&format!("sqlite:{}", link.display())) else { panic!("it was opened") };

        assert_eq!((error.kind(), contents(&beside(&home, "store.damaged-"))), (ErrorKind::Corrupt, vec![log]));
    }

    #[cfg(unix)]
    #[test]
    fn a_log_that_cannot_be_kept_is_not_destroyed() {
        let (home, log) = damaged();
        let open_there = |folder: &Path| open(&format!("sqlite:{}", folder.join("store").display()));
        let Some(full) = crate::full::Disk::of(512 << 10) else { return };
        for (file, name) in [(home.path(), "store"), (log_of(&home), "store-wal")] {
            fs::copy(file, full.path().join(name)).unwrap();
        }
        full.fill(0);

        let Err(error) = open_there(full.path()) else { panic!("it was opened") };

        assert_eq!((error.kind(), error.remedy()), (ErrorKind::Io, Some("make room and try again")));
        assert_eq!(fs::read(full.path().join("store-wal")).unwrap(), log);
    }

    #[test]
    fn a_log_beside_an_empty_or_missing_database_is_refused_and_kept() {
        for missing in [false, true] {
            let home = Home::new("sqlite");
            let store = home.open();
            block_on(talk(&*store, &id("s"), 3));
            let left = killed(&home);
            let log = fs::read(log_of(&left)).unwrap();
            if missing {
                fs::remove_file(left.path()).unwrap();
            } else {
                fs::write(left.path(), "").unwrap();
            }

            let Err(error) = open(&left.url()) else { panic!("it was opened") };

            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert!(error.remedy().unwrap().contains(log_of(&left).to_str().unwrap()));
            assert_eq!((fs::read(log_of(&left)).unwrap(), left.path().exists()), (log, !missing));
        }
    }
}
