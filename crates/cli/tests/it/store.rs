//! Commands on stored sessions.

use crate::place::Place;

/// A journal of two batches, as a person would write it.
const JOURNAL: &str = r#"{"turnkeep":1,"journal":"talk"}
{"seq":1,"time":"2026-01-01T00:00:00.000Z","events":[{"type":"session.opened","session":{"title":"A talk","tags":{"team":"red"}}}]}
{"seq":2,"time":"2026-01-01T00:00:01.000Z","events":[{"type":"turn.opened","turn":{"blocks":[{"author":"user","type":"text","text":"Where is the needle?"}]}}]}
"#;

fn stored() -> Place {
    let place = Place::new().with("talk.turnkeep.jsonl", JOURNAL);
    place.run("import talk.turnkeep.jsonl --store sqlite:s.db").ends(0);
    place
}

#[test]
fn the_same_file_twice_is_one_session() {
    let place = Place::new().with("talk.turnkeep.jsonl", JOURNAL);

    let first = place.run("import talk.turnkeep.jsonl --store sqlite:s.db").ends(0);
    let again = place.run("import talk.turnkeep.jsonl --store sqlite:s.db").ends(0);
    let listed = place.run("ls --store sqlite:s.db").ends(0);

    assert_eq!((first.out.as_str(), again.out.as_str()), ("imported talk\n", "known talk\n"));
    assert_eq!(listed.out.lines().count(), 2, "{}", listed.out);
    assert!(listed.out.contains("talk  A talk"), "{}", listed.out);
}

#[test]
fn a_journal_is_exported_as_it_was_imported() {
    let ran = stored().run("export talk --store sqlite:s.db").ends(0);

    assert_eq!(ran.out, JOURNAL);
}

#[test]
fn a_stored_session_is_shown_and_compared_by_its_id() {
    let place = stored();

    let shown = place.run("show talk --store sqlite:s.db").ends(0);
    let same = place.run("diff talk talk --store sqlite:s.db").ends(0);

    assert!(shown.out.contains("Where is the needle?"), "{}", shown.out);
    assert_eq!(same.out, "no differences\n");
    place.run("show nothing --store sqlite:s.db").ends(4);
}

#[test]
fn what_was_said_is_found() {
    let ran = stored().run("search needle --store sqlite:s.db --json").ends(0);

    assert!(ran.out.contains("\"seq\": 2"), "{}", ran.out);
    assert!(ran.out.contains("Where is the needle?"), "{}", ran.out);
}

#[test]
fn a_fork_outlives_its_parent_and_rm_says_so() {
    let place = stored();

    let forked = place.run("fork talk --at 1 --as child --store sqlite:s.db").ends(0);
    let removed = place.run("rm talk --store sqlite:s.db").ends(0);

    assert_eq!(forked.out, "child\n");
    assert_eq!(removed.out, "removed talk; forks still share its records up to 1\n");
    place.run("show talk --store sqlite:s.db").ends(4);
    place.run("fork child --at 7 --store sqlite:s.db").ends(4);
    place.run("fork child --as child --store sqlite:s.db").ends(5);
    place.run("verify --store sqlite:s.db").ends(0);
}

#[test]
fn moving_to_another_store_is_one_command() {
    let place = stored();
    place.run("fork talk --as child --store sqlite:s.db").ends(0);

    let copied = place.run("copy --store sqlite:s.db --to-store file:journals").ends(0);

    assert_eq!(copied.out, "copied 2 sessions, every digest compared\n");
    let original = place.run("verify talk --json --store sqlite:s.db").ends(0);
    let copy = place.run("verify talk --json --store file:journals").ends(0);
    assert_eq!(original.out, copy.out);
    place.run("search needle --store file:journals").ends(1).says("this store has no search");
}

#[test]
fn space_is_accounted_and_given_back() {
    let place = stored();

    let used = place.run("du --json --store sqlite:s.db").ends(0);
    let rehearsed = place.run("gc --keep-count 0 --dry-run --store sqlite:s.db").ends(0);
    place.run("show talk --store sqlite:s.db").ends(0);
    place.run("gc --keep-count 0 --store sqlite:s.db").ends(0);

    assert!(used.out.contains("\"session\": \"talk\""), "{}", used.out);
    assert!(rehearsed.out.starts_with("would remove talk\n"), "{}", rehearsed.out);
    place.run("show talk --store sqlite:s.db").ends(4);
}

