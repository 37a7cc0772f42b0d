//! What geppetto notes of an inference: `inference_result` and the plain keys before it.
//!
//! What the model has a place for moves there; the rest stays in the map it stood in. Writing puts it back, so both
//! directions go by the same tables.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Body, Decimal, Finish, FinishReason, ToolSpec, Turn, Usage};

use super::FORMAT;

/// geppetto's classes of how an inference ended.
const CLASSES: &[(&str, FinishReason)] = &[
    ("completed", FinishReason::Stop),
    ("max_tokens", FinishReason::Length),
    ("tool_calls_pending", FinishReason::ToolCalls),
    ("interrupted", FinishReason::Interrupted),
    ("error", FinishReason::Error),
];

/// The class of a stop reason, as geppetto derives it.
pub fn finish_class(stop_reason: &str, has_tool_calls: bool) -> &'static str {
    if has_tool_calls {
        return "tool_calls_pending";
    }
    match stop_reason.trim().to_lowercase().as_str() {
        "max_tokens" | "max_output_tokens" | "length" | "model_length" => "max_tokens",
        "" | "unknown" => "unknown",
        "interrupted" | "cancelled" | "canceled" => "interrupted",
        "error" | "failed" => "error",
        _ => "completed",
    }
}

fn reason_of(class: &str) -> FinishReason {
    let known = CLASSES.iter().find(|(word, _)| *word == class).map(|(_, reason)| reason.clone());
    known.unwrap_or_else(|| FinishReason::from_word(class))
}

fn class_of(reason: &FinishReason) -> &str {
    CLASSES.iter().find(|(_, known)| known == reason).map_or(reason.as_str(), |(word, _)| word)
}

/// Moves what the model has a place for from an `inference_result` to the turn.
pub(super) fn take(result: &mut Object, turn: &mut Turn, has_tool_calls: bool) {
    turn.provider = take_text(result, "provider");
    turn.model = take_text(result, "model");
    take_finish(result, turn, has_tool_calls);
    if let Some(Json::Object(usage)) = result.get("usage") {
        let mut usage = usage.clone();
        take_usage(&mut usage, &mut turn.usage);
        put_rest(result, "usage", usage);
    }
    if let Some(milliseconds) = result.get("duration_ms").and_then(Json::as_number).and_then(Number::as_u64) {
        result.remove("duration_ms");
        turn.timing.seconds = Number::parse(&seconds_of(milliseconds));
    }
    if let Some(cost) = result.get("cost").and_then(Json::as_number).and_then(|n| Decimal::parse(n.as_str())) {
        result.remove("cost");
        turn.usage.cost = Some(cost);
    }
}

/// Whether a turn has anything that an `inference_result` holds.
pub(super) fn is_noted(turn: &Turn) -> bool {
    turn.provider.is_some()
        || turn.model.is_some()
        || turn.finish.is_some()
        || turn.usage != Usage::default()
        || turn.timing.seconds.is_some()
}

/// Puts back what [`take`] moved.
pub(super) fn put(turn: &Turn, result: &mut Object) {
    put_text(result, "provider", turn.provider.as_deref());
    put_text(result, "model", turn.model.as_deref());
    put_finish(turn, result);
    let mut usage = result.get("usage").and_then(Json::as_object).cloned().unwrap_or_default();
    put_usage(&turn.usage, &mut usage);
    if !usage.is_empty() {
        result.set("usage", usage);
    }
    if let Some(milliseconds) = turn.timing.seconds.as_ref().and_then(|n| milliseconds_of(n.as_str())) {
        result.set("duration_ms", milliseconds);
    }
    if let Some(cost) = turn.usage.cost.as_ref().and_then(|cost| Number::parse(cost.as_str())) {
        result.set("cost", cost);
    }
}

