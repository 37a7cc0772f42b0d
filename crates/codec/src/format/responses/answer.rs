//! Responses: one answered turn.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Block, Body, Finish, FinishReason, Scope, Time, Turn, TurnId};

use super::FORMAT;
use super::apart::{Apart, Emit, Slot, Together, keep};
use super::item::{self, Side};
use super::profile::Profile;
use super::usage;

const SLOTS: &[Slot] = &[
    ("id", Emit::Value),
    ("object", Emit::Usual),
    ("created_at", Emit::Value),
    ("completed_at", Emit::Value),
    ("status", Emit::Value),
    ("error", Emit::Value),
    ("incomplete_details", Emit::Value),
    ("model", Emit::Value),
    ("output", Emit::Usual),
    ("usage", Emit::Value),
];
const ERROR: &[Slot] = &[("code", Emit::Value), ("message", Emit::Value)];
/// The words for how a response stands.
const STATUSES: &[&str] = &["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"];

/// The turn of a response, without its blocks, and the blocks of each item of its output.
pub(super) fn read(object: Object) -> (Turn, Vec<Vec<Block>>) {
    let provider = Profile::of_answer(&object);
    let mut apart = Apart::new(object);
    apart.take_if("object", |value| value.as_str().is_some_and(|word| word == "response"));
    let mut turn = Turn {
        id: apart.text("id").map(TurnId::new),
        provider: Some(provider.to_owned()),
        api: Some(FORMAT.to_owned()),
        model: apart.text("model"),
        ..Turn::default()
    };
    turn.timing.created = time(&mut apart, "created_at");
    turn.timing.completed = time(&mut apart, "completed_at");
    if apart.peek("usage").and_then(Json::as_object).is_some_and(|usage| !usage.is_empty()) {
        turn.usage = apart.object("usage").map(usage::read).unwrap_or_default();
    }
    let scope = Scope { provider: turn.provider.clone(), model: turn.model.clone(), ..Scope::default() };
    let output = apart.array("output").unwrap_or_default();
    let items: Vec<_> = output.into_iter().map(|raw| item::read(raw, Side::Output, &scope)).collect();
    turn.errors.extend(read_error(&mut apart));
    let reasoned = reason_of(&apart).is_some();
    turn.finish = read_finish(&mut apart, &items);
    let mut part = apart.finish(SLOTS);
    part.spelling.push("response", true);
    let word = turn.finish.as_ref().and_then(|finish| finish.word.as_deref());
    if word.is_some_and(|word| !STATUSES.contains(&word)) && !reasoned {
        part.spelling.push("status", "unknown");
    }
    keep(&mut turn.extra, part);
    (turn, items)
}

fn time(apart: &mut Apart, key: &str) -> Option<Time> {
    apart.number(key).map(|seconds| Time::new(seconds.as_str()))
}

fn read_error(apart: &mut Apart) -> Option<TurnError> {
    apart.peek("error")?.as_object()?.get_str("message")?;
    let mut inner = Apart::new(apart.object("error")?);
    let mut error = TurnError {
        message: inner.text("message").unwrap_or_default(),
        class: inner.text("code"),
        ..TurnError::default()
    };
    keep(&mut error.extra, inner.finish(ERROR));
    Some(error)
}

fn write_error(error: &TurnError) -> Json {
    let mut made = Together::default();
    made.put_some("code", error.class.as_deref());
    made.put("message", error.message.as_str());
    Json::Object(made.with(&error.extra))
}

fn read_finish(apart: &mut Apart, items: &[Vec<Block>]) -> Option<Finish> {
    let reason = reason_of(apart);
    if reason.is_some() {
        apart.object("incomplete_details");
    }
    let status = apart.text("status")?;
    let word = reason.unwrap_or(status);
    Some(Finish { reason: self::reason(&word, items), word: Some(word), ..Finish::default() })
}

/// The reason of an incomplete response, where it is all that its details say.
fn reason_of(apart: &Apart) -> Option<String> {
    apart.peek("status")?.as_str().filter(|status| status == "incomplete")?;
    let details = apart.peek("incomplete_details")?.as_object()?;
    let reason = details.get_str("reason").filter(|word| details.len() == 1 && !STATUSES.contains(&&**word))?;
    Some(reason.into_owned())
}

fn reason(word: &str, items: &[Vec<Block>]) -> FinishReason {
    let mut blocks = items.iter().flatten();
    match word {
        "completed" if blocks.any(|block| matches!(block.body, Body::ToolCall(_))) => FinishReason::ToolCalls,
        "completed" if items.iter().flatten().any(is_refusal) => FinishReason::Refusal,
        "completed" => FinishReason::Stop,
        "max_output_tokens" | "max_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "failed" => FinishReason::Error,
        "in_progress" | "queued" | "cancelled" | "incomplete" => FinishReason::Interrupted,
        other => FinishReason::from_word(other),
    }
}

fn is_refusal(block: &Block) -> bool {
    block.extra.spelling(FORMAT, "type").and_then(Json::as_str).is_some_and(|kind| kind == "refusal")
}

/// Whether a turn holds what a response answered.
pub(super) fn is_from_response(turn: &Turn) -> bool {
    turn.extra.spelling(FORMAT, "response").is_some()
}

/// The body of a response with these blocks as its output.
pub(super) fn write(turn: &Turn, blocks: &[&Block]) -> Json {
    let part = turn.extra.part(FORMAT);
    let mut made = Together::default();
    made.put_some("id", turn.id.as_ref().map(TurnId::as_str));
    if part.is_none_or(|part| !part.fields.contains("object")) {
        made.put_as("object", "response", Emit::Usual);
    }
    made.put_some("created_at", turn.timing.created.as_ref().map(seconds));
    made.put_some("completed_at", turn.timing.completed.as_ref().map(seconds));
    let word = turn.finish.as_ref().and_then(|finish| finish.word.as_deref());
    let is_status =
        word.is_none_or(|word| STATUSES.contains(&word)) || part.is_some_and(|part| part.spelling.contains("status"));
    made.put_some("status", if is_status { word } else { Some("incomplete") });
    made.put_some("error", turn.errors.first().map(write_error));
    if let (Some(word), false) = (word, is_status) {
        let reason: Object = [("reason", Json::from(word))].into_iter().collect();
        made.put("incomplete_details", reason);
    }
    made.put_some("model", turn.model.as_deref());
    let output = item::write_all(blocks);
    if !output.is_empty() || part.is_none_or(|part| !part.fields.contains("output")) {
        let emit = if output.is_empty() { Emit::Usual } else { Emit::Value };
        made.put_as("output", output, emit);
    }
    made.put_some("usage", usage::write(&turn.usage));
    Json::Object(made.with_part(part))
}

fn seconds(time: &Time) -> Json {
    Number::parse(time.as_str()).map_or_else(|| Json::from(time.as_str()), Json::Number)
}