#[test]
fn labels_are_set_listed_and_looked_for() {
    let place = stored();

    let set = place.run("tag talk team=blue urgent --title Renamed --store sqlite:s.db").ends(0);
    let again = place.run("tag talk team=blue urgent --store sqlite:s.db --json").ends(0);
    let found = place.run("ls --tag team=blue --tag urgent --title renam --store sqlite:s.db").ends(0);
    let none = place.run("ls --tag team=red --store sqlite:s.db").ends(0);
    let removed = place.run("tag talk -d urgent --store sqlite:s.db").ends(0);

    assert_eq!(set.out, "title Renamed\nteam=blue\nurgent=\n");
    assert!(again.out.contains("\"last\": 3"), "nothing changed, nothing is appended: {}", again.out);
    assert!(found.out.contains("talk  Renamed"), "{}", found.out);
    assert!(!none.out.contains("talk"), "{}", none.out);
    assert_eq!(removed.out, "title Renamed\nteam=blue\n");
    place.run("tag nothing x=y --store sqlite:s.db").ends(4);
    place.run("tag talk =y --store sqlite:s.db").ends(2);
}

#[test]
fn a_secret_is_erased_by_text_beginning_or_path() {
    let place = stored().with("secret.txt", "the needle\n");

    place.run("erase talk --text-from secret.txt --store sqlite:s.db").ends(0);
    let shown = place.run("show talk --store sqlite:s.db").ends(0);
    let word = place.run("erase talk --beginning Whe --store sqlite:s.db --json").ends(0);
    let path = place.run("erase talk --at turns[0].blocks[0].text --store sqlite:s.db").ends(0);

    assert!(shown.out.contains("Where is [erased]?"), "{}", shown.out);
    assert!(word.out.contains("\"records\": [\n    2\n  ]"), "{}", word.out);
    assert_eq!(path.out, "erased from 1 record\n");
    place.run("erase talk --text needle --store sqlite:s.db").ends(4);
    place.run("erase talk --store sqlite:s.db").ends(2);
    assert_eq!(place.run("search needle --store sqlite:s.db").ends(0).out, "0 hits\n");
    place.run("verify --store sqlite:s.db").ends(0);
}

#[test]
fn repair_says_what_it_saved() {
    let place = stored();
    place.run("copy --store sqlite:s.db --to-store file:journals").ends(0);
    let file = place.path("journals/talk.turnkeep.jsonl");
    let damaged = std::fs::read_to_string(&file).unwrap().replace("\"seq\":2", "\"seq\":5");
    std::fs::write(&file, damaged).unwrap();

    place.run("verify --store file:journals").ends(6);
    let repaired = place.run("verify --repair --store file:journals").ends(0);

    assert!(repaired.out.starts_with("talk: saved up to record 1; lost "), "{}", repaired.out);
    place.run("verify --store file:journals").ends(0);
}

#[test]
fn a_store_that_is_unknown_is_refused() {
    Place::new().run("ls --store ftp:x").ends(1).says("no store here has URLs that begin with `ftp:`");
}

#[test]
fn forks_of_forks_share_their_past_after_a_move_too() {
    let place = stored();
    place.run("fork talk --as long --store sqlite:s.db").ends(0);
    place.run("fork long --at 1 --as a-short-fork-of-a-fork --store sqlite:s.db").ends(0);

    place.run("copy --store sqlite:s.db --to-store sqlite:other.db").ends(0);

    let listed = |store: &str| place.run(&format!("ls --json --store {store}")).ends(0).out;
    assert_eq!(listed("sqlite:other.db"), listed("sqlite:s.db"));
}

#[cfg(not(feature = "postgres"))]
#[test]
fn a_store_that_is_not_built_in_names_its_feature_and_no_password() {
    let ran = Place::new().run("ls --store postgres://me:hunter2@host/db").ends(1);

    let ran = ran.says("no store here has URLs that begin with `postgres:`");
    assert!(ran.err.contains("help: build with the feature `postgres`"), "{}", ran.err);
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
}

