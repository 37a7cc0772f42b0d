//! What the vendors of this wire refuse, as data.

mod history;
mod settings;

use std::borrow::Cow;

use turnkeep_model::json::Node;

use super::profile::{self, Profile, ThinkingIn};
use crate::lint::rule::Evidence::Reaction;
use crate::lint::rule::{Rule, error, warning};
use crate::lint::view::{RequestShape, RequestView};

/// Messages have parts and calls; a result is a message that names its call.
pub(super) const SHAPE: RequestShape = RequestShape {
    is_request: |body| body.get("messages").is_some(),
    lists: &["content", CALLS],
    kinds,
    call_key: |kind| (kind == CALLS).then_some("id"),
    message_call: Some("tool_call_id"),
    class: |_| 0,
};

/// The list of a message's calls, and their kind.
const CALLS: &str = "tool_calls";

fn kinds<'b, 'a>(list: &'static str, node: &'b Node<'a>, found: &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>)) {
    let part = || node.get_str("type").unwrap_or_default();
    found(if list == CALLS { CALLS.into() } else { part() }, node);
}

/// What is particular about the vendor that a request is for.
fn profile(view: &RequestView<'_, '_>) -> &'static Profile {
    profile::named(view.dialect)
}

fn openai(view: &RequestView<'_, '_>) -> bool {
    matches!(profile(view).name, "openai" | "azure")
}

fn mistral(view: &RequestView<'_, '_>) -> bool {
    profile(view).name == "mistral"
}

fn deepseek(view: &RequestView<'_, '_>) -> bool {
    profile(view).thinking_required
}

fn text_only(view: &RequestView<'_, '_>) -> bool {
    profile(view).media.is_empty()
}

fn strict(view: &RequestView<'_, '_>) -> bool {
    profile(view).strict && profile(view).thinking == ThinkingIn::No
}

pub(super) static RULES: &[Rule] = &[
    error(
        "OC-MESSAGES",
        Reaction("[] is too short - 'messages'"),
        "send at least one message",
        history::messages,
    ),
    error(
        "OC-ROLE",
        Reaction("Invalid value: '…'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."),
        "use one of these roles",
        history::roles,
    ),
    error(
        "OC-ORPHAN",
        Reaction("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
        "put the result right after the message of its call, or drop it",
        history::orphans,
    ),
    error(
        "OC-DANGLING",
        Reaction("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."),
        "answer the call, saying that its outcome is unknown where it is",
        history::dangling,
    ),
    error(
        "OC-IDLEN",
        Reaction("Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 43 instead."),
        "shorten the id, in the call and in its result",
        history::id_rule,
    )
    .of("OpenAI, Azure", openai),
    error(
        "OC-DUPID",
        Reaction("Duplicate value for 'tool_call_id'"),
        "give each call an id of its own",
        history::duplicate_ids,
    ),
    error(
        "OC-TCEMPTY",
        Reaction("[] is too short - 'messages.1.tool_calls'"),
        "leave `tool_calls` out",
        history::empty_calls,
    )
    .of("OpenAI, Azure", openai),
    error(
        "OC-ARGS",
        Reaction("Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead."),
        "write the arguments as a JSON text",
        history::arguments,
    )
    .of("all but Mistral", |view| !mistral(view)),
    error(
        "OC-NAME",
        Reaction("Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."),
        "rename the tool, in its definition and in its calls",
        history::names,
    )
    .of("all", openai),
    error(
        "OC-TOOLNAME",
        Reaction("Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."),
        "rename the tool",
        settings::tool_names,
    )
    .of("OpenAI, Azure", openai),
    error(
        "OC-PARTTYPE",
        Reaction("Missing required parameter: 'messages[1].content[0].type'."),
        "say what the part is",
        history::part_types,
    ),
    error(
        "OC-TOOLPART",
        Reaction("Invalid 'messages[3]'. Content blocks are expected to be either text or image_url type."),
        "send text, and the rest in a user's message after the results",
        history::tool_parts,
    )
    .of("OpenAI, Azure", openai),
    error(
        "OC-TEMP",
        Reaction("Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 99.0 instead."),
        "choose a temperature between 0 and 2",
        settings::temperature,
    ),
    error(
        "OC-NOSYSTEM",
        Reaction("Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        "say it as the user",
        settings::old_thinkers,
    )
    .of("o1-mini, o1-preview", openai),
    error(
        "OC-STRICT",
        Reaction("Invalid schema for function 'get_current_weather': In context=(), 'additionalProperties' is required to be supplied and to be false."),
        "close the schema and require every property, or do not ask for `strict`",
        settings::strict_schemas,
    )
    .of("OpenAI, Azure", openai),
    error(
        "OC-NOCONTENT",
        Reaction("Invalid value for 'content': expected a string, got null."),
        "leave the message out",
        history::no_content,
    ),
    warning(
        "OC-EMPTYTEXT",
        Reaction("text content blocks must be non-empty (where the request is passed on to another vendor)"),
        "leave the text out",
        history::empty_text,
    ),
    warning(
        "OC-ARGSJSON",
        Reaction("nothing; but vendors whose arguments are objects cannot take it"),
        "keep it for this wire; it is wrapped for others",
        history::arguments_json,
    ),
    warning(
        "OC-LONGID",
        Reaction("nothing known; ids beyond 256 characters are unheard of"),
        "shorten the id, in the call and in its result",
        history::id_rule,
    )
    .of("all but OpenAI, Azure, Mistral", |view| !openai(view) && !mistral(view)),
    error(
        "MI-ID",
        Reaction("Tool call id was abc123 but must be a-z, A-Z, 0-9, with a length of 9."),
        "rewrite the id, in the call and in its result",
        history::id_rule,
    )
    .of("Mistral", mistral),
    error(
        "MI-LAST",
        Reaction("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"),
        "end with the user, or mark the answer with `prefix`",
        history::last_role,
    )
    .of("Mistral", mistral),
    error(
        "MI-ORDER",
        Reaction("Unexpected role 'tool' after role 'user'"),
        "put the result right after the message of its call",
        history::result_order,
    )
    .of("Mistral", mistral),
    warning(
        "MI-TOOLUSER",
        Reaction("Unexpected role 'user' after role 'tool'"),
        "let the assistant speak in between where the server refuses it",
        history::user_after_tool,
    )
    .of("Mistral served by others", mistral),
    error(
        "DS-REASON",
        Reaction("The `reasoning_content` in the thinking mode must be passed back to the API."),
        "send the thinking that led to the calls, or turn thinking off",
        history::thinking_missing,
    )
    .of("DeepSeek, thinking", deepseek),
    error(
        "DS-CHOICE",
        Reaction("Thinking mode does not support this tool_choice"),
        "let the model choose, or turn thinking off",
        settings::forced_tool,
    )
    .of("DeepSeek, thinking", deepseek),
    error(
        "DS-MODAL",
        Reaction("Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`"),
        "describe it in text",
        history::media,
    )
    .of("DeepSeek, Cerebras", text_only),
    error(
        "GQ-REASON",
        Reaction("'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]"),
        "leave the thinking out",
        history::thinking_refused,
    )
    .of("Groq, Cerebras", strict),
];
