//! geppetto turn documents: fixtures of the real program, the specification's examples, and public turns.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use turnkeep_codec::format::{self, geppetto};
use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Target, convert, sniff, yaml};
use turnkeep_model::json::{Json, Object};
use turnkeep_model::{ErrorKind, LossKind};
use turnkeep_testkit::generate;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn fixture(format: &str, case: &str, file: &str) -> String {
    let path = fixtures().join(format).join(case).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text after reading and writing it as `target`, and the losses.
fn rewrite(text: &str, target: &str) -> (String, Vec<turnkeep_model::Loss>) {
    let from = Some(format::by_id(target.split(':').next().unwrap()).unwrap());
    let target = Target::parse(target).unwrap();
    let options = (DecodeOptions::default(), EncodeOptions::default());
    let done = convert(Input::new(text.as_bytes()), from, &target, &options.0, &options.1).unwrap();
    (String::from_utf8(done.bytes).unwrap(), done.losses)
}

fn compat(text: &str) -> Result<String, turnkeep_model::Error> {
    let codec = format::by_id("geppetto.turn")?;
    let target = Target::parse("geppetto.turn")?;
    let done =
        convert(Input::new(text.as_bytes()), Some(codec), &target, &DecodeOptions::compat(), &EncodeOptions::compat())?;
    Ok(String::from_utf8(done.bytes).unwrap())
}

fn value(text: &str) -> Json {
    yaml::parse(text).unwrap().0.into_json()
}

/// Equal as values, whatever the order of keys.
fn assert_same(a: &str, b: &str) {
    assert_eq!(
        turnkeep_model::canon::canonical(&value(a)),
        turnkeep_model::canon::canonical(&value(b)),
        "\n{a}\n---\n{b}"
    );
}

#[test]
fn writes_what_the_real_program_writes() {
    let mut compared = 0;
    for case in fs::read_dir(fixtures().join("geppetto.turn")).unwrap().flatten() {
        let expected = case.path().join("compat.yaml");
        if !expected.exists() {
            continue;
        }
        let text = fs::read_to_string(case.path().join("input.yaml")).unwrap();
        assert_eq!(compat(&text).unwrap(), fs::read_to_string(expected).unwrap(), "{}", case.path().display());
        compared += 1;
    }
    assert!(compared >= 8);
}

#[test]
fn gives_the_real_programs_verdict() {
    for case in ["bad_blocks_type", "bad_dup_key", "bad_kind_type", "bad_metadata_type", "bad_syntax"] {
        let error = compat(&fixture("geppetto.turn", case, "input.yaml")).unwrap_err();
        assert_eq!(error.to_string(), fixture("geppetto.turn", case, "compat.error.txt").trim_end(), "{case}");
    }
}

#[test]
fn bad_documents_are_refused_with_their_line() {
    let cases =
        [("bad_blocks_type", 2), ("bad_dup_key", 2), ("bad_kind_type", 3), ("bad_metadata_type", 3), ("bad_syntax", 2)];
    for (case, line) in cases {
        let text = fixture("geppetto.turn", case, "input.yaml");
        let codec = format::by_id("geppetto.turn").unwrap();
        let error = codec.decode(Input::new(text.as_bytes()), &DecodeOptions::default()).unwrap_err();
        assert_eq!((error.kind(), error.at_line()), (ErrorKind::Corrupt, Some(line)), "{case}: {error}");
        assert!(error.remedy().is_some() || case == "bad_syntax", "{case}");
    }
}

#[test]
fn nothing_is_lost_by_loading_and_saving() {
    for case in ["json_doc", "reasoning", "unknown_kind", "spec_plain_chat", "spec_reasoning", "spec_tools"] {
        let text = fixture("geppetto.turn", case, "input.yaml");

        let (saved, losses) = rewrite(&text, "geppetto.turn");

        let expected = text.replace(" LLM_TEXT ", "llm_text");
        let expected = with_roles(&expected);
        assert_same(&saved, &expected);
        assert!(losses.iter().all(|loss| matches!(loss.kind, LossKind::Synthesised | LossKind::Coerced)), "{losses:?}");
        assert_eq!(rewrite(&saved, "geppetto.turn"), (saved.clone(), vec![]), "{case}");
    }
}

/// The text with the role that a model's text gets, and without payloads that are null.
fn with_roles(text: &str) -> String {
    text.replace("  - kind: llm_text\n    payload", "  - kind: llm_text\n    role: assistant\n    payload")
        .replace("  - kind: \"llm_text\"\n    payload", "  - kind: llm_text\n    role: assistant\n    payload")
        .replace("    payload: null\n", "")
}

#[test]
fn scalars_keep_their_spelling() {
    let text = "id: 007\nblocks:\n    - kind: user\n      role: user\n      payload:\n        big: 12345678901234567890123\n        \
                date: 2026-01-16\n        exp: 1e3\n        float: 2.0\n        hex: 0x1F\n        quoted: \"2026-01-16\"\n        \
                text: hi\n        time: 2026-01-16 10:00:00\n        under: 1_000\n";

    let (saved, losses) = rewrite(text, "geppetto.turn");

    assert_eq!(saved, text.replace("id: 007", "id: \"007\""));
    let kinds: Vec<_> = losses.iter().map(|loss| loss.kind).collect();
    assert_eq!(kinds, [LossKind::Coerced, LossKind::Coerced]);
}

#[test]
fn an_unknown_kind_comes_back_and_the_key_goes() {
    let text = "id: t\nblocks:\n    - kind: server_tool_use\n      payload:\n        q: 1\n";
    let turn = geppetto::from_yaml(text.as_bytes()).unwrap();
    let block = &turn.blocks()[0];
    assert_eq!(block.kind, Some(geppetto::Kind::Other));
    assert_eq!(block.metadata.as_ref().unwrap().get_str(geppetto::KIND_RAW).as_deref(), Some("server_tool_use"));

    assert_eq!(geppetto::to_yaml(&turn, geppetto::Options::default()), text);
    assert_eq!(rewrite(text, "geppetto.turn").0, text);
}

#[test]
fn a_raw_kind_that_the_file_held_stays() {
    let held = "id: t\nblocks:\n    - kind: other\n      metadata:\n        serde.kind_raw: server_tool_use\n";

    let (saved, _) = rewrite(held, "geppetto.turn");

    assert_eq!(saved, held.replace("kind: other", "kind: server_tool_use"));
    assert_eq!(rewrite(&saved, "geppetto.turn").0, saved);
}

#[test]
fn versions_and_collections_are_read_and_written() {
    let text = "version: 1\nturns:\n    - id: a\n      blocks: []\n    - id: b\n      run_id: r\n      blocks:\n        - kind: user\n          role: user\n          payload:\n            text: hi\n";
    assert_eq!(rewrite(text, "geppetto.turn"), (text.to_owned(), vec![]));

    let newer = "version: 2\nid: x\nblocks: []\n";
    let codec = format::by_id("geppetto.turn").unwrap();
    let error = codec.decode(Input::new(newer.as_bytes()), &DecodeOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.at_path(), error.at_line()), (ErrorKind::Unsupported, "version", Some(1)));
}

