//! What Ollama answers.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, FinishReason, ToolCall};

use super::wire::OllamaWire;
use crate::wire::degrade::object_of;
use crate::wire::mock::{
    Event, MockAnswer, Refusal, VendorMock, items_at, joined, object, object_at, pieces, said, text_at,
    with_object_arguments, without,
};

impl VendorMock for OllamaWire {
    fn expressible(&self, blocks: &[Block]) -> Vec<Block> {
        with_object_arguments(joined(said(blocks)))
    }

    fn response(&self, speech: &MockAnswer) -> Json {
        let created = jiff::Timestamp::from_second(speech.created).unwrap_or_default().to_string();
        let mut body: Object = [
            ("model", Json::from(speech.model.as_str())),
            ("created_at", created.into()),
            ("message", message(&self.expressible(&speech.blocks)).into()),
            ("done", true.into()),
            ("done_reason", done_reason(&speech.finish).into()),
        ]
        .into_iter()
        .collect();
        let counts = [("prompt_eval_count", speech.usage.input), ("eval_count", speech.usage.output)];
        for (key, count) in counts {
            count.into_iter().for_each(|count| body.push(key, count));
        }
        body.into()
    }

    fn events(&self, body: &Json, piece: usize) -> Vec<Event> {
        let whole = body.as_object().cloned().unwrap_or_default();
        let at = |key: &str| whole.get(key).cloned().unwrap_or_default();
        let line = |message: Json| {
            Event::Data(object([
                ("model", at("model")),
                ("created_at", at("created_at")),
                ("message", message),
                ("done", false.into()),
            ]))
        };
        let mut events: Vec<Event> = messages(&object_at(body, "message"), piece).into_iter().map(line).collect();
        let mut last = whole.clone();
        last.set("message", spoken("content", "".into()));
        events.push(Event::Data(last.into()));
        events
    }

    fn refusal(&self, refusal: &Refusal) -> Json {
        object([("error", refusal.message.as_str().into())])
    }

    fn late_refusal(&self, refusal: &Refusal) -> Event {
        Event::Data(self.refusal(refusal))
    }

    fn call_id(&self, token: &str) -> String {
        format!("call_{}", token.get(..8).unwrap_or(token))
    }
}

fn message(blocks: &[Block]) -> Object {
    let text = blocks.iter().find_map(|block| block.body.as_text()).unwrap_or_default();
    let mut message: Object = [("role", Json::from("assistant")), ("content", text.into())].into_iter().collect();
    if let Some(Body::Reasoning(reasoning)) = blocks.first().map(|block| &block.body) {
        message.push("thinking", reasoning.text.clone().unwrap_or_default());
    }
    let calls: Vec<Json> = blocks.iter().filter_map(call).collect();
    if !calls.is_empty() {
        message.push("tool_calls", calls);
    }
    message
}

fn call(block: &Block) -> Option<Json> {
    let Body::ToolCall(ToolCall { call, name, arguments }) = &block.body else { return None };
    let arguments = object_of(arguments).unwrap_or_default();
    let function = object([("name", name.as_str().into()), ("arguments", arguments.into())]);
    Some(object([("id", call.to_string().into()), ("function", function)]))
}

fn done_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Length => "length",
        FinishReason::Other(word) => word,
        _ => "stop",
    }
}

/// A message piece by piece; there is always one piece.
fn messages(message: &Object, piece: usize) -> Vec<Json> {
    let mut messages = Vec::new();
    for key in ["thinking", "content"] {
        let text = text_at(message, key);
        messages.extend(pieces(&text, piece).into_iter().map(|text| spoken(key, text.into())));
    }
    messages.extend(items_at(message, "tool_calls").iter().map(|call| spoken("tool_calls", vec![call.clone()].into())));
    let rest = without(message, &["role", "content", "thinking", "tool_calls"]);
    if messages.is_empty() || !rest.is_empty() {
        let mut piece = spoken("content", "".into()).as_object().cloned().unwrap_or_default();
        rest.into_iter().for_each(|(key, value)| piece.push(key, value));
        messages.push(piece.into());
    }
    messages
}

fn spoken(key: &'static str, value: Json) -> Json {
    match key {
        "content" => object([("role", "assistant".into()), ("content", value)]),
        key => object([("role", "assistant".into()), ("content", "".into()), (key, value)]),
    }
}
