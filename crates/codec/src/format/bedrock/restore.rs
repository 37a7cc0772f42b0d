//! From sessions that were read back to the bodies they were.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Session, Turn, Usage};

use super::decode::{MESSAGE, REQUEST, RESPONSE, USAGE};
use super::{WIRE, block, settings};
use crate::wire::fields::{Writing, in_order};
use crate::wire::messages::{answered, asked};
use crate::wire::{Kind, Parts};

/// The bodies of a session, as they were.
pub(super) fn parts(session: &Session, kind: Kind) -> Parts {
    let answer = answered(WIRE, session);
    match kind {
        Kind::Request => Parts { request: Some(request(session, None)), response: None },
        Kind::Response | Kind::Stream => Parts { request: None, response: Some(response(session, answer)) },
        Kind::Exchange => Parts { request: Some(request(session, answer)), response: Some(response(session, answer)) },
    }
}

fn request(session: &Session, answer: Option<usize>) -> Json {
    let mut writing = Writing::new(WIRE, &session.extra);
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for group in asked(WIRE, session, answer) {
        let Some(first) = group.first() else { continue };
        let placed = first.message.extra.spelling(WIRE, "place").is_some();
        match first.author == Author::System && !placed {
            true => system.extend(group.iter().map(|block| block::write(block))),
            false => messages.push(message(&group)),
        }
    }
    if !system.is_empty() {
        writing.set("system", system);
    }
    if !(messages.is_empty() && (writing.lacks("messages") || writing.kept("messages").is_some())) {
        writing.set("messages", messages);
    }
    settings::write(session, &mut writing);
    Json::Object(writing.finish(REQUEST))
}

fn message(group: &[&Block]) -> Json {
    let Some(first) = group.first() else { return Json::Null };
    if first.message.extra.spelling(WIRE, "content").is_some() {
        return block::write(first);
    }
    let mut writing = Writing::new(WIRE, &first.message.extra);
    writing.set("role", role(&first.author));
    writing.set("content", group.iter().map(|block| block::write(block)).collect::<Vec<_>>());
    Json::Object(writing.finish(MESSAGE))
}

fn role(author: &Author) -> &'static str {
    match author {
        Author::Assistant => "assistant",
        Author::System => "system",
        _ => "user",
    }
}

fn response(session: &Session, answer: Option<usize>) -> Json {
    let empty = Turn::default();
    let turn = answer.and_then(|index| session.turns.get(index)).unwrap_or(&empty);
    let mut writing = Writing::new(WIRE, &turn.extra);
    let blocks: Vec<Json> = turn.blocks.iter().filter(|block| block.is_answer()).map(block::write).collect();
    if !blocks.is_empty() {
        let message: Object =
            [("role", Json::from("assistant")), ("content", Json::Array(blocks))].into_iter().collect();
        let message = in_order(message, writing.noted("message"), MESSAGE);
        writing.set("output", [("message", Json::Object(message))].into_iter().collect::<Object>());
    }
    if let Some(finish) = &turn.finish {
        writing.set("stopReason", finish.word.as_deref().map_or(Json::Null, Json::from));
    }
    if turn.usage != Usage::default() {
        writing.set("usage", usage(&turn.usage));
    }
    writing.set_some("message", turn.errors.first().map(|error| error.message.as_str()));
    Json::Object(writing.finish(RESPONSE))
}

/// What was used, as it is counted here.
pub(super) fn usage(usage: &Usage) -> Object {
    let mut writing = Writing::new(WIRE, &usage.extra);
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    writing.set_some("inputTokens", usage.input.map(|count| count.saturating_sub(cached)));
    writing.set_some("outputTokens", usage.output);
    writing.set_some("totalTokens", usage.total);
    writing.set_some("cacheReadInputTokens", usage.cached_read);
    writing.set_some("cacheWriteInputTokens", usage.cached_write);
    writing.finish(USAGE)
}
