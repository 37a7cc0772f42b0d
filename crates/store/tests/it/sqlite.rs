//! What holds for SQLite files beyond the laws.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollster::block_on;
use rusqlite::Connection;
use turnkeep_model::Seq;
use turnkeep_store::{ErrorKind, Options, SqliteStore, Store, StoreExt, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{answer, found, id, said, talk, tell};

fn home() -> (Home, Arc<dyn Store>) {
    let home = Home::new("sqlite");
    let store = home.open();
    (home, store)
}

fn count(home: &Home, query: &str) -> i64 {
    Connection::open(home.path()).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn large_bodies_are_stored_once_and_go_with_their_last_use() {
    let (home, store) = home();
    let large: String = (0..9000).map(|n| format!("{n} ")).collect();
    for name in ["a", "b"] {
        block_on(tell(&*store, &id(name), Seq::START, &large));
    }
    assert_eq!(count(&home, "SELECT count(*) FROM body"), 1);

    block_on(store.delete(&id("a"))).unwrap();
    assert_eq!(count(&home, "SELECT refs FROM body"), 1);
    assert_eq!(block_on(store.load(&id("b"))).unwrap().session.turns[0].blocks[0].body.as_text(), Some(large.as_str()));
    block_on(store.delete(&id("b"))).unwrap();

    for table in ["body", "batch", "session", "head", "tag"] {
        assert_eq!(count(&home, &format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

/// The files of a store, its log among them, that hold these bytes anywhere.
fn files_with(home: &Home, bytes: &[u8]) -> Vec<PathBuf> {
    let files = fs::read_dir(home.folder()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| fs::read(file).unwrap().windows(bytes.len()).any(|window| window == bytes)).collect()
}

#[test]
fn an_erased_secret_is_in_no_file_any_more() {
    let (home, store) = home();
    let secret = "hunter2secret";
    let at = block_on(tell(&*store, &id("a"), Seq::START, &format!("my password is {secret}!")));
    block_on(answer(&*store, &id("a"), at, &format!("{} {secret}", "x ".repeat(9000))));
    block_on(store.fork(&id("a"), Seq(2), &id("fork"))).unwrap();
    assert_eq!(block_on(found(&*store, secret)).len(), 2);
    assert!(!files_with(&home, b"hunter2").is_empty(), "it could be seen");

    block_on(store.maintenance().unwrap().erase(&id("a"), None, secret)).unwrap();

    assert_eq!(files_with(&home, b"hunter2"), Vec::<PathBuf>::new());
    assert_eq!(block_on(found(&*store, secret)), []);
    for name in ["a", "fork"] {
        assert_eq!(block_on(store.verify(&id(name))).unwrap().findings, []);
    }
    assert_eq!(files_with(&home, b"hunter2"), Vec::<PathBuf>::new());
}

#[test]
fn journals_take_less_than_their_lines() {
    let (_home, store) = home();
    block_on(talk(&*store, &id("s"), 300));

    let usage = block_on(store.accounting().unwrap().usage()).unwrap();

    assert!(usage.journals < usage.raw, "{usage:?}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let (home, store) = home();
    block_on(store.append(&id("s"), Seq::START, &said(Seq(0), "a"))).unwrap();

    let modes: Vec<u32> = fs::read_dir(home.folder())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777)
        .collect();

    assert!(modes.len() >= 2 && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");
}

#[cfg(unix)]
#[test]
fn folders_that_a_store_makes_are_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new("sqlite");
    let file = home.folder().join("made/for/it.db");

    drop(SqliteStore::open(&file, Options::default()).unwrap());

    for folder in ["made", "made/for"] {
        let mode = fs::metadata(home.folder().join(folder)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{folder}");
    }
}

#[test]
fn a_closed_store_is_one_file() {
    let (home, store) = home();
    let last = block_on(talk(&*store, &id("s"), 30));
    assert_eq!(block_on(store.last(&id("s"))).unwrap(), last);

    drop(store);

    assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 1);
}

#[test]
fn files_of_others_and_of_newer_versions_are_refused_unchanged() {
    let home = Home::new("sqlite");
    let refused = |statement: &str| {
        Connection::open(home.path()).unwrap().execute_batch(statement).unwrap();
        let before = fs::read(home.path()).unwrap();
        let Err(error) = open(&home.url()) else { panic!("it was opened") };
        assert_eq!(fs::read(home.path()).unwrap(), before);
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        error.to_string()
    };

    assert!(refused("CREATE TABLE theirs (x)").contains("another program"));
    fs::remove_file(home.path()).unwrap();
    drop(home.open());
    assert!(refused("PRAGMA user_version = 99").contains("version 99"));
}

/// Every version of the schema that was released.
const VERSIONS: [u32; 3] = [1, 2, 3];

fn fixture(version: u32) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/store");
    root.join(format!("v{version}.db"))
}

#[test]
fn stores_of_every_version_open() {
    for version in VERSIONS {
        let home = Home::new("sqlite");
        fs::copy(fixture(version), home.path()).unwrap();
        assert_eq!(count(&home, "PRAGMA user_version"), i64::from(version));

        let store = SqliteStore::open(&home.path(), Options::default()).unwrap();

        assert_eq!(block_on(store.load(&id("kept"))).unwrap().session.turns.len(), 3);
        assert_eq!(block_on(store.load(&id("fork"))).unwrap().session.logs, ["on"]);
        assert_eq!(block_on(store.verify(&id("fork"))).unwrap().findings, []);
        assert_eq!(block_on(found(&store, "question")).len(), 3);
        assert_eq!(block_on(store.append(&id("kept"), Seq(19), &said(Seq(19), "on"))).unwrap(), Seq(20));
        assert_eq!(count(&home, "PRAGMA user_version"), i64::from(VERSIONS[VERSIONS.len() - 1]));
    }
}

#[test]
fn what_an_older_version_had_not_indexed_is_found_in_a_newer_one() {
    let home = Home::new("sqlite");
    fs::copy(fixture(1), home.path()).unwrap();
    let statements = "INSERT INTO words (words) VALUES ('delete-all'); UPDATE session SET indexed = 0;";
    Connection::open(home.path()).unwrap().execute_batch(statements).unwrap();

    let store = home.open();

    assert_eq!(block_on(found(&*store, "question")).len(), 3);
}

#[test]
#[ignore = "run once for every version of the schema that is released; frozen files are never written again"]
fn freezes_a_store_of_this_version() {
    let (home, store) = home();
    let last = block_on(talk(&*store, &id("kept"), 3));
    block_on(store.fork(&id("kept"), Seq(7), &id("fork"))).unwrap();
    block_on(store.append(&id("fork"), Seq(7), &said(Seq(7), "on"))).unwrap();
    assert_eq!((last, block_on(found(&*store, "question")).len()), (Seq(19), 3));
    drop(store);
    let frozen = fixture(u32::try_from(count(&home, "PRAGMA user_version")).unwrap());
    assert!(!frozen.exists(), "{} is frozen already", frozen.display());
    Connection::open(home.path())
        .unwrap()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        .unwrap();
    fs::copy(home.path(), frozen).unwrap();
}
