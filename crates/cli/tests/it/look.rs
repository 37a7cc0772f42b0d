//! Commands that only look.

use crate::place::{Place, SESSION};

#[test]
fn formats_are_a_table() {
    let ran = Place::new().run("formats").ends(0);

    let words = |line: &str| line.split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>();
    let mut lines = ran.out.lines().map(words);
    assert_eq!(lines.next().as_deref(), Some(&["FORMAT", "WHAT", "IT"].map(str::to_owned)[..]), "{}", ran.out);
    assert!(lines.any(|line| line == ["turnkeep.jsonl", "turnkeep", "journal"]), "{}", ran.out);
    assert_eq!(ran.err, "");
}

#[test]
fn formats_for_a_program() {
    let ran = Place::new().run("formats --json").ends(0);

    assert!(ran.out.contains("\"id\": \"turnkeep.yaml\",\n"), "{}", ran.out);
    assert!(ran.out.contains("\"keeps\": {\n        \"system text\": \"all\""), "{}", ran.out);
}

#[test]
fn sniff_says_why() {
    let ran = Place::new().run("sniff s.json").ends(0);

    assert_eq!(ran.out, "turnkeep (version 1)  certain: it has the keys `turnkeep` and `sessions`\n");
}

#[test]
fn sniff_for_a_program_from_standard_input() {
    let ran = Place::new().run_with("sniff - --json", SESSION).ends(0);

    let expected = r#"{
  "format": "turnkeep",
  "confidence": "certain",
  "why": "it has the keys `turnkeep` and `sessions`",
  "generation": "version 1",
  "ambiguous": []
}
"#;
    assert_eq!(ran.out, expected);
}

#[test]
fn sniff_of_something_else_is_an_error() {
    let place = Place::new().with("x.json", "{\"a\": 1}");

    place.run("sniff x.json").ends(6).says("x.json: no known format looks like this");
}

#[test]
fn show_is_for_reading() {
    let ran = Place::new().run("show s.json").ends(0);

    let expected = "\
session s1  turnkeep
  model    m1
  options  temperature 2.0
  holds    1 turn, 5 blocks

turn 1  m1
  user
    Say hi.
  thinking
    [encrypted, 43 characters]
  call  greet({\"who\": \"you\"})
    result of greet
      done
  assistant
    Hi!
";
    assert_eq!(ran.out, expected);
    assert_eq!(ran.err, "");
}

#[test]
fn show_says_which_calls_have_no_result_yet() {
    let text = r#"{"turnkeep":1,"sessions":[{"status":{"state":"failed","error":""},"turns":[{"blocks":[
        {"author":"assistant","type":"tool_call","call":"c1","name":"read","arguments":"{}"},
        {"author":"assistant","type":"tool_call","call":"c2","name":"grep","arguments":"{}"},
        {"author":"tool","type":"tool_result","call":"c1","parts":[{"type":"text","text":"ok"}]}]}]}]}"#;

    let ran = Place::new().with("open.json", text).run("show open.json").ends(0);

    let expected = "\
session without an id  turnkeep
  status   failed
  holds    1 turn, 3 blocks

turn 1
  call  read({})
  call  grep({})  no result yet
    result of read
      ok
";
    assert_eq!(ran.out, expected);
}

#[test]
fn show_makes_control_characters_visible() {
    let text = r#"{"turnkeep":1,"sessions":[{"title":"\u001b]0;x\u0007","turns":[{"blocks":[
        {"author":"user","type":"text","text":"a\u001b[2Jb\u009bc"}]}]}]}"#;

    let ran = Place::new().with("evil.json", text).run("show evil.json").ends(0);

    assert!(ran.out.contains("␛]0;x␇"), "{}", ran.out);
    assert!(ran.out.contains("a␛[2Jb\\u009bc"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
}

#[test]
fn show_for_a_program_is_a_native_document() {
    let place = Place::new();
    let shown = place.run("show s.json --json").ends(0).out;

    place.with("shown.json", shown).run("diff s.json shown.json").ends(0);
}

#[test]
fn colours_are_only_for_terminals() {
    let ran = Place::new().run("demo").ends(0);

    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
}

#[test]
fn diff_of_equal_sessions_in_two_formats() {
    let place = Place::new();
    place.run("convert s.json --to turnkeep.yaml -o s.yaml").ends(0);

    let ran = place.run("diff s.json s.yaml").ends(0);

    assert_eq!(ran.out, "no differences\n");
}

#[test]
fn diff_names_the_places() {
    let place = Place::new().with("t.json", SESSION.replace("Hi!", "Hello!").replace("2.0", "2"));

    let ran = place.run("diff s.json t.json").ends(1);

    let expected = "\
options.temperature
  - 2.0
  + 2
turns[0].blocks[4].text
  - \"Hi!\"
  + \"Hello!\"
2 differences
";
    assert_eq!(ran.out, expected);
}

#[test]
fn diff_for_a_program() {
    let place = Place::new().with("t.json", SESSION.replace(",\"colour\":\"red\"", ""));

    let ran = place.run("diff s.json t.json --json").ends(1);

    let expected = r#"{
  "equal": false,
  "changes": [
    {
      "at": "turns[0].blocks[0].colour",
      "before": "red"
    }
  ]
}
"#;
    assert_eq!(ran.out, expected);
}