#[test]
fn yaml_and_json_hold_the_same() {
    for case in ["reasoning", "unknown_kind", "json_doc", "spec_plain_chat", "spec_reasoning", "spec_tools"] {
        let text = fixture("geppetto.turn", case, "input.yaml");
        let (as_yaml, _) = rewrite(&text, "geppetto.turn:yaml");
        let (as_json, _) = rewrite(&text, "geppetto.turn:json");
        assert_same(&as_yaml, &as_json);
        assert_eq!(rewrite(&as_json, "geppetto.turn:yaml").0, as_yaml, "{case}");
        assert_eq!(rewrite(&as_yaml, "geppetto.turn:json").0, as_json, "{case}");
    }
}

#[test]
fn an_empty_document_is_an_empty_turn_only_when_asked_for() {
    let codec = format::by_id("geppetto.turn").unwrap();
    assert!(codec.decode(Input::new(b""), &DecodeOptions::default()).is_ok());
    assert_eq!(sniff(&Input::new(b" \n")).err().unwrap().kind(), ErrorKind::NotThisFormat);
    assert_eq!(compat("").unwrap(), "blocks: []\n");
}

#[test]
fn comments_and_further_documents_are_losses() {
    let text = "# why\nid: a # here\nblocks: []\n---\nid: b\n";

    let (saved, losses) = rewrite(text, "geppetto.turn");

    assert_eq!(saved, "id: a\nblocks: []\n");
    let what: Vec<_> = losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["comments are not kept (2)", "only the first document of a stream is read (1)"]);
}

