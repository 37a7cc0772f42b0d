//! Commands on sessions that are run.

use crate::place::Place;

/// A session whose run died: one call waits for consent, one may have acted, one only reads.
const JOURNAL: &str = r#"{"turnkeep":1,"journal":"s"}
{"seq":1,"time":"2026-01-01T00:00:00.000Z","events":[{"type":"session.opened","session":{"title":"A run"}}]}
{"seq":2,"time":"2026-01-01T00:00:01.000Z","run":"r1","events":[{"type":"run.started","run":{"id":"r1"}},{"type":"turn.opened","turn":{"blocks":[{"author":"user","type":"text","text":"Do it."}]}},{"type":"model.asked","turn":0,"messages":1}]}
{"seq":5,"time":"2026-01-01T00:00:02.000Z","run":"r1","events":[{"type":"block.added","turn":0,"block":{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"pay","name":"charge","arguments":"{}"}},{"type":"block.added","turn":0,"block":{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"del","name":"delete","arguments":"{\"all\":true}"}},{"type":"block.added","turn":0,"block":{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"get","name":"read","arguments":"{}"}},{"type":"tool.intended","call":"pay","effect":"once","key":"s/pay","attempt":1},{"type":"approval.asked","call":"del","digest":"d1"},{"type":"tool.intended","call":"get","effect":"pure","attempt":1}]}
"#;

fn stored() -> Place {
    let place = Place::new().with("s.turnkeep.jsonl", JOURNAL);
    place.run("import s.turnkeep.jsonl --store file:kept").ends(0);
    place
}

