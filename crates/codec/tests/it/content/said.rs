//! What a body says, found by walking its JSON: none of our decoders has a part in it.

use turnkeep_model::json::{self, Json, Nan, Object};

/// Something said, shown, called or returned, and where it stands in its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) at: String,
    pub(super) text: String,
}

/// The fields of bodies that hold what is said; the rest are settings and counts.
const ROOTS: &[&str] = &[
    "messages",
    "system",
    "contents",
    "systemInstruction",
    "system_instruction",
    "input",
    "instructions",
    "content",
    "choices",
    "candidates",
    "output",
    "message",
];

/// Fields that say what a block is, where it is from or how it may be used, and nothing to the model or its user.
const TECHNICAL: &[&str] = &[
    "type",
    "role",
    "id",
    "status",
    "model",
    "index",
    "object",
    "format",
    "detail",
    "media_type",
    "mimeType",
    "mime_type",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "toolUseId",
    "tool_name",
    "file_id",
    "filename",
    "title",
    "displayName",
    "name",
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "redactedContent",
    "data_redacted",
    "cache_control",
    "cachePoint",
    "citations",
    "annotations",
    "logprobs",
    "logprobsResult",
    "finish_reason",
    "finishReason",
    "native_finish_reason",
    "caller",
    "phase",
    "language",
    "outcome",
    "groundingMetadata",
    "safetyRatings",
    "citationMetadata",
    "urlContextMetadata",
    "content_filter_results",
    "videoMetadata",
    "metadata",
    "padding",
    "mediaResolution",
    "partMetadata",
    "part_metadata",
    "extra_content",
    "stop_reason",
    "finishMessage",
    "reasoning_signature",
    "provider_specific_fields",
    "namespace",
    "created_by",
    "audio_id",
    "expires_at",
    "avgLogprobs",
    "stopReason",
    "matched_stop",
    "tool_plan_id",
    "prompt_cache_breakpoint",
];

/// What the body `value` says.
pub(super) fn said(value: &Json) -> Vec<Said> {
    let mut found = Vec::new();
    let Some(body) = value.as_object() else { return found };
    // An answer of Responses repeats what it was asked with.
    let is_answer = body.contains("output");
    for (key, value) in body.iter() {
        let key = key.to_str_lossy();
        match &*key {
            "request" | "response" => {
                found.extend(said(value).into_iter().map(|said| Said { at: format!("{key}.{}", said.at), ..said }));
            }
            "instructions" | "input" if is_answer => {}
            key if ROOTS.contains(&key) => walk(value, key, &mut found),
            _ => {}
        }
    }
    found
}

fn walk(value: &Json, at: &str, found: &mut Vec<Said>) {
    match value {
        Json::String(text) => say(&text.to_str_lossy(), at, found),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| walk(item, &format!("{at}[{index}]"), found));
        }
        Json::Object(object) => walk_object(object, at, found),
        _ => {}
    }
}

fn walk_object(object: &Object, at: &str, found: &mut Vec<Said>) {
    let kind = object.get_str("type").unwrap_or_default().into_owned();
    if is_opaque(&kind) {
        return;
    }
    let is_call = ["arguments", "args", "input"].iter().any(|key| object.contains(key)) && object.contains("name");
    for (key, value) in object.iter() {
        let key = key.to_str_lossy();
        let at = format!("{at}.{key}");
        match &*key {
            "name" if is_call => walk(value, &at, found),
            "arguments" | "args" | "input" if is_call => free(value, &at, found),
            "response" | "json" => free(value, &at, found),
            key if TECHNICAL.contains(&key) => {}
            // The answer's own text is said again in its details.
            "reasoning" | "reasoning_content" if object.contains("reasoning_details") => {}
            _ => walk(value, &at, found),
        }
    }
}

/// What only its vendor can read.
fn is_opaque(kind: &str) -> bool {
    matches!(kind, "redacted_thinking" | "reasoning.encrypted" | "compaction" | "item_reference")
}