#[test]
fn omit_data_drops_data_only() {
    let turn = geppetto::from_yaml(b"id: a\nblocks: []\nmetadata: {m: 1}\ndata: {d: 2}\n").unwrap();
    let options = geppetto::Options { omit_data: true, ..Default::default() };

    assert_eq!(geppetto::to_yaml(&turn, options), "id: a\nblocks: []\nmetadata:\n    m: 1\n");
}

#[test]
fn redaction_is_off_by_default_and_says_so_when_on() {
    let secret = format!("gAAAAA{}tail42", "x".repeat(88));
    let text = format!("blocks:\n    - kind: reasoning\n      payload:\n        encrypted_content: {secret}\n");
    let turn = geppetto::from_yaml(text.as_bytes()).unwrap();

    let kept = geppetto::to_yaml(&turn, geppetto::Options::default());
    let redacted = geppetto::to_json(&turn, geppetto::Options { redact_encrypted_content: true, ..Default::default() });

    assert_eq!(kept, text);
    assert!(!redacted.contains(&secret));
    assert!(redacted.contains("gAAAAA-****100****-tail42"));
    assert_eq!(value(&redacted).as_object().unwrap().get("metadata").unwrap().to_text(), r#"{"redacted":true}"#);
}

#[test]
fn lint_finds_what_the_specification_expects() {
    let text = "id: x\nblocks:\n  - kind: system\n    payload: {text: a}\n  - kind: user\n    role: assistant\n  - kind: llm_text\n  \
                - kind: tool_call\n    role: assistant\n    payload: {name: f}\n  - kind: tool_use\n    payload: {id: c}\n  - kind: reasoning\n    role: x\n  \
                - kind: mystery\n  - payload: {}\n";
    let found = lint(Input::new(text.as_bytes()), "geppetto.turn", Strictness::Lax).unwrap();

    let found: Vec<_> = found.iter().map(|f| (f.rule, f.at.as_str(), f.line)).collect();
    assert_eq!(
        found,
        [
            ("role.missing", "blocks[0].role", Some(3)),
            ("role.wrong", "blocks[1].role", Some(6)),
            ("role.missing", "blocks[2].role", Some(7)),
            ("role.unexpected", "blocks[3].role", Some(9)),
            ("tool_call.id", "blocks[3].payload.id", Some(8)),
            ("tool_call.args", "blocks[3].payload.args", Some(8)),
            ("tool_use.result", "blocks[4].payload.result", Some(11)),
            ("role.unexpected", "blocks[5].role", Some(14)),
            ("kind.unknown", "blocks[6].kind", Some(15)),
            ("kind.missing", "blocks[7].kind", Some(16)),
        ]
    );
    let strict = lint(Input::new(text.as_bytes()), "geppetto.turn", Strictness::Strict).unwrap();
    assert!(strict.iter().all(|finding| finding.severity == Severity::Error));
}

#[test]
fn fixtures_keep_their_followups() {
    let text = "version: 1\nturn:\n    id: turn_simple\n    blocks:\n        - kind: system\n          role: system\n          payload:\n            text: You are a LLM.\nfollowups:\n    - kind: user\n      role: user\n      payload:\n        text: Hello again\n    - kind: user\n      role: user\n      payload:\n        text: And again\n";
    assert_eq!(sniff(&Input::new(text.as_bytes())).unwrap().codec.spec().id, "geppetto.fixture");
    assert_eq!(rewrite(text, "geppetto.fixture"), (text.to_owned(), vec![]));
    for bare in
        ["followups:\n    - kind: user\n      role: user\n", "turn:\n    blocks: []\n", "version: 1\nfollowups: []\n"]
    {
        assert_eq!(rewrite(bare, "geppetto.fixture"), (bare.to_owned(), vec![]));
    }
}

#[test]
fn all_public_turns_survive() {
    let Some(corpus) = std::env::var_os("TURNKEEP_CORPUS") else {
        println!("skipped: public geppetto turns (TURNKEEP_CORPUS is not set)");
        return;
    };
    let mut turns = 0;
    for folder in ["gemini-smoke", "image-input", "spec", "runner"] {
        for entry in fs::read_dir(Path::new(&corpus).join("geppetto").join(folder)).unwrap().flatten() {
            let path = entry.path();
            let text = fs::read_to_string(&path).unwrap();
            let Ok(found) = sniff(&Input::new(text.as_bytes())) else { continue };
            let id = found.codec.spec().id;
            if !id.starts_with("geppetto") {
                continue;
            }
            turns += 1;
            let (saved, losses) = rewrite(&text, id);
            assert_eq!(losses, [], "{}", path.display());
            assert_same(&saved, &text);
            assert_eq!(rewrite(&saved, id).0, saved, "{}", path.display());
            if id == "geppetto.turn" && folder != "spec" {
                assert_eq!(compat(&text).unwrap().replace("\r", ""), go_sorted(&text), "{}", path.display());
            }
        }
    }
    println!("{turns} public documents");
    assert!(turns >= 14);
}

/// Files that the real program wrote are its own output, but for struct fields it wrote in another order.
fn go_sorted(text: &str) -> String {
    compat(&compat(text).unwrap()).unwrap()
}

#[test]
fn kinds_are_trimmed_and_case_folded_and_roles_synthesised() {
    let kinds = ["user", "llm_text", "tool_call", "tool_use", "system", "reasoning", "other"];
    for kind in kinds {
        let text = format!("blocks:\n    - kind: \" {} \"\n", kind.to_uppercase());
        let turn = geppetto::from_yaml(text.as_bytes()).unwrap();
        assert_eq!(turn.blocks()[0].kind().as_str(), kind);
        assert_eq!(turn.blocks()[0].role.as_deref(), (kind == "llm_text").then_some("assistant"));
    }
}

#[test]
fn a_missing_kind_is_other_and_stays_missing() {
    let text = "blocks:\n    - role: user\n      payload:\n        text: hi\n";
    assert_eq!(geppetto::from_yaml(text.as_bytes()).unwrap().blocks()[0].kind(), geppetto::Kind::Other);
    assert_eq!(rewrite(text, "geppetto.turn"), (text.to_owned(), vec![]));
    assert_eq!(
        compat(text).unwrap(),
        "blocks:\n    - kind: user\n      role: user\n      payload:\n        text: hi\n"
    );
}

#[test]
fn unknown_fields_survive_at_every_level() {
    let text = r#"{"version":1,"id":"a","blocks":[{"kind":"user","role":"user","payload":{"text":"x","new":{"deep":[1.0,null]}},"metadata":{"m":-0},"new":true},{"kind":"tool_call","payload":{"id":"c","name":"f","args":{"a":{"b":[]}},"correlation":{"run_id":""}},"turn_id":"a"},{"kind":"tool_use","payload":{"id":"c","result":[1e400],"error":"","new":1}}],"metadata":{"k":{}},"data":{"d":9007199254740993},"new":{"x":null}}"#;
    let (saved, losses) = rewrite(text, "geppetto.turn:json");
    assert_same(&saved, text);
    assert_eq!(losses, []);
}

#[test]
fn duplicate_json_keys_are_accepted_and_reported() {
    let text = r#"{"id":"a","id":"b","blocks":[{"kind":"user","role":"user","payload":{"text":"x","n":1,"n":2}}]}"#;
    let (saved, losses) = rewrite(text, "geppetto.turn:json");
    assert_eq!(losses.len(), 1);
    assert!(losses[0].what.contains("`id` stands more than once"));
    assert!(saved.contains("\"id\": \"b\""));
}

#[test]
fn correlation_is_read_in_both_spellings() {
    let text = "blocks:\n  - kind: tool_call\n    payload: {id: c, name: f, args: {}, correlation: {run_id: r, toolCallId: c}}\n  \
                - kind: tool_call\n    payload: {id: d, name: f, args: {}, correlation: {run_id: \"\"}}\n";
    let turn = geppetto::from_yaml(text.as_bytes()).unwrap();
    let correlation = turn.blocks()[0].correlation().unwrap();
    assert_eq!((correlation.run_id.as_deref(), correlation.tool_call_id.as_deref()), (Some("r"), Some("c")));
    assert_eq!(turn.blocks()[1].correlation(), None);
}

#[test]
fn a_turn_carries_model_usage_and_finish_into_the_session() {
    let text = "blocks:\n    - kind: user\n      role: user\n      payload:\n        text: hi\n    - kind: llm_text\n      role: assistant\n      payload:\n        text: yo\n      metadata:\n        geppetto.inference_result@v1:\n            duration_ms: 1114\n            extra:\n                total_token_count: 168\n            finish_class: completed\n            model: gemini-3\n            provider: gemini\n            stop_reason: STOP\n            usage:\n                input_tokens: 113\n                output_tokens: 17\n";
    let codec = format::by_id("geppetto.turn").unwrap();
    let decoded = codec.decode(Input::new(text.as_bytes()), &DecodeOptions::default()).unwrap();
    let turn = &decoded.archive.sessions[0].turns[0];
    assert_eq!((turn.provider.as_deref(), turn.model.as_deref()), (Some("gemini"), Some("gemini-3")));
    assert_eq!((turn.usage.input, turn.usage.output), (Some(113), Some(17)));
    assert_eq!(turn.timing.seconds.as_ref().unwrap().as_str(), "1.114");
    assert_eq!(turn.finish.as_ref().unwrap().word.as_deref(), Some("STOP"));
    assert_eq!(rewrite(text, "geppetto.turn"), (text.to_owned(), vec![]));
}

#[test]
fn hostile_documents_are_refused_in_bounded_time() {
    let codec = format::by_id("geppetto.turn").unwrap();
    let refuse = |text: &str| codec.decode(Input::new(text.as_bytes()), &DecodeOptions::default()).unwrap_err().kind();
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let list = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    assert_eq!(refuse(&bomb), ErrorKind::TooLarge);
    assert_eq!(refuse(&"[".repeat(100_000)), ErrorKind::TooLarge);
    assert_eq!(refuse(&format!("blocks: {}", "[".repeat(100_000))), ErrorKind::TooLarge);
    assert_eq!(refuse(&"- ".repeat(100_000)), ErrorKind::TooLarge);
    assert_eq!(refuse("id: [a\nblocks: &x [*x]\n"), ErrorKind::Corrupt);
    assert!(codec.decode(Input::new(b"id: \xff\xfe\n"), &DecodeOptions::default()).is_err());
}

#[test]
fn crlf_and_a_byte_order_mark_are_accepted() {
    let text = "\u{feff}id: a\r\nblocks:\r\n- kind: user\r\n  role: user\r\n  payload:\r\n    text: |\r\n      one\r\n      two\r\n";
    let turn = geppetto::from_yaml(text.as_bytes()).unwrap();
    assert_eq!(turn.blocks()[0].get("text").unwrap().as_str().as_deref(), Some("one\ntwo\n"));
}

#[test]
fn what_nests_as_deep_as_it_may_can_go_through_the_native_formats() {
    let deep = format!("{}{}", "[".repeat(250), "]".repeat(250));
    let text = format!(r#"{{"blocks":[{{"kind":"user","role":"user","payload":{{"x":{deep}}}}}]}}"#);
    for native in ["turnkeep", "turnkeep.yaml", "turnkeep.jsonl"] {
        let target = Target::parse(native).unwrap();
        let options = (DecodeOptions::default(), EncodeOptions::default());
        let there = convert(Input::new(text.as_bytes()), None, &target, &options.0, &options.1).unwrap();
        let target = Target::parse("geppetto.turn:json").unwrap();
        let back = convert(Input::new(&there.bytes), None, &target, &options.0, &options.1).unwrap();
        assert_same(&String::from_utf8(back.bytes).unwrap(), &text);
    }
}

/// Turns with reserved and unknown keys, of every kind.
fn turns() -> impl Strategy<Value = geppetto::Turn> {
    let key = prop_oneof![
        proptest::sample::select(vec![
            "text",
            "id",
            "name",
            "args",
            "result",
            "error",
            "encrypted_content",
            "item_id",
            "images"
        ])
        .prop_map(str::to_owned),
        generate::word(),
    ];
    let map = proptest::collection::vec((key, generate::plain_json()), 0..5);
    let map = map.prop_map(|pairs| {
        let mut object = Object::new();
        pairs.into_iter().for_each(|(key, value)| object.set(&key, value));
        object
    });
    let kind = proptest::sample::select(geppetto::Kind::ALL.map(|(kind, _)| kind).to_vec());
    let block = (kind, map.clone(), map.clone()).prop_map(|(kind, payload, metadata)| {
        let mut block = geppetto::Block::new(kind);
        block.payload = Some(payload);
        block.metadata = Some(metadata);
        block
    });
    (proptest::collection::vec(block, 0..5), map.clone(), map).prop_map(|(blocks, metadata, data)| geppetto::Turn {
        id: Some("t".to_owned()),
        blocks: Some(blocks),
        metadata: Some(metadata),
        data: Some(data),
        ..geppetto::Turn::default()
    })
}

#[test]
fn yaml_and_json_agree_on_generated_turns() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(200) });
    let verdict = runner.run(&(turns(), any::<bool>()), |(turn, redact_encrypted_content)| {
        let options = geppetto::Options { redact_encrypted_content, omit_data: false };
        let as_yaml = geppetto::to_yaml(&turn, options);
        let as_json = geppetto::to_json(&turn, options);
        let read = |text: &str| {
            geppetto::from_yaml(text.as_bytes()).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))
        };
        let (yaml, json) = (read(&as_yaml)?, read(&as_json)?);
        // JSON has no number that is not finite: there it is text.
        prop_assert_eq!(geppetto::to_json(&yaml, options), as_json);
        prop_assert_eq!(geppetto::to_json(&json, options), geppetto::to_json(&yaml, options));
        prop_assert_eq!(geppetto::to_yaml(&yaml, options), as_yaml);
        Ok(())
    });
    assert!(verdict.is_ok(), "{verdict:?}");
}

#[test]
fn compat_writes_times_without_quotes_as_their_library_does() {
    let text = "blocks:\n    - kind: user\n      payload:\n        at: 2026-01-16\n        list: [2026-01-16 10:00:00]\n        said: \"2026-01-16\"\n";

    let expected = "blocks:\n    - kind: user\n      payload:\n        at: 2026-01-16T00:00:00Z\n        list:\n            - 2026-01-16T10:00:00Z\n        said: \"2026-01-16\"\n";
    assert_eq!(compat(text).unwrap(), expected);
}
