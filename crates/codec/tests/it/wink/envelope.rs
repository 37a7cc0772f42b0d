//! Snapshots, composites and slices come back byte for byte.

use turnkeep_codec::{Confidence, Input, format, sniff};
use turnkeep_model::canon::canonical;
use turnkeep_model::json::Json;
use turnkeep_model::{ErrorKind, LossKind, SlicePolicy};

use super::{case, cases, compat, decode, encode, rewrite, session};

#[test]
fn every_fixture_comes_back_byte_for_byte() {
    let mut compared = 0;
    for format in ["wink.snapshot", "wink.composite", "wink.conversation"] {
        for (name, text) in cases(format) {
            assert_eq!(rewrite(format, &text), (text.clone(), vec![]), "{format} {name}");
            compared += 1;
        }
    }
    assert!(compared >= 27, "{compared}");
}

#[test]
fn slices_come_back_byte_for_byte() {
    for (name, text) in cases("wink.slice") {
        assert_eq!(rewrite("wink.slice", &text), (text.clone(), vec![]), "{name}");
    }
}

#[test]
fn every_fixture_comes_back_from_the_native_form() {
    for format in ["wink.snapshot", "wink.composite", "wink.conversation", "wink.slice", "wink.transcript"] {
        for (name, text) in cases(format) {
            let native = encode("turnkeep", &decode(format, &text).unwrap().archive);
            let native = decode("turnkeep", &String::from_utf8(native.bytes).unwrap()).unwrap();
            let back = encode(format, &native.archive);
            assert_eq!(String::from_utf8(back.bytes).unwrap(), text, "{format} {name}");
        }
    }
}

#[test]
fn fixtures_are_recognised_and_by_one_format_only() {
    for format in ["wink.snapshot", "wink.composite", "wink.transcript"] {
        for (name, text) in cases(format) {
            let input = Input::new(text.as_bytes());
            let certain: Vec<_> = format::ALL
                .iter()
                .filter(|codec| codec.sniff(&input).confidence == Confidence::Certain)
                .map(|codec| codec.spec().id)
                .collect();
            assert_eq!(certain, [format], "{name}");
        }
    }
}

#[test]
fn the_release_is_named() {
    let generations = [
        ("wink_0.5.0", "0.5 to 0.11"),
        ("wink_0.11.0", "0.5 to 0.11"),
        ("wink_0.13.0", "0.13 to 0.15"),
        ("wink_0.17.0", "0.16 to 0.22"),
        ("wink_0.20.0", "0.16 to 0.22"),
        ("wink_0.24.0", "0.23 and later"),
    ];
    for (name, expected) in generations {
        let text = case("wink.snapshot", name);
        let found = sniff(&Input::new(text.as_bytes())).unwrap();
        assert_eq!(found.guess.generation.as_deref(), Some(expected), "{name}");
    }
    let twelve = case("wink.snapshot", "wink_0.24.0").replace("\"policies\": {\"demo_app.state:Note\": \"state\", \"demo_app.state:Plan\": \"state\", \"weakincentives.runtime.session.visibility_overrides:VisibilityOverrides\": \"state\"}, ", "");
    let found = sniff(&Input::new(twelve.as_bytes())).unwrap();
    assert_eq!(found.guess.generation.as_deref(), Some("0.12"));
    assert_eq!(rewrite("wink.snapshot", &twelve), (twelve.clone(), vec![]));
}

#[test]
fn a_slice_is_data_under_its_name() {
    let session = session("wink.snapshot", &case("wink.snapshot", "13_custom_log_slice_included"));

    let slices: Vec<_> =
        session.slices.iter().map(|slice| (slice.name.as_str(), slice.policy.clone(), slice.items.len())).collect();
    assert_eq!(
        slices,
        [("demo_app.state:Note", Some(SlicePolicy::Log), 1), ("demo_app.state:Plan", Some(SlicePolicy::State), 1)]
    );
    assert_eq!(session.id.unwrap().as_str(), "00000000-0000-0000-0000-000000000008");
    assert_eq!(session.timing.updated.unwrap().as_str(), "2026-11-15T23:43:03.250039+00:00");
}

#[test]
fn an_item_type_of_its_own_survives() {
    let text = r#"{"created_at": "2026-03-01T12:00:00+00:00", "slices": [{"item_type": "a:Sub", "items": [{"x": 123456789012345678901234567890}], "slice_type": "a:Base"}], "version": "1"}"#;
    let session = session("wink.snapshot", text);
    assert_eq!(session.slices[0].item_type.as_deref(), Some("a:Sub"));
    assert_eq!(rewrite("wink.snapshot", text), (text.to_owned(), vec![]));
}