#[test]
fn resume_says_what_each_open_call_needs() {
    let place = stored();

    let ran = place.run("resume s --store file:kept").ends(8);

    assert_eq!(
        ran.out,
        "charge pay: may have acted, and is not repeated: turnkeep resolve s pay --retry | --done RESULT | --skip\n\
         delete del: waits for a person: turnkeep approve | deny s del\n\
         read get: is called again (try 2): repeating it does no harm\n"
    );
    assert!(place.run("resume s --json --store file:kept").ends(8).out.contains(r#""step": "unsure""#));
    place.run("resume nobody --store file:kept").ends(4);
}

#[test]
fn the_ledger_says_what_is_known_of_every_call() {
    let ran = stored().run("show s --ledger --store file:kept").ends(0);

    for line in [
        "pay charge  unsure: it may have acted",
        "del delete  waits for consent",
        "digest d1",
        "get read  begun, can be repeated",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
}

#[test]
fn a_call_is_approved_once_and_for_what_was_shown() {
    let place = stored();

    place
        .run("approve s del --digest other --store file:kept")
        .ends(9)
        .says("session s: what was shown is not what call del would do now");
    place.run("approve s pay --store file:kept").ends(4).says("session s: no call pay waits for consent");
    place.run("approve s del --digest d1 --by me --store file:kept").ends(0);
    place.run("deny s del --store file:kept").ends(5).says("session s: call del was decided already");

    assert!(place.run("resume s --store file:kept").ends(8).out.contains("delete del: is called\n"));
}

#[test]
fn a_call_that_was_cut_off_is_resolved() {
    let place = stored();

    place.run("resolve s pay --store file:kept").ends(2);
    place.run("resolve s pay --retry --skip --store file:kept").ends(2);
    place.run("resolve s nothing --skip --store file:kept").ends(4);
    place.run("resolve s pay --done paid --store file:kept").ends(0);
    place.run("resolve s pay --done paid --store file:kept").ends(5).says("session s: call pay has an outcome already");

    let shown = place.run("show s --store file:kept").ends(0).out;
    assert!(shown.contains("paid"), "{shown}");
}

#[test]
fn tail_prints_the_journal_or_envelopes_a_line_each() {
    let place = stored();

    let journal = place.run("tail s --after 4 --store file:kept").ends(0).out;
    let told = place.run("tail s --envelopes minimal --store file:kept").ends(0).out;

    assert_eq!(journal.lines().count(), 6);
    assert!(journal.starts_with(r#"{"type":"block.added","session_id":"s","execution_id":"r1","timestamp":"2026-01-01T00:00:02.000Z","seq":5,"#), "{journal}");
    let kinds: Vec<&str> = told.lines().filter_map(|line| line.split('"').nth(3)).collect();
    assert_eq!(
        kinds,
        ["agent.status", "agent.step.started", "agent.tool.started", "agent.tool.started", "agent.status"]
    );
    let waits = told.lines().last().unwrap();
    assert!(waits.contains(r#""waiting":[{"tool_call_id":"#) && waits.contains(r#""digest":"#), "{waits}");
    place.run("tail nobody --store file:kept").ends(4);
}

#[test]
fn events_of_instructor_php_become_envelopes_a_line_each() {
    let raw = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/instructor-php/raw_events_tool_call.json");
    let place = Place::new().with("raw.json", std::fs::read_to_string(raw).unwrap());

    let told = place.run("events raw.json --session s --preset full").ends(0).out;
    let released = place.run("events raw.json --dialect released --preset minimal").ends(0).out;

    assert_eq!(told.lines().count(), 10);
    assert!(told.lines().nth(2).unwrap().contains(r#""args":{"q":"#), "{told}");
    assert_eq!(released.lines().count(), 8);
    assert!(released.contains(r#""session_id":"9bb63541-fa6d-495c-bcc1-c06a774e8af9""#), "{released}");
    place.with("no.json", "[1]").run("events no.json").ends(6).says("item 1 is no event of instructor-php");
}

#[test]
fn a_session_goes_on_with_a_scripted_model() {
    let script = r#"{"turnkeep":1,"sessions":[{"turns":[{"blocks":[{"author":"assistant","type":"text","text":"Hello there."}]}]}]}"#;
    let journal = r#"{"turnkeep":1,"journal":"q"}
{"seq":1,"events":[{"type":"session.opened","session":{}},{"type":"turn.opened","turn":{"blocks":[{"author":"user","type":"text","text":"Hi."}]}}]}
"#;
    let place = Place::new().with("q.turnkeep.jsonl", journal).with("script.json", script);
    place.run("import q.turnkeep.jsonl --store file:kept").ends(0);

    let ran = place.run("resume q --script script.json --store file:kept").ends(0);

    assert_eq!(ran.out, "Hello there.\n");
    assert!(place.run("show q --store file:kept").ends(0).out.contains("Hello there."));
    // Where open calls need tools, it does not pretend that there are none.
    let stored = stored().with("script.json", script);
    stored
        .run("resume s --script script.json --store file:kept")
        .ends(9)
        .says("session s: call pay is open, and the agent lacks its tool `charge`");
}

#[test]
fn under_the_policy_ask_a_call_that_began_is_resolved_and_one_that_did_not_is_approved() {
    let ran = stored().run("resume s --policy ask --store file:kept").ends(8);

    assert_eq!(
        ran.out,
        "charge pay: waits for a person: turnkeep resolve s pay --retry | --done RESULT | --skip\n\
         delete del: waits for a person: turnkeep approve | deny s del\n\
         read get: waits for a person: turnkeep resolve s get --retry | --done RESULT | --skip\n"
    );
}

#[test]
fn a_call_is_not_decided_or_resolved_from_the_wrong_state() {
    let place = stored();

    for known in ["--retry", "--skip", "--done x"] {
        place
            .run(&format!("resolve s del {known} --store file:kept"))
            .ends(5)
            .says("session s: call del was never begun: it waits for consent");
    }
    place
        .run("approve s del --edit {no --store file:kept")
        .ends(1)
        .says("session s: the edited arguments are not JSON");
    place.run("approve s nothing --store file:kept").ends(4);
    place.run("deny nobody del --store file:kept").ends(4);
    place.run("resolve nobody pay --skip --store file:kept").ends(4);
    // A fork leaves at the end of a batch.
    place.run("fork s --at 6 --store file:kept").ends(4);
    place.run("fork nobody --store file:kept").ends(4);
    place.run("tail s --after 999 --store file:kept").ends(0);
    // Nothing of that was recorded.
    assert_eq!(place.run("tail s --store file:kept").ends(0).out.lines().count(), 10);
}

#[test]
fn one_damaged_file_hides_no_other_session_and_is_found() {
    let place = stored();
    place.run("import s.json --store file:kept").ends(0);
    let damaged = place.files("kept").into_iter().find(|name| name.starts_with("s1")).unwrap();
    let place = place.with(&format!("kept/{damaged}"), "garbage {{{\n");

    let listed = place.run("ls --store file:kept").ends(0).out;

    assert!(listed.lines().any(|line| line.starts_with("s1") && line.contains("damaged")), "{listed}");
    assert!(listed.lines().any(|line| line.starts_with("s ")), "{listed}");
    let verified = place.run("verify --store file:kept").ends(6);
    assert!(verified.out.contains("not JSON"), "{}", verified.out);
    place.run("show s --store file:kept").ends(0);
}
