//! Secrets that were erased, and all the places where they could still be.

use pollster::block_on;
use rusqlite::Connection;
use turnkeep_model::Seq;
use turnkeep_model::event::SessionChanged;
use turnkeep_store::{Store, StoreExt};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{batch, id, said};

const SECRET: &str = "sk-very-secret-value-0123456789";

fn count(home: &Home, query: &str) -> i64 {
    Connection::open(home.path()).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_secret_in_a_title_or_a_label_leaves_the_listing_too() {
    let home = Home::new("sqlite");
    let store = home.open();
    let changed = SessionChanged {
        title: Some(format!("about {SECRET}")),
        tags: Some(vec![("key".to_owned(), SECRET.to_owned())]),
        ..SessionChanged::default()
    };
    block_on(store.append(&id("s"), Seq::START, &batch(Seq::START, vec![changed.into()]))).unwrap();
    block_on(store.fork(&id("s"), Seq(1), &id("fork"))).unwrap();

    block_on(store.maintenance().unwrap().erase(&id("s"), None, SECRET)).unwrap();

    for session in ["s", "fork"] {
        let summary = block_on(store.summary(&id(session))).unwrap();
        assert_eq!(summary.title.as_deref(), Some("about [erased]"));
        assert_eq!(summary.tags, [("key".to_owned(), "[erased]".to_owned())]);
    }
}

/// Appends lines that share the secret until a dictionary was trained from them.
fn until_learned(store: &dyn Store, home: &Home) -> Seq {
    let mut at = Seq::START;
    let filler = "words that every line of this journal has in common with all the others ".repeat(20);
    for n in 0..100_000 {
        let line = format!("{n} {SECRET} {filler} {}", n * 7919);
        at = block_on(store.append(&id("s"), at, &said(at, &line))).unwrap();
        if n % 50 == 0 && count(home, "SELECT count(*) FROM dictionary") > 0 {
            return at;
        }
    }
    panic!("no dictionary was trained");
}

#[test]
fn a_secret_that_a_dictionary_learned_is_forgotten_with_it() {
    let home = Home::new("sqlite");
    let store = home.open();
    let last = until_learned(&*store, &home);
    // Some lines are compressed against what was learned.
    let last = block_on(store.append(&id("s"), last, &said(last, SECRET))).unwrap();
    let other = home.open();
    block_on(other.append(&id("other"), Seq::START, &said(Seq::START, "before"))).unwrap();

    block_on(store.maintenance().unwrap().erase(&id("s"), None, SECRET)).unwrap();

    assert_eq!(count(&home, "SELECT count(*) FROM dictionary WHERE raw > 0"), 0);
    assert_eq!(count(&home, "SELECT count(*) FROM batch WHERE dictionary <> 0"), 0);
    // Whoever has the dictionary in memory still writes what everybody can read.
    block_on(other.append(&id("other"), Seq(1), &said(Seq(1), "after"))).unwrap();
    block_on(store.append(&id("s"), last, &said(last, "on"))).unwrap();
    drop((store, other));
    let store = home.open();
    assert_eq!(block_on(store.load(&id("other"))).unwrap().session.logs, ["before", "after"]);
    assert_eq!(block_on(store.verify(&id("s"))).unwrap().findings, []);
}

#[test]
fn an_erasure_that_others_keep_from_the_files_is_told_and_done_when_they_are_gone() {
    let home = Home::new("sqlite");
    let store = home.open();
    let titled = SessionChanged { title: Some(SECRET.to_owned()), ..SessionChanged::default() };
    block_on(store.append(&id("s"), Seq::START, &batch(Seq::START, vec![titled.into()]))).unwrap();
    let holds = || {
        let files = std::fs::read_dir(home.folder()).unwrap().map(|entry| entry.unwrap().path());
        let bytes = files.map(|file| std::fs::read(file).unwrap());
        bytes.into_iter().any(|bytes| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()))
    };
    let reader = Connection::open(home.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM batch;").unwrap();
    assert!(holds(), "it could be seen");

    let refused = block_on(store.maintenance().unwrap().erase(&id("s"), None, SECRET)).unwrap_err();
    assert!(holds(), "the reader still sees it");
    reader.execute_batch("COMMIT").unwrap();
    let again = block_on(store.maintenance().unwrap().erase(&id("s"), None, SECRET)).unwrap();

    assert_eq!((refused.kind(), refused.remedy().is_some()), (turnkeep_store::ErrorKind::Unavailable, true));
    assert_eq!(again.records, []);
    assert!(!holds());
    assert_eq!(block_on(store.load(&id("s"))).unwrap().session.title.as_deref(), Some("[erased]"));
}
