//! The text of events that search indexes and shows.
//!
//! The index and the snippet of a hit are made of the same text, and `verify` compares the index with it.

use turnkeep_model::{Block, Body, Event, Part};

/// How much of one block is indexed and shown.
const LONGEST: usize = 64 << 10;

/// What is said in an event.
pub(crate) fn text_of(event: &Event) -> Option<String> {
    let mut text = String::new();
    match event {
        Event::BlockAdded(added) => add_block(&mut text, &added.block),
        Event::TurnOpened(opened) => opened.turn.blocks.iter().for_each(|block| add_block(&mut text, block)),
        Event::SessionOpened(opened) => opened.session.blocks().for_each(|(_, block)| add_block(&mut text, block)),
        _ => {}
    }
    Some(text).filter(|text| !text.is_empty())
}

fn add_block(text: &mut String, block: &Block) {
    match &block.body {
        Body::Text(body) => add(text, &body.text),
        Body::Summary(body) => add(text, &body.text),
        Body::Reasoning(body) => body.text.iter().for_each(|part| add(text, part)),
        Body::ToolCall(call) => {
            add(text, &call.name);
            add(text, &call.arguments);
        }
        Body::ToolResult(result) => result.parts.iter().for_each(|part| {
            if let Part::Text(part) = part {
                add(text, &part.text);
            }
        }),
        _ => {}
    }
}

fn add(text: &mut String, part: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    let end = (0..=part.len().min(LONGEST)).rev().find(|at| part.is_char_boundary(*at)).unwrap_or(0);
    text.push_str(part.get(..end).unwrap_or_default());
}

/// The words of a query, in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
