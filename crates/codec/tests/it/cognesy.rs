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

/// Equal texts; where they differ, the first lines that do.
#[track_caller]
fn assert_same_text(written: &str, text: &str) {
    let differing = written.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert_eq!(differing, None);
    assert_eq!(written, text);
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
