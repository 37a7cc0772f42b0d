//! From sessions that were read back to the bodies they were.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Session, Turn, Usage};

use super::decode::{MESSAGE, OUTPUT, RESPONSE, USAGE};
use super::wire::Converse;
use super::{WIRE, block};
use crate::fields::{Kept, Writer};
use crate::wire::{Kind, Parts, block_wire};

/// The bodies of a session, as they were.
pub(super) fn parts(session: &Session, kind: Kind) -> Parts {
    block_wire::parts::<Converse>(session, kind)
}

/// The response that a turn came from.
pub(super) fn response(turn: &Turn) -> Json {
    let mut writer = Writer::new(Kept::of(&turn.extra, WIRE), RESPONSE);
    let blocks: Vec<Json> = turn.blocks.iter().filter(|block| block.is_answer()).map(block::write).collect();
    if !blocks.is_empty() {
        let message: Object =
            [("role", Json::from("assistant")), ("content", Json::Array(blocks))].into_iter().collect();
        let message = writer.kept().at("output.message").complete(message, MESSAGE);
        writer.nest("output", [("message", Json::Object(message))].into_iter().collect(), OUTPUT);
    }
    if let Some(finish) = &turn.finish {
        writer.set("stopReason", finish.word.as_deref().map_or(Json::Null, Json::from));
    }
    if turn.usage != Usage::default() {
        writer.set("usage", usage(&turn.usage));
    }
    writer.set_some("message", turn.errors.first().map(|error| error.message.as_str()));
    Json::Object(writer.finish())
}

/// What was used, as it is counted here.
pub(super) fn usage(usage: &Usage) -> Object {
    let mut writer = Writer::new(Kept::of(&usage.extra, WIRE), USAGE);
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    writer.set_some("inputTokens", usage.input.map(|count| count.saturating_sub(cached)));
    writer.set_some("outputTokens", usage.output);
    writer.set_some("totalTokens", usage.total);
    writer.set_some("cacheReadInputTokens", usage.cached_read);
    writer.set_some("cacheWriteInputTokens", usage.cached_write);
    writer.finish()
}
