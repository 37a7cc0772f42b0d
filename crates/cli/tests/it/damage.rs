//! Stores that have lost something: every command says so, until a person has dealt with it.

use std::fs;
use std::path::PathBuf;

use pollster::block_on;
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, talk};

use crate::place::{Place, Ran};

/// Commands that do their work on a store whose last commits are lost.
const COMMANDS: [&str; 5] = ["ls", "ls --json", "du", "gc", "search question"];

/// A place whose store `s.db` was left by a process that was killed, with a changed bit in the middle of its log.
fn with_a_damaged_log() -> Place {
    let home = Home::new("sqlite");
    let store = home.open();
    block_on(talk(&*store, &id("s"), 3));
    let mut log = fs::read(PathBuf::from(format!("{}-wal", home.path().display()))).unwrap();
    let middle = log.len() / 2;
    *log.get_mut(middle).unwrap() ^= 4;
    Place::new().with("s.db", fs::read(home.path()).unwrap()).with("s.db-wal", log)
}

fn on(place: &Place, words: &str) -> Ran {
    place.run(&format!("{words} --store sqlite:s.db"))
}

fn copies(place: &Place, mark: &str) -> usize {
    place.files(".").iter().filter(|name| name.starts_with(&format!("s.db.{mark}-")) && name.ends_with("-wal")).count()
}

#[test]
fn every_command_on_a_store_with_a_damaged_log_ends_with_6() {
    let place = with_a_damaged_log();
    for words in COMMANDS {
        let ran = on(&place, words).ends(6);

        let warned = ran.err.matches("warning: the log of the store was damaged").count();
        assert!(warned == 1 && ran.err.contains("verify --clear"), "{words}: {}", ran.err);
    }
    assert_eq!(copies(&place, "damaged"), 1);
}

#[test]
fn verify_says_that_a_log_was_damaged_until_that_is_cleared() {
    let place = with_a_damaged_log();
    for _ in 0..3 {
        let ran = on(&place, "verify").ends(6);
        assert!(ran.out.contains("the log was damaged") && ran.out.contains("s.db.damaged-"), "{}", ran.out);
    }

    let cleared = on(&place, "verify --clear").ends(0);

    assert!(cleared.out.contains("s.db.cleared-") && cleared.out.ends_with("cleared 1 finding\n"), "{}", cleared.out);
    let sound = on(&place, "verify").ends(0);
    assert!(sound.out.starts_with("sound: ") && sound.err.is_empty(), "{sound:?}");
    assert_eq!((copies(&place, "damaged"), copies(&place, "cleared")), (0, 1));
    assert_eq!(on(&place, "verify --clear").ends(0).out, "cleared 0 findings\n");
}

#[test]
fn a_repair_clears_what_no_repair_brings_back_and_says_so() {
    let place = with_a_damaged_log();

    let repaired = on(&place, "verify --repair --json").ends(0);

    assert!(repaired.out.contains("\"cleared\": [") && repaired.out.contains("s.db.cleared-"), "{}", repaired.out);
    on(&place, "verify").ends(0);
}

#[test]
fn a_log_without_its_database_is_refused_with_6_and_kept() {
    let place = with_a_damaged_log().with("s.db", "");
    let log = fs::read(place.path("s.db-wal")).unwrap();
    for missing in [false, true] {
        if missing {
            fs::remove_file(place.path("s.db")).unwrap();
        }
        for words in
            ["ls", "ls --json", "show s", "search x", "verify", "du", "gc", "export s", "rm s", "import s.json"]
        {
            let ran = on(&place, words).ends(6);
            let told = ran.err.contains("the database is empty") && ran.err.contains("help: restore");
            assert!(told, "{words}: {}", ran.err);
        }
        assert_eq!(fs::read(place.path("s.db-wal")).unwrap(), log);
    }
}

#[test]
fn a_fork_whose_parent_is_missing_is_found() {
    let place = Place::new();
    place.run("import s.json --store file:s").ends(0);
    place.run("fork s1 --as fork --store file:s").ends(0);
    place.run("verify --store file:s").ends(0);
    fs::remove_file(place.path("s/s1.turnkeep.jsonl")).unwrap();

    for words in ["verify", "verify fork"] {
        let ran = place.run(&format!("{words} --store file:s")).ends(6);
        assert!(ran.out.contains("s1.turnkeep.jsonl, is missing"), "{words}: {ran:?}");
    }
    place.run("show fork --store file:s").ends(6);
}

#[cfg(unix)]
#[test]
fn what_is_not_a_file_is_refused_at_once() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.unwrap().success());
    for words in ["ls", "verify", "import s.json"] {
        let ran = place.run(&format!("{words} --store sqlite:pipe")).ends(1);
        assert!(ran.err.contains("named pipe") && ran.err.contains("help: "), "{words}: {}", ran.err);
    }
}

#[test]
fn a_store_is_not_imported_into_itself() {
    let place = Place::new();
    place.run("import s.json --store sqlite:s.db").ends(0);

    let ran = place.run("import s.db ./s.db --store sqlite:s.db").ends(2);

    assert!(ran.err.contains("the store itself"), "{}", ran.err);
}
