//! Stores that hold every kind of line, as an earlier build left them: lines of ours, lines of others with a borrowed
//! checksum, a large body, an erased record, forks, and the past of a deleted session.
//!
//! The versions of [`folder`](crate::folder) and `sqlite` freeze each schema; this freezes what rows and lines may hold. Digests
//! are over the lines as they were appended, so every store must give the same ones.

use std::fs;
use std::path::{Path, PathBuf};

use pollster::block_on;
use turnkeep_model::event::BlockAdded;
use turnkeep_model::{Author, Batch, Block, Seq};
use turnkeep_store::{Query, Sort, Store, StoreExt};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{batch, id, said, talk};

/// A line of another program: its own spacing, and no checksum.
const FOREIGN: &str = r#"{ "seq": 1, "time": "2026-01-01T00:00:00Z", "events": [{"type": "log.added", "line": "a"}] }"#;

/// The sessions of a frozen store: the last record, the beginning of the digest, and the title.
const SESSIONS: [(&str, u64, &str, Option<&str>); 6] = [
    ("erased", 7, "062c0679726c8c0e", Some("erased")),
    ("foreign", 2, "4959be3c750e26d5", None),
    ("fork", 8, "8b50682df196ee91", Some("kept")),
    ("kept", 20, "fd4e6868cf3e54b6", Some("kept")),
    ("of-fork", 9, "a0c497d54ccfa61e", Some("kept")),
    ("orphan", 7, "45c4fa69eaafe9d6", Some("gone")),
];

/// The drivers whose stores are frozen, and where.
fn frozen() -> Vec<(&'static str, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/store");
    let mut stores = vec![("file", root.join("file-v1-lines"))];
    if cfg!(feature = "sqlite") {
        stores.push(("sqlite", root.join("v3-lines.db")));
    }
    stores
}

/// Copies a store: a file, or a folder of files.
fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        if !file.ends_with(".lock") {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
}

fn thawed(scheme: &str, frozen: &Path) -> Home {
    let home = Home::new(scheme);
    copy(frozen, &home.path());
    home
}

#[test]
fn every_kind_of_line_is_read_as_it_was_appended() {
    for (scheme, frozen) in frozen() {
        let home = thawed(scheme, &frozen);
        let store = home.open();

        let listed = block_on(store.list(&Query { sort: Sort::Id, ..Query::default() })).unwrap().sessions;
        let verified = listed.iter().map(|listed| block_on(store.verify(&listed.id)).unwrap());
        let digests: Vec<String> = verified.map(|verified| verified.digest.chars().take(16).collect()).collect();

        let rows = listed.iter().zip(&digests);
        let found: Vec<(&str, u64, &str, Option<&str>)> = rows
            .map(|(listed, digest)| (listed.id.as_str(), listed.last.0, digest.as_str(), listed.title.as_deref()))
            .collect();
        assert_eq!(found, SESSIONS, "{scheme}");
    }
}

#[test]
fn nothing_is_wrong_with_a_store_of_an_earlier_build() {
    for (scheme, frozen) in frozen() {
        let home = thawed(scheme, &frozen);
        let store = home.open();

        assert_eq!(block_on(store.repair().unwrap().check(None)).unwrap(), [], "{scheme}");
        for (name, ..) in SESSIONS {
            assert_eq!(block_on(store.verify(&id(name))).unwrap().findings, [], "{name} in {scheme}");
        }
    }
}

#[test]
fn sessions_of_an_earlier_build_go_on() {
    for (scheme, frozen) in frozen() {
        let home = thawed(scheme, &frozen);
        let store = home.open();
        for (name, last, ..) in SESSIONS {
            let (name, at) = (id(name), Seq(last));

            block_on(store.append(&name, at, &said(at, "on"))).unwrap();

            assert_eq!(block_on(store.verify(&name)).unwrap().findings, [], "{name} in {scheme}");
        }
    }
}

/// Appends every kind of line.
fn write(store: &dyn Store) {
    for (name, turns) in [("kept", 3), ("gone", 2), ("erased", 1)] {
        block_on(talk(store, &id(name), turns));
    }
    let large = Block::text(Author::Assistant, "0123456789 ".repeat(2_000));
    let large = batch(Seq(19), vec![BlockAdded { turn: 0, block: large }.into()]);
    block_on(store.append(&id("kept"), Seq(19), &large)).unwrap();
    for (parent, at, child) in [("kept", 7, "fork"), ("gone", 7, "orphan")] {
        block_on(store.fork(&id(parent), Seq(at), &id(child))).unwrap();
    }
    block_on(store.append(&id("fork"), Seq(7), &said(Seq(7), "on"))).unwrap();
    block_on(store.fork(&id("fork"), Seq(8), &id("of-fork"))).unwrap();
    block_on(store.append(&id("of-fork"), Seq(8), &said(Seq(8), "further"))).unwrap();
    block_on(store.delete(&id("gone"))).unwrap();
    block_on(store.append(&id("foreign"), Seq::START, &Batch::from_line(FOREIGN).unwrap().0)).unwrap();
    block_on(store.append(&id("foreign"), Seq(1), &said(Seq(1), "ours"))).unwrap();
    let erased = block_on(store.maintenance().unwrap().erase(&id("erased"), None, "question")).unwrap();
    assert_eq!(erased.records, [Seq(3)]);
}

#[test]
#[ignore = "run once for every change to what rows and lines may hold; frozen files are never written again"]
fn freezes_every_kind_of_line() {
    for (scheme, frozen) in frozen() {
        if frozen.exists() {
            continue;
        }
        let home = Home::new(scheme);
        let store = home.open();
        write(&*store);
        if let Some(search) = store.search() {
            // With its index.
            block_on(search.catch_up(&mut |_| {})).unwrap();
        }
        drop(store);
        copy(&home.path(), &frozen);
    }
}