/// Every text of a value of the application's.
fn free(value: &Json, at: &str, found: &mut Vec<Said>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| free(item, at, found)),
        Json::Object(object) => object.iter().for_each(|(_, value)| free(value, at, found)),
        Json::String(text) => match inner(&text.to_str_lossy()) {
            Some(value) => free(&value, at, found),
            None => say(&text.to_str_lossy(), at, found),
        },
        _ => {}
    }
}

fn say(text: &str, at: &str, found: &mut Vec<Said>) {
    let text = text.strip_prefix("data:").and_then(|url| url.split_once(";base64,")).map_or(text, |(_, data)| data);
    let text = text.trim();
    if !text.is_empty() {
        found.push(Said { at: at.to_owned(), text: text.to_owned() });
    }
}

/// The value that a text spells, if it is an object or a list.
fn inner(text: &str) -> Option<Json> {
    let is_value = text.trim_start().starts_with(['{', '[']);
    is_value.then(|| json::parse_with(text, Nan::Accept).ok().map(json::Node::into_json)).flatten()
}

/// All texts of a value, those inside texts that spell JSON included: where something said may be found again.
#[derive(Default)]
pub(super) struct Heard(String);

impl Heard {
    pub(super) fn of(value: &Json) -> Heard {
        let mut heard = Heard::default();
        heard.add(value);
        heard
    }

    fn add(&mut self, value: &Json) {
        match value {
            Json::String(text) => {
                let text = text.to_str_lossy();
                self.0.push_str(&text);
                self.0.push('\0');
                if let Some(value) = inner(&text) {
                    self.add(&value);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.add(item)),
            Json::Object(object) => object.iter().for_each(|(_, value)| self.add(value)),
            _ => {}
        }
    }

    /// Whether a text is there: as it is, as bytes in base64, or as what its base64 says.
    pub(super) fn has(&self, text: &str) -> bool {
        self.0.contains(text)
            || self.0.contains(to_base64(text.as_bytes()).trim_end_matches('='))
            || from_base64(text).is_some_and(|said| !said.trim().is_empty() && self.0.contains(said.trim()))
    }
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain([&0, &0]).take(3).fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let letters = (0..=chunk.len()).map(|place| char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]));
        text.extend(letters);
    }
    text
}

fn from_base64(text: &str) -> Option<String> {
    let digits = text.trim_end_matches('=').bytes().map(|byte| LETTERS.iter().position(|letter| *letter == byte));
    let digits: Vec<usize> = digits.collect::<Option<_>>()?;
    let mut bytes = Vec::new();
    for chunk in digits.chunks(4) {
        let bits = chunk.iter().chain([&0, &0, &0]).take(4).fold(0, |bits, digit| bits << 6 | digit);
        bytes.extend((0..chunk.len() - 1).map(|place| (bits >> (16 - 8 * place) & 255) as u8));
    }
    String::from_utf8(bytes).ok()
}

#[test]
fn the_walker_finds_what_is_said_and_nothing_else() {
    let body = r#"{"model":"m","system":"S","messages":[{"role":"user","content":[{"type":"text","text":"T"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"id":"I","n":[1,"J"]}}]}]}"#;

    let found = said(&json::parse(body).unwrap().into_json());

    let texts: Vec<&str> = found.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(texts, ["S", "T", "QUJD", "f", "I", "J"]);
    assert_eq!(found[2].at, "messages[0].content[1].source.data");
}

#[test]
fn what_is_said_is_found_in_other_spellings() {
    let body = json::parse(r#"{"a":"{\"b\":\"inside \\\"quotes\\\"\"}","c":"YSxiCjEsMg=="}"#).unwrap().into_json();
    let heard = Heard::of(&body);

    assert!(heard.has("inside \"quotes\""));
    assert!(heard.has("a,b\n1,2"));
    assert!(!heard.has("elsewhere"));
    let text = json::parse(r#"{"a":"a,b\n1,2"}"#).unwrap().into_json();
    assert!(Heard::of(&text).has("YSxiCjEsMg=="));
}
