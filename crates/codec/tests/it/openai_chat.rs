//! What holds for OpenAI's chat wire beside the laws.

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::json::{Json, parse};

use crate::corpus;

const ID: &str = "openai.chat";

#[test]
fn recorded_bodies_come_back_as_they_were() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: recorded_bodies_come_back_as_they_were (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let (whole, in_order, different) = corpus::restored(codec, &records);

    println!("{ID}: {whole} bodies, {} restored, {in_order} in their order", whole - different.len());
    println!("different: {different:?}");
    assert!(different.len() * 100 <= whole, "{different:?}");
}

#[test]
fn recorded_streams_assemble() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: recorded_streams_assemble (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let (mut streams, mut cut) = (0, Vec::new());
    for record in records.iter().filter(|record| record.kind == "stream") {
        let decoded = codec.decode(Input::new(record.text.as_bytes()), &DecodeOptions::default());
        let decoded = decoded.unwrap_or_else(|error| panic!("{}: {error:?}", record.id));
        streams += 1;
        if !decoded.losses.is_empty() {
            cut.push(record.id.as_str());
        }
        let encoded = codec.encode(&decoded.archive, &EncodeOptions::default()).unwrap();
        let body = parse(std::str::from_utf8(&encoded.bytes).unwrap()).unwrap().into_json();
        assert!(matches!(body, Json::Object(_)), "{}", record.id);
    }
    println!("{ID}: {streams} streams, {} of them cut off: {cut:?}", cut.len());
}

/// The target whose rules a recorded vendor follows.
fn target(provider: &str) -> &'static str {
    match provider {
        "openai-chat" => "openai.chat",
        "azure-chat" => "openai.chat:azure",
        "mistral" => "openai.chat:mistral",
        "groq" => "openai.chat:groq",
        "deepseek" => "openai.chat:deepseek",
        "cerebras" => "openai.chat:cerebras",
        "moonshot" => "openai.chat:moonshot",
        "openrouter" => "openai.chat:openrouter",
        "xai-chat" => "openai.chat:xai",
        "together" => "openai.chat:together",
        "fireworks" => "openai.chat:fireworks",
        "perplexity" => "openai.chat:perplexity",
        "zai" => "openai.chat:zai",
        _ => "openai.chat:vllm",
    }
}

/// The rules that a body breaks, without warnings.
fn errors(text: &str, target: &str) -> Vec<String> {
    let findings = lint(Input::new(text.as_bytes()), target, Strictness::Lax).unwrap();
    let errors = findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| format!("{} {}", finding.rule, finding.at)).collect()
}

#[test]
fn what_vendors_accepted_is_clean() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: what_vendors_accepted_is_clean (TURNKEEP_CORPUS is not set)");
        return;
    };
    let (mut accepted, mut alarms) = (0, Vec::new());
    for record in records.iter().filter(|record| record.kind == "request" && record.accepted == Some(true)) {
        accepted += 1;
        let mut found = errors(&record.text, target(&record.provider));
        found.retain(|error| record.real_ids || !error.starts_with("MI-ID"));
        if !found.is_empty() {
            alarms.push(format!("{}: {found:?}", record.id));
        }
    }
    println!("{ID}: {accepted} accepted requests, {} false alarms", alarms.len());
    alarms.iter().for_each(|alarm| println!("  {alarm}"));
    assert!(alarms.len() * 200 < accepted, "{alarms:#?}");
}

#[test]
fn rejections_of_shape_are_found() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: rejections_of_shape_are_found (TURNKEEP_CORPUS is not set)");
        return;
    };
    for record in records.iter().filter(|record| record.kind == "request" && record.accepted == Some(false)) {
        let found = errors(&record.text, target(&record.provider));
        let error: String = record.error.chars().take(150).collect();
        println!("{} {found:?} {error}", record.id);
    }
}

#[test]
fn the_next_request_of_any_record_is_clean_for_every_vendor() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: the_next_request_of_any_record_is_clean_for_every_vendor (TURNKEEP_CORPUS is not set)");
        return;
    };
    let codec = format::by_id(ID).unwrap();
    let (mut written, mut broken) = (0, Vec::new());
    for record in records.iter().filter(|record| record.kind != "stream") {
        let decoded = codec.decode(Input::new(record.text.as_bytes()), &DecodeOptions::default()).unwrap();
        if decoded.archive.main_session().unwrap().blocks().count() < 3 {
            continue;
        }
        for variant in ["openai", "mistral", "groq", "deepseek", "openrouter"] {
            let options = EncodeOptions::default().with_variant(variant);
            let encoded = codec.encode(&decoded.archive, &options).unwrap();
            let text = String::from_utf8(encoded.bytes).unwrap();
            let mut found = errors(&text, &format!("{ID}:{variant}"));
            // What the user set is not ours to change.
            found.retain(|error| {
                !["OC-STRICT", "OC-STOP", "OC-NOSYSTEM", "DS-CHOICE"].iter().any(|id| error.starts_with(id))
            });
            written += 1;
            if !found.is_empty() {
                broken.push(format!("{} {variant}: {found:?}", record.id));
            }
        }
    }
    println!("{ID}: {written} next requests, {} of them broken", broken.len());
    assert!(broken.is_empty(), "{broken:#?}");
}
