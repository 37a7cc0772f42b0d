//! Bodies and events as plain serde structs with owned strings: what one would write who only wants the fields.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// A request of chat completions.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
pub(super) struct Request {
    model: String,
    messages: Vec<Message>,
    tools: Option<Vec<Map<String, Value>>>,
    tool_choice: Option<Value>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    reasoning_effort: Option<String>,
    response_format: Option<Value>,
    seed: Option<i64>,
    stop: Option<Value>,
    stream: Option<bool>,
    user: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Message {
    role: String,
    content: Option<Content>,
    name: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Call>>,
    tool_call_id: Option<String>,
}

#[expect(dead_code, reason = "what is read, not used")]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// By hand: an untagged enum would buffer every text first.
impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or its parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Part {
    r#type: String,
    text: Option<String>,
    image_url: Option<Value>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Call {
    index: Option<u64>,
    id: Option<String>,
    r#type: Option<String>,
    function: Option<Function>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

/// A chunk of chat completions.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
pub(super) struct Chunk {
    id: String,
    object: String,
    created: u64,
    model: String,
    service_tier: Option<String>,
    system_fingerprint: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Choice {
    index: u64,
    delta: Piece,
    logprobs: Option<Value>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Piece {
    role: Option<String>,
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

/// An event of OpenAI's responses.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
pub(super) struct ResponseEvent {
    r#type: String,
    sequence_number: Option<u64>,
    item_id: Option<String>,
    output_index: Option<u64>,
    content_index: Option<u64>,
    delta: Option<String>,
    text: Option<String>,
    arguments: Option<String>,
    logprobs: Option<Vec<Value>>,
    part: Option<ResponsePart>,
    item: Option<Item>,
    response: Option<Response>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Item {
    id: Option<String>,
    r#type: String,
    status: Option<String>,
    role: Option<String>,
    content: Option<Vec<ResponsePart>>,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct ResponsePart {
    r#type: String,
    text: Option<String>,
    annotations: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct Response {
    id: String,
    object: String,
    created_at: u64,
    status: String,
    model: String,
    output: Vec<Item>,
    usage: Option<Map<String, Value>>,
}

/// An event of Anthropic's messages.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
pub(super) struct MessageEvent {
    r#type: String,
    index: Option<u64>,
    message: Option<AnthropicMessage>,
    content_block: Option<ContentBlock>,
    delta: Option<MessageDelta>,
    usage: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct AnthropicMessage {
    id: String,
    r#type: String,
    role: String,
    model: String,
    content: Vec<ContentBlock>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    usage: Map<String, Value>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct ContentBlock {
    r#type: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct MessageDelta {
    r#type: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
}

/// A piece of a response of Gemini.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is read, not used")]
pub(super) struct Generated {
    candidates: Vec<Candidate>,
    usage_metadata: Option<Map<String, Value>>,
    model_version: Option<String>,
    response_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is read, not used")]
struct Candidate {
    content: Option<GeminiContent>,
    index: Option<u64>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct GeminiContent {
    parts: Option<Vec<GeminiPart>>,
    role: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is read, not used")]
struct GeminiPart {
    text: Option<String>,
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<Map<String, Value>>,
}

/// A line of Ollama's chat.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
pub(super) struct Line {
    model: String,
    created_at: String,
    message: OllamaMessage,
    done: bool,
    done_reason: Option<String>,
    total_duration: Option<u64>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read, not used")]
struct OllamaMessage {
    role: String,
    content: String,
    thinking: Option<String>,
    tool_calls: Option<Vec<Map<String, Value>>>,
}
