//! What OpenAI's chat interface, and whoever speaks like it, answers.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, FinishReason, ToolCall};

use super::usage;
use super::wire::ChatWire;
use crate::wire::mock::{
    Event, MockAnswer, Refusal, VendorMock, items_at, joined, object, object_at, pieces, said, text_at, without,
};

const CLASSES: &[(u16, &str)] = &[
    (400, "invalid_request_error"),
    (401, "invalid_request_error"),
    (403, "invalid_request_error"),
    (404, "invalid_request_error"),
    (413, "invalid_request_error"),
    (422, "invalid_request_error"),
    (429, "rate_limit_error"),
    (500, "server_error"),
];
/// The codes that stand beside a class.
const CODES: &[(u16, &str)] = &[(401, "invalid_api_key"), (404, "model_not_found"), (429, "rate_limit_exceeded")];

impl VendorMock for ChatWire {
    fn expressible(&self, blocks: &[Block]) -> Vec<Block> {
        joined(said(blocks))
    }

    fn response(&self, speech: &MockAnswer) -> Json {
        let choice = object([
            ("index", 0_u64.into()),
            ("message", message(&self.expressible(&speech.blocks)).into()),
            ("finish_reason", finish_reason(&speech.finish).into()),
        ]);
        object([
            ("id", format!("chatcmpl-{}", speech.token).into()),
            ("object", "chat.completion".into()),
            ("created", speech.created.into()),
            ("model", speech.model.as_str().into()),
            ("choices", vec![choice].into()),
            ("usage", usage::write(&speech.usage).into()),
        ])
    }

    fn events(&self, body: &Json, piece: usize) -> Vec<Event> {
        let whole = body.as_object().cloned().unwrap_or_default();
        let mut head = without(&whole, &["choices", "usage"]);
        head.set("object", "chat.completion.chunk");
        let chunk = |choices: Vec<Json>| {
            let mut chunk = head.clone();
            chunk.push("choices", choices);
            chunk
        };
        let mut events = Vec::new();
        for choice in items_at(&whole, "choices") {
            events.extend(deltas(choice, piece).into_iter().map(|choice| Event::Data(chunk(vec![choice]).into())));
        }
        if let Some(usage) = whole.get("usage") {
            let mut last = chunk(Vec::new());
            last.push("usage", usage.clone());
            events.push(Event::Data(last.into()));
        }
        events.push(Event::Done);
        events
    }

    /// A stream tells what it used only where it is asked to.
    fn trim_stream(&self, request: &Json, body: &mut Json) {
        let options = request.as_object().and_then(|request| request.get("stream_options")?.as_object());
        let is_asked = options.and_then(|options| options.get("include_usage")?.as_bool()) == Some(true);
        if let (false, Json::Object(body)) = (is_asked, body) {
            body.remove("usage");
        }
    }

    fn refusal(&self, refusal: &Refusal) -> Json {
        error(refusal)
    }

    fn late_refusal(&self, refusal: &Refusal) -> Event {
        Event::Data(error(refusal))
    }

    fn call_id(&self, token: &str) -> String {
        format!("call_{token}")
    }
}

/// An error as OpenAI's interfaces answer it.
pub(crate) fn error(refusal: &Refusal) -> Json {
    let code =
        CODES.iter().find(|(status, _)| *status == refusal.status).map_or(Json::Null, |(_, code)| (*code).into());
    let error = object([
        ("message", refusal.message.as_str().into()),
        ("type", refusal.class_of(CLASSES).into()),
        ("param", Json::Null),
        ("code", code),
    ]);
    object([("error", error)])
}

fn message(blocks: &[Block]) -> Object {
    let text = blocks.iter().find_map(|block| block.body.as_text());
    let calls: Vec<Json> = blocks.iter().filter_map(call).collect();
    let content = match text {
        Some(text) => text.into(),
        None if calls.is_empty() => "".into(),
        None => Json::Null,
    };
    let mut message: Object = [("role", Json::from("assistant")), ("content", content)].into_iter().collect();
    if let Some(Body::Reasoning(reasoning)) = blocks.first().map(|block| &block.body) {
        message.push("reasoning_content", reasoning.text.clone().unwrap_or_default());
    }
    if !calls.is_empty() {
        message.push("tool_calls", calls);
    }
    message
}

fn call(block: &Block) -> Option<Json> {
    let Body::ToolCall(ToolCall { call, name, arguments }) = &block.body else { return None };
    let function = object([("name", name.as_str().into()), ("arguments", arguments.as_str().into())]);
    Some(object([("id", call.to_string().into()), ("type", "function".into()), ("function", function)]))
}

fn finish_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter | FinishReason::Refusal => "content_filter",
        FinishReason::Other(word) => word,
        _ => "stop",
    }
}

/// A choice piece by piece: who speaks, thinking, text, calls, and why it ended.
fn deltas(choice: &Json, piece: usize) -> Vec<Json> {
    let message = object_at(choice, "message");
    let index = choice.as_object().and_then(|choice| choice.get("index").cloned()).unwrap_or_default();
    let mut first = without(&message, &["content", "reasoning_content", "tool_calls"]);
    first.set("content", "");
    let mut deltas = vec![Json::Object(first)];
    for key in ["reasoning_content", "content"] {
        let text = text_at(&message, key);
        deltas.extend(pieces(&text, piece).into_iter().map(|text| object([(key, text.into())])));
    }
    for (at, call) in items_at(&message, "tool_calls").iter().filter_map(Json::as_object).enumerate() {
        let calls = call_pieces(at as u64, call, piece).into_iter();
        deltas.extend(calls.map(|call| object([("tool_calls", vec![call].into())])));
    }
    let wrap =
        |delta: Json, reason: Json| object([("index", index.clone()), ("delta", delta), ("finish_reason", reason)]);
    let reason = choice.as_object().and_then(|choice| choice.get("finish_reason").cloned()).unwrap_or_default();
    let mut choices: Vec<Json> = deltas.into_iter().map(|delta| wrap(delta, Json::Null)).collect();
    choices.push(wrap(Json::Object(Object::new()), reason));
    choices
}

fn call_pieces(index: u64, call: &Object, piece: usize) -> Vec<Json> {
    let mut function = call.get("function").and_then(Json::as_object).cloned().unwrap_or_default();
    let arguments = text_at(&function, "arguments");
    function.set("arguments", "");
    let mut first: Object = [("index", Json::from(index))].into_iter().collect();
    without(call, &["function"]).into_iter().for_each(|(key, value)| first.push(key, value));
    first.push("function", function);
    let more = pieces(&arguments, piece).into_iter();
    let more = more.map(|text| object([("index", index.into()), ("function", object([("arguments", text.into())]))]));
    std::iter::once(Json::Object(first)).chain(more).collect()
}
