//! Commands on several sessions, on several stores, and on stores that are not as they should be.

use std::process::Stdio;

use turnkeep_model::Json;
use turnkeep_model::json::{Node, parse};
#[cfg(feature = "postgres")]
use turnkeep_testkit::Home;

use crate::place::{Place, Ran};

/// A journal that logs these lines, one a batch.
fn journal(id: &str, lines: &[&str]) -> String {
    let mut text = format!("{{\"turnkeep\":1,\"journal\":\"{id}\"}}\n");
    for (line, seq) in lines.iter().zip(1..) {
        text += &format!("{{\"seq\":{seq},\"events\":[{{\"type\":\"log.added\",\"line\":\"{line}\"}}]}}\n");
    }
    text
}

fn three() -> Place {
    ["a", "b", "c"]
        .iter()
        .fold(Place::new(), |place, name| place.with(&format!("{name}.jsonl"), journal(name, &["1", "2"])))
}

/// What a command printed, as JSON.
fn json(ran: &Ran) -> Json {
    let parsed = parse(&ran.out);
    assert!(parsed.is_ok(), "{ran:#?}");
    parsed.map(Node::into_json).unwrap()
}

/// The texts under a key of every object in a list.
fn texts(json: &Json, list: &str, key: &str) -> Vec<String> {
    let items = json.as_object().and_then(|object| object.get(list)).and_then(Json::as_array).unwrap();
    items.iter().map(|item| item.as_object().unwrap().get_str(key).unwrap().into_owned()).collect()
}

fn ids(place: &Place, store: &str) -> Vec<String> {
    texts(&json(&place.run(&format!("ls --sort id --json --store {store}")).ends(0)), "sessions", "id")
}

#[test]
fn a_copy_meets_another_history_leaves_it_alone_and_copies_the_others() {
    for to in ["sqlite:to.db", "file:to"] {
        let place = three().with("other.jsonl", journal("b", &["another"]));
        place.run("import a.jsonl b.jsonl c.jsonl --store sqlite:s.db").ends(0);
        place.run(&format!("import other.jsonl --store {to}")).ends(0);

        let ran = place.run(&format!("copy --json --store sqlite:s.db --to-store {to}")).ends(5);

        assert_eq!(texts(&json(&ran), "copied", "session"), ["a", "c"]);
        assert_eq!(texts(&json(&ran), "failed", "session"), ["b"]);
        assert!(ran.err.contains("another session has this id there") && ran.err.contains("help: "), "{}", ran.err);
        let kept = place.run(&format!("export b --store {to}")).ends(0);
        assert_eq!(kept.out, journal("b", &["another"]));
    }
}

