//! From bodies to sessions.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Author, Block, FinishReason, MessageId, Scope, Session, Turn, Usage};

use super::wire::Messages;
use super::{WIRE, block, restore, settings};
use crate::fields::{Fields, Form, Writer, optional, plain_count};
use crate::wire::block_wire::{BlockWire, finish};
use crate::wire::tables::Words;

/// The usual order of a request's fields.
pub(super) const REQUEST: Form = &optional([
    "anthropic_version",
    "model",
    "max_tokens",
    "system",
    "messages",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "stream",
    "output_format",
]);
/// The usual order of a response's fields.
pub(super) const RESPONSE: Form = &optional([
    "model",
    "id",
    "type",
    "role",
    "content",
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "usage",
    "context_management",
    "container",
    "error",
]);
/// The usual order of usage.
pub(super) const USAGE: Form = &optional([
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "cache_creation",
    "output_tokens",
    "output_tokens_details",
    "service_tier",
    "inference_geo",
    "server_tool_use",
]);
/// The usual order of what is said of the output's tokens.
pub(super) const DETAILS: Form = &optional(["thinking_tokens"]);
/// The usual order of an error.
pub(super) const ERROR: Form = &optional(["type", "message"]);

impl BlockWire for Messages {
    const ID: &'static str = WIRE;
    const REQUEST: Form = REQUEST;
    const TEXT_CONTENT: bool = true;

    fn read_block(value: Json, author: &Author, scope: &Scope) -> Block {
        block::read(value, author, scope)
    }

    fn write_block(block: &Block) -> Json {
        block::write(block)
    }

    fn scope(request: &Object) -> Scope {
        let model = request.get_str("model").map(std::borrow::Cow::into_owned);
        Scope { provider: Some(platform(request).to_owned()), model, ..Scope::default() }
    }

    fn read_settings(fields: &mut Fields, session: &mut Session) {
        settings::read(fields, session);
    }

    fn write_settings(session: &Session, writer: &mut Writer<'_>) {
        settings::write(session, writer);
    }

    fn read_response(body: Object, _: Scope) -> (Turn, Vec<Block>) {
        response(body)
    }

    fn write_response(turn: &Turn) -> Json {
        restore::response(turn)
    }
}

/// What a response says of its turn, and its blocks.
fn response(body: Object) -> (Turn, Vec<Block>) {
    let mut fields = Fields::new(body, RESPONSE);
    fields.constant("type", "message");
    fields.constant("role", "assistant");
    let id = fields.text("id");
    let model = fields.text("model");
    let provider = Some(id.as_deref().map_or("anthropic", platform_of_id).to_owned());
    let scope = Scope { provider: provider.clone(), model: model.clone(), ..Scope::default() };
    if fields.get("content").is_none() {
        fields.note_absent("content");
    }
    let items = fields.items("content").unwrap_or_default();
    let mut blocks: Vec<Block> = items.into_iter().map(|item| block::read(item, &Author::Assistant, &scope)).collect();
    for block in &mut blocks {
        block.message.id = id.as_deref().map(MessageId::from);
    }
    if let (Some(id), true) = (id, blocks.is_empty()) {
        fields.put_back("id", id);
    }
    let mut turn = Turn { model, provider, ..Turn::default() };
    if fields.get_object("usage").is_some_and(|counts| !counts.is_empty()) {
        turn.usage = fields.object("usage").map(usage).unwrap_or_default();
    }
    turn.finish = finish(&mut fields, "stop_reason", REASONS);
    turn.errors = error(&mut fields).into_iter().collect();
    fields.note("from", "response");
    fields.keep(WIRE, &mut turn.extra);
    (turn, blocks)
}

/// Who hosts the model that a request is for.
pub(super) fn platform(body: &Object) -> &'static str {
    match body.get_str("anthropic_version").as_deref() {
        Some(version) if version.starts_with("bedrock-") => "bedrock",
        Some(version) if version.starts_with("vertex-") => "vertex",
        _ => "anthropic",
    }
}

fn platform_of_id(id: &str) -> &'static str {
    match id {
        id if id.starts_with("msg_bdrk_") => "bedrock",
        id if id.starts_with("msg_vrtx_") => "vertex",
        _ => "anthropic",
    }
}

/// Input is counted without what came from or went into a cache; we count all that was sent.
fn usage(object: Object) -> Usage {
    let mut fields = Fields::new(object, USAGE);
    let mut usage = Usage {
        cached_read: fields.count("cache_read_input_tokens"),
        cached_write: fields.count("cache_creation_input_tokens"),
        output: fields.count("output_tokens"),
        ..Usage::default()
    };
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    usage.input = fields.read("input_tokens", |count| plain_count(count.as_number()?)?.checked_add(cached));
    usage.reasoning =
        fields.within("output_tokens_details", DETAILS, |details| details.count("thinking_tokens")).flatten();
    fields.keep(WIRE, &mut usage.extra);
    usage
}

const REASONS: Words<FinishReason> = &[
    ("end_turn", FinishReason::Stop),
    ("stop_sequence", FinishReason::Stop),
    ("max_tokens", FinishReason::Length),
    ("model_context_window_exceeded", FinishReason::Length),
    ("tool_use", FinishReason::ToolCalls),
    ("refusal", FinishReason::Refusal),
];

fn error(fields: &mut Fields) -> Option<TurnError> {
    fields.get_object("error")?.get_str("message")?;
    let mut rest = Fields::new(fields.object("error")?, ERROR);
    let mut error = TurnError {
        message: rest.text("message").unwrap_or_default(),
        class: rest.text("type"),
        ..TurnError::default()
    };
    rest.keep(WIRE, &mut error.extra);
    Some(error)
}