/// What geppetto notes of the inference that a turn is: nothing that is empty, and whether the answer was cut short.
pub fn inference_result(turn: &Turn) -> Object {
    let mut result = Object::new();
    put(turn, &mut result);
    let calls = turn.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)));
    if let Some(finish) = &turn.finish {
        let word = finish.word.as_deref().unwrap_or_else(|| finish.reason.as_str());
        let class = match &finish.reason {
            FinishReason::Length if !calls => "max_tokens",
            _ => finish_class(word, calls),
        };
        result.set("stop_reason", word);
        result.set("finish_class", class);
        if finish.reason == FinishReason::Length {
            result.set("truncated", true);
        }
    }
    if let Some(limit) = &turn.options.max_tokens {
        result.set("max_tokens", limit.clone());
    }
    put_text(&mut result, "response_id", turn.id.as_ref().map(turnkeep_model::TurnId::as_str));
    result
}

/// What was used, by geppetto's names.
pub(super) fn usage(usage: &Usage) -> Object {
    let mut map = Object::new();
    put_usage(usage, &mut map);
    map
}

/// The tools that a model is told of, as geppetto keeps them: sorted by name.
pub fn tool_definitions(tools: &[ToolSpec]) -> Vec<Json> {
    let mut sorted: Vec<&ToolSpec> = tools.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    sorted.into_iter().map(super::encode::tool).collect()
}

/// Moves the plain keys of older files (`provider`, `model`, `stop_reason`, `usage`) to the turn.
pub(super) fn take_plain(metadata: &mut Object, turn: &mut Turn, key: impl Fn(&Object, &str) -> Option<String>) {
    let text = |metadata: &mut Object, value: &str| key(metadata, value).and_then(|key| take_text(metadata, &key));
    turn.provider = text(metadata, "provider");
    turn.model = text(metadata, "model");
    if let Some(word) = text(metadata, "stop_reason") {
        let reason = reason_of(finish_class(&word, false));
        turn.finish = Some(Finish { reason, word: Some(word), ..Finish::default() });
    }
    let Some(key) = key(metadata, "usage") else { return };
    if let Some(Json::Object(usage)) = metadata.get(&key) {
        let mut usage = usage.clone();
        take_usage(&mut usage, &mut turn.usage);
        put_rest(metadata, &key, usage);
    }
}

/// Puts back what [`take_plain`] moved.
pub(super) fn put_plain(turn: &Turn, metadata: &mut Object, key: impl Fn(&str) -> String) {
    put_text(metadata, &key("provider"), turn.provider.as_deref());
    put_text(metadata, &key("model"), turn.model.as_deref());
    put_text(metadata, &key("stop_reason"), turn.finish.as_ref().and_then(|finish| finish.word.as_deref()));
    let mut usage = metadata.get(&key("usage")).and_then(Json::as_object).cloned().unwrap_or_default();
    put_usage(&turn.usage, &mut usage);
    if !usage.is_empty() {
        metadata.set(&key("usage"), usage);
    }
}

fn take_finish(result: &mut Object, turn: &mut Turn, has_tool_calls: bool) {
    let word = take_text(result, "stop_reason");
    let class = take_text(result, "finish_class");
    if word.is_none() && class.is_none() {
        return;
    }
    let derived = finish_class(word.as_deref().unwrap_or_default(), has_tool_calls);
    let mut finish = Finish { reason: reason_of(class.as_deref().unwrap_or(derived)), word, ..Finish::default() };
    if class.is_none() {
        finish.extra.part_mut(FORMAT).spelling.set("finish_class", "absent");
    }
    turn.finish = Some(finish);
}

fn put_finish(turn: &Turn, result: &mut Object) {
    let Some(finish) = &turn.finish else { return };
    put_text(result, "stop_reason", finish.word.as_deref());
    if finish.extra.spelling(FORMAT, "finish_class").is_none() {
        result.set("finish_class", class_of(&finish.reason));
    }
}

