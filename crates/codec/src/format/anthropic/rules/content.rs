//! Rules on messages and what they hold.

use turnkeep_model::json::{Json, Object};

use super::super::lint::{error, warning};
use crate::wire::rule::{Evidence, Rule, items};

pub(in super::super) static RULES: &[Rule] = &[
    error(
        "AN-SHAPE",
        Evidence::Answer("messages.0: Input does not match the expected shape."),
        "give every message a role and content",
        shape,
    ),
    error(
        "AN-NOCONTENT",
        Evidence::Answer(
            "messages.0: all messages must have non-empty content except for the optional final assistant message",
        ),
        "leave the message out",
        no_content,
    ),
    error(
        "AN-EMPTYTEXT",
        Evidence::Answer("messages: text content blocks must be non-empty"),
        "leave the block out",
        empty_text,
    ),
    error(
        "AN-WSTEXT",
        Evidence::Answer("messages: text content blocks must contain non-whitespace text"),
        "leave the block out",
        blank_text,
    ),
    error(
        "AN-TRAILWS",
        Evidence::Answer("messages: final assistant content cannot end with trailing whitespace"),
        "trim the last answer",
        trailing_space,
    ),
    error(
        "AN-SIG",
        Evidence::Answer("messages.1.content.0: Invalid `signature` in `thinking` block"),
        "send thinking only with the signature it came with",
        unsigned,
    ),
    error(
        "AN-THINKROLE",
        Evidence::Stated("only answers hold thinking, by the SDK's types"),
        "leave it out",
        thinking_role,
    ),
    warning(
        "AN-FIRST",
        Evidence::Stated(
            "older documentation: the first message is the user's; recorded requests were accepted without",
        ),
        "begin with the user; newer models do not insist",
        first,
    ),
    warning(
        "AN-PREFILL",
        Evidence::Answer(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ),
        "end with the user, unless an older model is to go on from there",
        prefill,
    ),
];

/// The role of a message.
pub(super) fn role(message: &Json) -> Option<String> {
    message.as_object()?.get_str("role").map(std::borrow::Cow::into_owned)
}

/// The blocks of a message, with their places.
pub(super) fn blocks(body: &Object) -> impl Iterator<Item = (String, String, &Object)> {
    items(body, "messages").iter().enumerate().flat_map(|(index, message)| {
        let role = role(message).unwrap_or_default();
        let blocks = message.as_object().map(|message| items(message, "content")).unwrap_or_default();
        let placed = blocks.iter().enumerate().filter_map(move |(place, block)| {
            Some((format!("messages[{index}].content[{place}]"), role.clone(), block.as_object()?))
        });
        placed.collect::<Vec<_>>()
    })
}

/// Whether a block is of this kind.
pub(super) fn is(block: &Object, kind: &str) -> bool {
    block.get_str("type").as_deref() == Some(kind)
}

fn shape(body: &Object) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (index, message) in items(body, "messages").iter().enumerate() {
        let role = role(message);
        let known = matches!(role.as_deref(), Some("user" | "assistant" | "system"));
        let content = message.as_object().and_then(|message| message.get("content"));
        if !known {
            found.push((format!("messages[{index}]"), "it is no message of the user or the assistant".to_owned()));
        } else if !matches!(content, Some(Json::String(_) | Json::Array(_))) {
            found.push((format!("messages[{index}].content"), "it is neither text nor blocks".to_owned()));
        }
    }
    if items(body, "messages").is_empty() {
        found.push(("messages".to_owned(), "there is no message".to_owned()));
    }
    found
}

fn no_content(body: &Object) -> Vec<(String, String)> {
    let messages = items(body, "messages");
    let is_empty = |message: &Json| match message.as_object().and_then(|message| message.get("content")) {
        Some(Json::Array(items)) => items.is_empty(),
        Some(Json::String(text)) => text.to_str_lossy().is_empty(),
        _ => false,
    };
    let is_last_answer =
        |index: usize, message: &Json| index + 1 == messages.len() && role(message).as_deref() == Some("assistant");
    let found =
        messages.iter().enumerate().filter(|(index, message)| is_empty(message) && !is_last_answer(*index, message));
    found.map(|(index, _)| (format!("messages[{index}].content"), "it is empty".to_owned())).collect()
}

