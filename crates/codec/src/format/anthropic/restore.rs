//! From sessions that were read back to the bodies they were.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Author, Block, Finish, Session, Turn, Usage};

use super::decode::{ERROR, MESSAGE, REQUEST, RESPONSE, USAGE};
use super::{WIRE, block, settings};
use crate::wire::fields::Writing;
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
        if first.author == Author::System && !placed {
            system.push(group);
        } else {
            messages.push(message(&group));
        }
    }
    set_system(&system, &mut writing);
    if !(messages.is_empty() && (writing.lacks("messages") || writing.kept("messages").is_some())) {
        writing.set("messages", messages);
    }
    settings::write(session, &mut writing);
    Json::Object(writing.finish(REQUEST))
}

fn set_system(groups: &[Vec<&Block>], writing: &mut Writing<'_>) {
    match groups {
        [] => {}
        [group] => writing.set("system", content(group)),
        groups => {
            let blocks = groups.iter().flatten().map(|block| block::write(block));
            writing.set("system", blocks.collect::<Vec<_>>());
        }
    }
}

fn content(group: &[&Block]) -> Json {
    if let [only] = group
        && only.message.extra.spelling(WIRE, "content").is_some()
        && let Some(text) = only.body.as_text()
    {
        return text.into();
    }
    Json::Array(group.iter().map(|block| block::write(block)).collect())
}

fn message(group: &[&Block]) -> Json {
    let Some(first) = group.first() else { return Json::Null };
    let is_whole = first.message.extra.spelling(WIRE, "content").and_then(Json::as_str).as_deref() == Some("whole");
    if is_whole {
        return block::write(first);
    }
    let mut writing = Writing::new(WIRE, &first.message.extra);
    writing.set("role", role(&first.author));
    writing.set("content", content(group));
    Json::Object(writing.finish(MESSAGE))
}

/// The role that an author's messages have.
pub(super) fn role(author: &Author) -> &'static str {
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
    let blocks: Vec<&Block> = turn.blocks.iter().filter(|block| block.is_answer()).collect();
    writing.set_some("model", turn.model.as_deref());
    writing.set_some(
        "id",
        blocks.first().and_then(|block| block.message.id.as_ref()).map(turnkeep_model::MessageId::as_str),
    );
    writing.constant("type", "message");
    writing.constant("role", "assistant");
    if !(blocks.is_empty() && (writing.lacks("content") || writing.kept("content").is_some())) {
        writing.set("content", blocks.iter().map(|block| block::write(block)).collect::<Vec<_>>());
    }
    if let Some(finish) = &turn.finish {
        writing.set("stop_reason", stop_reason(finish));
    }
    if turn.usage != Usage::default() {
        writing.set("usage", usage(&turn.usage));
    }
    writing.set_some("error", turn.errors.first().map(error));
    Json::Object(writing.finish(RESPONSE))
}

fn stop_reason(finish: &Finish) -> Json {
    finish.word.as_deref().map_or(Json::Null, Json::from)
}

/// What was used, as it is counted here.
pub(super) fn usage(usage: &Usage) -> Object {
    let mut writing = Writing::new(WIRE, &usage.extra);
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    writing.set_some("input_tokens", usage.input.map(|count| count.saturating_sub(cached)));
    writing.set_some("cache_creation_input_tokens", usage.cached_write);
    writing.set_some("cache_read_input_tokens", usage.cached_read);
    writing.set_some("output_tokens", usage.output);
    if let Some(count) = usage.reasoning {
        let mut details = Object::new();
        details.push("thinking_tokens", count);
        if let Some(Json::Object(rest)) = writing.kept("output_tokens_details") {
            rest.iter().for_each(|(key, value)| details.push(key.clone(), value.clone()));
        }
        writing.set("output_tokens_details", details);
    }
    writing.finish(USAGE)
}

fn error(error: &TurnError) -> Object {
    let mut writing = Writing::new(WIRE, &error.extra);
    writing.set_some("type", error.class.as_deref());
    writing.set("message", error.message.as_str());
    writing.finish(ERROR)
}
