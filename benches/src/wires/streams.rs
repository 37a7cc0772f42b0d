//! Recorded streams of a given size, as vendors send them: a word or two an event.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::typed;
use crate::random::Random;
use crate::{Outcome, prose};

const BYTES: u64 = 3_000_000;

/// A wire's stream, and how one would parse it without us.
pub(super) struct Stream {
    pub(super) wire: &'static str,
    pub(super) write: fn() -> Vec<u8>,
    /// Splits and parses, and says how many events there were.
    pub(super) parse: fn(&[u8]) -> Outcome<usize>,
}

pub(super) const ALL: &[Stream] = &[
    Stream { wire: "openai.chat", write: chat, parse: events::<typed::Chunk> },
    Stream { wire: "openai.responses", write: responses, parse: events::<typed::ResponseEvent> },
    Stream { wire: "anthropic.messages", write: anthropic, parse: events::<typed::MessageEvent> },
    Stream { wire: "gemini.contents", write: gemini, parse: events::<typed::Generated> },
    Stream { wire: "ollama.chat", write: ollama, parse: lines::<typed::Line> },
];

impl Stream {
    /// The same stream with the events in its middle repeated until it has `size` bytes.
    pub(super) fn long(&self, size: usize) -> Vec<u8> {
        /// How many events at either end stand once: they open and close the answer.
        const ENDS: usize = 8;
        let text = String::from_utf8((self.write)()).unwrap_or_default();
        let between = if text.contains("\n\n") { "\n\n" } else { "\n" };
        let events: Vec<&str> = text.split_inclusive(between).collect();
        let (head, rest) = events.split_at(ENDS.min(events.len()));
        let (middle, tail) = rest.split_at(rest.len().saturating_sub(ENDS));
        let middle = middle.concat();
        let times = size / middle.len().max(1);
        [head.concat(), middle.repeat(times.max(1)), tail.concat()].concat().into_bytes()
    }
}

/// The lines of a text, found with `memchr`.
fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]).map(move |end| {
        let line = bytes.get(start..end).unwrap_or_default();
        start = end + 1;
        line
    })
}

fn events<T: DeserializeOwned>(bytes: &[u8]) -> Outcome<usize> {
    let data = split(bytes).filter_map(|line| line.strip_prefix(b"data: ")).filter(|data| *data != b"[DONE]");
    parsed::<T>(data)
}

fn lines<T: DeserializeOwned>(bytes: &[u8]) -> Outcome<usize> {
    parsed::<T>(split(bytes).filter(|line| !line.is_empty()))
}

fn parsed<'a, T: DeserializeOwned>(events: impl Iterator<Item = &'a [u8]>) -> Outcome<usize> {
    let parsed: Vec<T> = events.map(serde_json::from_slice).collect::<Result<_, _>>()?;
    Ok(std::hint::black_box(parsed).len())
}

/// The words of an answer, each with a blank before it.
fn words(overhead: u64) -> Vec<String> {
    let text = prose::paragraphs(&mut Random::new(11), BYTES / overhead * 7);
    text.split_inclusive(' ').map(str::to_owned).collect()
}

fn sse(named: bool, events: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let mut text = String::new();
    for event in events {
        if let Some(name) = event.get("type").and_then(Value::as_str).filter(|_| named) {
            text.push_str(&format!("event: {name}\n"));
        }
        text.push_str(&format!("data: {event}\n\n"));
    }
    text.into_bytes()
}

fn chat() -> Vec<u8> {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-BlyO4iB0bNTTbkbOQqnbZDYXpVBzq", "object": "chat.completion.chunk", "created": 1_750_716_928,
            "model": "gpt-4o-2024-08-06", "service_tier": "default", "system_fingerprint": "fp_07871e2ad8",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}], "usage": null})
    };
    let start = chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null);
    let said = words(300).into_iter().map(|word| chunk(json!({"content": word}), Value::Null));
    let call = json!({"index": 0, "id": "call_q2K3mTTUl9sC7xZ0oYQdF8pE", "type": "function",
        "function": {"name": "read_file", "arguments": ""}});
    let called = [chunk(json!({"tool_calls": [call]}), Value::Null)];
    let argued = pieces(300)
        .map(|piece| chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}), Value::Null));
    let end = chunk(json!({}), json!("tool_calls"));
    let mut bytes = sse(false, [start].into_iter().chain(said).chain(called).chain(argued).chain([end]));
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    bytes
}

