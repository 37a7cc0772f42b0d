//! What of a session's settings and media the vendor takes.

use turnkeep_model::json::{Json, Number};
use turnkeep_model::{Body, Extra, Loss, LossKind, Media, Options, Session, ToolSpec};

use super::contract::LIMITS;
use crate::format::openai_chat::head::clamp;
use crate::models::Target;
use crate::models::fit::{self, ThinkingMode};
use crate::wire::degrade;
use crate::wire::repair::{History, legal_name};

/// The longest name of a tool.
const LONGEST_NAME: usize = LIMITS.tool_name;

/// The most texts that end an answer.
const MOST_STOPS: usize = 5;

/// Settings of a session that came from elsewhere, as the vendor takes them.
pub(super) fn settings(head: &mut Session, losses: &mut Vec<Loss>) {
    for (index, tool) in head.tools.iter_mut().enumerate() {
        tool.extra = Extra::NONE;
        name_tool(index, tool, losses);
        if tool.parameters.as_object().is_none() {
            tool.parameters = Json::Null;
        }
    }
    if let Some(format) = &mut head.response_format {
        format.extra = Extra::NONE;
    }
    options(&mut head.options, losses);
    let names = head.options.tool_choice.iter_mut().flat_map(|choice| &mut choice.names);
    for name in names {
        *name = legal(name).unwrap_or_else(|| std::mem::take(name));
    }
}

/// A name that the vendor takes, if this is none: it begins with a letter or `_`.
fn legal(name: &str) -> Option<String> {
    let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match legal_name(name, LONGEST_NAME) {
        Some(legal) if begins(&legal) => Some(legal),
        None if begins(name) => None,
        other => legal_name(&format!("_{}", other.as_deref().unwrap_or(name)), LONGEST_NAME)
            .or_else(|| Some(format!("_{}", other.as_deref().unwrap_or(name)))),
    }
}

/// Gives every tool of the history a name that the vendor takes.
pub(super) fn names(history: &mut History) {
    for piece in &mut history.pieces {
        let at = piece.at("name");
        let name = match &mut piece.block.body {
            Body::ToolCall(call) => Some(&mut call.name),
            Body::ToolResult(result) => result.name.as_mut(),
            _ => None,
        };
        if let Some((name, better)) = name.and_then(|name| legal(name).map(|better| (name, better))) {
            *name = better;
            history.losses.push(Loss::encode(LossKind::Renamed, at, "the name is not allowed here"));
        }
    }
}

fn name_tool(index: usize, tool: &mut ToolSpec, losses: &mut Vec<Loss>) {
    if let Some(legal) = legal(&tool.name) {
        tool.name = legal;
        let at = format!("tools[{index}].name");
        losses.push(Loss::encode(LossKind::Renamed, at, "the name is not allowed here"));
    }
}

fn options(options: &mut Options, losses: &mut Vec<Loss>) {
    clamp(&mut options.temperature, 0.0, 2.0, "temperature", losses);
    clamp(&mut options.top_p, 0.0, 1.0, "top_p", losses);
    clamp(&mut options.presence_penalty, -2.0, 2.0, "presence_penalty", losses);
    clamp(&mut options.frequency_penalty, -2.0, 2.0, "frequency_penalty", losses);
    let positive = |number: &Number| number.as_u64().is_some_and(|count| count > 0);
    options.max_tokens = options.max_tokens.take().filter(positive);
    options.top_k = options.top_k.take().filter(positive);
    options.stop.retain(|text| !text.is_empty());
    if options.stop.len() > MOST_STOPS {
        options.stop.truncate(MOST_STOPS);
        losses.push(Loss::encode(LossKind::Truncated, "options.stop[5]", "at most five texts can end an answer"));
    }
}

/// Thinking as the model takes it: a level, or a budget that is nothing where it is not to think.
pub(super) fn thinking(options: &mut Options, target: Target, losses: &mut Vec<Loss>) {
    let mode = fit::thinking(options, target, true, losses);
    if mode == ThinkingMode::Off {
        options.reasoning = None;
        options.budget_tokens = target.row.budget.map(|_| 0u64.into());
        let what = "this model is told not to think by a budget of 0";
        losses.push(Loss::encode(LossKind::Coerced, "options.reasoning", what));
        losses.push(Loss::encode(LossKind::Synthesised, "options.budget_tokens", what));
    }
}

/// Whether the vendor takes some media: bytes of a known type, or a place it can read.
pub(super) fn takes(media: &Media) -> bool {
    let by_value = media.inline.as_deref().is_some_and(|data| !data.is_empty()) && media.media_type.is_some();
    let places = ["https://", "http://", "gs://"];
    by_value || media.url.as_deref().is_some_and(|url| places.iter().any(|place| url.starts_with(place)))
}

/// Leaves one way to the bytes of media, and arguments that are objects.
pub(super) fn bodies(history: &mut History) {
    for piece in &mut history.pieces {
        let at = piece.at("arguments");
        match &mut piece.block.body {
            Body::Media(media) => {
                let by_value = media.inline.is_some() && media.media_type.is_some();
                if by_value { media.url = None } else { media.inline = None }
            }
            Body::ToolCall(call) if degrade::object_of(&call.arguments).is_none() => {
                let empty = call.arguments.trim().is_empty();
                call.arguments = if empty { "{}".to_owned() } else { degrade::wrapped(&call.arguments).to_text() };
                history.losses.push(Loss::encode(LossKind::Wrapped, at, "arguments are an object here"));
            }
            _ => {}
        }
    }
}
