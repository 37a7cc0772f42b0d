//! The Gemini wire, over hand-made bodies and the public corpus.
#![expect(clippy::print_stdout, reason = "the counts are what these tests tell")]

use std::fs;
use std::path::Path;

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::canon::canonical;
use turnkeep_model::json::{self, Json, Nan, Node};

/// The records of the corpus for this wire: id, kind, encoding and body.
fn records() -> Option<Vec<(String, String, String, Json)>> {
    let Some(corpus) = std::env::var_os("TURNKEEP_CORPUS") else {
        println!("skipped: recorded Gemini bodies (TURNKEEP_CORPUS is not set)");
        return None;
    };
    let mut records = Vec::new();
    for file in ["gemini.jsonl", "gemini-vertex.jsonl"] {
        let text = fs::read_to_string(Path::new(&corpus).join("providers").join(file)).unwrap();
        for line in text.lines() {
            let record = json::parse_with(line, Nan::Accept).map(Node::into_json).unwrap();
            let record = record.as_object().unwrap().clone();
            let word = |key: &str| record.get_str(key).unwrap_or_default().into_owned();
            records.push((word("id"), word("kind"), word("encoding"), record.get("body").unwrap().clone()));
        }
    }
    Some(records)
}

fn bytes(body: &Json) -> Vec<u8> {
    match body {
        Json::String(text) => text.to_str_lossy().into_owned().into_bytes(),
        other => other.to_text().into_bytes(),
    }
}

#[test]
fn recorded_bodies_come_back() {
    let Some(records) = records() else { return };
    let codec = format::by_id("gemini.contents").unwrap();
    let (mut total, mut same) = (0, 0);
    let mut different = Vec::new();
    for (id, kind, _, body) in &records {
        if kind == "stream" {
            continue;
        }
        total += 1;
        let decoded = codec.decode(Input::new(&bytes(body)), &DecodeOptions::default());
        let decoded = decoded.unwrap_or_else(|error| panic!("{id}: {error}"));
        let encoded = codec.encode(&decoded.archive, &EncodeOptions::default()).unwrap();
        let back = json::parse_with(std::str::from_utf8(&encoded.bytes).unwrap(), Nan::Accept).unwrap().into_json();
        if canonical(&back) == canonical(body) {
            same += 1;
        } else {
            different.push(id.as_str());
        }
    }
    println!("{total} bodies, {same} the same; different: {different:?}");
    assert!(same * 100 >= total * 99);
}

#[test]
fn recorded_streams_assemble() {
    let Some(records) = records() else { return };
    let codec = format::by_id("gemini.contents").unwrap();
    let mut streams = 0;
    for (id, kind, _, body) in &records {
        if kind != "stream" {
            continue;
        }
        streams += 1;
        let decoded = codec.decode(Input::new(&bytes(body)), &DecodeOptions::default());
        let decoded = decoded.unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(decoded.archive.sessions[0].turns.len(), 1, "{id}");
    }
    println!("{streams} streams");
}

#[test]
fn accepted_requests_lint_clean_and_next_requests_too() {
    let Some(corpus) = std::env::var_os("TURNKEEP_CORPUS") else {
        println!("skipped: accepted Gemini requests (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id("gemini.contents").unwrap();
    let (mut accepted, mut alarms, mut next) = (0, Vec::new(), Vec::new());
    for file in ["gemini.jsonl", "gemini-vertex.jsonl"] {
        let text = fs::read_to_string(Path::new(&corpus).join("providers").join(file)).unwrap();
        for line in text.lines() {
            let record = json::parse_with(line, Nan::Accept).map(Node::into_json).unwrap();
            let record = record.as_object().unwrap().clone();
            if record.get("accepted").and_then(Json::as_bool) != Some(true) {
                continue;
            }
            accepted += 1;
            let id = record.get_str("id").unwrap().into_owned();
            let body = bytes(record.get("body").unwrap());
            if errors(&body) > 0 {
                alarms.push(id.clone());
            }
            let decoded = codec.decode(Input::new(&body), &DecodeOptions::default()).unwrap();
            let mut options = EncodeOptions::default();
            options.as_request = true;
            let again = codec.encode(&decoded.archive, &options).unwrap();
            if errors(&again.bytes) > 0 {
                next.push(id);
            }
        }
    }
    println!("{accepted} accepted requests; false alarms: {alarms:?}; next requests refused: {next:?}");
    assert!(alarms.len() * 1000 < accepted * 5);
    assert_eq!(next, Vec::<String>::new());
}

fn errors(body: &[u8]) -> usize {
    let findings = lint(Input::new(body), "gemini.contents", Strictness::Lax).unwrap();
    findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}
