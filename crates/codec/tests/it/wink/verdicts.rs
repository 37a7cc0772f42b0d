//! The original's verdicts on bad and odd inputs, one test a case: its untyped reader's, and its typed one's.

use turnkeep_codec::{DecodeOptions, Input, format};
use turnkeep_model::ErrorKind;
use turnkeep_model::json::{Json, Object};

use super::{compat, decode, fixtures, json};

fn all() -> Vec<Object> {
    let text = std::fs::read_to_string(fixtures().join("wink.snapshot/bad_inputs.expected.json")).unwrap();
    let cases = json(&text).as_object().unwrap().get("cases").unwrap().as_array().unwrap().to_vec();
    cases.into_iter().map(|case| case.as_object().unwrap().clone()).collect()
}

/// The types of the application that the inputs were made with.
const TYPES: &str = r#"{
    "demo_app.state:Note": {"fields": {"key": "str", "text": "str"}},
    "demo_app.state:Step": {"fields": {
        "step_id": "int", "title": "str",
        "status": {"type": "Literal['pending', 'in_progress', 'done']", "default": "pending"}
    }},
    "demo_app.state:Plan": {"fields": {
        "objective": "str", "status": "str",
        "steps": {"type": "tuple[demo_app.state:Step, ...]", "default": []}
    }},
    "builtins:dict": {"kind": "class"},
    "json:dumps": {"kind": "object"}
}"#;

/// What a reader said: nothing, or its words.
fn verdict(case: &Object, reader: &str) -> Option<String> {
    let result = case.get("result").and_then(Json::as_object).unwrap();
    let result = result.get(reader).and_then(Json::as_object).unwrap();
    match result.get("ok").and_then(Json::as_bool).unwrap() {
        true => None,
        false => Some(result.get_str("message").unwrap().into_owned()),
    }
}

fn check(name: &str) {
    let all = all();
    let case = all.iter().find(|case| case.get_str("name").as_deref() == Some(name)).unwrap();
    let input = case.get_str("input").unwrap();
    let expected = verdict(case, "SnapshotPayload.from_json");

    let found = compat("wink.snapshot", &input).err().map(|error| error.to_string());
    assert_eq!(found, expected);

    let codec = format::by_id("wink.snapshot").unwrap();
    let typed = codec.decode(Input::new(input.as_bytes()), &DecodeOptions::compat().with_types(TYPES));
    assert_eq!(typed.err().map(|error| error.to_string()), verdict(case, "Snapshot.from_json"));

    // By default the same files are refused, with the place and what to do; except that an empty file has no place.
    let error = decode("wink.snapshot", &input).err();
    assert_eq!(error.is_some(), expected.is_some());
    if let Some(error) = error.filter(|_| !input.is_empty()) {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.at_line().is_some() && error.remedy().is_some(), "{error}");
    }
}

macro_rules! verdicts {
    ($($test:ident: $name:literal,)*) => {
        const NAMES: &[&str] = &[$($name),*];

        $(#[test]
        fn $test() {
            check($name);
        })*
    };
}

#[test]
fn every_verdict_has_its_test() {
    let all = all();
    let names: Vec<_> = all.iter().map(|case| case.get_str("name").unwrap()).collect();
    assert_eq!(names, NAMES);
}

verdicts! {
    empty_string: "empty string",
    root_null: "root null",
    version_missing: "version missing",
    version_int_1: "version int 1",
    version_2: "version '2'",
    version_1_0: "version '1.0'",
    created_at_missing: "created_at missing",
    created_at_garbage: "created_at garbage",
    created_at_naive: "created_at naive",
    created_at_z: "created_at Z",
    created_at_date_only: "created_at date only",
    created_at_int: "created_at int",
    parent_id_missing: "parent_id missing",
    parent_id_bad_uuid: "parent_id bad uuid",
    parent_id_urn: "parent_id urn",
    children_missing: "children missing",
    children_not_list: "children not list",
    children_int: "children int",
    slice_items_obj: "slice items obj",
    unknown_attr: "unknown attr",
    not_dataclass: "not dataclass",
    not_a_type: "not a type",
    missing_field: "missing field",
    extra_field_ignored: "extra field ignored",
    coerce_int_to_str: "coerce int to str",
    null_for_str: "null for str",
    literal_bad: "literal bad",
    int_from_numeric_str: "int from numeric str",
    int_from_bool: "int from bool",
    int_from_word: "int from word",
    tags_null: "tags null",
    tags_list: "tags list",
    tags_int_value: "tags int value",
    policies_missing_old_file: "policies missing (old file)",
    policies_null: "policies null",
    policies_bad_value: "policies bad value",
    policies_int_value: "policies int value",
    policies_unknown_type: "policies unknown type",
    policies_uppercase: "policies uppercase",
    duplicate_json_keys: "duplicate JSON keys",
    minimal: "minimal",
    nan_literal: "NaN literal",
}