#[test]
fn parents_and_children_are_links() {
    let parent = session("wink.snapshot", &case("wink.snapshot", "05_parent"));
    let child = session("wink.snapshot", &case("wink.snapshot", "06_child"));
    assert_eq!(parent.children.len(), 2);
    assert_eq!(child.parent.unwrap().session, parent.id.unwrap());
    assert_eq!(child.tags, [("scope".to_owned(), "child".to_owned())]);
}

#[test]
fn a_tree_is_one_archive_and_its_root_is_the_main_session() {
    let tree = decode("wink.snapshot", &case("wink.snapshot", "07_session_tree")).unwrap().archive;
    assert_eq!((tree.sessions.len(), tree.main), (3, 2));
    assert_eq!(tree.main_session().unwrap().children.len(), 2);
}

#[test]
fn unknown_fields_survive_everywhere() {
    let text = r#"{"children_ids": [], "created_at": "2026-03-01T12:00:00Z", "new": {"b": 1, "a": [NaN]}, "parent_id": "00000000-0000-0000-0000-000000000001", "policies": {"a:B": "log", "c:D": "state"}, "slices": [{"extra": 1.50, "item_type": "a:B", "items": [{"__type__": "a:B", "deep": {"z": null}}], "slice_type": "a:B"}, {"item_type": "x:Y", "slice_type": "x:Y"}], "tags": {"parent_session_id": "other", "t": "\ud83d\ude00"}, "version": "1"}"#;
    let sorted = text.replace(r#"{"b": 1, "a": [NaN]}"#, r#"{"a": [NaN], "b": 1}"#);
    assert_eq!(rewrite("wink.snapshot", text), (sorted, vec![]));
}

#[test]
fn odd_but_readable_envelopes_survive() {
    let envelopes = [
        r#"{"created_at": "yesterday", "version": "1"}"#,
        r#"{"created_at": "2026-03-01", "slices": [], "version": "1"}"#,
        r#"{"children_ids": ["not-a-uuid"], "created_at": "2026-03-01T12:00:00", "parent_id": "also not", "tags": {}, "version": "1"}"#,
        r#"{"created_at": "2026-03-01", "parent_id": null, "tags": {"parent_session_id": "00000000-0000-0000-0000-000000000001"}, "version": "1"}"#,
        r#"{"created_at": "2026-03-01", "slices": [{"item_type": "a:B", "items": [{"n": 1}], "slice_type": "a:B"}, {"item_type": "a:B", "items": [{"n": 2}], "slice_type": "a:B"}], "version": "1"}"#,
    ];
    for text in envelopes {
        assert_eq!(rewrite("wink.snapshot", text), (text.to_owned(), vec![]));
        let line = format!("{text}\n");
        assert_eq!(rewrite("wink.snapshot", &line), (line.clone(), vec![]));
    }
}

#[test]
fn a_newer_version_opens_and_says_so() {
    let text = r#"{"created_at": "2026-03-01", "version": "2"}"#;
    let (saved, losses) = rewrite("wink.snapshot", text);
    assert_eq!(saved, text);
    assert_eq!(losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), [LossKind::Coerced]);
}