#[test]
fn a_copy_is_repeated_and_goes_on() {
    let place = three().with("more.jsonl", journal("a", &["1", "2", "3"]));
    place.run("import a.jsonl b.jsonl c.jsonl --store sqlite:s.db").ends(0);
    place.run("copy --store sqlite:s.db --to-store file:to").ends(0);
    place.run("import more.jsonl --store sqlite:s.db").ends(0);

    let again = place.run("copy --store sqlite:s.db --to-store file:to").ends(0);
    let back = place.run("copy --store file:to --to-store sqlite:s.db").ends(0);

    assert_eq!(again.out, "copied 3 sessions, every digest compared\n");
    assert_eq!(back.out, again.out);
    let verified = |store: &str| place.run(&format!("verify --json --store {store}")).ends(0).out;
    assert_eq!(verified("file:to"), verified("sqlite:s.db"));
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_the_others_out() {
    let place = three().with("b.jsonl", "no session at all");

    let ran = place.run("import a.jsonl b.jsonl missing.jsonl c.jsonl --json --store sqlite:s.db").ends(6);

    assert_eq!(texts(&json(&ran), "imported", "session"), ["a", "c"]);
    assert_eq!(texts(&json(&ran), "failed", "file"), ["b.jsonl", "missing.jsonl"]);
    assert_eq!(ids(&place, "sqlite:s.db"), ["a", "c"]);
}

#[test]
fn a_session_that_is_not_there_does_not_keep_the_others() {
    let place = three();
    place.run("import a.jsonl b.jsonl c.jsonl --store file:s").ends(0);

    let ran = place.run("rm a nothing c --store file:s").ends(4);

    assert_eq!(ran.out, "removed a\nremoved c\n");
    assert_eq!(ids(&place, "file:s"), ["b"]);
}

/// Runs a command whose output nobody reads.
fn unread(place: &Place, words: &str) -> i32 {
    let mut child = place.command(words).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait().unwrap().code().unwrap()
}

#[test]
fn work_is_done_though_nobody_reads_of_it() {
    let place = three();

    assert_eq!(unread(&place, "import a.jsonl b.jsonl c.jsonl --store sqlite:s.db"), 0);
    assert_eq!(ids(&place, "sqlite:s.db"), ["a", "b", "c"]);
    assert_eq!(unread(&place, "rm a b --store sqlite:s.db"), 0);
    assert_eq!(ids(&place, "sqlite:s.db"), ["c"]);
}

#[test]
fn a_store_that_is_damaged_or_newer_is_told_where_a_session_was_asked_for() {
    let place = three().with("damaged.db", vec![b'x'; 8192]);
    for words in ["show a", "show a --json", "diff a a", "export a", "tag a", "tail a", "ls"] {
        let ran = place.run(&format!("{words} --store sqlite:damaged.db")).ends(6);

        assert!(ran.err.starts_with("error: damaged.db: "), "{words}: {}", ran.err);
        assert!(
            ran.err.contains("\n  help: name the file of a store, or restore it from a copy"),
            "{words}: {}",
            ran.err
        );
    }
}

#[test]
fn a_place_where_no_store_can_be_is_told_with_a_remedy() {
    let place = three().with("taken", "a file");
    for store in ["file:taken", "file:taken/inside", "sqlite:taken/inside.db"] {
        let ran = place.run(&format!("import a.jsonl --store {store}")).ends(1);

        assert!(ran.err.contains("cannot make the folder of the store") && ran.err.contains("help: "), "{}", ran.err);
    }
}

#[test]
fn what_would_be_gone_with_the_command_is_refused() {
    let place = three();
    place.run("import a.jsonl --store sqlite:s.db").ends(0);

    place.run("import a.jsonl --store memory:").ends(2).says("this store ends with the command");
    place.run("copy --store sqlite:s.db --to-store memory:").ends(2).says("this store ends with the command");
    for same in ["sqlite:s.db", "sqlite:./s.db", "sqlite://s.db?durability=process"] {
        place.run(&format!("copy --store sqlite:s.db --to-store {same}")).ends(2).says("both are the same store");
    }
}

#[test]
fn a_copy_of_what_is_not_there_makes_no_store() {
    let place = three();
    place.run("import a.jsonl --store sqlite:s.db").ends(0);

    place.run("copy a nothing --store sqlite:s.db --to-store file:to").ends(4);

    assert!(!place.path("to").exists());
}

#[test]
fn a_folder_hides_no_session_of_its_name() {
    let place = three().with("a/inside.txt", "");
    place.run("import a.jsonl --store sqlite:s.db").ends(0);

    let shown = place.run("show a --store sqlite:s.db").ends(0);

    assert!(shown.out.contains("session a"), "{}", shown.out);
}

#[test]
fn a_journal_without_records_is_no_session() {
    let place = Place::new().with("empty.jsonl", journal("empty", &[]));
    for store in ["sqlite:s.db", "file:s"] {
        place.run(&format!("import empty.jsonl --store {store}")).ends(1).says("the journal has no record");
        assert_eq!(ids(&place, store), [""; 0]);
    }
}

#[test]
fn a_session_with_the_longest_id_is_imported_again_and_forked() {
    let long = "x".repeat(1024);
    let place = three().with("long.jsonl", journal(&long, &["1"])).with("other.jsonl", journal(&long, &["2"]));
    place.run("import long.jsonl --store sqlite:s.db").ends(0);

    let other = place.run("import other.jsonl --store sqlite:s.db").ends(0);
    let forked = place.run(&format!("fork {long} --store sqlite:s.db")).ends(0);

    assert!(other.out.starts_with("imported import-"), "{}", other.out);
    assert!(forked.out.starts_with("xxx") && forked.out.ends_with("-fork-1\n"), "{}", forked.out);
}

#[test]
fn a_word_that_names_nothing_is_told_as_such() {
    let place = three();
    place.run("import a.jsonl --store sqlite:s.db").ends(0);

    for words in ["show nothing", "diff a nothing"] {
        let ran = place.run(&format!("{words} --store sqlite:s.db")).ends(4);
        let ran = ran.says("nothing: is neither a file nor a stored session");
        assert!(ran.err.contains("turnkeep ls"), "{}", ran.err);
    }
    place.run("erase a --text a-long-secret --store sqlite:s.db").ends(4).says("session `a`: nothing like that");
}

#[test]
fn a_listing_breaks_no_time() {
    let long = "a-rather-long-identifier-0123456789".repeat(2);
    let place = Place::new().with("long.jsonl", journal(&long, &["1"]));
    place.run("import long.jsonl --store sqlite:s.db").ends(0);

    let listed = place.run("ls --store sqlite:s.db").ends(0).out;

    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.trim_end().ends_with('Z'), "{listed}");
}