/// Refusals that the reference names but no recorded case shows.
#[test]
fn the_other_refusals_have_the_originals_words() {
    let with = |more: &str| format!(r#"{{"version": "1", "created_at": "2026-03-01T12:00:00+00:00", {more}}}"#);
    let cases = [
        ("[]".to_owned(), "Snapshot payload must be an object"),
        (with(r#""parent_id": 5"#), "Snapshot parent_id must be a string"),
        (with(r#""children_ids": null"#), "Snapshot children_ids must be a list"),
        (with(r#""slices": {}"#), "Snapshot slices must be a list"),
        (with(r#""slices": null"#), "Snapshot slices must be a list"),
        (with(r#""slices": [1]"#), "Slice entry must be an object"),
        (with(r#""slices": [{"slice_type": "a:B", "items": []}]"#), "Slice type identifiers must be strings"),
        (with(r#""slices": [{"slice_type": 1, "item_type": "a:B"}]"#), "Slice type identifiers must be strings"),
        (with(r#""slices": [{"slice_type": "a:B", "item_type": "a:B", "items": [1]}]"#), "Slice items must be objects"),
        (with(r#""slices": [{"slice_type": "a:B", "item_type": "a:B", "items": null}]"#), "Slice items must be a list"),
        (with(r#""policies": []"#), "Snapshot policies must be an object"),
        (with(r#""tags": {"a": null}"#), "Snapshot tags must be string key/value pairs"),
        ("{\"version\": \"1\"".to_owned(), "Invalid snapshot JSON"),
        ("{}{}".to_owned(), "Invalid snapshot JSON"),
    ];
    for (text, expected) in cases {
        assert_eq!(compat("wink.snapshot", &text).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn composites_are_refused_in_the_originals_words() {
    let good = super::case("wink.composite", "02_pre_tool_metadata");
    let swap = |from: &str, to: &str| {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        changed
    };
    let cases = [
        ("nope".to_owned(), "Invalid composite snapshot JSON"),
        ("[]".to_owned(), "Composite snapshot payload must be an object"),
        (swap(r#""version": "1"}"#, r#""version": "2"}"#), "Failed to parse session snapshot"),
        (
            good.replace(
                r#""00000000-0000-0000-0000-00000000001f", "version": "1""#,
                r#""00000000-0000-0000-0000-00000000001f", "version": "2""#,
            ),
            "Composite snapshot schema version mismatch: expected 1, got '2'",
        ),
        (
            good.replace(
                r#""00000000-0000-0000-0000-00000000001f", "version": "1""#,
                r#""00000000-0000-0000-0000-00000000001f""#,
            ),
            "Composite snapshot schema version mismatch: expected 1, got None",
        ),
        (swap("00000000-0000-0000-0000-00000000001f", "xyz"), "Invalid snapshot_id"),
        (swap("2026-03-01T12:30:45.123456+00:00", "never"), "Invalid created_at timestamp"),
        (swap(r#""session": {"#, r#""session": 1, "other": {"#), "Session snapshot must be an object"),
        (swap(r#""slices": ["#, r#""slices": [1, "#), "Failed to parse session snapshot"),
        (swap(r#""resources": []"#, r#""resources": {}"#), "Resources must be a list"),
        (swap(r#""resources": []"#, r#""resources": [1]"#), "Resource entry must be an object"),
        (swap(r#""phase": "pre_tool""#, r#""phase": "later""#), "Metadata phase must be valid"),
        (swap(r#""metadata": {"#, r#""metadata": 1, "other": {"#), "Metadata must be an object"),
    ];
    for (text, expected) in cases {
        assert_eq!(compat("wink.composite", &text).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn compat_writes_what_the_original_would() {
    let text = r#"{"created_at": "2026-03-01T12:00:00", "parent_id": "urn:uuid:00000000000000000000000000000001", "slices": [{"item_type": "a:B", "items": [{"__type__": "a:B", "n": 1}], "slice_type": "a:B", "x": 1}], "version": "1", "zz": 1}"#;
    let archive = compat("wink.snapshot", text).unwrap().archive;
    let codec = turnkeep_codec::format::by_id("wink.snapshot").unwrap();
    let written = codec.encode(&archive, &turnkeep_codec::EncodeOptions::compat()).unwrap();
    assert_eq!(
        String::from_utf8(written.bytes).unwrap(),
        r#"{"children_ids": [], "created_at": "2026-03-01T12:00:00+00:00", "parent_id": "00000000-0000-0000-0000-000000000001", "policies": {}, "slices": [{"item_type": "a:B", "items": [{"n": 1}], "slice_type": "a:B"}], "tags": {}, "version": "1"}"#
    );
    assert!(!written.losses.is_empty());
}

fn typed(text: &str, types: &str, options: DecodeOptions) -> Result<turnkeep_model::Archive, turnkeep_model::Error> {
    let codec = format::by_id("wink.snapshot")?;
    codec.decode(Input::new(text.as_bytes()), &options.with_types(types)).map(|decoded| decoded.archive)
}

fn with_item(item: &str) -> String {
    format!(
        r#"{{"created_at": "2026-03-01T12:00:00+00:00", "slices": [{{"item_type": "a:B", "items": [{item}], "slice_type": "a:B"}}], "version": "1"}}"#
    )
}

/// What the original makes of a value of some annotation; `None` where it refuses it.
fn made(annotation: &str, value: &str) -> Option<String> {
    let types = format!(r#"{{"a:B": {{"fields": {{"x": {{"type": "{annotation}"}}}}}}}}"#);
    let archive = typed(&with_item(&format!(r#"{{"x": {value}}}"#)), &types, DecodeOptions::compat()).ok()?;
    let item = archive.main_session()?.slices.first()?.items.first()?.to_text();
    Some(item.strip_prefix("{\"x\":").unwrap().strip_suffix('}').unwrap().to_owned())
}

#[test]
fn values_are_coerced_as_the_original_does() {
    let cases = [
        ("str", "1", Some("\"1\"")),
        ("str", "2.5", Some("\"2.5\"")),
        ("str", "true", Some("\"True\"")),
        ("str", "null", None),
        ("int", "\" 7 \"", Some("7")),
        ("int", "1.9", Some("1")),
        ("int", "true", Some("true")),
        ("int", "\"seven\"", None),
        ("int", "123456789012345678901234567890", Some("123456789012345678901234567890")),
        ("float", "\"2.5\"", Some("2.5")),
        ("float", "1", Some("1.0")),
        ("bool", "\"yes\"", Some("true")),
        ("bool", "\"off\"", Some("false")),
        ("bool", "\"maybe\"", None),
        ("tuple[str, ...]", "\"lone\"", Some("[\"lone\"]")),
        ("tuple[int, str]", "[1]", None),
        ("tuple[int, str]", "[\"1\", 2]", Some("[1,\"2\"]")),
        ("dict[str, int]", "{\"a\": \"1\"}", Some("{\"a\":1}")),
        ("int | str", "\"7\"", Some("7")),
        ("str | None", "\"  \"", Some("null")),
        ("Literal['a', 'b']", "\"b\"", Some("\"b\"")),
        ("Literal['a', 'b']", "\"c\"", None),
        ("Enum[a='b', b='a']", "\"a\"", Some("\"b\"")),
        ("UUID", "\"urn:uuid:0000000000000000000000000000000a\"", Some("\"00000000-0000-0000-0000-00000000000a\"")),
        ("UUID", "\"x\"", None),
        ("datetime", "\"2026-03-01\"", Some("\"2026-03-01\"")),
        ("datetime", "\"yesterday\"", None),
        ("Any", "[1, {}]", Some("[1,{}]")),
    ];
    for (annotation, value, expected) in cases {
        assert_eq!(made(annotation, value).as_deref(), expected, "{annotation} {value}");
    }
}

#[test]
fn by_default_a_typed_value_stays_as_it_is() {
    let types = r#"{"a:B": {"fields": {"x": "str | None", "y": {"type": "int", "alias": "why"}}}}"#;
    let text = with_item(r#"{"why": "7", "x": "", "zzz": 1}"#);
    let archive = typed(&text, types, DecodeOptions::default()).unwrap();
    assert_eq!(archive.main_session().unwrap().slices[0].items[0].to_text(), r#"{"why":"7","x":"","zzz":1}"#);

    let error = typed(&with_item(r#"{"x": null}"#), types, DecodeOptions::default()).unwrap_err();
    assert_eq!((error.what(), error.at_path()), ("Failed to restore slice B", "slices[0].items[0]"));
    assert!(error.remedy().unwrap().contains("Missing required field: 'y'"));
}

#[test]
fn unknown_and_moved_types() {
    let policy = |id: &str| {
        format!(r#"{{"created_at": "2026-03-01", "policies": {{"{id}": "state"}}, "slices": [], "version": "1"}}"#)
    };
    let moved = policy("weakincentives.prompt.visibility_overrides:VisibilityOverrides");
    assert!(typed(&moved, "{}", DecodeOptions::default()).is_ok());
    let error = typed(&moved, "{}", DecodeOptions::compat()).unwrap_err();
    assert_eq!(error.to_string(), "No module named 'weakincentives.prompt'");
    let error = typed(&policy("nope"), "{}", DecodeOptions::compat()).unwrap_err();
    assert_eq!(error.to_string(), "Invalid type identifier: 'nope'");
    assert!(decode("wink.snapshot", &policy("nope.sub:X")).is_ok());
}

#[test]
fn snapshots_of_an_agent_loop_open_with_types_where_the_original_fails() {
    let text = std::fs::read_to_string(fixtures().join("wink.bundle/ok/debug_bundle/session/before.jsonl")).unwrap();
    assert!(typed(&text, TYPES, DecodeOptions::default()).is_ok());
    let error = typed(&text, TYPES, DecodeOptions::compat()).unwrap_err();
    assert_eq!(error.to_string(), "Failed to restore slice LoopRequestState");
}

#[test]
fn resources_of_a_composite_are_refused_in_the_originals_words() {
    let good = super::case("wink.composite", "01_no_resources");
    let with = |resource: &str| good.replacen(r#""resources": []"#, &format!(r#""resources": [{resource}]"#), 1);
    let cases = [
        (r#"{"resource_type": "a:B", "snapshot": {}}"#, Some("Resource entry must include snapshot_type")),
        (r#"{"resource_type": "x", "snapshot": {}, "snapshot_type": "a:B"}"#, Some("Unknown resource type: x")),
        (r#"{"resource_type": "a:B", "snapshot": {}, "snapshot_type": ""}"#, Some("Unknown snapshot type: ")),
        (r#"{"resource_type": "a:B", "snapshot": {}, "snapshot_type": "a:B"}"#, None),
    ];
    for (resource, expected) in cases {
        let text = with(resource);
        assert_ne!(text, good);
        assert_eq!(
            compat("wink.composite", &text).err().map(|error| error.to_string()).as_deref(),
            expected,
            "{resource}"
        );
        assert!(decode("wink.composite", &text).is_ok(), "{resource}");
    }
}

/// Seen with weakincentives 0.27.0.
#[test]
fn the_typed_reader_takes_and_refuses_what_the_original_does() {
    let with = |more: &str| format!(r#"{{"created_at": "2026-03-01T12:00:00+00:00", "version": "1", {more}}}"#);
    let policy = |id: &str| with(&format!(r#""policies": {{"{id}": "log"}}"#));
    let cases = [
        (policy("builtins:dict"), Some("Snapshot policy keys must be dataclass types")),
        (policy("json:dumps"), Some("Resolved object for 'json:dumps' is not a type")),
        (with("\"parent_id\": \"0_000000-0000-0000-0000-00000000000a\""), None),
        (with("\"parent_id\": \"0__00000-0000-0000-0000-00000000000a\""), Some("Invalid parent_id")),
        (with("\"x\": 1").replace("2026-03-01T12:00:00+00:00", "2026-W09-7"), None),
        (with("\"x\": 1").replace("2026-03-01T12:00:00+00:00", "2026-060"), Some("Invalid created_at timestamp")),
        (
            with("\"x\": 1").replace("\"version\": \"1\"", "\"version\": \"\u{200b}\""),
            Some("Snapshot schema version mismatch: expected 1, got '\\u200b'"),
        ),
    ];
    for (text, expected) in cases {
        let found = typed(&text, TYPES, DecodeOptions::compat()).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}

#[test]
fn compat_spells_numbers_as_python_does() {
    let text = with_item(r#"{"a": [1E5, -0, 2.50, 1e400, 123456789012345678901]}"#);
    let codec = format::by_id("wink.snapshot").unwrap();
    let archive = codec.decode(Input::new(text.as_bytes()), &DecodeOptions::compat()).unwrap().archive;
    let written = codec.encode(&archive, &turnkeep_codec::EncodeOptions::compat()).unwrap();

    assert!(String::from_utf8(written.bytes).unwrap().contains("[100000.0, 0, 2.5, Infinity, 123456789012345678901]"));
    assert!(!written.losses.is_empty(), "that numbers are spelled otherwise is told");
}
