//! Where an agent stands, in llm4s's words.

use turnkeep_model::json::{Json, Node, Value};
use turnkeep_model::{ExtraPart, Status, status as states};

use super::tree::{self, Kept, Maker};

/// What the library makes of a status that is no status.
pub(super) const INVALID: &str = "Invalid status format";
/// What it makes of an object that names no state it knows.
pub(super) const UNKNOWN: &str = "Unknown status format";
/// What it makes of a failure without an error.
pub(super) const NO_ERROR: &str = "Unknown error";
/// What it makes of a handoff, which it cannot read.
pub(super) const HANDOFF: &str = "Cannot deserialize HandoffRequested status - contains Agent reference";

/// The note on a status that is kept as it stood.
const KEPT: &str = "kept";

/// How a status was read.
pub(super) enum Reading {
    /// It is one of the library's.
    Known(Status),
    /// It is none: what the library makes of it. The extra keeps it as it stood.
    Fallback(Status),
    /// The library refuses it: the byte where the error of a failure is no text.
    Refused(u32),
}

/// Reads a status; what is not consumed goes to the session's extra.
pub(super) fn read(node: Node<'_>, part: &mut ExtraPart) -> Reading {
    let word = node.as_str().and_then(|word| bare(&word));
    if let Some(status) = word {
        return Reading::Known(status);
    }
    match &node.value {
        Value::Object(_) => {}
        _ => return keep(node, INVALID, part),
    }
    match node.get("type").and_then(Node::as_str).as_deref() {
        Some("Failed") => failed(node, part),
        Some("HandoffRequested") if node.get("handoffId").and_then(Node::as_str).is_some() => handoff(node, part),
        Some("HandoffRequested") => keep(node, HANDOFF, part),
        _ => keep(node, UNKNOWN, part),
    }
}

fn bare(word: &str) -> Option<Status> {
    match word {
        "InProgress" => Some(Status::InProgress(states::InProgress {})),
        "WaitingForTools" => Some(Status::WaitingForTools(states::WaitingForTools {})),
        "Complete" => Some(Status::Completed(states::Completed {})),
        _ => None,
    }
}

fn keep(node: Node<'_>, error: &str, part: &mut ExtraPart) -> Reading {
    part.fields.set("status", node.into_json());
    part.spelling.set("status", KEPT);
    Reading::Fallback(failure(error))
}

fn failure(error: &str) -> Status {
    Status::Failed(states::Failed { error: error.to_owned() })
}

fn failed(node: Node<'_>, part: &mut ExtraPart) -> Reading {
    let Value::Object(fields) = node.value else { return Reading::Refused(node.at) };
    let mut opened = tree::open(fields, &["type", "error"]);
    tree::leave_under(&mut opened, "status", part);
    let [_, error] = opened.slots;
    match error.map(|error| (error.at, error.value)) {
        None => {
            tree::note_absent(part, "error");
            Reading::Known(failure(NO_ERROR))
        }
        Some((_, Value::Text(error))) => Reading::Known(failure(&error.to_str_lossy())),
        Some((at, _)) => Reading::Refused(at),
    }
}

fn handoff(node: Node<'_>, part: &mut ExtraPart) -> Reading {
    let Value::Object(fields) = node.value else { return Reading::Refused(node.at) };
    let mut opened = tree::open(fields, &["type", "handoffId", "reason"]);
    tree::leave_under(&mut opened, "status", part);
    let [_, to, reason] = opened.slots;
    let text = |node: &Node<'_>| node.as_str().map(std::borrow::Cow::into_owned);
    match &reason {
        None => tree::note_absent(part, "reason"),
        Some(Node { value: Value::Null | Value::Text(_), .. }) => {}
        Some(other) => part.spelling.set("reason", other.clone().into_json()),
    }
    let to = to.as_ref().and_then(text).unwrap_or_default();
    Reading::Known(Status::Handoff(states::Handoff { to, reason: reason.as_ref().and_then(text) }))
}

/// Writes a status.
pub(super) fn write<'s>(status: &'s Status, kept: Kept<'s>) -> Node<'s> {
    let whole = kept.spelled("status").is_some();
    let raw = kept.field("status").filter(|raw| whole && means(raw, status));
    if let Some(raw) = raw {
        return Json::to_node(raw);
    }
    let inner = kept.under("status");
    let inner = if whole { inner.without_fields() } else { inner };
    match status {
        Status::InProgress(_) | Status::Pending(_) | Status::WaitingForHuman(_) => tree::text("InProgress"),
        Status::WaitingForTools(_) => tree::text("WaitingForTools"),
        Status::Completed(_) | Status::Stopped(_) => tree::text("Complete"),
        Status::Failed(failed) => failed_object(&failed.error, inner),
        Status::Handoff(handoff) => handoff_object(handoff, inner),
        Status::Other { kind, .. } => failed_object(kind, inner),
        _ => tree::text("InProgress"),
    }
}

/// Whether a value that is no status still stands for `status`.
fn means(raw: &Json, status: &Status) -> bool {
    let reading = read(Json::to_node(raw), &mut ExtraPart::default());
    matches!(reading, Reading::Fallback(fallback) if fallback == *status)
}

fn failed_object<'s>(error: &'s str, kept: Kept<'s>) -> Node<'s> {
    let mut maker = Maker::new(kept);
    maker.set("type", tree::text("Failed"));
    if kept.spelled("error").is_none() || error != NO_ERROR {
        maker.set("error", tree::text(error));
    }
    maker.finish()
}

fn handoff_object<'s>(handoff: &'s states::Handoff, kept: Kept<'s>) -> Node<'s> {
    let mut maker = Maker::new(kept);
    maker.set("type", tree::text("HandoffRequested"));
    maker.set("handoffId", tree::text(&handoff.to));
    let odd = kept.spelled("reason").filter(|raw| !matches!(raw, Json::String(_))).map(Json::to_node);
    maker.choose("reason", handoff.reason.as_deref().map(tree::text).or(odd), Some(tree::null()));
    maker.finish()
}