fn text_of(block: &Json) -> Option<String> {
    let block = block.as_object().filter(|block| is(block, "text"))?;
    block.get_str("text").map(std::borrow::Cow::into_owned)
}

fn empty_text(body: &Object) -> Vec<(String, String)> {
    let empty = |block: &Object| is(block, "text") && block.get_str("text").as_deref() == Some("");
    let mut found: Vec<_> = blocks(body)
        .filter(|(_, _, block)| empty(block))
        .map(|(at, _, _)| (at, "the text is empty".to_owned()))
        .collect();
    for (at, _, block) in blocks(body).filter(|(_, _, block)| is(block, "tool_result")) {
        let parts = items(block, "content").iter().enumerate();
        let parts = parts.filter(|(_, part)| part.as_object().is_some_and(empty));
        found.extend(parts.map(|(part, _)| (format!("{at}.content[{part}]"), "the text is empty".to_owned())));
    }
    found
}

fn blank_text(body: &Object) -> Vec<(String, String)> {
    let is_blank = |text: &str| !text.is_empty() && text.trim().is_empty();
    let mut found = Vec::new();
    for (index, message) in items(body, "messages").iter().enumerate() {
        let Some(message) = message.as_object() else { continue };
        let texts: Vec<String> = match message.get("content") {
            Some(Json::String(text)) => vec![text.to_str_lossy().into_owned()],
            _ => items(message, "content").iter().filter_map(text_of).collect(),
        };
        if texts.iter().any(|text| is_blank(text)) && texts.iter().all(|text| text.trim().is_empty()) {
            found.push((format!("messages[{index}].content"), "all its text is white space".to_owned()));
        }
    }
    found
}

fn trailing_space(body: &Object) -> Vec<(String, String)> {
    let messages = items(body, "messages");
    let Some(last) = messages.last().filter(|last| role(last).as_deref() == Some("assistant")) else {
        return Vec::new();
    };
    let content = last.as_object().and_then(|last| last.get("content"));
    let text = match content {
        Some(Json::String(text)) => Some(text.to_str_lossy().into_owned()),
        Some(Json::Array(items)) => items.last().and_then(text_of),
        _ => None,
    };
    let ends = text.is_some_and(|text| text.ends_with(char::is_whitespace));
    let at = format!("messages[{}].content", messages.len().saturating_sub(1));
    ends.then(|| (at, "the last answer ends in white space".to_owned())).into_iter().collect()
}

fn unsigned(body: &Object) -> Vec<(String, String)> {
    let is_unsigned = |block: &Object| match block.get_str("type").as_deref() {
        Some("thinking") => block.get_str("signature").is_none_or(|signature| signature.is_empty()),
        Some("redacted_thinking") => block.get_str("data").is_none_or(|data| data.is_empty()),
        _ => false,
    };
    let found = blocks(body).filter(|(_, _, block)| is_unsigned(block));
    found.map(|(at, _, _)| (at, "thinking has no signature".to_owned())).collect()
}

fn thinking_role(body: &Object) -> Vec<(String, String)> {
    let is_thinking = |block: &Object| is(block, "thinking") || is(block, "redacted_thinking");
    let found = blocks(body).filter(|(_, role, block)| role == "user" && is_thinking(block));
    found.map(|(at, _, _)| (at, "only the assistant thinks".to_owned())).collect()
}

fn first(body: &Object) -> Vec<(String, String)> {
    let first = items(body, "messages").first().and_then(role);
    let wrong = first.as_deref() == Some("assistant");
    wrong.then(|| ("messages[0].role".to_owned(), "the assistant speaks first".to_owned())).into_iter().collect()
}

fn prefill(body: &Object) -> Vec<(String, String)> {
    let messages = items(body, "messages");
    let wrong = messages.last().and_then(role).as_deref() == Some("assistant");
    let at = format!("messages[{}].role", messages.len().saturating_sub(1));
    wrong.then(|| (at, "the assistant speaks last".to_owned())).into_iter().collect()
}
