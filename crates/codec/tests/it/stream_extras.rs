//! What the events of a stream say that no response has a place for survives.

use turnkeep_codec::{DecodeOptions, EncodeOptions, Input};
use turnkeep_model::json::{self, Json, Layout};

use crate::recorded::wire;

const STREAMS: &[(&str, &str)] = &[
    (
        "openai.chat",
        r#"{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"lo"}}]}
{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    ),
    (
        "openai.responses",
        r#"{"type":"response.created","response":{"id":"r1","object":"response","status":"in_progress","output":[]}}
{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}
{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hello"}
{"type":"response.something_new","output_index":0,"news":1}
{"type":"response.completed","response":{"id":"r1","object":"response","status":"completed","output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}]}}"#,
    ),
    (
        "anthropic.messages",
        r#"{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","content":[]}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"ping"}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}
{"type":"something_new","news":1}
{"type":"content_block_stop","index":0}
{"type":"message_delta","delta":{"stop_reason":"end_turn"}}
{"type":"message_stop"}"#,
    ),
    (
        "gemini.contents",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}]}
{"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP"}]}"#,
    ),
    (
        "ollama.chat",
        r#"{"model":"m","created_at":"t","message":{"role":"assistant","content":"Hel"},"done":false}
{"model":"m","created_at":"t","message":{"role":"assistant","content":"lo"},"done":true,"done_reason":"stop"}"#,
    ),
    (
        "bedrock.converse",
        r#"{"messageStart":{"role":"assistant"}}
{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"Hello"}}}
{"contentBlockStop":{"contentBlockIndex":0}}
{"somethingNew":{"news":1}}
{"messageStop":{"stopReason":"end_turn"}}"#,
    ),
];

/// The stream with an unknown field in the envelope of every event.
fn marked(id: &str, stream: &str) -> String {
    let mut lines = String::new();
    for (index, line) in stream.lines().enumerate() {
        let Json::Object(mut event) = json::parse(line).unwrap().into_json() else { panic!("{line}") };
        let mark = format!("mark-{index}-");
        if id == "bedrock.converse" {
            event.iter_mut().for_each(|(_, payload)| mark_payload(payload, &mark));
        } else {
            event.push("x_new", mark);
        }
        lines.push_str(&Json::Object(event).to_text());
        lines.push('\n');
    }
    lines
}

fn mark_payload(payload: &mut Json, mark: &str) {
    if let Json::Object(payload) = payload {
        payload.push("x_new", mark);
    }
}

#[test]
fn unknown_fields_of_events_survive_and_are_reported_when_they_cannot_be_written() {
    for (id, stream) in STREAMS {
        let text = marked(id, stream);

        let decoded = wire(id).decode(Input::new(text.as_bytes()), &DecodeOptions::default()).unwrap();
        let encoded = wire(id).encode(&decoded.archive, &EncodeOptions::default()).unwrap();

        let kept = decoded.archive.to_json(Layout::Compact);
        let written = String::from_utf8(encoded.bytes).unwrap();
        for index in 0..stream.lines().count() {
            let mark = format!("mark-{index}-");
            assert!(kept.contains(&mark), "{id}: event {index}: {kept}");
        }
        let unwritten = (0..stream.lines().count()).any(|index| !written.contains(&format!("mark-{index}-")));
        let reported = encoded.losses.iter().any(|loss| loss.at.starts_with("turns[0].extra"));
        assert!(reported || !unwritten, "{id}: {:?}", encoded.losses);
    }
}

#[test]
fn a_stream_of_known_events_leaves_nothing_beside() {
    for (id, stream) in STREAMS {
        let known: Vec<&str> = stream.lines().filter(|line| !line.contains("news")).collect();

        let decoded = wire(id).decode(Input::new(known.join("\n").as_bytes()), &DecodeOptions::default()).unwrap();

        assert!(!decoded.archive.to_json(Layout::Compact).contains("beside"), "{id}");
    }
}
