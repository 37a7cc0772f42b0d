//! `turnkeep convert` of one file.

use crate::place::{Place, SECRET, SESSION};

#[test]
fn there_and_back_is_the_same_file() {
    let place = Place::new();
    place.run("convert s.json --to turnkeep -o first.json").ends(0);

    place.run("convert first.json --to turnkeep.yaml -o s.yaml").ends(0);
    place.run("convert s.yaml --to turnkeep.jsonl -o s.jsonl").ends(0);
    let ran = place.run("convert s.jsonl --to turnkeep.yaml -o t.yaml").ends(0);

    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    place.run("diff first.json t.yaml").ends(0);
}

#[test]
fn standard_input_and_output() {
    let place = Place::new();

    let plain = place.run_with("convert - --to turnkeep:compact", SESSION).ends(0);
    let dashed = place.run_with("convert - -o - --from turnkeep --to turnkeep", SESSION).ends(0);

    assert!(plain.out.starts_with("{\"turnkeep\":1,"), "{}", plain.out);
    assert!(plain.out.contains("\"temperature\":2.0") && plain.out.contains("\"colour\":\"red\""), "{}", plain.out);
    assert_eq!(plain.out, dashed.out);
}

#[test]
fn an_unknown_format_or_variant_is_a_usage_error_that_helps() {
    let place = Place::new();

    let format = place.run("convert s.json --to geppetto.turns").ends(2);
    let variant = place.run("convert s.json --to turnkeep:tiny").ends(2);
    let source = place.run("convert s.json --from nothing --to turnkeep").ends(2);

    assert!(format.err.contains("did you mean geppetto.turn or geppetto.fixture"), "{}", format.err);
    assert!(variant.err.contains("variants: compact, pretty"), "{}", variant.err);
    assert!(source.err.contains("`turnkeep formats` lists them"), "{}", source.err);
}

/// A request as OpenRouter takes it, which nothing in it shows.
const ROUTED: &str = r#"{"model":"z-ai/glm-4.6","messages":[{"role":"user","content":"?"},
    {"role":"assistant","content":"42","reasoning":"Hm"},{"role":"user","content":"!"}]}"#;

#[test]
fn the_vendor_of_a_body_can_be_named() {
    let place = Place::new();

    let unnamed = place.run_with("convert - --from openai.chat --to openai.chat --as request", ROUTED).ends(0);
    let named = place.run_with("convert - --from openai.chat:openrouter --to openai.chat --as request", ROUTED).ends(0);
    let unknown = place.run_with("convert - --from openai.chat:nobody --to openai.chat", ROUTED).ends(2);

    assert!(!unnamed.out.contains("Hm"), "{}", unnamed.out);
    assert!(named.out.contains("\"reasoning\": \"Hm\""), "{}", named.out);
    assert!(unknown.err.contains("variants: openai, azure, mistral"), "{}", unknown.err);
}

#[test]
fn a_variant_keeps_the_model_of_its_source() {
    let place = Place::new();

    let ran = place.run_with("convert - --from openai.chat --to openai.chat:groq", ROUTED).ends(0);

    assert!(ran.out.contains("\"model\": \"z-ai/glm-4.6\""), "{}", ran.out);
}

#[test]
fn a_conversation_that_only_its_vendor_holds_is_refused_where_nothing_may_be_lost() {
    let place = Place::new();
    let body = r#"{"model":"gpt-4.1","previous_response_id":"resp_1","input":"And now?"}"#;

    let ran = place.run_with("convert - --from openai.responses --to anthropic.messages --strict", body).ends(3);

    assert!(ran.err.contains("`previous_response_id`"), "{}", ran.err);
}

#[test]
fn the_report_of_a_conversion_without_losses() {
    let place = Place::new();

    place.run("convert s.json --to turnkeep.yaml -o s.yaml --report r.json").ends(0);

    assert_eq!(
        place.text("r.json"),
        "{\n  \"from\": \"turnkeep\",\n  \"to\": \"turnkeep.yaml\",\n  \"losses\": []\n}\n"
    );
}

