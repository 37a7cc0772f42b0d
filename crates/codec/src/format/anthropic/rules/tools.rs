//! Rules on calls, results and tools.

use std::ops::Range;

use turnkeep_model::json::Node;

use super::super::lint::{error, warning};
use crate::wire::rule::{Evidence, Found, Rule, items};
use crate::wire::view::{Block, Message, Place, View, missing, repeated};

pub(in super::super) static RULES: &[Rule] = &[
    error(
        "AN-DANGLING",
        Evidence::Answer(
            "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        ),
        "answer the call in the next message",
        dangling,
    ),
    error(
        "AN-ORPHAN",
        Evidence::Answer(
            "unexpected `tool_use_id` found in `tool_result` blocks … must have a corresponding `tool_use` block in the previous message",
        ),
        "leave the result out, or give the call back",
        orphan,
    ),
    error(
        "AN-DUPRES",
        Evidence::Answer("each tool_use must have a single result"),
        "leave one result",
        repeated_result,
    ),
    error(
        "AN-DUPID",
        Evidence::Stated("ids of calls are unique, by the documentation"),
        "give the calls of a message different ids",
        repeated_id,
    ),
    error(
        "AN-TEXTAFTER",
        Evidence::Answer(
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_1.",
        ),
        "put the text before the calls",
        text_after,
    ),
    error(
        "AN-ID",
        Evidence::Answer("messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
        "rewrite the id in call and result",
        illegal_id,
    ),
    error(
        "AN-NAME",
        Evidence::Stated("names match ^[a-zA-Z0-9_-]{1,128}$, by the documentation"),
        "rename the tool",
        illegal_name,
    ),
    error(
        "AN-INPUT",
        Evidence::Stated("the input of a call is an object, by the SDK's types"),
        "give the arguments as an object",
        bad_input,
    ),
    error(
        "AN-USEROLE",
        Evidence::Stated("only answers hold calls, by the documentation"),
        "move the call to the assistant",
        call_role,
    ),
    error(
        "AN-RESROLE",
        Evidence::Stated("only the user's messages hold results, by the documentation"),
        "move the result to the user",
        result_role,
    ),
    error(
        "AN-SCHEMA",
        Evidence::Answer("tools.0.custom.input_schema.type: Field required"),
        "describe the arguments as an object",
        schema,
    ),
    error(
        "AN-STRICT",
        Evidence::Answer(
            "Too many strict tools (21). The maximum number of strict tools supported is 20. Try reducing the number of tools marked as strict.",
        ),
        "mark fewer tools as strict",
        strict_tools,
    ),
    warning(
        "AN-RESFIRST",
        Evidence::Stated("results come first in their message, by the documentation"),
        "put results before text",
        results_first,
    ),
    warning(
        "AN-DUPID-TURNS",
        Evidence::Stated("accepted in recorded requests, but models tend to loop"),
        "give every call an id of its own",
        repeated_over_turns,
    ),
    warning(
        "AN-NOTOOLS",
        Evidence::Stated("a history with calls and results needs tools, as gateways report"),
        "define the tools that the history calls",
        no_tools,
    ),
];

/// The field that names the call of a block.
pub(in super::super) fn call_key(kind: &str) -> Option<&'static str> {
    match kind {
        "tool_use" => Some("id"),
        "tool_result" => Some("tool_use_id"),
        _ => None,
    }
}

/// One side's messages in a row: the vendor takes them as one.
struct Run<'v, 'b, 'a> {
    role: &'v str,
    view: &'v View<'b, 'a>,
    messages: &'v [Message<'b, 'a>],
}

/// The runs of a request. System text between messages counts for none.
fn runs<'v, 'b, 'a>(view: &'v View<'b, 'a>) -> Vec<Run<'v, 'b, 'a>> {
    let mut runs: Vec<(&str, Range<usize>)> = Vec::with_capacity(view.messages.len());
    for (index, message) in view.messages.iter().enumerate().filter(|(_, message)| speaks(message)) {
        match runs.last_mut() {
            Some((role, messages)) if *role == message.role => messages.end = index + 1,
            _ => runs.push((&message.role, index..index + 1)),
        }
    }
    let messages = |range: Range<usize>| view.messages.get(range).unwrap_or_default();
    runs.into_iter().map(|(role, range)| Run { role, view, messages: messages(range) }).collect()
}

/// Whether a message is of a side.
fn speaks(message: &Message<'_, '_>) -> bool {
    !matches!(&*message.role, "" | "system")
}

type Id<'v> = (Place, &'v str);

impl<'v, 'b, 'a> Run<'v, 'b, 'a> {
    fn blocks(&self) -> impl Iterator<Item = &'v Block<'b, 'a>> + use<'v, 'b, 'a> {
        let view = self.view;
        self.messages.iter().filter(|message| speaks(message)).flat_map(|message| view.blocks_of(message))
    }

    fn ids(&self, kind: &'static str) -> impl Iterator<Item = Id<'v>> + use<'v, 'b, 'a> {
        let ours = self.blocks().filter(move |block| block.kind == kind);
        ours.filter_map(move |block| Some((block.place, block.call.as_deref()?)))
    }

    fn calls(&self) -> impl Iterator<Item = Id<'v>> + use<'v, 'b, 'a> {
        self.ids("tool_use")
    }

    fn results(&self) -> impl Iterator<Item = Id<'v>> + use<'v, 'b, 'a> {
        self.ids("tool_result")
    }
}

fn told(places: Vec<Place>, what: &str) -> impl Iterator<Item = (String, String)> {
    places.into_iter().map(move |place| (place.to_string(), what.to_owned()))
}

