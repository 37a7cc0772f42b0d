//! Items: what an input and an output are lists of.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, ItemId, Scope, ToolCall};

use super::FORMAT;
use super::{message, output, reasoning};
use crate::fields::{Fields, Form, Kept, KeyRule, Writer, is_text};

/// Where an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// In a request's input.
    Input,
    /// In a response's output: all of it is the answer.
    Output,
}

/// The blocks of an item.
pub(super) fn read(raw: Json, side: Side, scope: &Scope) -> Vec<Block> {
    let object = match raw {
        Json::Object(object) if !object.has_duplicates() => object,
        raw => return vec![whole("item".to_owned(), Author::Assistant, raw)],
    };
    let kind = object.get_str("type").unwrap_or_default().into_owned();
    let answers = side == Side::Input || object.get_str("role").is_some_and(|role| role == "assistant");
    match kind.as_str() {
        "message" | "" if answers && message::is_readable(&object) => message::read(object),
        "function_call" if is_call(&object, "arguments") => vec![read_call(object, "arguments")],
        "custom_tool_call" if is_call(&object, "input") => vec![read_call(object, "input")],
        "reasoning" => vec![reasoning::read(object, scope.clone())],
        "function_call_output" | "custom_tool_call_output" if side == Side::Input && output::is_readable(&object) => {
            vec![output::read(object)]
        }
        _ => {
            let author = if side == Side::Output { Author::Assistant } else { author_of(&kind, &object) };
            vec![whole(kind, author, Json::Object(object))]
        }
    }
}

/// Who wrote an item that is kept whole: what a client hands in is not the model's.
fn author_of(kind: &str, object: &Object) -> Author {
    const HANDED_IN: &[&str] = &[
        "function_call_output",
        "custom_tool_call_output",
        "computer_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "mcp_approval_response",
    ];
    const SETTINGS: &[&str] = &["additional_tools", "configuration_update", "compaction_trigger"];
    match object.get_str("role") {
        Some(role) => Author::from_word(&role),
        None if HANDED_IN.contains(&kind) => Author::Tool,
        None if SETTINGS.contains(&kind) => Author::Developer,
        None => Author::Assistant,
    }
}

fn whole(kind: String, author: Author, raw: Json) -> Block {
    let mut block = Block::new(author, Body::Other { kind, raw });
    block.extra.part_mut(FORMAT).spelling.push("place", "item");
    block
}

/// Whether a block is an item of this wire that was kept whole.
pub(super) fn is_whole(block: &Block) -> bool {
    matches!(block.body, Body::Other { .. }) && block.extra.spelling(FORMAT, "place").is_some()
}

fn is_call(object: &Object, arguments: &str) -> bool {
    ["call_id", "name", arguments].iter().all(|key| object.get(key).is_some_and(is_text))
}

/// A call: only one of the two last keys has its arguments.
const CALL: Form = &[
    ("type", KeyRule::Derived),
    ("id", KeyRule::Taken),
    ("call_id", KeyRule::Taken),
    ("name", KeyRule::Taken),
    ("arguments", KeyRule::Taken),
    ("input", KeyRule::Taken),
];

fn read_call(object: Object, arguments: &'static str) -> Block {
    let mut fields = Fields::new(object, CALL);
    let kind = fields.text("type").unwrap_or_default();
    let item_id = fields.text("id").map(ItemId::new);
    let body = ToolCall {
        call: CallId::given(fields.text("call_id").unwrap_or_default()),
        name: fields.text("name").unwrap_or_default(),
        arguments: fields.text(arguments).unwrap_or_default(),
    };
    if kind != "function_call" {
        fields.note("type", kind);
    }
    let mut block = Block { item_id, ..Block::new(Author::Assistant, body) };
    fields.keep(FORMAT, &mut block.extra);
    block
}

/// The id of a call as it is sent.
pub(super) fn call_id(call: &CallId) -> String {
    match call {
        CallId::Given(id) => id.to_string(),
        CallId::Minted(position) => format!("turnkeep_{position}"),
    }
}

/// The items of blocks in message order. Blocks of one message that stand in a message are one item.
pub(super) fn write_all(blocks: &[&Block]) -> Vec<Json> {
    let together = |a: &&Block, b: &&Block| {
        a.message.ordinal == b.message.ordinal && a.author == b.author && message::holds(a) && message::holds(b)
    };
    blocks.chunk_by(together).map(write).collect()
}

fn write(blocks: &[&Block]) -> Json {
    let Some(block) = blocks.first() else { return Json::Null };
    match &block.body {
        Body::ToolCall(call) => write_call(block, call),
        Body::ToolResult(_) => output::write(block),
        Body::Reasoning(_) => reasoning::write(block),
        Body::Other { raw, .. } if !message::holds(block) => raw.clone(),
        _ => message::write(blocks),
    }
}

fn write_call(block: &Block, call: &ToolCall) -> Json {
    let kept = Kept::of(&block.extra, FORMAT);
    let kind = kept.word("type");
    let kind = kind.as_deref().unwrap_or("function_call");
    let mut made = Writer::new(kept, CALL);
    made.derive("type", kind);
    made.set_some("id", block.item_id.as_ref().map(ItemId::as_str));
    made.set("call_id", call_id(&call.call));
    made.set("name", call.name.as_str());
    made.set(if kind == "custom_tool_call" { "input" } else { "arguments" }, call.arguments.as_str());
    Json::Object(made.finish())
}
