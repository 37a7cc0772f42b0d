//! From blocks to messages.

use turnkeep_model::json::{self, Json, Node};
use turnkeep_model::{Author, Block, Body, CallId, Part, Session, ToolCall, ToolResult};

use super::FORMAT;
use super::tree::{self, Kept, Maker};
use crate::codec::Mode;

/// Where the system text stands in the document.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum System {
    /// Apart, before the conversation.
    Apart,
    /// In the conversation.
    Inside,
}

/// The system text that stands apart, and the messages.
pub(super) fn messages(session: &Session, system: System, mode: Mode) -> (Option<&str>, Vec<Node<'_>>) {
    let blocks: Vec<&Block> = session.in_message_order().into_iter().map(|(_, _, block)| block).collect();
    let (apart, blocks) = match blocks.split_first() {
        Some((first, rest)) if system == System::Apart => match system_text(first) {
            Some(text) => (Some(text), rest),
            None => (None, blocks.as_slice()),
        },
        _ => (None, blocks.as_slice()),
    };
    let mut messages = Vec::with_capacity(blocks.len());
    let one = |a: &&Block, b: &&Block| a.message.ordinal == b.message.ordinal && role(a) == role(b);
    for message in blocks.chunk_by(one) {
        compose(message, mode, &mut messages);
    }
    (apart, messages)
}

/// The text of a block that is the system text of its session, unless it stood in the conversation.
fn system_text(block: &Block) -> Option<&str> {
    let inside = block.extra.spelling(FORMAT, "place").is_some() || block.author != Author::System;
    block.body.as_text().filter(|_| !inside)
}

/// Who speaks, of the four that the library knows.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    User,
    System,
    Assistant,
    Tool,
}

fn role(block: &Block) -> Role {
    match (&block.body, &block.author) {
        (Body::ToolResult(_), _) => Role::Tool,
        (Body::ToolCall(_) | Body::Reasoning(_), _) | (_, Author::Assistant) => Role::Assistant,
        (_, Author::System | Author::Developer) => Role::System,
        _ => Role::User,
    }
}

/// The text of a block, if it has one that a message can hold.
fn text(block: &Block) -> Option<&str> {
    match &block.body {
        Body::Text(text) => Some(&text.text),
        Body::Summary(summary) => Some(&summary.text),
        _ => None,
    }
}

fn compose<'s>(blocks: &[&'s Block], mode: Mode, messages: &mut Vec<Node<'s>>) {
    let Some(first) = blocks.first() else { return };
    match role(first) {
        Role::Assistant => messages.extend(assistant(blocks, mode)),
        Role::User => messages.extend(blocks.iter().filter_map(|block| plain(block, "user", mode))),
        Role::System => messages.extend(blocks.iter().filter_map(|block| plain(block, "system", mode))),
        Role::Tool => messages.extend(blocks.iter().filter_map(|block| tool(block, mode))),
    }
}

fn plain<'s>(block: &'s Block, kind: &'static str, mode: Mode) -> Option<Node<'s>> {
    let content = text(block)?;
    let mut maker = Maker::new(Kept::of(&block.message.extra, mode));
    maker.set("type", tree::text(kind));
    maker.set("content", tree::text(content));
    Some(maker.finish())
}

fn assistant<'s>(blocks: &[&'s Block], mode: Mode) -> Option<Node<'s>> {
    let texts: Vec<&'s Block> = blocks.iter().copied().filter(|block| text(block).is_some()).collect();
    let calls: Vec<Node<'s>> = blocks.iter().filter_map(|block| call(block, mode)).collect();
    if texts.is_empty() && calls.is_empty() {
        return None;
    }
    let kept = Kept::of(&blocks.first()?.message.extra, mode);
    let mut data = Maker::new(kept.under("data"));
    data.choose("contentOpt", content(&texts), Some(tree::null()));
    let usual = if kept.is_null("toolCalls") { tree::null() } else { tree::array([]) };
    data.choose("toolCalls", (!calls.is_empty()).then(|| tree::array(calls)), Some(usual));
    let mut maker = Maker::new(kept);
    maker.set("type", tree::text("assistant"));
    maker.set("data", data.finish());
    Some(maker.finish())
}

/// The one text that a message has: several are joined.
fn content<'s>(texts: &[&'s Block]) -> Option<Node<'s>> {
    match texts {
        [] => None,
        [only] if only.extra.spelling(FORMAT, "contentOpt").is_some() && text(only) == Some("") => None,
        [only] => text(only).map(tree::text),
        several => {
            let several: Vec<&str> = several.iter().filter_map(|block| text(block)).collect();
            Some(tree::owned(several.join("\n\n")))
        }
    }
}

fn call<'s>(block: &'s Block, mode: Mode) -> Option<Node<'s>> {
    let Body::ToolCall(call) = &block.body else { return None };
    let kept = Kept::of(&block.extra, mode);
    let mut maker = Maker::new(kept);
    let id = call.call.as_given();
    let spelled = |raw: &&Json, text: Option<&str>| match raw {
        Json::Null => text.is_none_or(str::is_empty),
        raw => text == Some(raw.to_text().as_str()),
    };
    let odd_id = kept.spelled("id").filter(|raw| spelled(raw, id)).map(Json::to_node);
    let odd_name = kept.spelled("name").filter(|raw| spelled(raw, Some(&call.name))).map(Json::to_node);
    maker.set("id", odd_id.unwrap_or_else(|| id_node(&call.call)));
    maker.set("name", odd_name.unwrap_or_else(|| tree::text(&call.name)));
    maker.set("arguments", arguments(call));
    Some(maker.finish())
}

fn id_node(call: &CallId) -> Node<'_> {
    match call {
        CallId::Given(id) => tree::text(id),
        CallId::Minted(_) => tree::owned(call.to_string()),
    }
}

/// How many levels of a document are around the arguments of a call, or more.
const AROUND: usize = 8;

/// The arguments as a value; what is not JSON, or too deep to be read again, is a text, and nothing is an empty object.
fn arguments(call: &ToolCall) -> Node<'_> {
    match json::parse(&call.arguments) {
        Ok(node) if node.deeper_than(json::MAX_DEPTH - AROUND).is_none() => node,
        Ok(_) => tree::text(&call.arguments),
        Err(_) if call.arguments.trim().is_empty() => Node { at: 0, value: json::Value::Object(Vec::new()) },
        Err(_) => tree::text(&call.arguments),
    }
}

fn tool<'s>(block: &'s Block, mode: Mode) -> Option<Node<'s>> {
    let Body::ToolResult(result) = &block.body else { return None };
    let mut maker = Maker::new(Kept::of(&block.message.extra, mode));
    maker.set("type", tree::text("tool"));
    maker.set("toolCallId", id_node(&result.call));
    maker.set("content", answer(result));
    Some(maker.finish())
}

/// What a tool answered, as text.
fn answer(result: &ToolResult) -> Node<'_> {
    match (result.parts.as_slice(), &result.error) {
        ([], Some(error)) => tree::text(error),
        ([Part::Text(text)], _) => tree::text(&text.text),
        (parts, _) => tree::owned(parts.iter().filter_map(part_text).collect::<Vec<_>>().join("\n")),
    }
}

fn part_text(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(text.text.clone()),
        Part::Data(data) => Some(data.json.to_text()),
        _ => None,
    }
}