#[test]
fn of_duplicate_keys_the_last_counts_and_it_is_reported() {
    let (saved, losses) = rewrite("wink.snapshot", r#"{"version": "9", "created_at": "2026-03-01", "version": "1"}"#);
    assert_eq!(saved, r#"{"created_at": "2026-03-01", "version": "1"}"#);
    assert_eq!(losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), [LossKind::Repaired]);
}

#[test]
fn half_a_surrogate_pair_in_an_item_survives() {
    let text = r#"{"created_at": "2026-03-01", "slices": [{"item_type": "a:B", "items": [{"t": "\ud83d and \ud83d\ude00"}], "slice_type": "a:B"}], "version": "1"}"#;
    assert_eq!(rewrite("wink.snapshot", text), (text.to_owned(), vec![]));
}

#[test]
fn slices_are_sorted_by_name_and_that_is_one_loss() {
    let text = r#"{"created_at": "2026-03-01", "slices": [{"item_type": "b:B", "items": [], "slice_type": "b:B"}, {"item_type": "a:A", "items": [], "slice_type": "a:A"}], "version": "1"}"#;
    let (saved, losses) = rewrite("wink.snapshot", text);
    assert!(saved.find("a:A") < saved.find("b:B"));
    assert_eq!(
        losses.iter().map(|loss| (loss.at.as_str(), loss.kind)).collect::<Vec<_>>(),
        [("slices", LossKind::Reordered)]
    );
}

#[test]
fn a_composite_keeps_what_surrounds_the_session() {
    let decoded = decode("wink.composite", &case("wink.composite", "04_with_inmemory_fs")).unwrap();
    let envelope = decoded.archive.extra.fields("wink").unwrap().get("composite").unwrap();
    let resources = envelope.as_object().unwrap().get("resources").and_then(Json::as_array).unwrap();
    assert_eq!(resources.len(), 1);
    assert_eq!(decoded.archive.main_session().unwrap().slices.len(), 1);
}

#[test]
fn the_later_composite_with_a_sandbox_opens() {
    let text = case("wink.composite", "03_null_metadata").replace("\"resources\": []", "\"sandbox\": null").replace(
        "\"snapshot_id\": \"00000000-0000-0000-0000-000000000020\", \"version\": \"1\"",
        "\"snapshot_id\": \"00000000-0000-0000-0000-000000000020\", \"version\": \"2\"",
    );
    let (saved, losses) = rewrite("wink.composite", &text);
    assert_eq!(losses, []);
    assert_eq!(canonical(&super::json(&saved)), canonical(&super::json(&text)));
}

#[test]
fn a_torn_last_line_of_a_slice_is_dropped_and_reported() {
    let text = case("wink.slice", "demo_app.state.Note");
    let torn = &text[..text.len() - 6];
    let decoded = decode("wink.slice", torn).unwrap();
    assert_eq!(decoded.archive.main_session().unwrap().slices[0].items.len(), 1);
    assert_eq!(decoded.losses[0].kind, LossKind::Dropped);
    let middle = format!("{torn}\n{text}");
    let error = decode("wink.slice", &middle).unwrap_err();
    assert_eq!((error.kind(), error.at_line()), (ErrorKind::Corrupt, Some(2)));
}

#[test]
fn a_slice_is_named_after_its_file() {
    let text = case("wink.slice", "demo_app.state.Note");
    let input = Input::new(text.as_bytes()).named("logs/demo_app.state.Note.jsonl");
    let found = sniff(&input).unwrap();
    assert_eq!(found.codec.spec().id, "wink.slice");
    let decoded = found.codec.decode(input, &Default::default()).unwrap();
    assert_eq!(decoded.archive.main_session().unwrap().slices[0].name, "demo_app.state:Note");
}

#[test]
fn a_byte_order_mark_is_read_but_python_refuses_it() {
    let text = "\u{feff}{\"version\":\"1\",\"created_at\":\"2026-03-01T12:00:00+00:00\"}";

    assert!(decode("wink.snapshot", text).is_ok());
    assert_eq!(compat("wink.snapshot", text).unwrap_err().to_string(), "Invalid snapshot JSON");
}

/// The items of a session's slices, by slice, without the type names that some releases wrote into them.
fn items(text: &str) -> Vec<(String, Vec<turnkeep_model::Json>)> {
    let bare = |item: &turnkeep_model::Json| {
        let mut item = item.as_object().unwrap().clone();
        item.remove("__type__");
        turnkeep_model::Json::Object(item)
    };
    let slices = session("wink.snapshot", text).slices;
    slices.into_iter().map(|slice| (slice.name, slice.items.iter().map(bare).collect())).collect()
}

#[test]
fn snapshots_of_all_releases_hold_the_same_state() {
    let mut old: Vec<(String, String)> =
        cases("wink.snapshot").into_iter().filter(|(name, _)| name.starts_with("wink_")).collect();
    // 0.16 was the first with policies, under a module that moved in the release after it.
    let moved = r#""policies": {"demo_app.state:Note": "state", "weakincentives.prompt.visibility_overrides:VisibilityOverrides": "state"}, "slices""#;
    old.push(("wink_0.16.0".to_owned(), case("wink.snapshot", "wink_0.15.0").replace("\"slices\"", moved)));
    let expected = items(&case("wink.snapshot", "wink_0.24.0"));
    let named: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(named, ["demo_app.state:Note", "demo_app.state:Plan"]);
    assert!(old.len() >= 11, "{}", old.len());

    for (name, text) in old {
        assert_eq!(items(&text), expected, "{name}");
        assert_eq!(rewrite("wink.snapshot", &text), (text.clone(), vec![]), "{name}");
        if name == "wink_0.16.0" {
            let found = sniff(&Input::new(text.as_bytes())).unwrap();
            assert_eq!(found.guess.generation.as_deref(), Some("0.16 to 0.22"));
        }
    }
}
