//! What holds for OpenAI's chat wire beside the laws.

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::wire::{Delta, Incoming, frame};
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::json::{Json, Layout, parse};
use turnkeep_model::{Body, FinishReason};

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

/// What vendors said of shapes and settings that a request can be judged by, and the rule that says so too.
const REJECTIONS: &[(&str, &str)] = &[
    ("unknown variant", "DS-MODAL"),
    ("Thinking mode does not support this tool_choice", "DS-CHOICE"),
    ("emperature", "OC-TEMP"),
    ("Missing required parameter: 'messages[1].content[0].type'", "OC-PARTTYPE"),
    ("'stop' is not supported", "OC-STOP"),
    ("does not support 'developer'", "OC-NOSYSTEM"),
    ("does not support 'system'", "OC-NOSYSTEM"),
    ("Invalid schema for function", "OC-STRICT"),
];

#[test]
fn rejections_of_shape_are_found() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: rejections_of_shape_are_found (TURNKEEP_CORPUS is not set)");
        return;
    };
    let (mut rejected, mut of_shape) = (0, 0);
    for record in records.iter().filter(|record| record.kind == "request" && record.accepted == Some(false)) {
        rejected += 1;
        let Some((_, rule)) = REJECTIONS.iter().find(|(words, _)| record.error.contains(words)) else { continue };
        of_shape += 1;
        let found = errors(&record.text, target(&record.provider));
        assert!(found.iter().any(|error| error.starts_with(rule)), "{}: {rule} is not among {found:?}", record.id);
    }
    println!("{ID}: {rejected} rejected requests, {of_shape} of them for their shape, all found");
}

/// A request that was accepted, made wrong in one way, and the rules of which one must say so.
fn mutants(body: &Json) -> Vec<(&'static [&'static str], Json)> {
    let messages = body.as_object().and_then(|body| body.get("messages")?.as_array()).unwrap_or_default();
    let role = |index: usize| {
        messages.get(index).and_then(Json::as_object).and_then(|message| message.get_str("role")).unwrap_or_default()
    };
    let calls = |index: usize| {
        messages.get(index).and_then(Json::as_object).and_then(|message| message.get("tool_calls")?.as_array())
    };
    let with = |change: &dyn Fn(&mut Vec<Json>)| {
        let mut messages = messages.to_vec();
        change(&mut messages);
        let mut body = body.as_object().unwrap().clone();
        body.set("messages", messages);
        Json::Object(body)
    };
    let edit = |index: usize, key: &str, value: Json| {
        with(&|messages| {
            let Some(Json::Object(message)) = messages.get_mut(index) else { return };
            message.set(key, value.clone());
        })
    };
    let mut mutants: Vec<(&'static [&'static str], Json)> = Vec::new();
    for index in 0..messages.len() {
        if role(index) == "tool" {
            mutants.push((&["OC-DANGLING"], with(&|messages| drop(messages.remove(index)))));
            mutants.push((&["OC-ORPHAN"], edit(index, "tool_call_id", "nobody".into())));
        }
        if calls(index).is_some_and(|calls| !calls.is_empty())
            && index + 1 < messages.len()
            && role(index + 1) == "tool"
        {
            mutants.push((&["OC-ORPHAN"], with(&|messages| drop(messages.remove(index)))));
            mutants.push((&["OC-TCEMPTY", "OC-ORPHAN"], edit(index, "tool_calls", Json::Array(Vec::new()))));
            let long = calls(index).unwrap().iter().map(|call| {
                let mut call = call.as_object().unwrap().clone();
                call.set("id", "x".repeat(300));
                Json::Object(call)
            });
            let long: Vec<Json> = long.collect();
            mutants.push((&["OC-IDLEN", "OC-DANGLING", "MI-ID"], edit(index, "tool_calls", Json::Array(long))));
        }
    }
    mutants
}

#[test]
fn mutants_of_accepted_requests_are_found() {
    let Some(records) = corpus::records("openai-chat") else {
        println!("skipped: mutants_of_accepted_requests_are_found (TURNKEEP_CORPUS is not set)");
        return;
    };
    let (mut made, mut missed) = (0, Vec::new());
    for record in records.iter().filter(|record| record.kind == "request" && record.accepted == Some(true)) {
        for (rules, mutant) in mutants(&record.body) {
            made += 1;
            let found = errors(&mutant.to_text(), target(&record.provider));
            if !rules.iter().any(|rule| found.iter().any(|error| error.starts_with(rule))) {
                missed.push(format!("{}: {rules:?}", record.id));
            }
        }
    }
    println!("{ID}: {made} mutants, {} missed", missed.len());
    assert!(missed.len() * 50 <= made, "{missed:#?}");
}