/// The pieces of a call's arguments.
fn pieces(overhead: u64) -> impl Iterator<Item = String> {
    let text = prose::sentence(&mut Random::new(12), BYTES / overhead);
    let arguments = json!({"path": "src/main.rs", "content": text}).to_string();
    arguments.split_inclusive(' ').map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn responses() -> Vec<u8> {
    const ITEM: &str = "msg_685b0eb1b1dc819a8c5b3cd0b8c4b6a50f1f4c2a0d3a0a4d";
    let words = words(320);
    let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
    let message = |content: Value, status: &str| json!({"id": ITEM, "type": "message", "status": status, "content": content, "role": "assistant"});
    let response = |status: &str, output: Value| {
        json!({"id": "resp_685b0eb0a5d4819a9ce5d5f1b5c2c8fa0f1f4c2a0d3a0a4d", "object": "response",
            "created_at": 1_750_798_000, "status": status, "model": "gpt-4.1-2025-04-14", "output": output, "usage": null})
    };
    let whole = words.concat();
    let at = |kind: &str, more: Value| {
        let mut event =
            json!({"type": kind, "sequence_number": 17, "item_id": ITEM, "output_index": 0, "content_index": 0});
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        event
    };
    let begin = [
        json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0,
            "item": message(json!([]), "in_progress")}),
        at("response.content_part.added", json!({"part": part("")})),
    ];
    let said = words.iter().map(|word| {
        at("response.output_text.delta", json!({"delta": word, "logprobs": [], "obfuscation": "sdPqFz8R0Xw"}))
    });
    let done = message(json!([part(&whole)]), "completed");
    let end = [
        at("response.output_text.done", json!({"text": whole})),
        at("response.content_part.done", json!({"part": part(&whole)})),
        json!({"type": "response.output_item.done", "sequence_number": 98, "output_index": 0, "item": done}),
        json!({"type": "response.completed", "sequence_number": 99, "response": response("completed", json!([done]))}),
    ];
    sse(true, begin.into_iter().chain(said).chain(end))
}

fn anthropic() -> Vec<u8> {
    let start = json!({"type": "message_start", "message": {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message",
        "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": {"input_tokens": 25, "output_tokens": 1}}});
    let block =
        |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let said = words(140).into_iter().map(|word| delta(0, json!({"type": "text_delta", "text": word})));
    let call = json!({"type": "tool_use", "id": "toolu_01T1x1fJ34qAmk2tNTrN7Up6", "name": "read_file", "input": {}});
    let argued = pieces(140).map(|piece| delta(1, json!({"type": "input_json_delta", "partial_json": piece})));
    let end = [
        stop(1),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
            "usage": {"output_tokens": 89}}),
        json!({"type": "message_stop"}),
    ];
    let text = [start, block(0, json!({"type": "text", "text": ""}))].into_iter().chain(said).chain([stop(0)]);
    sse(true, text.chain([block(1, call)]).chain(argued).chain(end))
}

fn gemini() -> Vec<u8> {
    let piece = |parts: Value, finish: Option<&str>| {
        let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        if let (Some(candidate), Some(reason)) = (candidate.as_object_mut(), finish) {
            candidate.insert("finishReason".to_owned(), json!(reason));
        }
        json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 12,
            "totalTokenCount": 20, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 8}]},
            "modelVersion": "gemini-2.5-flash", "responseId": "bGhyaN3dOqLm1e8P1-_K4A4"})
    };
    let words = words(55);
    // This vendor sends longer pieces.
    let said = words.chunks(6).map(|words| piece(json!([{"text": words.concat()}]), None));
    let call = piece(json!([{"functionCall": {"name": "read_file", "args": {"path": "src/main.rs"}}}]), Some("STOP"));
    sse(false, said.chain([call]))
}

fn ollama() -> Vec<u8> {
    let line = |message: Value, done: bool| json!({"model": "qwen3:8b", "created_at": "2026-01-16T10:12:13.123456789Z", "message": message, "done": done});
    let mut text = String::new();
    for word in words(150) {
        text.push_str(&format!("{}\n", line(json!({"role": "assistant", "content": word}), false)));
    }
    let call = json!({"function": {"name": "read_file", "arguments": {"path": "src/main.rs"}}});
    text.push_str(&format!("{}\n", line(json!({"role": "assistant", "content": "", "tool_calls": [call]}), false)));
    let mut end = line(json!({"role": "assistant", "content": ""}), true);
    if let Some(end) = end.as_object_mut() {
        end.extend([("done_reason".to_owned(), json!("stop")), ("eval_count".to_owned(), json!(17))]);
    }
    text.push_str(&format!("{end}\n"));
    text.into_bytes()
}