#[test]
fn sessions_that_go_meanwhile_disturb_nobody() {
    let names: Vec<String> = (0..30).map(|n| format!("s{n:02}.jsonl")).collect();
    let place = names.iter().fold(Place::new(), |place, name| place.with(name, journal(name, &["1", "2"])));
    place.run(&format!("import {} --store sqlite:s.db", names.join(" "))).ends(0);

    std::thread::scope(|scope| {
        let removing = scope.spawn(|| {
            for name in &names {
                place.run(&format!("rm {name} --store sqlite:s.db")).ends(0);
            }
        });
        while !removing.is_finished() {
            place.run("verify --store sqlite:s.db").ends(0);
            place.run("copy --store sqlite:s.db --to-store file:to").ends(0);
        }
    });
}

/// Every command on stored sessions, on a store with a session `a`, a fork of it, and a session `b`.
const COMMANDS: &[&str] = &[
    "ls",
    "show a",
    "diff a b",
    "fork a --as a3",
    "verify",
    "verify a",
    "verify --repair",
    "du",
    "gc --keep-count 10",
    "gc --keep-count 1 --dry-run",
    "tag a team=red",
    "tag a",
    "erase a --text 1",
    "import a.jsonl missing.jsonl",
    "copy --to-store file:json",
    "rm a nothing",
];

fn every_command_prints_json(store: &str) {
    let place = three();
    place.run(&format!("import a.jsonl b.jsonl --store {store}")).ends(0);
    place.run(&format!("fork a --as a2 --store {store}")).ends(0);
    for words in COMMANDS {
        let ran = place.run(&format!("{words} --json --store {store}"));
        assert!([0, 1, 4].contains(&ran.code), "{words}: {ran:#?}");
        json(&ran);
    }
    for line in place.run(&format!("tail b --json --store {store}")).ends(0).out.lines() {
        assert!(parse(line).is_ok(), "{line}");
    }
}

#[test]
fn every_command_prints_json_of_files() {
    every_command_prints_json("file:s");
}

#[test]
fn every_command_prints_json_of_sqlite() {
    every_command_prints_json("sqlite:s.db");
}

#[cfg(feature = "postgres")]
#[test]
fn every_command_prints_json_of_postgres() {
    match Home::missing("postgres") {
        Some(reason) => eprintln!("skipped: postgres ({reason})"),
        None => every_command_prints_json(&Home::new("postgres").url()),
    }
}