#[test]
fn the_size_of_pieces_does_not_matter() {
    let text = include_str!("../../../../fixtures/openai.chat/stream/input.sse");
    let wanted = pieces(text, text.len());
    for size in 1..200 {
        assert_eq!(pieces(text, size), wanted, "{size}");
    }
}

/// What a stream gives, taken in pieces of some bytes.
fn pieces(text: &str, size: usize) -> String {
    let mut framer = frame::SseFramer::default();
    let mut events: Vec<frame::SseEvent> = text.as_bytes().chunks(size).flat_map(|piece| framer.push(piece)).collect();
    events.extend(framer.finish());
    let events: Vec<&str> = events.iter().map(|event| event.data.as_str()).filter(|data| *data != "[DONE]").collect();
    let array = format!("[{}]", events.join(","));
    let codec = format::by_id(ID).unwrap();
    codec.decode(Input::new(array.as_bytes()), &DecodeOptions::default()).unwrap().archive.to_json(Layout::Compact)
}

#[test]
fn a_stream_cut_anywhere_gives_what_came() {
    let text = include_str!("../../../../fixtures/openai.chat/stream/input.sse");
    let codec = format::by_id(ID).unwrap();
    let end = text.find("\"finish_reason\":\"tool_calls\"").unwrap();
    let begin = text.find("Let me").unwrap() + 80;
    for cut in begin..end {
        let Some(part) = text.get(..cut) else { continue };
        let decoded = codec.decode(Input::new(part.as_bytes()), &DecodeOptions::default()).unwrap();
        let session = decoded.archive.main_session().unwrap();
        let finish = session.turns[0].finish.as_ref().unwrap();
        assert_eq!(finish.reason, FinishReason::Interrupted, "cut at {cut}");
        assert!(!decoded.losses.is_empty());
    }
}

#[test]
fn the_next_request_of_any_session_is_clean_for_every_vendor() {
    let codec = format::by_id(ID).unwrap();
    turnkeep_testkit::for_all(150, &turnkeep_testkit::generate::session(), |session| {
        let archive = turnkeep_model::Archive::from(session);
        for variant in codec.spec().variants {
            let encoded = codec.encode(&archive, &EncodeOptions::default().with_variant(*variant)).unwrap();
            let text = String::from_utf8(encoded.bytes).unwrap();
            let mut found = errors(&text, &format!("{ID}:{variant}"));
            // A session may have nothing to send, and what the user set is not ours to change.
            found.retain(|error| !["OC-MESSAGES", "OC-STRICT", "OC-STOP"].iter().any(|id| error.starts_with(id)));
            proptest::prop_assert!(found.is_empty(), "{variant}: {found:?}\n{text}");
        }
        Ok(())
    });
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

/// The thoughts of a message with these fields. It comes back as it was.
fn thoughts(fields: &str) -> Vec<String> {
    let body = format!(
        r#"{{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"Hello",{fields}}},"finish_reason":"stop"}}]}}"#
    );
    let codec = format::by_id(ID).unwrap();
    let archive = codec.decode(Input::new(body.as_bytes()), &DecodeOptions::default()).unwrap().archive;
    let text = |body: &Body| if let Body::Reasoning(thought) = body { thought.text.clone() } else { None };
    let encoded = codec.encode(&archive, &EncodeOptions::default()).unwrap().bytes;
    assert_eq!(parse(std::str::from_utf8(&encoded).unwrap()).unwrap().into_json(), parse(&body).unwrap().into_json());
    archive.main_session().unwrap().blocks().filter_map(|(_, block)| text(&block.body)).collect()
}

#[test]
fn a_thought_that_is_told_under_several_names_is_one() {
    let detail = r#""reasoning_details":[{"type":"reasoning.text","text":"hm"}]"#;

    assert_eq!(thoughts(r#""reasoning_content":"hm","reasoning":"hm""#), ["hm"]);
    assert_eq!(thoughts(&format!(r#""reasoning":"hm",{detail}"#)), ["hm"]);
    assert_eq!(thoughts(&format!(r#""reasoning_content":"hm","reasoning":"hm",{detail}"#)), ["hm"]);
    assert_eq!(thoughts(r#""reasoning_content":"hm","reasoning":"well""#), ["hm", "well"]);
}

#[test]
fn a_thought_that_is_streamed_under_two_names_is_shown_once() {
    let mut incoming = Incoming::new(format::wire(ID).unwrap());
    let mut shown = Vec::new();
    for piece in ["h", "m"] {
        let delta = format!(r#"{{"reasoning":"{piece}","reasoning_content":"{piece}"}}"#);
        let chunk = format!(r#"{{"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta}}}]}}"#);
        shown.extend(incoming.push(format!("data: {chunk}\n\n").as_bytes()).unwrap());
    }

    let piece = |text: &str| Delta::Reasoning { block: 0, text: text.to_owned() };
    assert_eq!(shown, [piece("h"), piece("m")]);
}
