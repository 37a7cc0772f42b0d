//! Rules on messages and what they hold.

use std::borrow::Cow;

use turnkeep_model::json::{Node, Text, Value};

use crate::lint::rule::{Evidence, Hit, Rule, error, warning};
use crate::lint::two_sides;
use crate::lint::view::{Block, Message, RequestView, items};

pub(super) static RULES: &[Rule] = &[
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
        two_sides::first,
    ),
    error(
        "AN-URL",
        Evidence::Answer("messages.0.content.1.image.source.base64.data: URL sources are not supported"),
        "send the bytes; only Anthropic itself reads from addresses",
        url_sources,
    ),
];

/// A block names its kind.
pub(super) fn kinds<'b, 'a>(_: &'static str, block: &'b Node<'a>, found: &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>)) {
    if block.is_object() {
        found(block.get_str("type").unwrap_or_default(), block);
    }
}

fn shape(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut found = Vec::new();
    for message in &view.messages {
        let content = message.content;
        if !matches!(&*message.role, "user" | "assistant" | "system") {
            found.push(message.hit("", "it is no message of the user or the assistant"));
        } else if !content.is_some_and(|content| matches!(content.value, Value::Text(_) | Value::Array(_))) {
            found.push(message.hit("content", "it is neither text nor blocks"));
        }
    }
    found.extend(RequestView::hit_if(view.messages.is_empty(), "messages", "there is no message"));
    found
}

fn no_content(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_empty = |message: &Message<'_, '_>| match message.content.map(|content| &content.value) {
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Text(text)) => text.is_empty(),
        _ => false,
    };
    let is_last_answer =
        |message: &Message<'_, '_>| message.index + 1 == view.messages.len() && message.is("assistant");
    let empty = view.messages.iter().filter(|message| is_empty(message) && !is_last_answer(message));
    empty.map(|message| message.hit("content", "it is empty")).collect()
}

fn text_of<'b, 'a>(block: &'b Node<'a>) -> Option<&'b Text<'a>> {
    block
        .get("text")
        .filter(|_| block.get("type").and_then(Node::as_text).is_some_and(|kind| kind.is("text")))?
        .as_text()
}

fn is_empty_text(block: &Node<'_>) -> bool {
    text_of(block).is_some_and(Text::is_empty)
}

fn empty_text(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let what = "the text is empty";
    let empty = view.of_kind("text").filter(|block| is_empty_text(block.node));
    let mut found: Vec<_> = empty.map(|block| block.hit("", what)).collect();
    for block in view.of_kind("tool_result") {
        let parts = items(block.node, "content").iter().enumerate().filter(|(_, part)| is_empty_text(part));
        found.extend(parts.map(|(part, _)| block.hit(&format!("content[{part}]"), what)));
    }
    found
}

/// The texts of a message.
fn texts<'v, 'a>(view: &'v RequestView<'_, 'a>, message: &'v Message<'_, 'a>) -> impl Iterator<Item = &'v Text<'a>> {
    let whole = message.content.and_then(Node::as_text);
    let blocks = view.blocks_of(message).iter().filter(|block| block.kind == "text");
    whole.into_iter().chain(blocks.filter_map(|block| block.node.get("text")?.as_text()))
}

fn blank_text(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_blank = |message: &Message<'_, '_>| {
        texts(view, message).all(Text::is_blank) && texts(view, message).any(|text| !text.is_empty())
    };
    let blank = view.messages.iter().filter(|message| is_blank(message));
    blank.map(|message| message.hit("content", "all its text is white space")).collect()
}

fn trailing_space(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let Some(last) = view.messages.last().filter(|last| last.role == "assistant") else {
        return Vec::new();
    };
    let text = match last.content.map(|content| &content.value) {
        Some(Value::Text(text)) => Some(text),
        Some(Value::Array(items)) => items.last().and_then(text_of),
        _ => None,
    };
    let ends = text.is_some_and(|text| text.to_str_lossy().ends_with(char::is_whitespace));
    ends.then(|| last.hit("content", "the last answer ends in white space")).into_iter().collect()
}

fn unsigned(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let lacks = |block: &Node<'_>, key: &str| block.get(key).and_then(Node::as_text).is_none_or(Text::is_empty);
    let thinking = view.of_kind("thinking").filter(|block| lacks(block.node, "signature"));
    let redacted = view.of_kind("redacted_thinking").filter(|block| lacks(block.node, "data"));
    thinking.chain(redacted).map(|block| block.hit("", "thinking has no signature")).collect()
}

fn thinking_role(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let thinking = view.of_kind("thinking").chain(view.of_kind("redacted_thinking"));
    thinking
        .filter(|block| view.role_of(block) == "user")
        .map(|block| block.hit("", "only the assistant thinks"))
        .collect()
}

/// Other hosts of these models read nothing from addresses.
fn url_sources(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_hosted = view.body.get_str("anthropic_version").is_some_and(|version| version.starts_with("bedrock"));
    let by_url = |block: &&Block<'_, '_>| {
        block.node.get("source").and_then(|source| source.get_str("type")).as_deref() == Some("url")
    };
    let blocks = view.of_kind("image").chain(view.of_kind("document")).filter(|_| is_hosted).filter(by_url);
    blocks.map(|block| block.hit("source", "it is to be read from an address")).collect()
}
