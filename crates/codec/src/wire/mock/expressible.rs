//! What any vendor can say, before its own rules.

use turnkeep_model::{Author, Block, Body, CallId, Extra, FinishReason, Json, MessageKey, Reasoning, Text, ToolCall};

use crate::wire::degrade::{object_of, wrapped};

/// The text, thinking and calls among blocks, bare of what their sources noted.
pub(crate) fn said(blocks: &[Block]) -> Vec<Block> {
    blocks.iter().filter_map(|block| said_body(&block.body).map(|body| bare(block, body))).collect()
}

fn said_body(body: &Body) -> Option<Body> {
    match body {
        Body::Text(text) => (!text.text.is_empty()).then(|| body.clone()),
        Body::Summary(summary) => (!summary.text.is_empty()).then(|| Text { text: summary.text.clone() }.into()),
        Body::Reasoning(reasoning) => (*reasoning != Reasoning::default()).then(|| {
            let mut reasoning = reasoning.clone();
            reasoning.scope = None;
            reasoning.into()
        }),
        Body::ToolCall(call) => Some(named(call).into()),
        Body::ToolResult(_) | Body::Media(_) | Body::Other { .. } => None,
        _ => None,
    }
}

/// A vendor gives every call an id.
fn named(call: &ToolCall) -> ToolCall {
    let id = match &call.call {
        CallId::Given(id) => CallId::given(id.to_string()),
        CallId::Minted(position) => CallId::given(format!("call_{position}")),
    };
    ToolCall { call: id, ..call.clone() }
}

fn bare(block: &Block, body: Body) -> Block {
    Block {
        author: Author::Assistant,
        message: MessageKey::default(),
        metadata: turnkeep_model::Object::new(),
        extra: Extra::NONE,
        id: None,
        body,
        item_id: block.item_id.clone(),
    }
}

/// The blocks with arguments that are objects, for vendors that send nothing else.
pub(crate) fn with_object_arguments(mut blocks: Vec<Block>) -> Vec<Block> {
    for block in &mut blocks {
        if let Body::ToolCall(call) = &mut block.body {
            call.arguments = object_arguments(call);
        }
    }
    blocks
}

fn object_arguments(call: &ToolCall) -> String {
    match object_of(&call.arguments) {
        Some(object) => Json::Object(object).to_text(),
        None if call.arguments.trim().is_empty() => "{}".to_owned(),
        None => wrapped(&call.arguments).to_text(),
    }
}

/// One thought, one text and the calls: what vendors say whose messages have one field for each.
pub(crate) fn joined(blocks: Vec<Block>) -> Vec<Block> {
    let (mut thoughts, mut texts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        match &block.body {
            Body::Reasoning(reasoning) => thoughts.extend(thought(reasoning)),
            Body::Text(text) => texts.push(text.text.clone()),
            _ => calls.push(block),
        }
    }
    let thought = (!thoughts.is_empty()).then(|| {
        let reasoning = Reasoning { text: Some(thoughts.join("\n\n")), ..Reasoning::default() };
        Block::new(Author::Assistant, reasoning)
    });
    let text = (!texts.is_empty()).then(|| Block::text(Author::Assistant, texts.join("\n\n")));
    thought.into_iter().chain(text).chain(calls).collect()
}

/// What can be read of a thought.
pub(crate) fn thought(reasoning: &Reasoning) -> Option<String> {
    let summary = (!reasoning.summary.is_empty()).then(|| reasoning.summary.join("\n\n"));
    reasoning.text.clone().or(summary).filter(|text| !text.is_empty())
}

/// Thinking as vendors say it that sign it: what can be read of it with a signature, or else what `cipher` makes of its
/// ciphertext.
pub(crate) fn signed(wire: &str, mut block: Block, cipher: fn(String) -> Option<String>) -> Block {
    if let Body::Reasoning(reasoning) = &mut block.body {
        *reasoning = match (thought(reasoning), reasoning.encrypted.take().and_then(cipher)) {
            (None, encrypted @ Some(_)) => Reasoning { encrypted, ..Reasoning::default() },
            (text, _) => {
                let text = text.unwrap_or_default();
                let signature = reasoning.signature.take().unwrap_or_else(|| super::seal(wire, &text));
                Reasoning { text: Some(text), signature: Some(signature), ..Reasoning::default() }
            }
        };
    }
    block
}

/// Why an answer ends, in the words of the models of Anthropic; `refused` is the host's word for what is not said.
pub(crate) fn stop_reason<'f>(finish: &'f FinishReason, refused: &'static str) -> &'f str {
    match finish {
        FinishReason::Length => "max_tokens",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::ContentFilter | FinishReason::Refusal => refused,
        FinishReason::Other(word) => word,
        _ => "end_turn",
    }
}
