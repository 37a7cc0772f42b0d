//! instructor-php documents: fixtures of the real program, the proposal's example, and what it refuses.

use std::fs;
use std::path::{Path, PathBuf};

use turnkeep_codec::format::{self, cognesy};
use turnkeep_codec::{DecodeOptions, Decoded, EncodeOptions, Input, Target, convert, sniff};
use turnkeep_model::json::{self, Json, Object};
use turnkeep_model::status::Decision;
use turnkeep_model::{
    Author, Block, Body, CallId, Error, ErrorKind, Loss, LossKind, Part, Session, Side, StopReason, ToolCall, ToolResult, Turn, diff,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn fixture(format: &str, case: &str) -> String {
    let ending = if format == "cognesy.jsonl" { "jsonl" } else { "json" };
    let path = fixtures().join(format).join(case).join(format!("input.{ending}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn decode(text: &str, format: &str) -> Decoded {
    read(text, format).unwrap()
}

fn read(text: &str, format: &str) -> Result<Decoded, Error> {
    format::by_id(format)?.decode(Input::new(text.as_bytes()), &DecodeOptions::default())
}

fn main_session(text: &str, format: &str) -> Session {
    decode(text, format).archive.main_session().unwrap().clone()
}

/// The text after reading it as `from` and writing it as `target`, and the losses of the writer.
fn rewrite(text: &str, from: &str, target: &str) -> (String, Vec<Loss>) {
    let target = Target::parse(target).unwrap();
    let from = Some(format::by_id(from).unwrap());
    let done =
        convert(Input::new(text.as_bytes()), from, &target, &DecodeOptions::default(), &EncodeOptions::default()).unwrap();
    let losses = done.losses.into_iter().filter(|loss| loss.side == Side::Encode).collect();
    (String::from_utf8(done.bytes).unwrap(), losses)
}

/// Equal texts; where they differ, what stands around the first difference.
#[track_caller]
fn assert_same_text(written: &str, text: &str) {
    if let Some((written, text)) = difference(written, text) {
        panic!("written: …{written}…\n    read: …{text}…");
    }
}

fn difference(a: &str, b: &str) -> Option<(String, String)> {
    if a == b {
        return None;
    }
    let at = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(at.saturating_sub(120)).take(240).collect();
    Some((around(a), around(b)))
}

#[track_caller]
fn assert_returns(text: &str, format: &str) {
    let (written, losses) = rewrite(text, format, format);
    assert_same_text(&written, text);
    assert_eq!(losses, []);
}

/// Every case of every format, so that a fixture without a test fails the build.
macro_rules! cases {
    ($($name:ident: $format:literal / $case:literal, $generation:expr;)*) => {
        const CASES: &[(&str, &str)] = &[$(($format, $case)),*];

        mod returns {
            $(#[test] fn $name() {
                let text = super::fixture($format, $case);
                super::assert_returns(&text, $format);
                super::assert_found(&text, $format, $generation);
                super::assert_returns_by_way_of_native(&text, $format);
            })*
        }
    };
}

cases! {
    state_empty: "cognesy.state" / "empty", Some("v2");
    state_error_step: "cognesy.state" / "error_step", Some("v2");
    state_final_response: "cognesy.state" / "final_response", Some("v2");
    state_tool_call: "cognesy.state" / "tool_call", Some("v2");
    state_january: "cognesy.state" / "january_2026", Some("2026-01");
    state_v1: "cognesy.state" / "v1_18", Some("v1.18");
    state_messages: "cognesy.state" / "message_list", Some("messages");
    slim_full: "cognesy.slim" / "full", Some("2026-01");
    slim_minimal: "cognesy.slim" / "minimal", Some("2026-01");
    slim_standard: "cognesy.slim" / "standard", Some("2026-01");
    slim_v1: "cognesy.slim" / "v1_18_full", Some("v1.18");
    slim_proposal: "cognesy.slim" / "spec_example", Some("proposal");
    continuation: "cognesy.continuation" / "standard", None;
    session_stored: "cognesy.session" / "stored", None;
    session_forked: "cognesy.session" / "forked", None;
    jsonl_branched: "cognesy.jsonl" / "branched", None;
}

#[track_caller]
fn assert_found(text: &str, format: &str, generation: Option<&str>) {
    let found = sniff(&Input::new(text.as_bytes())).unwrap();
    assert_eq!(found.codec.spec().id, format);
    assert_eq!(found.others, Vec::<&str>::new());
    assert_eq!(found.guess.generation.as_deref(), generation);
}

#[track_caller]
fn assert_returns_by_way_of_native(text: &str, format: &str) {
    for native in ["turnkeep", "turnkeep.yaml"] {
        let (there, losses) = rewrite(text, format, native);
        assert_eq!(losses, []);
        assert_eq!(rewrite(&there, native, format), (text.to_owned(), vec![]), "by way of {native}");
    }
}

#[test]
fn every_fixture_is_a_case() {
    let mut found = Vec::new();
    for format in ["cognesy.state", "cognesy.slim", "cognesy.continuation", "cognesy.session", "cognesy.jsonl"] {
        for case in fs::read_dir(fixtures().join(format)).unwrap().flatten() {
            let has_input = fs::read_dir(case.path()).unwrap().flatten().any(|file| file.file_name().to_string_lossy().starts_with("input."));
            if has_input {
                found.push((format.to_owned(), case.file_name().into_string().unwrap()));
            }
        }
    }
    found.sort();
    let mut listed: Vec<_> = CASES.iter().map(|(format, case)| ((*format).to_owned(), (*case).to_owned())).collect();
    listed.sort();
    assert_eq!(found, listed);
}

/// Every object in a value, by its path of steps.
fn objects(value: &Json, path: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    let inner: Vec<&Json> = match value {
        Json::Object(object) => {
            found.push(path.clone());
            object.iter().map(|(_, value)| value).collect()
        }
        Json::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    for (at, value) in inner.into_iter().enumerate() {
        path.push(at);
        objects(value, path, found);
        path.pop();
    }
}

/// The value with the object at a path changed.
fn changed(value: &Json, path: &[usize], change: &dyn Fn(Object) -> Object) -> Json {
    let Some((first, rest)) = path.split_first() else {
        return match value {
            Json::Object(object) => Json::Object(change(object.clone())),
            other => other.clone(),
        };
    };
    let inside = |at: usize, inner: &Json| if at == *first { changed(inner, rest, change) } else { inner.clone() };
    match value {
        Json::Object(object) => {
            Json::Object(object.iter().enumerate().map(|(at, (key, inner))| (key.clone(), inside(at, inner))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().enumerate().map(|(at, inner)| inside(at, inner)).collect()),
        other => other.clone(),
    }
}

/// The documents of a fixture, parsed: one, or one a line.
fn documents(format: &str, case: &str) -> Vec<Json> {
    let text = fixture(format, case);
    let texts: Vec<&str> = if format == "cognesy.jsonl" { text.lines().collect() } else { vec![&text] };
    texts.into_iter().map(|text| json::parse(text).unwrap().into_json()).collect()
}

/// Runs `check` over every fixture with one object changed, for every object.
fn for_each_change(changes: &dyn Fn(&Object) -> Vec<Object>, check: &dyn Fn(&str, &str)) {
    for (format, case) in CASES {
        let documents = documents(format, case);
        for (index, document) in documents.iter().enumerate() {
            let mut places = Vec::new();
            objects(document, &mut Vec::new(), &mut places);
            for place in places {
                let made = std::cell::RefCell::new(Vec::new());
                changed(document, &place, &|object| {
                    *made.borrow_mut() = changes(&object);
                    object
                });
                for object in made.into_inner() {
                    let one = changed(document, &place, &|_| object.clone());
                    let mut all = documents.clone();
                    all[index] = one;
                    let text = all.iter().map(|document| format!("{}\n", document.to_text())).collect::<String>();
                    check(&text, format);
                }
            }
        }
    }
}

fn with_pair_at(object: &Object, at: usize, key: &str, value: &Json) -> Object {
    let mut pairs: Vec<_> = object.clone().into_iter().collect();
    pairs.insert(at, (key.into(), value.clone()));
    pairs.into_iter().collect()
}

#[test]
fn unknown_fields_return_wherever_they_stand() {
    let odd = json::parse(r#"{"deep":[1.0,null,{"empty":[]}]}"#).unwrap().into_json();
    let changes = |object: &Object| {
        [0, object.len() / 2, object.len()].into_iter().map(|at| with_pair_at(object, at, "x_unknown", &odd)).collect()
    };
    for_each_change(&changes, &assert_returns);
}

#[test]
fn odd_values_return_wherever_they_are_accepted() {
    let odd = ["null", "[]", "{}", "\"\"", "\"odd\"", "7", "[\"x\"]", "{\"x\":1}"];
    let odd: Vec<Json> = odd.iter().map(|text| json::parse(text).unwrap().into_json()).collect();
    let changes = |object: &Object| {
        let mut made = Vec::new();
        for at in 0..object.len() {
            let rest = || object.iter().enumerate().filter(move |(index, _)| *index != at).map(|(_, pair)| pair);
            made.push(rest().map(|(key, value)| (key.clone(), value.clone())).collect::<Object>());
            let mut rotated: Vec<_> = object.clone().into_iter().collect();
            rotated.rotate_left(at);
            made.push(rotated.into_iter().collect());
            for value in &odd {
                let pairs = object.iter().enumerate();
                let pair = |(index, (key, held)): (usize, (&turnkeep_model::JsonString, &Json))| {
                    (key.clone(), if index == at { value.clone() } else { held.clone() })
                };
                made.push(pairs.map(pair).collect());
            }
        }
        made
    };
    for_each_change(&changes, &|text, format| {
        if read(text, format).is_ok() {
            assert_returns(text, format);
        }
    });
}

/// Formats of every family, with a document each.
fn one_of_each() -> Vec<(&'static str, Session)> {
    CASES.iter().map(|(format, case)| (*format, main_session(&fixture(format, case), format))).collect()
}

/// Every difference between what was given and what a reader of the written finds, is a reported loss, and none else.
#[track_caller]
fn assert_honest(session: &Session, target: &Target) {
    let mut options = EncodeOptions::default();
    options.variant = target.variant.clone();
    let id = target.codec.spec().id;
    let encoded = target.codec.encode(&session.clone().into(), &options).unwrap_or_else(|error| panic!("{id}: {error}"));
    let input = Input::new(&encoded.bytes);
    let back = target.codec.decode(input, &DecodeOptions::default()).unwrap_or_else(|error| panic!("{id}: {error}"));
    let found = diff(session, back.archive.main_session().unwrap());
    let mut found: Vec<&str> = found.iter().map(|change| change.at.as_str()).collect();
    let mut told: Vec<&str> = encoded.losses.iter().map(|loss| loss.at.as_str()).filter(|at| *at != "seq").collect();
    found.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, found, "{id}");
    let again = target.codec.encode(&back.archive, &options).unwrap();
    assert_same_text(&String::from_utf8(again.bytes).unwrap(), &String::from_utf8(encoded.bytes).unwrap());
}

/// Every way in which a session can be written as one of these formats.
fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    for codec in format::ALL.iter().filter(|codec| codec.spec().id.starts_with("cognesy.")) {
        targets.push(Target { codec: *codec, variant: None });
        targets.extend(codec.spec().variants.iter().map(|word| Target { codec: *codec, variant: Some((*word).to_owned()) }));
    }
    targets
}

#[test]
fn every_session_can_be_written_as_every_format_and_the_report_is_true() {
    for (_, session) in one_of_each() {
        targets().iter().for_each(|target| assert_honest(&session, target));
    }
}