type Count = (&'static str, fn(&mut Usage) -> &mut Option<u64>);

const COUNTS: &[Count] = &[
    ("input_tokens", |usage| &mut usage.input),
    ("output_tokens", |usage| &mut usage.output),
    ("cache_creation_input_tokens", |usage| &mut usage.cached_write),
    ("cache_read_input_tokens", |usage| &mut usage.cached_read),
];

fn take_usage(map: &mut Object, usage: &mut Usage) {
    for (key, slot) in COUNTS {
        if let Some(count) = take_count(map, key) {
            *slot(usage) = Some(count);
        }
    }
    if usage.cached_read.is_none()
        && let Some(count) = take_count(map, "cached_tokens")
    {
        usage.cached_read = Some(count);
        usage.extra.part_mut(FORMAT).spelling.set("cached_read", "cached_tokens");
    }
}

fn take_count(map: &mut Object, key: &str) -> Option<u64> {
    let count = map.get(key).and_then(Json::as_number).and_then(Number::as_u64)?;
    map.remove(key);
    Some(count)
}

fn put_usage(usage: &Usage, map: &mut Object) {
    let mut usage = usage.clone();
    if usage.extra.spelling(FORMAT, "cached_read").is_some()
        && let Some(count) = usage.cached_read.take()
    {
        map.set("cached_tokens", count);
    }
    for (key, slot) in COUNTS {
        if let Some(count) = *slot(&mut usage) {
            map.set(key, count);
        }
    }
}

/// What is left of a map goes back; nothing left of it goes away, unless it was empty from the start.
fn put_rest(map: &mut Object, key: &str, rest: Object) {
    let was_empty = map.get(key).and_then(Json::as_object).is_some_and(Object::is_empty);
    if rest.is_empty() && !was_empty {
        map.remove(key);
    } else {
        map.set(key, rest);
    }
}

fn take_text(map: &mut Object, key: &str) -> Option<String> {
    let text = map.get(key)?.as_str()?.into_owned();
    map.remove(key);
    Some(text)
}

fn put_text(map: &mut Object, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        map.set(key, text);
    }
}

fn seconds_of(milliseconds: u64) -> String {
    let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Seconds in thousandths, where they are that exact.
pub(super) fn milliseconds_of(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let thousandths: u64 = format!("{fraction:0<3}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finish_classes_follow_the_table() {
        let cases = [
            ("STOP", false, "completed"),
            ("STOP", true, "tool_calls_pending"),
            ("model_length", false, "max_tokens"),
            ("", false, "unknown"),
            ("canceled", false, "interrupted"),
            ("failed", false, "error"),
        ];
        for (word, calls, expected) in cases {
            assert_eq!(finish_class(word, calls), expected, "{word}");
        }
    }

    #[test]
    fn an_inference_result_omits_what_is_empty() {
        assert_eq!(inference_result(&Turn::default()), Object::new());
        let finish = Finish { reason: FinishReason::Length, word: Some("max_tokens".into()), ..Finish::default() };
        let usage = Usage { input: Some(3), output: Some(0), ..Usage::default() };
        let turn = Turn { finish: Some(finish), usage, model: Some("m".into()), ..Turn::default() };

        let expected = r#"{"model":"m","stop_reason":"max_tokens","finish_class":"max_tokens","usage":{"input_tokens":3,"output_tokens":0},"truncated":true}"#;
        assert_eq!(Json::Object(inference_result(&turn)).to_text(), expected);
    }

    #[test]
    fn tool_definitions_are_sorted_by_name() {
        let tool = |name: &str| ToolSpec { name: name.into(), ..ToolSpec::default() };
        let sorted = tool_definitions(&[tool("b"), tool("a")]);
        let names: Vec<_> = sorted.iter().map(|tool| tool.as_object().unwrap().get_str("name").unwrap()).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn seconds_and_milliseconds_are_exact() {
        for milliseconds in [0, 1, 10, 999, 1000, 1114, 90_061_001] {
            assert_eq!(milliseconds_of(&seconds_of(milliseconds)), Some(milliseconds));
        }
        assert_eq!(milliseconds_of("1.2345"), None);
    }
}
