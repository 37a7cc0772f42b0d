//! What Gemini answers.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, FinishReason, Reasoning, Text};

use super::wire::Gemini;
use super::{FORMAT, restore};
use crate::wire::mock::{
    Event, MockAnswer, Refusal, VendorMock, items_at, object, object_at, pieces, said, seal, text_at, thought,
    with_object_arguments, without,
};

const CLASSES: &[(u16, &str)] = &[
    (400, "INVALID_ARGUMENT"),
    (401, "UNAUTHENTICATED"),
    (403, "PERMISSION_DENIED"),
    (404, "NOT_FOUND"),
    (429, "RESOURCE_EXHAUSTED"),
    (499, "CANCELLED"),
    (503, "UNAVAILABLE"),
    (504, "DEADLINE_EXCEEDED"),
    (500, "INTERNAL"),
];

impl VendorMock for Gemini {
    fn expressible(&self, blocks: &[Block]) -> Vec<Block> {
        let mut fitted: Vec<Block> = Vec::new();
        for block in with_object_arguments(said(blocks)).into_iter().filter_map(readable) {
            match (fitted.last_mut().map(|last| &mut last.body), &block.body) {
                (Some(Body::Text(last)), Body::Text(Text { text })) => last.text.push_str(text),
                (
                    Some(Body::Reasoning(Reasoning { text: Some(last), signature: None, .. })),
                    Body::Reasoning(Reasoning { text: Some(text), signature: None, .. }),
                ) => last.push_str(text),
                _ => fitted.push(block),
            }
        }
        fitted
    }

    fn response(&self, speech: &MockAnswer) -> Json {
        let mut blocks = self.expressible(&speech.blocks);
        sign_first_call(&mut blocks, &speech.token);
        let content = match blocks.is_empty() {
            true => object([("role", "model".into()), ("parts", Vec::new().into())]),
            false => restore::content(&blocks.iter().collect::<Vec<_>>()),
        };
        let candidate = object([
            ("content", content),
            ("finishReason", finish_reason(&speech.finish).into()),
            ("index", 0_u64.into()),
        ]);
        let mut body: Object = [("candidates", Json::Array(vec![candidate]))].into_iter().collect();
        restore::usage(&speech.usage).into_iter().for_each(|usage| body.push("usageMetadata", usage));
        body.push("modelVersion", speech.model.as_str());
        body.push("responseId", speech.token.as_str());
        body.into()
    }

    fn events(&self, body: &Json, piece: usize) -> Vec<Event> {
        let whole = body.as_object().cloned().unwrap_or_default();
        let beside = without(&whole, &["candidates"]);
        let candidate = items_at(&whole, "candidates").first().cloned().unwrap_or_default();
        let content = object_at(&candidate, "content");
        let rest = without(candidate.as_object().unwrap_or(&Object::new()), &["content", "finishReason"]);
        let mut parts: Vec<Json> =
            items_at(&content, "parts").iter().flat_map(|part| part_pieces(part, piece)).collect();
        let last = parts.pop();
        let event = |parts: Vec<Json>, reason: Option<&Json>| {
            let mut content = without(&content, &["parts"]);
            content.push("parts", parts);
            let mut candidate: Object = [("content", Json::Object(content))].into_iter().collect();
            reason.into_iter().for_each(|reason| candidate.push("finishReason", reason.clone()));
            rest.iter().for_each(|(key, value)| candidate.push(key.clone(), value.clone()));
            let mut event: Object = [("candidates", Json::Array(vec![candidate.into()]))].into_iter().collect();
            beside.iter().for_each(|(key, value)| event.push(key.clone(), value.clone()));
            Event::Data(event.into())
        };
        let mut events: Vec<Event> = parts.into_iter().map(|part| event(vec![part], None)).collect();
        let reason = candidate.as_object().and_then(|candidate| candidate.get("finishReason"));
        events.push(event(last.into_iter().collect(), reason));
        events
    }

    fn foreign_seal(&self) -> &'static str {
        "Thought signature is not valid"
    }

    fn refusal(&self, refusal: &Refusal) -> Json {
        let error = object([
            ("code", u64::from(refusal.status).into()),
            ("message", refusal.message.as_str().into()),
            ("status", refusal.class_of(CLASSES).into()),
        ]);
        object([("error", error)])
    }

    fn late_refusal(&self, refusal: &Refusal) -> Event {
        Event::Data(self.refusal(refusal))
    }

    fn call_id(&self, token: &str) -> String {
        token.to_owned()
    }
}

/// Thoughts are summaries that can be read; what is encrypted stays with the vendor.
fn readable(mut block: Block) -> Option<Block> {
    if let Body::Reasoning(reasoning) = &mut block.body {
        let text = thought(reasoning)?;
        let signature = reasoning.signature.take();
        *reasoning = Reasoning { text: Some(text), signature, ..Reasoning::default() };
    }
    Some(block)
}

/// The first call of an answer carries the signature of what was thought before it.
fn sign_first_call(blocks: &mut [Block], token: &str) {
    let first = blocks.iter_mut().find(|block| matches!(block.body, Body::ToolCall(_)));
    if let Some(block) = first {
        block.extra.part_mut(FORMAT).fields.set("thoughtSignature", seal(FORMAT, token));
    }
}

fn finish_reason(finish: &FinishReason) -> &str {
    match finish {
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::ContentFilter | FinishReason::Refusal => "SAFETY",
        FinishReason::Error => "MALFORMED_FUNCTION_CALL",
        FinishReason::Other(word) => word,
        _ => "STOP",
    }
}

/// A text comes in pieces; a part with anything beside it comes whole, and so does a call.
fn part_pieces(part: &Json, piece: usize) -> Vec<Json> {
    let Some(object) = part.as_object().filter(|part| part.get_str("text").is_some_and(|text| !text.is_empty())) else {
        return vec![part.clone()];
    };
    if object.iter().any(|(key, _)| !matches!(&*key.to_str_lossy(), "text" | "thought")) {
        return vec![part.clone()];
    }
    let text = text_at(object, "text");
    let with = |text: &str| {
        let mut part = object.clone();
        part.set("text", text);
        Json::Object(part)
    };
    pieces(&text, piece).into_iter().map(with).collect()
}
