//! From bodies to sessions.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Author, Block, FinishReason, Scope, Session, Turn, Usage};

use super::wire::Converse;
use super::{WIRE, block, restore, settings};
use crate::fields::{Fields, Form, Writer, optional, plain_count};
use crate::wire::block_wire::{BlockWire, finish};
use crate::wire::tables::Words;

/// The usual order of a request's fields.
pub(super) const REQUEST: Form = &optional([
    "modelId",
    "messages",
    "system",
    "inferenceConfig",
    "toolConfig",
    "additionalModelRequestFields",
    "guardrailConfig",
    "outputConfig",
]);
/// The usual order of a response's fields.
pub(super) const RESPONSE: Form =
    &optional(["output", "stopReason", "usage", "metrics", "additionalModelResponseFields", "trace", "message"]);
/// The usual order of a message's fields.
pub(super) const MESSAGE: Form = &optional(["role", "content"]);
/// What an answer stands in.
pub(super) const OUTPUT: Form = &optional(["message"]);
/// The usual order of usage.
pub(super) const USAGE: Form =
    &optional(["inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens"]);
/// Who hosts the models.
pub(super) const HOST: &str = "bedrock";

impl BlockWire for Converse {
    const ID: &'static str = WIRE;
    const REQUEST: Form = REQUEST;
    const TEXT_CONTENT: bool = false;

    fn read_block(value: Json, author: &Author, scope: &Scope) -> Block {
        block::read(value, author, scope)
    }

    fn write_block(block: &Block) -> Json {
        block::write(block)
    }

    fn scope(request: &Object) -> Scope {
        let model = request.get_str("modelId").map(std::borrow::Cow::into_owned);
        Scope { provider: Some(HOST.to_owned()), model, ..Scope::default() }
    }

    fn read_settings(fields: &mut Fields, session: &mut Session) {
        settings::read(fields, session);
    }

    fn write_settings(session: &Session, writer: &mut Writer<'_>) {
        settings::write(session, writer);
    }

    fn read_response(body: Object, scope: Scope) -> (Turn, Vec<Block>) {
        response(body, &scope)
    }

    fn write_response(turn: &Turn) -> Json {
        restore::response(turn)
    }
}

/// What a response says of its turn, and its blocks.
fn response(body: Object, scope: &Scope) -> (Turn, Vec<Block>) {
    let mut fields = Fields::new(body, RESPONSE);
    let items = answer(&mut fields).unwrap_or_default();
    let blocks = items.into_iter().map(|item| block::read(item, &Author::Assistant, scope)).collect();
    let mut turn = Turn { provider: Some(HOST.to_owned()), ..Turn::default() };
    if fields.get_object("usage").is_some_and(|counts| !counts.is_empty()) {
        turn.usage = fields.object("usage").map(usage).unwrap_or_default();
    }
    turn.finish = finish(&mut fields, "stopReason", REASONS);
    // What stands for a response where the call failed.
    if let Some(message) = fields.text("message") {
        turn.errors.push(TurnError { message, ..TurnError::default() });
    }
    fields.note("from", "response");
    fields.keep(WIRE, &mut turn.extra);
    (turn, blocks)
}

/// The blocks of the answer, if it is a message of the assistant's that has some.
fn answer(fields: &mut Fields) -> Option<Vec<Json>> {
    let message = fields.get_object("output")?.get("message")?.as_object()?;
    message.get_str("role").filter(|role| role == "assistant")?;
    let items = fields.within("output", OUTPUT, |output| {
        output.within("message", MESSAGE, |message| {
            let items = message.items("content")?;
            message.take("role");
            Some(items)
        })
    });
    items.flatten().flatten()
}

/// Input is counted without what came from or went into a cache; we count all that was sent.
fn usage(object: Object) -> Usage {
    let mut fields = Fields::new(object, USAGE);
    let mut usage = Usage {
        cached_read: fields.count("cacheReadInputTokens"),
        cached_write: fields.count("cacheWriteInputTokens"),
        output: fields.count("outputTokens"),
        total: fields.count("totalTokens"),
        ..Usage::default()
    };
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    usage.input = fields.read("inputTokens", |count| plain_count(count.as_number()?)?.checked_add(cached));
    fields.keep(WIRE, &mut usage.extra);
    usage
}

const REASONS: Words<FinishReason> = &[
    ("end_turn", FinishReason::Stop),
    ("stop_sequence", FinishReason::Stop),
    ("max_tokens", FinishReason::Length),
    ("model_context_window_exceeded", FinishReason::Length),
    ("tool_use", FinishReason::ToolCalls),
    ("guardrail_intervened", FinishReason::ContentFilter),
    ("content_filtered", FinishReason::ContentFilter),
    ("malformed_model_output", FinishReason::Error),
    ("malformed_tool_use", FinishReason::Error),
];
