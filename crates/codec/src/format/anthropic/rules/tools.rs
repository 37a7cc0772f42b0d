//! Rules on calls, results and tools.

use turnkeep_model::json::Node;

use crate::lint::rule::{Evidence, Hit, Rule, error, warning};
use crate::lint::view::{Block, BlockPlace, Message, RequestView, Run, hits, items, missing, repeated};

pub(super) static RULES: &[Rule] = &[
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
pub(super) fn call_key(kind: &str) -> Option<&'static str> {
    match kind {
        "tool_use" => Some("id"),
        "tool_result" => Some("tool_use_id"),
        _ => None,
    }
}

/// Whether a message is of a side. System text between messages counts for none.
fn speaks(message: &Message<'_, '_>) -> bool {
    !matches!(&*message.role, "" | "system")
}

fn runs<'v, 'b, 'a>(view: &'v RequestView<'b, 'a>) -> Vec<Run<'v, 'b, 'a>> {
    view.runs(speaks, |_| false)
}

fn calls<'v>(run: &Run<'v, '_, '_>) -> impl Iterator<Item = (BlockPlace, &'v str)> {
    run.ids("tool_use")
}

fn results<'v>(run: &Run<'v, '_, '_>) -> impl Iterator<Item = (BlockPlace, &'v str)> {
    run.ids("tool_result")
}

/// The messages of a run that are nothing but text behind a message with a call.
fn late_texts(run: &Run<'_, '_, '_>) -> Vec<Hit> {
    let calls = |message: &Message<'_, '_>| {
        items(message.node, "content")
            .iter()
            .any(|block| block.get("type").and_then(Node::as_text).is_some_and(|kind| kind.is("tool_use")))
    };
    let is_text = |content: &Node<'_>| content.as_text().is_some_and(|text| !text.is_empty());
    let behind = run.messages().skip_while(|message| !calls(message)).skip(1);
    let texts = behind.filter(|message| message.content.is_some_and(is_text));
    texts.map(|message| message.hit("content", "text follows a call of the message before")).collect()
}

fn dangling(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let runs = runs(view);
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.role == "assistant") {
        let answered = runs.get(index + 1).into_iter().flat_map(results).map(|(_, id)| id);
        let open = missing(calls(run), answered);
        found.extend(hits(open, "the call has no result in the next message"));
    }
    found
}

fn orphan(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let runs = runs(view);
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.role == "user") {
        let before = index.checked_sub(1).and_then(|before| runs.get(before));
        let lost = missing(results(run), before.into_iter().flat_map(calls).map(|(_, id)| id));
        found.extend(hits(lost, "it answers no call of the message before"));
    }
    found
}

fn repeated_result(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let again = runs(view).into_iter().flat_map(|run| repeated(results(&run)));
    hits(again.collect(), "the call has another result already").collect()
}

fn repeated_id(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let again = runs(view).into_iter().flat_map(|run| repeated(calls(&run)));
    hits(again.collect(), "another call of the message has this id").collect()
}

fn repeated_over_turns(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let speaks = |block: &&Block<'_, '_>| view.messages.get(block.place.message).is_some_and(speaks);
    let calls = view.of_kind("tool_use").filter(speaks);
    let again = repeated(calls.filter_map(|block| Some((block.place, block.call.as_deref()?))));
    hits(again, "another call of the history has this id").collect()
}

fn text_after(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut found = Vec::new();
    for run in runs(view).iter().filter(|run| run.role == "assistant") {
        let late = run.blocks().skip_while(|block| block.kind != "tool_use").filter(|block| block.kind == "text");
        found.extend(late.map(|block| block.hit("", "text follows a call")));
        found.extend(late_texts(run));
    }
    found
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
}

fn illegal_id(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let what = "the id has other characters than letters, digits, `_` and `-`";
    let blocks = view.of_kind("tool_use").chain(view.of_kind("tool_result"));
    let wrong = blocks.filter(|block| !block.call.as_deref().is_some_and(is_word));
    wrong.map(|block| block.hit(call_key(&block.kind).unwrap_or_default(), what)).collect()
}

fn illegal_name(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let legal = |object: &Node<'_>| object.get_str("name").is_some_and(|name| is_word(&name) && name.len() <= 128);
    let what = "the name has other characters than letters, digits, `_` and `-`, or is too long";
    let calls = view.of_kind("tool_use").filter(|block| !legal(block.node));
    let mut found: Vec<_> = calls.map(|block| block.hit("name", what)).collect();
    for (index, tool) in items(view.body, "tools").iter().enumerate() {
        let wrong = tool.get("input_schema").is_some() && !legal(tool);
        found.extend(RequestView::hit_if(wrong, &format!("tools[{index}].name"), what));
    }
    found
}

fn bad_input(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let wrong = view.of_kind("tool_use").filter(|block| !block.node.get("input").is_some_and(Node::is_object));
    wrong.map(|block| block.hit("input", "the arguments are no object")).collect()
}

fn misplaced(view: &RequestView<'_, '_>, kind: &str, wanted: &str) -> Vec<Hit> {
    let wrong = view.of_kind(kind).filter(|block| view.role_of(block) != wanted);
    let what = |block: &Block<'_, '_>| format!("it stands in a message of role `{}`", view.role_of(block));
    wrong.map(|block| block.hit("", what(block))).collect()
}

fn call_role(view: &RequestView<'_, '_>) -> Vec<Hit> {
    misplaced(view, "tool_use", "assistant")
}

fn result_role(view: &RequestView<'_, '_>) -> Vec<Hit> {
    misplaced(view, "tool_result", "user")
}

fn schema(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut found = Vec::new();
    for (index, tool) in items(view.body, "tools").iter().enumerate() {
        let Some(schema) = tool.get("input_schema") else { continue };
        let is_object = schema.get_str("type").as_deref() == Some("object");
        let what = "the arguments are not described as an object";
        found.extend(RequestView::hit_if(!is_object, &format!("tools[{index}].input_schema"), what));
    }
    found
}

fn strict_tools(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let is_strict = |tool: &&Node<'_>| tool.get("strict").and_then(Node::as_bool) == Some(true);
    let count = items(view.body, "tools").iter().filter(is_strict).count();
    RequestView::hit_if(count > 20, "tools", format!("{count} tools are strict"))
}

fn results_first(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut found = Vec::new();
    for run in runs(view).iter().filter(|run| run.role == "user") {
        let late = run.blocks().skip_while(|block| block.kind == "tool_result");
        let late = late.filter(|block| block.kind == "tool_result");
        found.extend(late.map(|block| block.hit("", "the result stands behind other content")));
    }
    found
}

fn no_tools(view: &RequestView<'_, '_>) -> Vec<Hit> {
    if !items(view.body, "tools").is_empty() {
        return Vec::new();
    }
    let used = view.blocks.iter().find(|block| call_key(&block.kind).is_some());
    let what = "the history uses tools and none is defined";
    used.map(|block| block.hit("", what)).into_iter().collect()
}
