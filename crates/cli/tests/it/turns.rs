//! Turn documents on the command line: lint, variants, compat, data, redaction.

use crate::place::Place;

const TURN: &str = "id: t\nblocks:\n  - kind: llm_text\n    payload: {text: hi}\n  - kind: reasoning\n    payload: {encrypted_content: gAAAAABabcdefghijklmnopqrstuvwxyz0123456789}\ndata: {d: 1}\n";

fn place() -> Place {
    Place::new().with("t.yaml", TURN)
}

#[test]
fn lint_warns_and_strict_lint_fails() {
    let place = place();

    place.run("lint t.yaml --for geppetto.turn").ends(0);
    let strict = place.run("lint t.yaml --for geppetto.turn --strict --json").ends(7);

    assert!(strict.out.contains("\"rule\": \"role.missing\""), "{}", strict.out);
    assert!(strict.out.contains("\"at\": \"blocks[0].role\"") && strict.out.contains("\"line\": 3"), "{}", strict.out);
}

#[test]
fn the_ending_picks_the_syntax() {
    let place = place();

    place.run("convert t.yaml --to geppetto.turn -o t.json").ends(0);
    place.run("convert t.json --to geppetto.turn -o back.yaml").ends(0);

    assert!(place.text("t.json").starts_with("{\n  \"id\": \"t\""));
    assert!(place.text("back.yaml").starts_with("id: t\nblocks:\n    - kind: llm_text\n      role: assistant\n"));
    place.run("diff t.json back.yaml").ends(0);
}

#[test]
fn omitted_data_is_a_loss() {
    let place = place();

    place.run("convert t.yaml --to geppetto.turn --omit-data -o out.yaml --report r.json").ends(0);

    assert!(!place.text("out.yaml").contains("data:"));
    assert!(place.text("r.json").contains("\"at\": \"turns[0].data\""), "{}", place.text("r.json"));
}

#[test]
fn redaction_leaves_a_placeholder_and_says_so() {
    let place = place();

    place.run("convert t.yaml --to geppetto.turn --redact encrypted_content -o out.yaml").ends(0);

    let out = place.text("out.yaml");
    assert!(out.contains("encrypted_content: gAAAAA-****43****-456789"), "{out}");
    assert!(out.contains("metadata:\n    redacted: true\n"), "{out}");
}

#[test]
fn compat_gives_the_original_verdict() {
    let place = place().with("bad.yaml", "id: x\nid: y\n");

    let refused = place.run("convert bad.yaml --from geppetto.turn --to geppetto.turn --compat").ends(6);
    place.run("convert t.yaml --from geppetto.turn --to geppetto.turn --compat -o out.yaml").ends(0);

    assert!(refused.err.contains("line 2: mapping key \"id\" already defined at line 1"), "{}", refused.err);
    assert!(place.text("out.yaml").ends_with("data:\n    d: 1\n"));
}

#[test]
fn a_key_that_stands_twice_is_named_with_both_lines() {
    let place = Place::new().with("bad.yaml", "id: x\nid: y\nblocks: []\n");

    let refused = place.run("show bad.yaml").ends(6);

    assert!(refused.err.contains("bad.yaml:2"), "{}", refused.err);
    assert!(refused.err.contains("`id` stands on line 1 already"), "{}", refused.err);
}

#[test]
fn an_empty_file_is_an_empty_turn_only_when_asked_for() {
    let place = Place::new().with("empty.yaml", "");

    place.run("convert empty.yaml --to geppetto.turn").ends(6);
    place.run("convert empty.yaml --from geppetto.turn --to geppetto.turn -o out.yaml").ends(0);

    assert_eq!(place.text("out.yaml"), "blocks: []\n");
}
