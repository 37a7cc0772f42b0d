//! Views, condensing, compression, and what the application keeps with a session.

use crate::place::{Place, SECRET};

/// A native session of so many exchanges.
fn talk(exchanges: usize) -> String {
    let turn = |n: usize| {
        format!(
            r#"{{"finish":{{"reason":"stop"}},"blocks":[{{"author":"user","message":{{"ordinal":{}}},"type":"text","text":"Hello! Could you tell me again what part {n} of the whole thing is for, please?"}},{{"author":"assistant","message":{{"ordinal":{}}},"type":"text","text":"Sure, happy to help. We decided to keep src/part_{n}.rs with its {} lines. Let me know if you need anything else at all."}}]}}"#,
            2 * n,
            2 * n + 1,
            n * 31 + 7
        )
    };
    let turns: Vec<String> = (0..exchanges).map(turn).collect();
    format!(r#"{{"turnkeep":1,"sessions":[{{"id":"talk","turns":[{}]}}]}}"#, turns.join(","))
}

fn place() -> Place {
    Place::new().with("talk.json", talk(8))
}

#[cfg(feature = "sqlite")]
fn stored() -> Place {
    let place = place();
    place.run("import talk.json --store sqlite:s.db").ends(0);
    place
}

#[test]
fn a_slim_view_follows_its_preset_and_each_field_has_a_flag() {
    let place = place();

    let standard = place.run("slim talk.json").ends(0);
    let minimal = place.run("slim talk.json --preset minimal").ends(0);
    let own = place
        .run("slim talk.json --preset minimal --max-messages 3 --max-steps 2 --include-steps --max-content-length 5 --include-tool-results=true --include-continuation-trace false --redact-tool-args")
        .ends(0);

    assert_eq!(standard.out.matches("\"role\"").count(), 16);
    assert_eq!((standard.out.matches("step_number").count(), minimal.out.matches("step_number").count()), (8, 0));
    assert_eq!(own.out.matches("\"role\"").count(), 3);
    assert!(own.out.contains("\"step_number\": 8") && own.out.contains("\"content\": \"Sure,...\""), "{}", own.out);
    assert!(own.err.contains("3 messages, 2 of 8 steps"), "{}", own.err);
    for wrong in ["--preset huge", "--max-messages many", "--include-steps perhaps", "--dialect v3"] {
        place.run(&format!("slim talk.json {wrong}")).ends(2);
    }
    place.run("slim nowhere.json").ends(4);
}

#[test]
fn a_slim_view_shows_no_secret_and_its_report_tells_what_is_gone() {
    let place = Place::new();

    let ran = place.run("slim s.json --preset full --report r.json -o v.json").ends(0);
    let rehearsed = place.run("slim s.json --dry-run").ends(0);

    assert_eq!(ran.out, "");
    let (view, report) = (place.text("v.json"), place.text("r.json"));
    assert!(!view.contains(SECRET) && view.contains("\"agent_id\": \"s1\""), "{view}");
    for part in ["turns[0].blocks[1]", "options", "turns[0].model", "\"kind\": \"dropped\"", "\"tokens\""] {
        assert!(report.contains(part), "{part} in {report}");
    }
    assert!(rehearsed.out.contains("a view holds no thinking"), "{}", rehearsed.out);
    assert!(!rehearsed.out.contains("agent_id"));
}

#[test]
fn a_snapshot_is_restored_only_where_that_is_said() {
    let place = place();
    place.run("slim talk.json --max-messages 2 -o v.json").ends(0);

    let restored = place.run("slim v.json --restore -o back.json").ends(0);
    let again = place.run("slim back.json").ends(0);
    place.run("slim talk.json --restore").ends(6).says("talk.json:1:1: agent_id: `agent_id` is missing");

    assert!(restored.err.contains("truncated"), "{}", restored.err);
    assert!(again.out.contains("\"step_count\": 8"), "{}", again.out);
}

#[test]
fn a_file_is_condensed_on_its_way_to_another_format() {
    let place = place();

    let ran = place.run("convert talk.json --to openai.chat --condense --report r.json").ends(0);
    let all = place.run("convert talk.json --to lucee.session --condense").ends(0);
    let little = place.run("convert s.json --to turnkeep --condense").ends(0);

    assert!(
        ran.out.contains("src/part_7.rs") && !ran.out.contains("Hello! Could you tell me again what part 0"),
        "{}",
        ran.out
    );
    assert!(place.text("r.json").contains("\"kind\": \"condensed\""));
    assert_eq!(all.out.matches("\"question\"").count(), 1, "{}", all.out);
    assert!(all.out.contains("Summarize our conversation so far."));
    assert!(little.err.contains("nothing to condense"), "{}", little.err);
}

#[test]
fn a_file_is_condensed_and_a_rehearsal_writes_nothing() {
    let place = place();

    let rehearsed = place.run("condense talk.json --keep 2 --dry-run").ends(0);
    let ran = place.run("condense talk.json --keep 2 -o c.json").ends(0);
    let shown = place.run("show c.json").ends(0);

    assert!(rehearsed.out.starts_with("would condense turns 0 to 5 (6 exchanges, 12 blocks)"), "{}", rehearsed.out);
    assert!(ran.err.contains("condensed turns 0 to 5"), "{}", ran.err);
    assert!(shown.out.contains("part_7") && shown.out.to_lowercase().contains("summary"), "{}", shown.out);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_stored_session_is_condensed_and_shown_expanded() {
    let place = stored();

    let rehearsed = place.run("condense talk --dry-run --json --store sqlite:s.db").ends(0);
    let ran = place.run("condense talk --store sqlite:s.db").ends(0);
    let again = place.run("condense talk --store sqlite:s.db").ends(0);
    let shown = place.run("show talk --store sqlite:s.db").ends(0);
    let expanded = place.run("show talk --expand --store sqlite:s.db").ends(0);

    assert!(rehearsed.out.contains("\"exchanges\": 4"), "{}", rehearsed.out);
    assert!(ran.out.starts_with("condensed turns 0 to 3 (4 exchanges, 8 blocks)"), "{}", ran.out);
    assert!(again.out.starts_with("nothing to condense"), "{}", again.out);
    assert!(!shown.out.contains("Hello! Could you tell me again what part 0 of"), "{}", shown.out);
    assert!(
        expanded.out.contains("Hello! Could you tell me again what part 0 of")
            && !expanded.out.to_lowercase().contains("summary"),
        "{}",
        expanded.out
    );
    place
        .run("condense talk --keep 0 --store sqlite:s.db")
        .ends(1)
        .says("session talk: a stored session keeps at least its last exchange");
    place.run("condense nothing --store sqlite:s.db").ends(4);
    place.run("verify talk --store sqlite:s.db").ends(0);
}

#[cfg(feature = "sqlite")]
#[test]
fn an_export_is_condensed_reported_and_compressed() {
    let place = stored();

    let ran = place.run("export talk --to lucee.session --condense --report r.json --store sqlite:s.db").ends(0);
    place.run("export talk --to lucee.session --compress -o e.json.zst --store sqlite:s.db").ends(0);
    let sniffed = place.run("sniff e.json.zst").ends(0);

    assert_eq!(ran.out.matches("\"question\"").count(), 1, "{}", ran.out);
    assert!(place.text("r.json").contains("\"condensed\""));
    assert!(sniffed.out.starts_with("lucee.session (text) compressed with zstd"), "{}", sniffed.out);
}

#[test]
fn compressed_files_are_opened_as_if_they_were_not() {
    let place = place();

    place.run("convert talk.json --to turnkeep -o plain.json").ends(0);
    place.run("convert talk.json --to turnkeep --compress=19 -o packed.json.zst").ends(0);
    let back = place.run("convert packed.json.zst --to turnkeep").ends(0);
    let sniffed = place.run("sniff packed.json.zst --json").ends(0);
    place.run("diff plain.json packed.json.zst").ends(0);
    place
        .run("convert packed.json.zst --to turnkeep --max-bytes 1000")
        .ends(6)
        .says("packed.json.zst: has more than 1000 bytes when it is decompressed");
    place.run("convert talk.json --to turnkeep --compress=23").ends(2);

    assert_eq!(back.out, place.text("plain.json"));
    assert!(sniffed.out.contains("\"compressed\": \"zstd\"") && sniffed.out.contains("\"format\": \"turnkeep\""));
    let (plain, packed) = (place.path("plain.json"), place.path("packed.json.zst"));
    let size = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().len();
    assert!(size(packed) * 3 < size(plain));
}

#[cfg(feature = "sqlite")]
#[test]
fn metadata_is_set_listed_looked_for_and_taken_off() {
    let place = stored();

    let set = place.run("tag talk --meta owner=ada --meta limits={\"n\":3} --store sqlite:s.db").ends(0);
    let again = place.run("tag talk --meta owner=ada --json --store sqlite:s.db").ends(0);
    let found = place.run("ls --meta owner=ada --meta limits --store sqlite:s.db").ends(0);
    let none = place.run("ls --meta owner=eve --store sqlite:s.db").ends(0);
    let removed = place.run("tag talk --remove-meta limits --store sqlite:s.db").ends(0);

    assert_eq!(set.out, "meta owner=\"ada\"\nmeta limits={\"n\":3}\n");
    assert!(again.out.contains("\"owner\": \"ada\""), "{}", again.out);
    assert!(found.out.contains("talk") && !none.out.contains("talk"), "{} {}", found.out, none.out);
    assert_eq!(removed.out, "meta owner=\"ada\"\n");
    place.run("tag talk --meta =x --store sqlite:s.db").ends(2);
    let exported = place.run("export talk --to lucee.session --store sqlite:s.db").ends(0);
    assert!(exported.out.contains("\"owner\": \"ada\""), "{}", exported.out);
}

#[test]
fn a_window_of_none_keeps_no_exchange_and_one_of_minus_one_keeps_all() {
    let place = place();
    let questions = |window: &str, more: &str| {
        let ran = place.run(&format!("convert talk.json --to lucee.session --window {window} {more}")).ends(0);
        ran.out.matches("\"question\"").count()
    };

    assert_eq!(["0", "-1", "-7", "3"].map(|window| questions(window, "")), [0, 8, 8, 3]);
    assert_eq!(["0", "-1", "-7"].map(|window| questions(window, "--compat")), [0, 8, 0]);
    place.run("convert talk.json --to lucee.session --window none").ends(2);
}

#[test]
fn a_history_that_a_model_condenses_keeps_its_exchanges() {
    let reply = r#"{"history": [{"question": "Which parts?", "answer": "Part 0 and 1."}, {"question": "And then?", "answer": "The rest."}]}"#;
    let script = format!("turnkeep_script: 1\nanswers:\n  - '{reply}'\n");
    let place = place().with("s.yaml", script);

    let ran = place.run("convert talk.json --to lucee.session --condense --script s.yaml").ends(0);

    assert_eq!(ran.out.matches("\"question\"").count(), 2, "{}", ran.out);
    for text in ["Which parts?", "Part 0 and 1.", "And then?", "The rest."] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn a_model_is_told_that_a_summary_is_one() {
    let wires =
        ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];
    for wire in wires {
        let ran = place().run(&format!("convert talk.json --to {wire} --condense")).ends(0);

        let told = "<conversation_summary>\\nThis is a summary of the earlier conversation. The user did not write it.";
        assert!(ran.out.contains(told), "{wire}: {}", ran.out);
    }
}
