//! From sessions that were read back to the bodies they were.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Block, Finish, Session, Turn, Usage};

use super::decode::{DETAILS, ERROR, RESPONSE, USAGE};
use super::wire::Messages;
use super::{WIRE, block};
use crate::fields::{Kept, Writer};
use crate::wire::{Kind, Parts, block_wire};

/// The bodies of a session, as they were.
pub(super) fn parts(session: &Session, kind: Kind) -> Parts {
    block_wire::parts::<Messages>(session, kind)
}

/// The response that a turn came from.
pub(super) fn response(turn: &Turn) -> Json {
    let mut writer = Writer::new(Kept::of(&turn.extra, WIRE), RESPONSE);
    let blocks: Vec<&Block> = turn.blocks.iter().filter(|block| block.is_answer()).collect();
    writer.set_some("model", turn.model.as_deref());
    writer.set_some(
        "id",
        blocks.first().and_then(|block| block.message.id.as_ref()).map(turnkeep_model::MessageId::as_str),
    );
    writer.constant("type", "message");
    writer.constant("role", "assistant");
    if !(blocks.is_empty() && (writer.kept().lacks("content") || writer.kept().field("content").is_some())) {
        writer.set("content", blocks.iter().map(|block| block::write(block)).collect::<Vec<_>>());
    }
    if let Some(finish) = &turn.finish {
        writer.set("stop_reason", stop_reason(finish));
    }
    if turn.usage != Usage::default() {
        writer.set("usage", usage(&turn.usage));
    }
    writer.set_some("error", turn.errors.first().map(error));
    Json::Object(writer.finish())
}

fn stop_reason(finish: &Finish) -> Json {
    finish.word.as_deref().map_or(Json::Null, Json::from)
}

/// What was used, as it is counted here.
pub(super) fn usage(usage: &Usage) -> Object {
    let mut writer = Writer::new(Kept::of(&usage.extra, WIRE), USAGE);
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    writer.set_some("input_tokens", usage.input.map(|count| count.saturating_sub(cached)));
    writer.set_some("cache_creation_input_tokens", usage.cached_write);
    writer.set_some("cache_read_input_tokens", usage.cached_read);
    writer.set_some("output_tokens", usage.output);
    let details = usage.reasoning.into_iter().map(|count| ("thinking_tokens", Json::from(count))).collect();
    writer.nest("output_tokens_details", details, DETAILS);
    writer.finish()
}

fn error(error: &TurnError) -> Object {
    let mut writer = Writer::new(Kept::of(&error.extra, WIRE), ERROR);
    writer.set_some("type", error.class.as_deref());
    writer.set("message", error.message.as_str());
    writer.finish()
}
