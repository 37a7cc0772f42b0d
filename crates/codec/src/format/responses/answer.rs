//! Responses: one answered turn.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Block, Body, Finish, FinishReason, Scope, Time, Turn, TurnId};

use super::FORMAT;
use super::item::{self, Side};
use super::profile::Profile;
use super::usage;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer};

const RESPONSE: Form = &[
    ("id", KeyRule::Taken),
    ("object", KeyRule::Derived),
    ("created_at", KeyRule::Taken),
    ("completed_at", KeyRule::Taken),
    ("status", KeyRule::Taken),
    ("error", KeyRule::Taken),
    ("incomplete_details", KeyRule::Taken),
    ("model", KeyRule::Taken),
    ("output", KeyRule::Derived),
    ("usage", KeyRule::Taken),
];
const ERROR: Form = &[("code", KeyRule::Taken), ("message", KeyRule::Taken)];
/// The words for how a response stands.
const STATUSES: &[&str] = &["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"];

/// The turn of a response, without its blocks, and the blocks of each item of its output.
pub(super) fn read(object: Object) -> (Turn, Vec<Vec<Block>>) {
    let provider = Profile::of_answer(&object);
    let mut fields = Fields::new(object, RESPONSE);
    fields.take_if("object", |value| value.as_str().is_some_and(|word| word == "response"));
    let mut turn = Turn {
        id: fields.text("id").map(TurnId::new),
        provider: Some(provider.to_owned()),
        api: Some(FORMAT.to_owned()),
        model: fields.text("model"),
        ..Turn::default()
    };
    turn.timing.created = time(&mut fields, "created_at");
    turn.timing.completed = time(&mut fields, "completed_at");
    if fields.get("usage").and_then(Json::as_object).is_some_and(|usage| !usage.is_empty()) {
        turn.usage = fields.object("usage").map(usage::read).unwrap_or_default();
    }
    let scope = Scope { provider: turn.provider.clone(), model: turn.model.clone(), ..Scope::default() };
    let output = fields.array("output").unwrap_or_default();
    let items: Vec<_> = output.into_iter().map(|raw| item::read(raw, Side::Output, &scope)).collect();
    turn.errors.extend(read_error(&mut fields));
    let reasoned = reason_of(&fields).is_some();
    turn.finish = read_finish(&mut fields, &items);
    fields.note("response", true);
    let word = turn.finish.as_ref().and_then(|finish| finish.word.as_deref());
    if word.is_some_and(|word| !STATUSES.contains(&word)) && !reasoned {
        fields.note("status", "unknown");
    }
    fields.keep(FORMAT, &mut turn.extra);
    (turn, items)
}

fn time(fields: &mut Fields, key: &str) -> Option<Time> {
    fields.number(key).map(|seconds| Time::new(seconds.as_str()))
}

fn read_error(fields: &mut Fields) -> Option<TurnError> {
    fields.get("error")?.as_object()?.get_str("message")?;
    let mut inner = Fields::new(fields.object("error")?, ERROR);
    let mut error = TurnError {
        message: inner.text("message").unwrap_or_default(),
        class: inner.text("code"),
        ..TurnError::default()
    };
    inner.keep(FORMAT, &mut error.extra);
    Some(error)
}

fn write_error(error: &TurnError) -> Json {
    let mut made = Writer::new(Kept::of(&error.extra, FORMAT), ERROR);
    made.set_some("code", error.class.as_deref());
    made.set("message", error.message.as_str());
    Json::Object(made.finish())
}

fn read_finish(fields: &mut Fields, items: &[Vec<Block>]) -> Option<Finish> {
    let reason = reason_of(fields);
    if reason.is_some() {
        fields.object("incomplete_details");
    }
    let status = fields.text("status")?;
    let word = reason.unwrap_or(status);
    Some(Finish { reason: self::reason(&word, items), word: Some(word), ..Finish::default() })
}

/// The reason of an incomplete response, where it is all that its details say.
fn reason_of(fields: &Fields) -> Option<String> {
    fields.get("status")?.as_str().filter(|status| status == "incomplete")?;
    let details = fields.get("incomplete_details")?.as_object()?;
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
    let kept = Kept::of(&turn.extra, FORMAT);
    let mut made = Writer::new(kept, RESPONSE);
    made.set_some("id", turn.id.as_ref().map(TurnId::as_str));
    made.derive("object", "response");
    made.set_some("created_at", turn.timing.created.as_ref().map(seconds));
    made.set_some("completed_at", turn.timing.completed.as_ref().map(seconds));
    let word = turn.finish.as_ref().and_then(|finish| finish.word.as_deref());
    let is_status = word.is_none_or(|word| STATUSES.contains(&word)) || kept.note("status").is_some();
    made.set_some("status", if is_status { word } else { Some("incomplete") });
    made.set_some("error", turn.errors.first().map(write_error));
    if let (Some(word), false) = (word, is_status) {
        let reason: Object = [("reason", Json::from(word))].into_iter().collect();
        made.set("incomplete_details", reason);
    }
    made.set_some("model", turn.model.as_deref());
    let output = item::write_all(blocks);
    match output.is_empty() {
        true => made.derive("output", output),
        false => made.set("output", output),
    }
    made.set_some("usage", usage::write(&turn.usage));
    Json::Object(made.finish())
}

fn seconds(time: &Time) -> Json {
    Number::parse(time.as_str()).map_or_else(|| Json::from(time.as_str()), Json::Number)
}