#[test]
fn an_account_is_kept_of_every_store() {
    let place = three();
    for store in ["sqlite:s.db", "file:s"] {
        place.run(&format!("import a.jsonl b.jsonl --store {store}")).ends(0);
        place.run(&format!("fork a --as fork --store {store}")).ends(0);

        let usage = json(&place.run(&format!("du --json --store {store}")).ends(0));

        let object = usage.as_object().unwrap();
        for key in ["raw", "journals", "search", "total", "amplification"] {
            assert!(object.get(key).is_some_and(|value| value.as_number().is_some()), "{store}: {key}");
        }
        assert_eq!(texts(&usage, "sessions", "session").len(), 3, "{store}");
        place.run(&format!("du --store {store}")).ends(0);
    }
}

/// Interrupts a copy as soon as something of it is there.
#[cfg(unix)]
fn interrupted(place: &Place, words: &str, folder: &str) {
    let child = place.command(words).stdin(Stdio::null()).spawn().unwrap();
    let journals = || place.path(folder).exists() && place.files(folder).iter().any(|name| name.ends_with(".jsonl"));
    while !journals() {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    std::process::Command::new("sh").args(["-c", &format!("kill -INT {pid}")]).status().unwrap();
    child.wait_with_output().unwrap();
}

#[cfg(unix)]
#[test]
fn a_copy_that_was_interrupted_goes_on() {
    let line = "words ".repeat(200);
    let lines: Vec<&str> = (0..20).map(|_| line.as_str()).collect();
    let names: Vec<String> = (0..40).map(|n| format!("s{n:02}.jsonl")).collect();
    let place = names.iter().fold(Place::new(), |place, name| place.with(name, journal(name, &lines)));
    place.run(&format!("import {} --store sqlite:s.db?durability=process", names.join(" "))).ends(0);
    place.run("fork s00.jsonl --at 5 --as fork --store sqlite:s.db").ends(0);

    for _ in 0..3 {
        interrupted(&place, "copy --store sqlite:s.db --to-store file:to", "to");
    }
    place.run("copy --store sqlite:s.db --to-store file:to").ends(0);

    let verified = |store: &str| place.run(&format!("verify --json --store {store}")).ends(0).out;
    assert_eq!(verified("file:to"), verified("sqlite:s.db"));
    let origin = |store: &str| place.run(&format!("ls --parent s00.jsonl --store {store}")).ends(0).out.lines().count();
    assert_eq!((origin("file:to"), origin("sqlite:s.db")), (2, 2));
}

#[test]
fn what_a_store_cuts_off_is_told_by_whatever_command_meets_it() {
    let place = three();
    place.run("import a.jsonl --store file:s").ends(0);
    let whole = place.text("s/a.turnkeep.jsonl");
    let place = place.with("s/a.turnkeep.jsonl", whole + "{\"seq\":3,\"eve");

    let first = place.run("tag a --title Mine --store file:s").ends(0);
    let second = place.run("tag a --title Yours --store file:s").ends(0);

    assert_eq!(first.err, "note: 13 bytes at the end of `a`, never acknowledged, were cut off\n");
    assert_eq!(second.err, "");
}

/// A session of turns with a call each, of which the last has no result; a later turn has the result of the second.
fn calls(turns: usize) -> String {
    let mut text = "{\"turnkeep\":1,\"journal\":\"long\"}\n".to_owned();
    for (turn, seq) in (0..turns).zip(1..) {
        let call = format!(
            r#"{{"author":"assistant","type":"tool_call","call":"c{turn}","name":"look{turn}","arguments":"{{}}"}}"#
        );
        let answered = match turn {
            1 => None,
            2 => Some(vec![2, 1]),
            turn if turn + 1 == turns => None,
            turn => Some(vec![turn]),
        };
        let result = |call| {
            format!(
                r#",{{"author":"tool","message":{{"ordinal":1}},"type":"tool_result","call":"c{call}","parts":[{{"type":"text","text":"seen {call}"}}]}}"#
            )
        };
        let results: String = answered.into_iter().flatten().map(result).collect();
        text += &format!(
            r#"{{"seq":{seq},"events":[{{"type":"turn.opened","turn":{{"model":"m{}","blocks":[{call}{results}]}}}}]}}"#,
            turn / 2
        );
        text += "\n";
    }
    text
}

#[test]
fn a_stored_session_is_shown_as_its_file_is() {
    let place = Place::new().with("long.turnkeep.jsonl", calls(5));
    for store in ["file:kept", "sqlite:s.db"] {
        place.run(&format!("import long.turnkeep.jsonl --store {store}")).ends(0);
        for flags in ["", "--full", "--expand"] {
            let stored = place.run(&format!("show long {flags} --store {store}")).ends(0).out;
            let file = place.run(&format!("show long.turnkeep.jsonl {flags} --store {store}")).ends(0).out;

            assert_eq!(stored.replacen("  stored\n", "  turnkeep.jsonl\n", 1), file, "{store} {flags}");
            assert!(stored.contains("model    m0, m1, m2\n") && stored.contains("5 turns, 9 blocks"), "{stored}");
            assert_eq!(stored.matches("no result yet").count(), 1, "{stored}");
            assert!(stored.contains("result of look1\n"), "{stored}");
        }
    }
}

#[test]
fn an_exported_journal_is_the_one_that_was_imported() {
    let place = Place::new().with("long.turnkeep.jsonl", calls(40)).with("old.jsonl", "as it was");
    for store in ["file:kept", "sqlite:s.db"] {
        place.run(&format!("import long.turnkeep.jsonl --store {store}")).ends(0);

        let printed = place.run(&format!("export long --store {store}")).ends(0);
        place.run(&format!("export long -o out.jsonl --report report.json --store {store}")).ends(0);
        place.run(&format!("export nobody -o old.jsonl --store {store}")).ends(4);

        assert_eq!(printed.out, calls(40), "{store}");
        assert_eq!(place.text("out.jsonl"), calls(40), "{store}");
        assert!(place.text("report.json").contains("\"losses\": []"), "{}", place.text("report.json"));
        assert_eq!(place.text("old.jsonl"), "as it was");
    }
}

#[test]
fn any_number_is_a_limit() {
    let place = three();
    for store in ["sqlite:s.db", "file:kept"] {
        place.run(&format!("import a.jsonl b.jsonl c.jsonl --store {store}")).ends(0);
        for limit in ["0", "3", "2147483647", "18446744073709551615"] {
            let listed = place.run(&format!("ls --sort id --limit {limit} --json --store {store}")).ends(0);
            assert_eq!(texts(&json(&listed), "sessions", "id"), ["a", "b", "c"], "{store} {limit}");
        }
    }
    place.run("search 1 --limit 18446744073709551615 --store sqlite:s.db").ends(0);
}

#[test]
fn metadata_is_listed_page_by_page() {
    let place = three();
    for store in ["sqlite:s.db", "file:kept"] {
        place.run(&format!("import a.jsonl b.jsonl c.jsonl --store {store}")).ends(0);
        for name in ["a", "c"] {
            place.run(&format!("tag {name} --meta owner=ada --store {store}")).ends(0);
        }
        let page = |flags: &str| {
            let listed = place.run(&format!("ls --meta owner=ada --sort id --json {flags} --store {store}")).ends(0);
            let next = json(&listed).as_object().unwrap().get_str("next").map(std::borrow::Cow::into_owned);
            (texts(&json(&listed), "sessions", "id"), next)
        };

        let (first, next) = page("--limit 1");
        let (second, end) = page(&format!("--limit 1 --after {}", next.unwrap()));

        assert_eq!((first, second, end), (vec!["a".to_owned()], vec!["c".to_owned()], None), "{store}");
        assert_eq!(page(""), (vec!["a".to_owned(), "c".to_owned()], None), "{store}");
    }
}
