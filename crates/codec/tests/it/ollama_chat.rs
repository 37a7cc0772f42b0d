//! What holds for Ollama's chat wire beside the laws.

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};

use crate::corpus;

const ID: &str = "ollama.chat";

#[test]
fn recorded_bodies_come_back_as_they_were() {
    let Some(records) = corpus::records("ollama") else {
        println!("skipped: recorded_bodies_come_back_as_they_were (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let (whole, in_order, different) = corpus::restored(codec, &records);

    println!("{ID}: {whole} bodies, {} restored, {in_order} in their order", whole - different.len());
    assert!(different.is_empty(), "{different:?}");
}

#[test]
fn recorded_streams_assemble() {
    let Some(records) = corpus::records("ollama") else {
        println!("skipped: recorded_streams_assemble (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let streams: Vec<_> = records.iter().filter(|record| record.kind == "stream").collect();
    for record in &streams {
        let decoded = codec.decode(Input::new(record.text.as_bytes()), &DecodeOptions::default()).unwrap();
        assert_eq!(decoded.losses, [], "{}", record.id);
    }
    println!("{ID}: {} streams", streams.len());
}

#[test]
fn what_ollama_accepted_is_clean_and_so_is_the_next_request() {
    let Some(records) = corpus::records("ollama") else {
        println!("skipped: what_ollama_accepted_is_clean_and_so_is_the_next_request (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let mut next = EncodeOptions::default();
    next.as_request = true;
    for record in records.iter().filter(|record| record.accepted == Some(true)) {
        let decoded = codec.decode(Input::new(record.text.as_bytes()), &DecodeOptions::default()).unwrap();
        let written = codec.encode(&decoded.archive, &next).unwrap().bytes;
        for text in [record.text.as_bytes(), &written] {
            let findings = lint(Input::new(text), ID, Strictness::Lax).unwrap();
            let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", record.id);
        }
    }
}

#[test]
fn lint_names_the_classic_failures() {
    let body = r#"{"model":"m","messages":[
        {"role":"robot","content":"x"},
        {"role":"user","content":[{"type":"text","text":"x"}],"images":["https://example.org/a.png"]},
        {"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","content":"1"},
        {"role":"tool","content":"2"}]}"#;
    let findings = lint(Input::new(body.as_bytes()), ID, Strictness::Lax).unwrap();
    let found: Vec<_> = findings.iter().map(|finding| (finding.rule, finding.at.as_str())).collect();

    assert_eq!(
        found,
        [
            ("OL-ROLE", "messages[0].role"),
            ("OL-CONTENT", "messages[1].content"),
            ("OL-ARGS", "messages[2].tool_calls[0].function.arguments"),
            ("OL-IMAGE", "messages[1].images[0]"),
            ("OL-ORPHAN", "messages[4]"),
        ]
    );
}