#[test]
fn diff_cannot_read_standard_input_twice() {
    Place::new().run("diff - -").ends(2).says("standard input can be read only once");
}

#[test]
fn lint_wants_a_target_with_rules() {
    let ran = Place::new().run("lint s.json --for turnkeep").ends(2);

    assert!(ran.err.contains("no rules are known for `turnkeep`; targets: geppetto.turn"), "{}", ran.err);
}

#[test]
fn lint_of_a_missing_file() {
    Place::new().run("lint nowhere.yaml --for geppetto.turn").ends(4).says("nowhere.yaml: is not there");
}

#[test]
fn the_demo_kills_an_agent_and_charges_once() {
    let place = Place::new();
    let ran = place.run("demo").ends(0);

    for part in [
        "tool.intended    call_charge (once, key demo/call_charge)",
        "kill -9 ",
        "unsure: it may have acted",
        "call again",
        "beta-2 answers: Your card was charged 42.00 EUR, and order 7 ships on Thursday.",
        "the bank's books: one charge",
        "What to type next",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let commands: Vec<_> = ran.out.lines().filter_map(|line| line.strip_prefix("  turnkeep ")).collect();
    assert!(commands.len() >= 4, "{}", ran.out);
    for command in commands {
        place.run(command).ends(0);
    }
}

#[test]
fn the_demo_of_formats_explains_itself_and_names_the_next_step() {
    let ran = Place::new().run("demo --formats").ends(0);

    for part in
        ["1. Read a session", "call  get_weather(", "2. Convert it to ", "3. Convert it to ", "What to type next"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(!ran.out.contains("untold"), "every difference is in the loss report: {}", ran.out);
}

#[test]
fn what_the_demo_of_formats_says_to_type_next_works() {
    let place = Place::new();
    let said = place.run("demo --formats").ends(0).out;

    let commands: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("  turnkeep ")).collect();

    assert!(commands.len() >= 4, "{said}");
    for command in commands {
        place.run(command).ends(0);
    }
}

#[test]
fn completions_and_manual() {
    let place = Place::new();

    assert!(place.run("completions bash").ends(0).out.contains("_turnkeep()"));
    assert!(place.run("completions zsh").ends(0).out.starts_with("#compdef turnkeep"));
    assert!(place.run("man").ends(0).out.contains(".SH SYNOPSIS"));
    assert!(place.run("man convert").ends(0).out.contains("\\-\\-strict"));
    place.run("man nothing").ends(2).says("there is no command `nothing`");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    let long = "x".repeat(4_000_000);
    let place = place.with("long.json", SESSION.replace("Say hi.", &long));
    let mut child = place.command("show long.json").spawn().unwrap();

    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();

    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn usage_errors_are_two() {
    let place = Place::new();

    for words in ["", "nonsense", "convert s.json", "convert s.json --to", "sniff", "formats --no-such-flag"] {
        place.run(words).ends(2);
    }
}

#[test]
fn what_an_application_keeps_is_shown_item_by_item() {
    let slice = r#"{"name":"app:Note","policy":"state","items":[{"text":"one"},{"text":"two"}]}"#;
    let place = Place::new().with("n.json", format!(r#"{{"turnkeep":1,"sessions":[{{"slices":[{slice}]}}]}}"#));

    let ran = place.run("show n.json").ends(0);

    let expected = "  holds    0 turns, 0 blocks, 1 slice\n\nslice app:Note  state · 2 items\n  {\"text\":\"one\"}\n  {\"text\":\"two\"}\n";
    assert!(ran.out.ends_with(expected), "{}", ran.out);
}

#[test]
fn a_long_answer_of_a_tool_is_shown_shortly_unless_asked_for() {
    let lines: Vec<String> = (1..=40).map(|line| format!("line {line}")).collect();
    let answer = lines.join("\\n");
    let place = Place::new().with("long.json", crate::place::SESSION.replace("\"done\"", &format!("\"{answer}\"")));

    let short = place.run("show long.json").ends(0).out;
    let full = place.run("show long.json --full").ends(0).out;

    assert!(short.contains("      line 12\n      … and 28 lines; --full shows all\n  assistant\n    Hi!\n"), "{short}");
    assert!(full.contains("      line 12\n      line 13\n") && full.contains("      line 40\n"), "{full}");
}

fn turn_store() -> Place {
    let store =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/geppetto.store/turns/input.sqlite");
    Place::new().with("turns.sqlite", std::fs::read(store).unwrap())
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn a_build_without_sqlite_names_the_feature() {
    let ran = turn_store().run("show turns.sqlite").ends(6);

    assert!(ran.err.contains("it is an SQLite database, which this build cannot read"), "{}", ran.err);
    assert!(ran.err.contains("build turnkeep with the feature `sqlite`"), "{}", ran.err);
}

#[cfg(feature = "sqlite")]
#[test]
fn show_tells_the_snapshots_of_a_turn_store_apart() {
    let ran = turn_store().run("show turns.sqlite").ends(0);

    let phases: Vec<&str> = ran.out.lines().filter_map(|line| line.strip_prefix("  phase    ")).take(3).collect();
    assert_eq!(phases, ["pre_inference of conv-1", "post_inference of conv-1", "final of conv-1"]);
}
