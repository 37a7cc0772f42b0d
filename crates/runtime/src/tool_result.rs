//! What a model is told of its calls: never a failure that was none.

use turnkeep_model::{Author, Block, Outcome, Part, Session, Text, Time, ToolCall, ToolResult};

use crate::ordinals::place_of_result;
use crate::port::ToolOutput;

fn result(call: &ToolCall, outcome: Outcome, parts: Vec<Part>, error: Option<String>) -> ToolResult {
    ToolResult {
        call: call.call.clone(),
        name: Some(call.name.clone()),
        parts,
        is_error: (outcome != Outcome::Success).then_some(true),
        error,
        outcome: Some(outcome),
    }
}

fn in_words(call: &ToolCall, outcome: Outcome, text: String) -> ToolResult {
    result(call, outcome, vec![Part::Text(Text { text: text.clone() })], Some(text))
}

pub(crate) fn succeeded(call: &ToolCall, output: ToolOutput, limit: usize) -> ToolResult {
    let parts = output.parts.into_iter().map(|part| shortened(part, limit)).collect();
    result(call, Outcome::Success, parts, None)
}

/// A JSON string is a text: the model reads it without quotes and escapes, whoever made the part.
fn in_text(part: Part) -> Part {
    match &part {
        Part::Data(data) => match data.json.as_str() {
            Some(text) => Part::Text(Text { text: text.into_owned() }),
            None => part,
        },
        _ => part,
    }
}

/// A text cut at a character, saying how much is missing; other parts are kept or, if too long, named.
fn shortened(part: Part, limit: usize) -> Part {
    let part = in_text(part);
    let (text, kind) = match &part {
        Part::Text(text) if text.text.len() > limit => (text.text.clone(), "text"),
        Part::Data(data) => match data.json.to_text() {
            text if text.len() > limit => (text, "JSON"),
            _ => return part,
        },
        Part::Media(media) if media.inline.as_ref().is_some_and(|inline| inline.len() > limit) => {
            let size = media.inline.as_ref().map_or(0, String::len);
            return Part::Text(Text {
                text: format!("[a file of {size} bytes in base64 was left out: the limit is {limit}]"),
            });
        }
        _ => return part,
    };
    let kept = text.floor_char_boundary(limit);
    let head = text.get(..kept).unwrap_or_default();
    Part::Text(Text { text: format!("{head}\n[{} of {} bytes of {kind} were cut]", text.len() - kept, text.len()) })
}

pub(crate) fn failed(call: &ToolCall, why: &str) -> ToolResult {
    in_words(call, Outcome::Failed, why.to_owned())
}

/// A call that was never made.
pub(crate) fn refused(call: &ToolCall, why: &str) -> ToolResult {
    in_words(call, Outcome::Failed, format!("The call was not made: {why}"))
}

pub(crate) fn denied(call: &ToolCall, why: &str) -> ToolResult {
    in_words(call, Outcome::Denied, format!("The call was not made, because it was not allowed: {why}"))
}

pub(crate) fn unknown(call: &ToolCall, why: &str) -> ToolResult {
    in_words(call, Outcome::Interrupted, format!("The outcome is unknown: {why}. It may or may not have taken effect."))
}

pub(crate) fn interrupted(call: &ToolCall, undone: Option<&std::result::Result<(), String>>) -> ToolResult {
    let undone = match undone {
        None => String::new(),
        Some(Ok(())) => " What it may have done was undone.".to_owned(),
        Some(Err(why)) => format!(" Undoing it was tried, and failed: {why}."),
    };
    let text =
        format!("The call was interrupted and its outcome is unknown: it may or may not have taken effect.{undone}");
    in_words(call, Outcome::Interrupted, text)
}

/// A result as the next message of its turn.
pub(crate) fn result_block(session: &Session, turn: u32, result: ToolResult, now: &Time) -> Block {
    let ordinal = place_of_result(session, turn, &result.call);
    let mut block = Block::new(Author::Tool, result);
    block.message.ordinal = ordinal;
    block.message.time = Some(now.clone());
    block
}
