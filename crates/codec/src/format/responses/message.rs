//! Messages among the items.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, ItemId};

use super::FORMAT;
use super::part;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer, is_text};

/// Whether an item is a message that can be read into blocks.
pub(super) fn is_readable(object: &Object) -> bool {
    let content = match object.get("content") {
        Some(Json::Array(parts)) => !parts.is_empty(),
        content => content.is_some_and(is_text),
    };
    let kind = object.get("type");
    content && object.get_str("role").is_some() && kind.is_none_or(|kind| kind.as_str().as_deref() == Some("message"))
}

const WITH_ID: Form =
    &[("type", KeyRule::Derived), ("id", KeyRule::Taken), ("role", KeyRule::Taken), ("content", KeyRule::Taken)];
const WITHOUT_ID: Form =
    &[("type", KeyRule::Noted), ("id", KeyRule::Taken), ("role", KeyRule::Taken), ("content", KeyRule::Taken)];

/// A message's type is usually told only where it has an id.
fn form(has_id: bool) -> Form {
    if has_id { WITH_ID } else { WITHOUT_ID }
}

/// The blocks of a message that [`is_readable`].
pub(super) fn read(object: Object) -> Vec<Block> {
    let has_id = object.get("id").is_some_and(is_text);
    let mut fields = Fields::new(object, form(has_id));
    fields.text("type");
    let id = fields.text("id");
    let author = Author::from_word(&fields.text("role").unwrap_or_default());
    let (mut blocks, is_list): (Vec<Block>, bool) = match fields.array("content") {
        Some(parts) => (parts.into_iter().map(|raw| part::read(&author, raw)).collect(), true),
        None => (vec![Block::text(author, fields.text("content").unwrap_or_default())], false),
    };
    for block in &mut blocks {
        block.item_id = id.clone().map(ItemId::new);
    }
    if is_list != usually_list(&blocks.iter().collect::<Vec<_>>()) {
        fields.note("content", if is_list { "list" } else { "string" });
    }
    if let Some(first) = blocks.first_mut() {
        fields.keep(FORMAT, &mut first.message.extra);
    }
    blocks
}

/// Whether the content of a message is usually a list of parts: a single plain text is not.
fn usually_list(blocks: &[&Block]) -> bool {
    !matches!(blocks, [block] if block.item_id.is_none() && is_plain_text(block))
}

fn is_plain_text(block: &Block) -> bool {
    matches!(block.body, Body::Text(_)) && block.extra.part(FORMAT).is_none()
}

/// Whether a block stands in a message, and not as an item of its own.
pub(super) fn holds(block: &Block) -> bool {
    match &block.body {
        Body::Text(_) | Body::Media(_) | Body::Summary(_) => true,
        Body::Other { .. } => {
            block.extra.spelling(FORMAT, "place").and_then(Json::as_str).is_some_and(|place| place == "part")
        }
        Body::Reasoning(_) | Body::ToolCall(_) | Body::ToolResult(_) => false,
        _ => false,
    }
}

/// The message of some blocks by one author.
pub(super) fn write(blocks: &[&Block]) -> Json {
    let Some(first) = blocks.first() else { return Json::Null };
    let spelled = first.message.extra.spelling(FORMAT, "content").and_then(Json::as_str);
    let is_list = spelled.map_or_else(|| usually_list(blocks), |word| word == "list");
    let content = match (blocks, is_list) {
        ([Block { body: Body::Text(text), .. }], false) => Json::from(text.text.as_str()),
        _ => Json::Array(blocks.iter().map(|block| part::write(block)).collect()),
    };
    let mut made = Writer::new(Kept::of(&first.message.extra, FORMAT), form(first.item_id.is_some()));
    made.derive("type", "message");
    made.set_some("id", first.item_id.as_ref().map(ItemId::as_str));
    made.set("role", first.author.as_str());
    made.set("content", content);
    Json::Object(made.finish())
}