fn dangling(view: &View<'_, '_>) -> Found {
    let runs = runs(view);
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.role == "assistant") {
        let answered = runs.get(index + 1).into_iter().flat_map(Run::results).map(|(_, id)| id);
        let open = missing(run.calls(), answered);
        found.extend(told(open, "the call has no result in the next message"));
    }
    found
}

fn orphan(view: &View<'_, '_>) -> Found {
    let runs = runs(view);
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.role == "user") {
        let before = index.checked_sub(1).and_then(|before| runs.get(before));
        let lost = missing(run.results(), before.into_iter().flat_map(Run::calls).map(|(_, id)| id));
        found.extend(told(lost, "it answers no call of the message before"));
    }
    found
}

fn repeated_result(view: &View<'_, '_>) -> Found {
    let again = runs(view).into_iter().flat_map(|run| repeated(run.results()));
    told(again.collect(), "the call has another result already").collect()
}

fn repeated_id(view: &View<'_, '_>) -> Found {
    let again = runs(view).into_iter().flat_map(|run| repeated(run.calls()));
    told(again.collect(), "another call of the message has this id").collect()
}

fn repeated_over_turns(view: &View<'_, '_>) -> Found {
    let speaks = |block: &&Block<'_, '_>| view.messages.get(block.place.message).is_some_and(speaks);
    let calls = view.of_kind("tool_use").filter(speaks);
    let again = repeated(calls.filter_map(|block| Some((block.place, block.call.as_deref()?))));
    told(again, "another call of the history has this id").collect()
}

fn text_after(view: &View<'_, '_>) -> Found {
    let mut found = Vec::new();
    for run in runs(view).iter().filter(|run| run.role == "assistant") {
        let late = run.blocks().skip_while(|block| block.kind != "tool_use").filter(|block| block.kind == "text");
        found.extend(late.map(|block| (block.place.to_string(), "text follows a call".to_owned())));
    }
    found
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
}

fn illegal_id(view: &View<'_, '_>) -> Found {
    let what = "the id has other characters than letters, digits, `_` and `-`";
    let blocks = view.of_kind("tool_use").chain(view.of_kind("tool_result"));
    let wrong = blocks.filter(|block| !block.call.as_deref().is_some_and(is_word));
    let at = |block: &Block<'_, '_>| format!("{}.{}", block.place, call_key(&block.kind).unwrap_or_default());
    wrong.map(|block| (at(block), what.to_owned())).collect()
}

fn illegal_name(view: &View<'_, '_>) -> Found {
    let legal = |object: &Node<'_>| object.get_str("name").is_some_and(|name| is_word(&name) && name.len() <= 128);
    let what = "the name has other characters than letters, digits, `_` and `-`, or is too long".to_owned();
    let calls = view.of_kind("tool_use").filter(|block| !legal(block.node));
    let mut found: Vec<_> = calls.map(|block| (format!("{}.name", block.place), what.clone())).collect();
    for (index, tool) in items(view.body, "tools").iter().enumerate() {
        if tool.get("input_schema").is_some() && !legal(tool) {
            found.push((format!("tools[{index}].name"), what.clone()));
        }
    }
    found
}

fn bad_input(view: &View<'_, '_>) -> Found {
    let wrong = view.of_kind("tool_use").filter(|block| !block.node.get("input").is_some_and(Node::is_object));
    wrong.map(|block| (format!("{}.input", block.place), "the arguments are no object".to_owned())).collect()
}

fn misplaced(view: &View<'_, '_>, kind: &str, wanted: &str) -> Found {
    let wrong = view.of_kind(kind).filter(|block| view.role_of(block) != wanted);
    let what = |block: &Block<'_, '_>| format!("it stands in a message of role `{}`", view.role_of(block));
    wrong.map(|block| (block.place.to_string(), what(block))).collect()
}

fn call_role(view: &View<'_, '_>) -> Found {
    misplaced(view, "tool_use", "assistant")
}

fn result_role(view: &View<'_, '_>) -> Found {
    misplaced(view, "tool_result", "user")
}

fn schema(view: &View<'_, '_>) -> Found {
    let mut found = Vec::new();
    for (index, tool) in items(view.body, "tools").iter().enumerate() {
        let Some(schema) = tool.get("input_schema") else { continue };
        let is_object = schema.get_str("type").as_deref() == Some("object");
        if !is_object {
            found.push((
                format!("tools[{index}].input_schema"),
                "the arguments are not described as an object".to_owned(),
            ));
        }
    }
    found
}

fn strict_tools(view: &View<'_, '_>) -> Found {
    let is_strict = |tool: &&Node<'_>| tool.get("strict").and_then(Node::as_bool) == Some(true);
    let count = items(view.body, "tools").iter().filter(is_strict).count();
    (count > 20).then(|| ("tools".to_owned(), format!("{count} tools are strict"))).into_iter().collect()
}

fn results_first(view: &View<'_, '_>) -> Found {
    let mut found = Vec::new();
    for run in runs(view).iter().filter(|run| run.role == "user") {
        let late = run.blocks().skip_while(|block| block.kind == "tool_result");
        let late = late.filter(|block| block.kind == "tool_result");
        found.extend(late.map(|block| (block.place.to_string(), "the result stands behind other content".to_owned())));
    }
    found
}

fn no_tools(view: &View<'_, '_>) -> Found {
    if !items(view.body, "tools").is_empty() {
        return Vec::new();
    }
    let used = view.blocks.iter().find(|block| call_key(&block.kind).is_some());
    let what = "the history uses tools and none is defined";
    used.map(|block| (block.place.to_string(), what.to_owned())).into_iter().collect()
}