#[test]
fn redaction_hides_the_secret_everywhere_and_is_reported() {
    let place = Place::new();
    place.run("convert s.json --to turnkeep.jsonl -o s.jsonl").ends(0);

    for input in ["s.json", "s.jsonl"] {
        let ran = place.run(&format!("convert {input} --to turnkeep.jsonl --redact encrypted_content")).ends(0);

        assert!(!ran.out.contains(SECRET), "{}", ran.out);
        assert!(ran.out.contains("gAAAAA-****43****-456789"), "{}", ran.out);
        assert!(ran.out.contains("\"redacted\":true"), "{}", ran.out);
        assert!(ran.err.contains("redacted    turns[0].blocks[1].encrypted: "), "{}", ran.err);
    }
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let place = Place::new();
    place.run("convert s.json --to turnkeep -o once.json --redact encrypted_content").ends(0);

    let ran = place.run("convert once.json --to turnkeep -o twice.json --redact encrypted_content").ends(0);

    assert_eq!(ran.err, "");
    assert_eq!(place.text("once.json"), place.text("twice.json"));
}

#[test]
fn what_nobody_can_hide_is_refused_with_what_can_be() {
    let ran = Place::new().run("convert s.json --to turnkeep --redact everything").ends(2);

    assert!(ran.err.contains("LIST is made of: encrypted_content, tool_args, tool_results, secrets"), "{}", ran.err);
}

#[test]
fn losses_are_told_shortly_and_reported_fully() {
    let place = Place::new();

    let told = place.run("convert s.json --to turnkeep -o t.json --redact encrypted_content").ends(0);
    let reported =
        place.run("convert s.json --to turnkeep -o t.json --redact encrypted_content --report r.json").ends(0);

    assert!(told.err.starts_with("1 loss (1 redacted): 1 content\n"), "{}", told.err);
    assert_eq!(reported.err, "");
    let expected = r#"    {
      "at": "turns[0].blocks[1].encrypted",
      "kind": "redacted",
      "side": "policy",
      "what": "encrypted content was replaced by a placeholder",
      "severity": "content"
    }"#;
    assert!(place.text("r.json").contains(expected), "{}", place.text("r.json"));
}

#[test]
fn strict_writes_nothing_but_the_report() {
    let place = Place::new().with("t.json", "old");

    let ran = place.run("convert s.json --to turnkeep -o t.json --redact encrypted_content --strict --report r.json");

    ran.ends(3).says("1 loss of content or settings, and --strict allows none; nothing was written");
    assert_eq!(place.text("t.json"), "old");
    assert!(place.text("r.json").contains("\"redacted\""));
}

#[test]
fn strict_takes_another_spelling_and_refuses_a_lost_setting() {
    let yaml = "turnkeep: 1 # a comment\nsessions:\n  - turns: []\n";
    let chat = r#"{"model": "gpt-4o", "seed": 7, "messages": [{"role": "user", "content": "hi"}]}"#;
    let place = Place::new().with("s.yaml", yaml).with("chat.json", chat);

    let spelled = place.run("convert s.yaml --to turnkeep -o t.json --strict").ends(0);
    let lost = place.run("convert chat.json --to anthropic.messages -o a.json --strict --report r.json").ends(3);

    assert!(spelled.err.starts_with("1 loss (1 dropped): 1 spelling\n"), "{}", spelled.err);
    assert!(place.text("t.json").contains("\"turnkeep\""));
    assert!(place.text("r.json").contains("\"severity\": \"setting\""), "{}", place.text("r.json"));
    assert!(lost.err.contains("of content or settings"), "{}", lost.err);
}

#[test]
fn strict_without_losses_is_fine() {
    let ran = Place::new().run("convert s.json --to turnkeep.yaml --strict").ends(0);

    assert!(ran.out.starts_with("turnkeep: 1\n"), "{}", ran.out);
}

#[test]
fn report_and_output_cannot_share_standard_output() {
    Place::new().run("convert s.json --to turnkeep --report -").ends(2).says("output and report cannot both be");
}

#[test]
fn a_missing_output_directory_is_named() {
    let ran = Place::new().run("convert s.json --to turnkeep -o no/such/t.json").ends(4);

    ran.says("no/such/t.json: cannot be written: the directory no/such is not there");
}

