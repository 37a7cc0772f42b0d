//! What the vendors of this wire refuse, as data.

mod check;
mod items;

use std::borrow::Cow;

use turnkeep_model::json::Node;

use crate::lint::rule::Evidence::Template;
use crate::lint::rule::{Rule, error, warning};
use crate::lint::view::{RequestShape, RequestView};

/// Messages, calls, outputs and reasoning are items of one list; messages and outputs have parts.
pub(super) const SHAPE: RequestShape = RequestShape {
    is_request: |body| body.get("input").is_some() && body.get("messages").is_none(),
    lists: &["content", "output"],
    kinds,
    call_key: |_| None,
    message_call: Some("call_id"),
    class: items::ItemKind::class,
};

fn kinds<'b, 'a>(list: &'static str, node: &'b Node<'a>, found: &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>)) {
    if node.is_object() {
        found(list.into(), node);
    }
}

/// Whether the vendor looks up what a request refers to, and refuses what it does not find.
fn strictest(view: &RequestView<'_, '_>) -> bool {
    matches!(view.dialect, Some("openai" | "azure" | "chatgpt" | "copilot"))
}

/// Whether the model is one of OpenAI's that think, by its name.
fn thinks(view: &RequestView<'_, '_>) -> bool {
    let model = items::model(view);
    ["o1", "o3", "o4", "gpt-5"].iter().any(|begin| model.starts_with(begin))
}

pub(super) static RULES: &[Rule] = &[
    error(
        "OR-ORPHAN",
        Template("No tool call found for function call output with call_id {}."),
        "send the call before its output, or drop the output",
        check::orphans,
    ),
    error(
        "OR-DANGLING",
        Template("No tool output found for function call {}."),
        "send an output that says that the outcome is unknown",
        check::dangling,
    ),
    error(
        "OR-ORDER",
        Template("No tool call found for function call output with call_id {}."),
        "put the output after its call",
        check::early_outputs,
    ),
    warning(
        "OR-DUPOUT",
        Template("the call {} has more than one output"),
        "send one output for a call",
        check::repeated_outputs,
    ),
    error(
        "OR-INTERLEAVE",
        Template("No tool output found for tool call {}."),
        "put the calls of an answer together and their outputs right after them",
        check::interleaved,
    )
    .of("DeepSeek", |view| view.dialect == Some("deepseek")),
    error(
        "OR-REASON-TAIL",
        Template("Item '{}' of type 'reasoning' was provided without its required following item."),
        "send the item that it led to with its id, or drop the reasoning, or its id where it is encrypted",
        check::reasoning_without_follower,
    )
    .of("OpenAI, Azure", strictest),
    error(
        "OR-REASON-HEAD",
        Template("Item '{}' of type 'function_call' was provided without its required 'reasoning' item."),
        "send the reasoning before it, or drop the item's id: call_id is enough to pair it",
        check::call_without_reasoning,
    )
    .of("OpenAI, Azure: models that think", |view| strictest(view) && thinks(view)),
    error(
        "OR-REASON-ENC",
        Template("Item with id '{}' not found. Items are not persisted when `store` is set to false."),
        "send its encrypted_content, or drop the reasoning and the ids of the items it led to",
        check::reasoning_without_content,
    ),
    error(
        "OR-REASON-SUM",
        Template("Missing required parameter: '{}'."),
        "send a summary, which may be empty",
        check::reasoning_without_summary,
    ),
    warning(
        "OR-REF",
        Template("Item with id '{}' not found. Items are not persisted when `store` is set to false."),
        "send the item itself",
        check::references_without_store,
    ),
    error(
        "OR-IDLEN",
        Template("Invalid '{}': string too long. Expected a string with maximum length 64"),
        "shorten the id, in the call and its output alike",
        check::id_lengths,
    ),
    error(
        "OR-ID",
        Template("Invalid '{}': expected an ID that begins with what it names ('rs', 'fc', 'ctc' or 'msg')."),
        "drop the item's id",
        check::id_beginnings,
    )
    .of("OpenAI, Azure", strictest),
    error(
        "OR-CALL",
        Template("Missing required parameter: '{}'."),
        "send it as a string",
        check::incomplete_calls,
    ),
    error(
        "OR-NAME",
        Template("Invalid '{}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."),
        "rename the tool, in its calls too",
        check::names,
    ),
    error(
        "OR-ROLE",
        Template("Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
        "send tool results as function_call_output, other roles as user",
        check::roles,
    ),
    error(
        "OR-PART",
        Template("Invalid value: '{}'. An assistant's parts are 'output_text' and 'refusal', the others' begin with 'input_'."),
        "change the type of the part",
        check::parts,
    ),
    warning(
        "OR-EMPTYTEXT",
        Template("the text of '{}' is empty"),
        "leave it out",
        check::empty_texts,
    ),
    error(
        "OR-NOINPUT",
        Template("One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."),
        "send some input",
        check::no_input,
    ),
    error(
        "OR-FILE",
        Template("Invalid file data: '{}'. Expected a base64-encoded data URL with a valid file MIME type."),
        "describe sound and video in words",
        check::files,
    )
    .of("OpenAI, Azure", strictest),
    error(
        "OR-STRICT",
        Template("Invalid schema for function '{}': 'required' must include every key in properties and 'additionalProperties' must be false."),
        "set strict to false, or complete the schema",
        check::strict_schemas,
    )
    .of("OpenAI, Azure", strictest),
    error(
        "OR-TEMP",
        Template("Invalid 'temperature': expected a value >= 0 and <= 2, but got {} instead."),
        "choose one in the range",
        check::temperature,
    ),
];
