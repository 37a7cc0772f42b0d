//! What a repair saves and makes anew, alike in every store.

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_store::{Query, Sort, Store, StoreExt, Summary};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, said, talk};

fn listed(store: &dyn Store) -> Vec<Summary> {
    block_on(store.list(&Query { sort: Sort::Id, ..Query::default() })).unwrap().sessions
}

/// What is wrong with the store, in all.
fn complaints(store: &dyn Store) -> usize {
    let sessions = listed(store).into_iter().map(|summary| block_on(store.verify(&summary.id)).unwrap().findings.len());
    sessions.sum::<usize>() + block_on(store.repair().unwrap().check(None)).unwrap().len()
}

/// A session with forks before and after a place, and a fork of a fork.
fn family(store: &dyn Store) {
    block_on(async {
        talk(store, &id("s"), 3).await;
        for (parent, at, child) in [("s", Seq(5), "early"), ("s", Seq(13), "fork")] {
            store.fork(&id(parent), at, &id(child)).await.unwrap();
            store.append(&id(child), at, &said(at, "on")).await.unwrap();
        }
        store.fork(&id("fork"), Seq(14), &id("of-fork")).await.unwrap();
    });
}

/// Damages the batch that begins at record 8, and repairs.
fn forks_end_where_their_past_does(home: &Home, damage: impl Fn()) {
    let store = home.open();
    family(&*store);
    drop(store);
    damage();
    let store = home.open();
    assert!(complaints(&*store) > 0);

    let mut repaired = block_on(store.repair().unwrap().repair()).unwrap();

    repaired.sort_by(|a, b| a.session.cmp(&b.session));
    let lost = repaired.iter().filter(|repaired| repaired.lost.is_some());
    let lost: Vec<_> = lost.map(|repaired| (repaired.session.as_str(), repaired.last)).collect();
    assert_eq!(lost, [("fork", Seq(7)), ("of-fork", Seq(7)), ("s", Seq(7))]);
    assert_eq!(complaints(&*store), 0);
    let ends: Vec<_> = listed(&*store).into_iter().map(|summary| (summary.id.to_string(), summary.last)).collect();
    for (name, last) in ends {
        block_on(store.append(&id(&name), last, &said(last, "more"))).unwrap();
    }
    assert_eq!(complaints(&*store), 0);
}

#[test]
fn forks_of_a_damaged_file_end_where_their_past_does() {
    let home = Home::new("file");
    forks_end_where_their_past_does(&home, || {
        let file = home.path().join("s.turnkeep.jsonl");
        let damaged = std::fs::read_to_string(&file).unwrap().replace("{\"seq\":8,", "{\"seq\":9,");
        std::fs::write(file, damaged).unwrap();
    });
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::*;

    fn execute(home: &Home, statements: &str) {
        rusqlite::Connection::open(home.path()).unwrap().execute_batch(statements).unwrap();
    }

    #[test]
    fn forks_of_a_damaged_session_end_where_their_past_does() {
        let home = Home::new("sqlite");
        let damage = "UPDATE batch SET data = zeroblob(length(data)) WHERE at & 4294967295 = 8";
        forks_end_where_their_past_does(&home, || execute(&home, damage));
    }

    #[test]
    fn a_damaged_row_is_found_and_what_comes_before_it_is_saved() {
        let home = Home::new("sqlite");
        let damage = "UPDATE batch SET data = zeroblob(length(data)) WHERE at & 4294967295 = 8";
        what_comes_before_is_saved(&home, || execute(&home, damage));
    }

    #[test]
    fn where_the_past_of_a_deleted_session_ends_is_guarded() {
        let home = Home::new("sqlite");
        pasts_of_the_deleted_are_guarded(&home, |statement| execute(&home, statement));
    }

    #[test]
    fn what_is_derived_is_found_to_be_wrong_and_made_anew() {
        let home = Home::new("sqlite");
        made_anew(&home, |statement| execute(&home, statement));
        let damage = "UPDATE tag SET value = value || 'x'";
        is_made_anew(&home, || execute(&home, damage), "labels");
    }
}

#[cfg(all(unix, feature = "postgres"))]
mod postgres {
    use super::*;
    use crate::postgres::{home, psql};

    #[test]
    fn forks_of_a_damaged_session_end_where_their_past_does() {
        let Some(home) = home() else { return };
        let damage = "UPDATE batch SET data = set_byte(data, length(data) / 2, 7) WHERE first = 8";
        forks_end_where_their_past_does(&home, || drop(psql(&home, damage)));
    }

    #[test]
    fn a_damaged_row_is_found_and_what_comes_before_it_is_saved() {
        let Some(home) = home() else { return };
        let damage = "UPDATE batch SET data = overlay(data placing '\\x0000000000000000' from 1) WHERE first = 8";
        what_comes_before_is_saved(&home, || drop(psql(&home, damage)));
    }

