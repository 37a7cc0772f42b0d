//! What Ollama refuses, as data.

use std::borrow::Cow;

use turnkeep_model::json::{Node, Value};

use crate::lint::rule::Evidence::{Reaction, Stated};
use crate::lint::rule::{Hit, Rule, error, warning};
use crate::lint::view::{Message, RequestShape, RequestView, items};

pub(super) static RULES: &[Rule] = &[
    error(
        "OL-ROLE",
        Reaction("invalid role: …, role must be one of [system, user, assistant, tool]"),
        "use one of these roles",
        role,
    ),
    error(
        "OL-CONTENT",
        Reaction("json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string"),
        "write the content as one text, and images in `images`",
        content,
    ),
    error(
        "OL-ARGS",
        Reaction(
            "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
        ),
        "write the arguments as an object",
        arguments,
    ),
    error(
        "OL-IMAGE",
        Reaction("illegal base64 data at input byte 4"),
        "send the bytes of the image in base64, without a URL",
        images,
    ),
    warning("OL-ORPHAN", Stated("nothing; the model wonders"), "drop the result", orphans),
    warning(
        "OL-DANGLING",
        Stated("nothing; the model wonders, or calls again"),
        "answer the call, saying that its outcome is unknown where it is",
        dangling,
    ),
];

/// Messages have calls and images in lists of their own.
pub(super) const SHAPE: RequestShape = RequestShape {
    is_request: |body| body.get("messages").is_some(),
    lists: &["tool_calls", "images"],
    kinds,
    call_key: |_| None,
    message_call: None,
    class: |_| 0,
};

fn kinds<'b, 'a>(list: &'static str, node: &'b Node<'a>, found: &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>)) {
    found(list.into(), node);
}

fn role(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_known = |message: &&Message<'_, '_>| ["system", "user", "assistant", "tool"].contains(&&*message.role);
    view.messages.iter().filter(|message| !is_known(message)).map(|message| message.hit("role", "")).collect()
}

fn content(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_wrong = |content: &Node<'_>| !matches!(content.value, Value::Text(_) | Value::Null);
    let wrong = view.messages.iter().filter(|message| message.content.is_some_and(is_wrong));
    wrong.map(|message| message.hit("content", "")).collect()
}

fn arguments(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let wrong = view.of_kind("tool_calls").filter(|call| {
        let arguments = call.node.get("function").and_then(|function| function.get("arguments"));
        arguments.is_none_or(|arguments| arguments.as_object().is_none())
    });
    wrong.map(|call| call.hit("function.arguments", "")).collect()
}

fn images(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let is_image = |image: &Node<'_>| image.as_str().is_some_and(|bytes| bytes.chars().all(is_base64));
    view.of_kind("images").filter(|image| !is_image(image.node)).map(|image| image.hit("", "")).collect()
}

/// Results beyond the calls before them, and calls that the talk goes on without: results name no calls, and answer the
/// open ones in order.
fn unpaired<'v, 'b, 'a>(view: &'v RequestView<'b, 'a>) -> (Vec<&'v Message<'b, 'a>>, Vec<&'v Message<'b, 'a>>) {
    let (mut orphans, mut dangling) = (Vec::new(), Vec::new());
    let mut open = std::collections::VecDeque::new();
    for message in &view.messages {
        match message.is("tool") {
            true if open.is_empty() => orphans.push(message),
            true => drop(open.pop_front()),
            false => dangling.extend(open.drain(..)),
        }
        open.extend(std::iter::repeat_n(message, items(message.node, "tool_calls").len()));
    }
    (orphans, dangling)
}

fn orphans(view: &RequestView<'_, '_>) -> Vec<Hit> {
    unpaired(view).0.into_iter().map(|message| message.hit("", "")).collect()
}

fn dangling(view: &RequestView<'_, '_>) -> Vec<Hit> {
    unpaired(view).1.into_iter().map(|message| message.hit("", "")).collect()
}
