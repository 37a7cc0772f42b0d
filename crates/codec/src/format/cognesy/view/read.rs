//! From a document to a view, and from a view to the session that it can restore.

use turnkeep_model::json::{Json, Node, Object};
use turnkeep_model::view::{View, ViewContinuation, ViewExecution, ViewMessage, ViewStep, ViewUsage};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result, Session, Time};

use super::super::slim::{self, Dialect};
use super::write::document;
use crate::input::Input;

/// What every snapshot must have.
pub(in super::super) const REQUIRED: [&str; 6] = ["agent_id", "status", "step_count", "usage", "execution", "messages"];

/// Refuses a snapshot that lacks one of the fields it must have.
pub(in super::super) fn expect_required(node: &Node<'_>) -> Result<()> {
    let missing = REQUIRED.into_iter().find(|key| node.get(key).is_none());
    missing.map_or(Ok(()), |key| {
        Err(Error::new(ErrorKind::Corrupt, format!("`{key}` is missing"))
            .path(key)
            .offset(node.at as usize)
            .hint("restore the field, or name another format with --from"))
    })
}

/// Reads a view in any of the dialects. What it need not have defaults.
///
/// # Errors
/// `Corrupt`, with the field, where one is missing that it must have, or is of another type.
pub fn read(input: Input<'_>) -> Result<View> {
    let parsed = input.into_document()?;
    expect_required(&parsed.node).map_err(|error| error.locate(parsed.text))?;
    let document = parsed.node.into_json();
    let dialect = Dialect::of(&document);
    let fields = document.as_object().ok_or_else(|| wrong("", "a map"))?;
    let list = |key: &str| fields.get(key).and_then(Json::as_array).unwrap_or_default();
    let messages = fields.get("messages").and_then(Json::as_array).ok_or_else(|| wrong("messages", "a list"))?;
    let message = |(index, item): (usize, &Json)| message(item, &format!("messages[{index}]"));
    Ok(View {
        agent_id: text(fields, "agent_id"),
        parent_agent_id: text(fields, "parent_agent_id"),
        status: text(fields, "status").ok_or_else(|| wrong("status", "a text"))?,
        step_count: count(fields, "step_count").ok_or_else(|| wrong("step_count", "a count"))?,
        usage: usage(fields.get("usage"))?,
        execution: execution(fields.get("execution"))?,
        messages: messages.iter().enumerate().map(message).collect::<Result<_>>()?,
        steps: list("steps").iter().filter_map(|item| step(item.as_object()?, dialect)).collect(),
        last_continuation: fields.get("last_continuation").and_then(Json::as_object).map(continuation),
        metadata: map(fields.get("metadata")),
    })
}

fn wrong(at: &str, wanted: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("expected {wanted}")).path(at.to_owned()).hint("mend that field")
}

fn text(fields: &Object, key: &str) -> Option<String> {
    fields.get_str(key).map(std::borrow::Cow::into_owned)
}

fn count(fields: &Object, key: &str) -> Option<u64> {
    fields.get(key).and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64)
}

/// A map; PHP writes an empty one as a list.
fn map(value: Option<&Json>) -> Object {
    value.and_then(Json::as_object).cloned().unwrap_or_default()
}

fn expect_map(value: Option<&Json>, key: &str) -> Result<Object> {
    match value {
        Some(Json::Object(fields)) => Ok(fields.clone()),
        Some(Json::Array(items)) if items.is_empty() => Ok(Object::new()),
        _ => Err(wrong(key, "a map")),
    }
}

fn usage(value: Option<&Json>) -> Result<ViewUsage> {
    let fields = expect_map(value, "usage")?;
    let get = |keys: [&str; 2]| keys.iter().find_map(|key| count(&fields, key)).unwrap_or(0);
    let (input, output) = (get(["prompt", "input"]), get(["completion", "output"]));
    Ok(ViewUsage {
        input,
        output,
        total: count(&fields, "total").unwrap_or(input.saturating_add(output)),
        cache_write: get(["cacheWrite", "cacheWrite"]),
        cache_read: get(["cacheRead", "cacheRead"]),
        reasoning: get(["reasoning", "reasoning"]),
    })
}

fn execution(value: Option<&Json>) -> Result<ViewExecution> {
    let fields = expect_map(value, "execution")?;
    let time = |key: &str| text(&fields, key).map(Time::new);
    Ok(ViewExecution {
        started_at: time("started_at").or_else(|| time("created_at")),
        updated_at: time("updated_at"),
        cumulative_seconds: fields.get("cumulative_seconds").and_then(Json::as_number).cloned(),
    })
}

fn message(item: &Json, at: &str) -> Result<ViewMessage> {
    let fields = item.as_object().ok_or_else(|| wrong(at, "a map"))?;
    Ok(ViewMessage {
        role: text(fields, "role").unwrap_or_else(|| "user".to_owned()),
        content: fields.get("content").cloned().unwrap_or_else(|| Json::from("")),
        metadata: map(fields.get("metadata").or_else(|| fields.get("_metadata"))),
    })
}

fn step(fields: &Object, dialect: Dialect) -> Option<ViewStep> {
    let calls = fields.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    let call = |item: &Json| item.as_object().map(|call| (text(call, "id"), text(call, "name").unwrap_or_default()));
    let usage = fields.get("usage").and_then(Json::as_object);
    let kind = if dialect == Dialect::Proposal { "final" } else { "final_response" };
    Some(ViewStep {
        step_number: count(fields, "step_number")?,
        kind: text(fields, "type").unwrap_or_else(|| kind.to_owned()),
        has_tool_calls: fields.get("has_tool_calls").and_then(Json::as_bool).unwrap_or(!calls.is_empty()),
        finish_reason: text(fields, "finish_reason"),
        errors: count(fields, "errors").unwrap_or(0),
        total: usage.and_then(|usage| count(usage, "total")).unwrap_or(0),
        duration_ms: fields.get("duration_ms").and_then(Json::as_number).cloned(),
        tool_calls: calls.iter().filter_map(call).collect(),
    })
}

fn continuation(fields: &Object) -> ViewContinuation {
    ViewContinuation {
        should_continue: fields.get("should_continue").and_then(Json::as_bool),
        stop_reason: text(fields, "stop_reason"),
        resolved_by: text(fields, "resolved_by"),
    }
}

/// The session that a view can restore: ids, status, counts, times, metadata and the messages it holds, calls and results tied
/// again. It goes on after the steps that the view counts. What a view never held is told.
pub fn restore(view: &View) -> (Session, Vec<Loss>) {
    let bare = View { steps: Vec::new(), last_continuation: None, ..view.clone() };
    let (session, mut losses) = slim::read(document(&bare, Dialect::Proposal), Dialect::Proposal);
    if !view.steps.is_empty() || view.last_continuation.is_some() {
        let what = "steps and why the run stopped are for looking at, and are not restored";
        losses.push(Loss::decode(LossKind::Dropped, "turns", what));
    }
    (session, losses)
}