    #[test]
    fn where_the_past_of_a_deleted_session_ends_is_guarded() {
        let Some(home) = home() else { return };
        pasts_of_the_deleted_are_guarded(&home, |statement| drop(psql(&home, statement)));
    }

    #[test]
    fn what_is_derived_is_found_to_be_wrong_and_made_anew() {
        let Some(home) = home() else { return };
        made_anew(&home, |statement| drop(psql(&home, statement)));
        let damage =
            "UPDATE session SET tag_values = array_append(tag_values, 'x'), tag_keys = array_append(tag_keys, 'x')";
        is_made_anew(&home, || drop(psql(&home, damage)), "labels");
    }
}

/// Damages the batch that begins at record 8 while the store is open: it is found there, and what comes before is saved.
#[cfg(any(feature = "sqlite", all(unix, feature = "postgres")))]
fn what_comes_before_is_saved(home: &Home, damage: impl Fn()) {
    let store = home.open();
    block_on(talk(&*store, &id("s"), 3));
    damage();

    let verified = block_on(store.verify(&id("s"))).unwrap();
    let repaired = block_on(store.repair().unwrap().repair()).unwrap();

    assert!(
        matches!(verified.findings[..], [turnkeep_store::Finding::Damaged { seq: Some(Seq(8)), .. }]),
        "{verified:?}"
    );
    assert_eq!(repaired.iter().map(|repaired| repaired.last).collect::<Vec<_>>(), [Seq(7)]);
    assert_eq!(block_on(store.verify(&id("s"))).unwrap().findings, []);
    assert_eq!(block_on(store.load(&id("s"))).unwrap().session.turns.len(), 1);
    block_on(store.append(&id("s"), Seq(7), &said(Seq(7), "on"))).unwrap();
    assert_eq!(block_on(store.load_window(&id("s"), 1)).unwrap().head.session.logs, ["on"]);
}

/// Changes that harm only what is derived, and what a repair says of them.
#[cfg(any(feature = "sqlite", all(unix, feature = "postgres")))]
const CHANGES: [(&str, &str); 9] = [
    ("UPDATE session SET title = 'x'", "the title in the listing"),
    ("UPDATE session SET status = 'x'", "the status in the listing"),
    ("UPDATE session SET created = created + 1", "the time of creation in the listing"),
    ("UPDATE session SET updated = updated - 1", "the time of change in the listing"),
    ("UPDATE session SET bytes = bytes + 1, turns = turns + 1", "the number of turns, size in the listing"),
    ("UPDATE session SET blocks = blocks + 1", "the number of blocks in the listing"),
    ("UPDATE batch SET turns_before = turns_before + 1, bytes = bytes + 1", "the counts of "),
    ("UPDATE session SET origin = 'x' WHERE origin IS NOT NULL", "the name of its parent"),
    ("UPDATE session SET last = last - 1 WHERE past IS NULL", "its end"),
];

#[cfg(any(feature = "sqlite", all(unix, feature = "postgres")))]
fn made_anew(home: &Home, change: impl Fn(&str)) {
    let store = home.open();
    family(&*store);
    drop(store);
    for (statement, said) in CHANGES {
        is_made_anew(home, || change(statement), said);
    }
}

/// A deleted session still tells its forks where its own past ends.
#[cfg(any(feature = "sqlite", all(unix, feature = "postgres")))]
fn pasts_of_the_deleted_are_guarded(home: &Home, change: impl Fn(&str)) {
    let store = home.open();
    family(&*store);
    block_on(store.delete(&id("fork"))).unwrap();
    let before = (listed(&*store), block_on(store.load(&id("of-fork"))).unwrap());
    drop(store);
    for until in [5, 7, 14, 45] {
        change(&format!("UPDATE session SET until = {until} WHERE id IS NULL"));
        let store = home.open();
        assert!(complaints(&*store) > 0, "{until}");

        block_on(store.repair().unwrap().repair()).unwrap();

        assert_eq!((listed(&*store), block_on(store.load(&id("of-fork"))).unwrap()), before, "{until}");
        assert_eq!(complaints(&*store), 0, "{until}");
    }
}

/// Changes something, and repairs: the store says what was wrong, and is as it was.
#[cfg(any(feature = "sqlite", all(unix, feature = "postgres")))]
fn is_made_anew(home: &Home, change: impl Fn(), said: &str) {
    let before = listed(&*home.open());
    change();
    let store = home.open();
    assert!(complaints(&*store) > 0, "{said}");

    let repaired = block_on(store.repair().unwrap().repair()).unwrap();

    let anew: Vec<&String> = repaired.iter().flat_map(|repaired| &repaired.anew).collect();
    assert!(anew.iter().any(|what| what.contains(said)), "{said}: {anew:?}");
    assert!(repaired.iter().all(|repaired| repaired.lost.is_none()), "{said}: {repaired:?}");
    assert_eq!((listed(&*store), complaints(&*store)), (before, 0), "{said}");
}