#[cfg(feature = "postgres")]
#[test]
fn moving_to_postgres_is_one_command() {
    use turnkeep_testkit::Home;
    if let Some(reason) = Home::missing("postgres") {
        eprintln!("skipped: postgres ({reason})");
        return;
    }
    let (place, home) = (stored(), Home::new("postgres"));
    place.run("fork talk --as child --store sqlite:s.db").ends(0);
    place.run("fork child --at 1 --as grandchild --store sqlite:s.db").ends(0);
    let both = |words: &str| {
        let run = |store: &str| place.run(&format!("{words} --store {store}")).ends(0).out;
        (run("sqlite:s.db"), run(&home.url()))
    };

    let copied = place.run(&format!("copy --store sqlite:s.db --to-store {}", home.url())).ends(0);

    assert_eq!(copied.out, "copied 3 sessions, every digest compared\n");
    let looks = [
        "ls --json",
        "ls --tag team=red --json",
        "search needle --session child --json",
        "show grandchild",
        "export talk",
    ];
    for words in looks.into_iter().chain(["verify --json"]) {
        let (there, here) = both(words);
        assert_eq!(here, there, "{words}");
    }
    place.run(&format!("show nothing --store {}", home.url())).ends(4);
    place.run(&format!("du --json --store {}", home.url())).ends(0);
    place.run(&format!("rm talk --store {}", home.url())).ends(0);
    place.run(&format!("gc --store {}", home.url())).ends(0);
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_that_is_not_there_is_named_without_the_password() {
    let ran = Place::new().run("ls --store postgres://me:hunter2@127.0.0.1:1/db").ends(1);

    assert!(ran.err.contains("PostgreSQL") && !ran.err.contains("hunter2"), "{}", ran.err);
}

#[test]
fn looking_for_a_session_makes_no_store() {
    let place = Place::new().with("talk.turnkeep.jsonl", JOURNAL);
    let commands = [
        "resume talk",
        "tail talk",
        "approve talk c1",
        "deny talk c1",
        "resolve talk c1 --skip",
        "show talk --ledger",
        "fork talk",
        "rm talk",
        "tag talk a=b",
        "erase talk --text a-long-secret",
        "export talk --to turnkeep",
        "verify talk",
        "verify",
        "search needle",
        "du",
        "gc",
        "copy --to-store sqlite:other.db",
    ];
    for command in commands {
        for store in ["sqlite:none.db", "file:none", "sqlite://none.db?durability=process"] {
            let ran = place.run(&format!("{command} --store {store}")).ends(4);

            assert!(
                ran.err.contains("there is no store") && ran.err.contains("turnkeep import"),
                "{command}: {}",
                ran.err
            );
        }
    }
    assert_eq!(place.run("ls --store sqlite:none.db").ends(0).out.lines().count(), 1);
    assert_eq!(place.files("."), ["s.json", "talk.turnkeep.jsonl"]);
}

#[test]
fn a_session_that_is_not_there_is_told_with_what_to_type() {
    let place = stored();
    let commands = [
        "resume gone",
        "tail gone",
        "approve gone c1",
        "deny gone c1",
        "resolve gone c1 --skip",
        "show gone --ledger",
        "fork gone",
        "rm gone",
        "tag gone a=b",
        "erase gone --text a-long-secret",
        "export gone --to turnkeep",
        "verify gone",
    ];
    for command in commands {
        let ran = place.run(&format!("{command} --store sqlite:s.db")).ends(4);

        assert!(ran.err.contains("turnkeep ls"), "{command}: {}", ran.err);
    }
}

#[test]
fn a_file_has_no_ledger() {
    let ran = stored().run("show s.json --ledger --store sqlite:s.db").ends(2);

    assert!(ran.err.contains("a file has no ledger") && ran.err.contains("turnkeep import"), "{}", ran.err);
}

#[test]
fn a_title_names_no_file() {
    let named = |id: &str| {
        format!(
            r#"{{"turnkeep":1,"sessions":[{{"id":"{id}","title":"../../a/../same title\u0000?","turns":[{{"blocks":[{{"author":"user","type":"text","text":"hi"}}]}}]}}]}}"#
        )
    };
    let place = Place::new().with("one.json", named("one")).with("two.json", named("two"));
    place.run("import one.json two.json --store file:kept").ends(0);

    let kept: Vec<String> = place.files("kept").into_iter().filter(|name| !name.starts_with('.')).collect();
    assert_eq!(kept, ["one.turnkeep.jsonl", "two.turnkeep.jsonl"]);
    assert!(!place.files(".").iter().any(|name| name == "a" || name.contains("title")));
    let listed = place.run_words(&["ls", "--title", "same title", "--store", "file:kept"]).ends(0).out;
    assert!(["one ", "two "].iter().all(|id| listed.lines().any(|line| line.starts_with(id))), "{listed}");
}

#[test]
fn a_listing_ends_at_its_limit() {
    let session = |n: usize| {
        format!(r#"{{"id":"s{n:02}","turns":[{{"blocks":[{{"author":"user","type":"text","text":"hi"}}]}}]}}"#)
    };
    let sessions: Vec<String> = (0..52).map(session).collect();
    let place = Place::new().with("all.json", format!(r#"{{"turnkeep":1,"sessions":[{}]}}"#, sessions.join(",")));
    place.run("import all.json --store file:kept").ends(0);

    let listed = |limit: &str| {
        place.run(&format!("ls {limit} --json --store file:kept")).ends(0).out.matches(r#""id": "s"#).count()
    };
    assert_eq!([listed(""), listed("--limit 2"), listed("--limit 100")], [50, 2, 52]);
}
