//! Windows, redaction and truncation on the command line; `redact` and `tokens`.

use crate::place::Place;

/// Three exchanges, with secrets here and there.
const TALK: &str = r#"{"turnkeep":1,"sessions":[{"id":"s1","title":"for ada@example.com","turns":[
{"model":"claude-sonnet-4-5","blocks":[{"author":"system","type":"text","text":"Be brief."},{"author":"user","message":{"ordinal":1},"type":"text","text":"First."},
{"author":"assistant","message":{"ordinal":2},"type":"tool_call","call":"c1","name":"pay","arguments":"{\"card\":\"4111 1111 1111 1111\"}"},
{"author":"tool","message":{"ordinal":3},"type":"tool_result","call":"c1","parts":[{"type":"text","text":"paid, a mail went to ada@example.com"}]},
{"author":"assistant","message":{"ordinal":4},"type":"text","text":"Done."}]},
{"blocks":[{"author":"user","message":{"ordinal":5},"type":"text","text":"Second."},{"author":"assistant","message":{"ordinal":6},"type":"text","text":"Yes."}]},
{"blocks":[{"author":"user","message":{"ordinal":7},"type":"text","text":"Third, to ada@example.com."},{"author":"assistant","message":{"ordinal":8},"type":"text","text":"A long answer, longer than the others."}]}]}]}"#;

fn talk() -> Place {
    Place::new().with("t.json", TALK)
}

#[test]
fn a_window_keeps_the_newest_and_reports_what_went() {
    let place = talk();

    let ran = place.run("convert t.json --to turnkeep --window 1 --report r.json").ends(0);

    assert!(ran.out.contains("Third") && ran.out.contains("Be brief."), "{}", ran.out);
    assert!(!ran.out.contains("First") && !ran.out.contains("Second"), "{}", ran.out);
    let report = place.text("r.json");
    for at in ["\"turns[0]\"", "\"turns[1]\"", "\"turns[0].blocks[0]\""] {
        assert!(report.contains(at), "{at}: {report}");
    }
    assert_eq!(report.matches("\"at\"").count(), 3, "{report}");
}

#[test]
fn policies_apply_in_their_fixed_order() {
    let place = talk();

    let ran = place
        .run("convert t.json --to turnkeep --truncate 12 --redact secrets --window 1turns --report r.json")
        .ends(0);

    assert!(ran.out.contains("\"Third, to [e...\""), "{}", ran.out);
    assert!(!ran.out.contains("ada@"), "{}", ran.out);
    assert!(place.text("r.json").contains("\"turns[2].blocks[1].text\""), "{}", place.text("r.json"));
}

#[test]
fn nonsense_is_refused_and_nothing_is_written() {
    let place = talk();
    for flag in [
        "--window=0tokens",
        "--window=-3turns",
        "--window=10x",
        "--window=99999999999999999999",
        "--truncate=0",
        "--truncate=-1",
        "--truncate=many",
        "--redact=everything",
        "--pattern=(",
        "--pattern=a*",
        "--pattern=(a{900}){900}",
    ] {
        let ran = place.run(&format!("convert t.json --to turnkeep -o out.json {flag}")).ends(2);

        assert!(ran.err.contains("error: invalid value"), "{flag}: {}", ran.err);
        assert!(!place.path("out.json").exists(), "{flag}");
    }
}

#[test]
fn a_dry_run_writes_nothing_and_tells_everything() {
    let place = talk();

    for command in ["convert t.json --to turnkeep -o out.json", "redact t.json -o out.json", "show t.json"] {
        let flags = if command.starts_with("redact") { "" } else { "--redact secrets" };
        let ran = place.run(&format!("{command} {flags} --dry-run")).ends(0);

        for at in
            ["title", "turns[0].blocks[2].arguments", "turns[0].blocks[3].parts[0].text", "turns[2].blocks[0].text"]
        {
            assert!(ran.out.contains(&format!("redacted    {at}: a secret")), "{command}: {}", ran.out);
        }
        assert!(!place.path("out.json").exists(), "{command}");
    }
    let nothing = place.run("redact s.json --dry-run").ends(0);
    assert_eq!(nothing.out, "nothing would go\n");
}

#[test]
fn redact_hides_secrets_and_keeps_the_format() {
    let place = talk();

    place.run("redact t.json -o out.json --report r.json").ends(0);

    let text = place.text("out.json");
    assert!(text.contains("for [email-1]") && text.contains("to [email-1]."), "{text}");
    assert!(text.contains(r#"{\"card\":\"[card-1]\"}"#), "{text}");
    assert!(place.text("r.json").contains("\"kind\": \"redacted\""));
    place.run("redact out.json -o twice.json --report again.json").ends(0);
    assert_eq!(place.text("twice.json"), text);
    assert!(!place.text("again.json").contains("\"at\""));
}

#[test]
fn a_pattern_hides_its_matches() {
    let ran = talk().run("redact t.json --pattern [Ss]econd").ends(0);

    assert!(ran.out.contains("[m1].") && ran.out.contains("ada@example.com"), "{}", ran.out);
}

#[test]
fn tokens_are_counted_by_turn_and_labelled() {
    let place = talk();

    let told = place.run("tokens t.json").ends(0);
    let json = place.run("tokens t.json --json").ends(0);

    assert_eq!(told.out.lines().count(), 4, "{}", told.out);
    assert!(told.out.lines().last().unwrap().ends_with("an estimate"), "{}", told.out);
    assert!(json.out.contains("\"counting\": \"estimate\"") && json.out.contains("\"exact\": false"), "{}", json.out);
}

#[cfg(not(feature = "tokens"))]
#[test]
fn exact_counts_name_the_feature_that_is_missing() {
    let ran = talk().run("tokens t.json --model gpt-4o").ends(6);

    assert!(ran.err.contains("cargo feature `tokens`"), "{}", ran.err);
}

#[cfg(feature = "tokens")]
#[test]
fn counts_of_openai_are_exact() {
    let ran = talk().run("tokens t.json --model gpt-4o").ends(0);

    assert!(ran.out.lines().last().unwrap().ends_with("exact, o200k_base"), "{}", ran.out);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_stored_session_is_exported_reduced_and_stays_whole() {
    let place = talk();
    place.run("import t.json --store sqlite:s.db").ends(0);

    let ran = place.run("export s1 --store sqlite:s.db --window 1 --redact secrets --report r.json").ends(0);
    let whole = place.run("show s1 --store sqlite:s.db").ends(0);

    assert!(!ran.out.contains("First") && !ran.out.contains("ada@"), "{}", ran.out);
    assert!(ran.out.contains("Third, to [email-1]."), "{}", ran.out);
    assert!(place.text("r.json").contains("\"at\": \"turns[0]\""));
    assert!(whole.out.contains("First") && whole.out.contains("ada@example.com"), "{}", whole.out);
}