#[test]
fn a_file_can_be_converted_onto_itself() {
    let place = Place::new();

    place.run("convert s.json --to turnkeep.yaml -o s.json").ends(0);

    assert!(place.text("s.json").starts_with("turnkeep: 1\n"));
    assert_eq!(place.files("."), ["s.json"]);
}

#[test]
fn a_newer_version_is_refused_with_the_remedy() {
    let place = Place::new().with("new.json", "{\"turnkeep\": 99, \"sessions\": []}");

    let ran = place.run("convert new.json --to turnkeep").ends(6);

    ran.says("new.json: turnkeep: version 99 of the native format is not known here");
}

#[test]
fn a_journal_that_tells_more_than_its_session_is_a_loss() {
    let journal = "{\"turnkeep\":1,\"journal\":\"s\"}\n{\"seq\":1,\"time\":\"2026-01-16T10:00:00.000Z\",\"events\":[{\"type\":\"log.added\",\"line\":\"hello\"}]}\n";
    let place = Place::new().with("j.jsonl", journal);

    place.run("convert j.jsonl --to turnkeep -o out.json --report r.json").ends(0);
    place.run("convert j.jsonl --to turnkeep.jsonl -o copy.jsonl --strict").ends(0);

    assert!(place.text("r.json").contains("\"at\": \"journal\""), "{}", place.text("r.json"));
    assert_eq!(place.text("copy.jsonl"), journal);
}

const TYPES: &str = r#"{"app:Note": {"fields": {"text": "str"}}}"#;

fn notes(item: &str) -> String {
    format!(
        r#"{{"created_at": "2026-03-01T12:00:00+00:00", "slices": [{{"item_type": "app:Note", "items": [{item}], "slice_type": "app:Note"}}], "version": "1"}}"#
    )
}

#[test]
fn a_types_file_is_what_a_snapshot_is_checked_against() {
    let place = Place::new().with("types.json", TYPES);
    let place = place.with("good.json", notes(r#"{"text": "x"}"#)).with("bad.json", notes("{}"));

    place.run("convert good.json --to turnkeep --types types.json -o out.json").ends(0);
    place.run("show bad.json").ends(0);
    let ran = place.run("show bad.json --types types.json").ends(6);
    assert!(ran.err.starts_with("error: bad.json: slices[0].items[0]"), "{}", ran.err);
    assert!(ran.err.contains("Failed to restore slice Note"), "{}", ran.err);

    let ran = place.run("convert bad.json --to turnkeep --compat --types types.json").ends(6);
    assert!(ran.err.starts_with("error: bad.json: Failed to restore slice Note"), "{}", ran.err);
}

#[test]
fn what_is_wrong_with_a_types_file_is_not_blamed_on_the_input() {
    let place = Place::new().with("good.json", notes(r#"{"text": "x"}"#));
    let place = place.with("broken.json", "{").with("odd.json", r#"{"app:Note": {"fields": {"text": "strr"}}}"#);

    let ran = place.run("show good.json --types broken.json").ends(6);
    assert!(ran.err.starts_with("error: the types file:1:2: "), "{}", ran.err);
    place
        .run("convert good.json --to turnkeep --compat --types odd.json")
        .ends(6)
        .says("the types file: app:Note.text");
    place.run("show good.json --types nowhere.json").ends(4).says("nowhere.json: is not there");
}

#[test]
fn losses_that_are_alike_are_told_once_and_listed_in_full() {
    let turn = r#"{"id":"t","blocks":[{"author":"user","type":"text","text":"Hi"}]}"#;
    let session = format!(r#"{{"turnkeep":1,"sessions":[{{"turns":[{turn},{turn},{turn}]}}]}}"#);
    let place = Place::new().with("three.json", session);

    let ran = place.run("convert three.json --to lucee.session -o out.json").ends(0);
    assert!(
        ran.err.contains("dropped     turns[*].id: a Lucee AI session has no place for it (3 times)"),
        "{}",
        ran.err
    );

    place.run("convert three.json --to lucee.session -o out.json --report r.json").ends(0);
    for index in 0..3 {
        assert!(place.text("r.json").contains(&format!("\"at\": \"turns[{index}].id\"")), "{}", place.text("r.json"));
    }
}
