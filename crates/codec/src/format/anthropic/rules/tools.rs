//! Rules on calls, results and tools.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Object};

use super::super::lint::{error, warning};
use super::content::{blocks, is, role};
use crate::wire::rule::{Evidence, Rule, items};

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

/// One side's messages in a row: the vendor takes them as one.
struct Run<'a> {
    role: String,
    blocks: Vec<(String, &'a Object)>,
}

fn runs(body: &Object) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for (index, message) in items(body, "messages").iter().enumerate() {
        let (Some(role), Some(object)) = (role(message), message.as_object()) else { continue };
        if role == "system" {
            continue;
        }
        let blocks = items(object, "content").iter().enumerate();
        let blocks = blocks
            .filter_map(|(place, block)| Some((format!("messages[{index}].content[{place}]"), block.as_object()?)));
        match runs.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => runs.push(Run { role, blocks: blocks.collect() }),
        }
    }
    runs
}

impl Run<'_> {
    fn ids(&self, kind: &'static str, key: &'static str) -> impl Iterator<Item = (&str, String)> {
        let ours = self.blocks.iter().filter(move |(_, block)| is(block, kind));
        ours.filter_map(move |(at, block)| Some((at.as_str(), block.get_str(key)?.into_owned())))
    }

    fn calls(&self) -> impl Iterator<Item = (&str, String)> {
        self.ids("tool_use", "id")
    }

    fn results(&self) -> impl Iterator<Item = (&str, String)> {
        self.ids("tool_result", "tool_use_id")
    }
}

fn dangling(body: &Object) -> Vec<(String, String)> {
    let runs = runs(body);
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.role == "assistant") {
        let answered: HashSet<String> =
            runs.get(index + 1).map(|next| next.results().map(|(_, id)| id).collect()).unwrap_or_default();
        let open = run.calls().filter(|(_, id)| !answered.contains(id));
        found.extend(open.map(|(at, _)| (at.to_owned(), "the call has no result in the next message".to_owned())));
    }
    found
}

fn orphan(body: &Object) -> Vec<(String, String)> {
    let runs = runs(body);
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.role == "user") {
        let before = index.checked_sub(1).and_then(|before| runs.get(before));
        let called: HashSet<String> = before.map(|run| run.calls().map(|(_, id)| id).collect()).unwrap_or_default();
        let lost = run.results().filter(|(_, id)| !called.contains(id));
        found.extend(lost.map(|(at, _)| (at.to_owned(), "it answers no call of the message before".to_owned())));
    }
    found
}

fn repeats<'a>(ids: impl Iterator<Item = (&'a str, String)>, what: &str) -> Vec<(String, String)> {
    let mut seen = HashSet::new();
    ids.filter(|(_, id)| !seen.insert(id.clone())).map(|(at, _)| (at.to_owned(), what.to_owned())).collect()
}

fn repeated_result(body: &Object) -> Vec<(String, String)> {
    runs(body).iter().flat_map(|run| repeats(run.results(), "the call has another result already")).collect()
}

fn repeated_id(body: &Object) -> Vec<(String, String)> {
    runs(body).iter().flat_map(|run| repeats(run.calls(), "another call of the message has this id")).collect()
}

fn repeated_over_turns(body: &Object) -> Vec<(String, String)> {
    let runs = runs(body);
    repeats(runs.iter().flat_map(Run::calls), "another call of the history has this id")
}

fn text_after(body: &Object) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for run in runs(body).iter().filter(|run| run.role == "assistant") {
        let Some(first) = run.blocks.iter().position(|(_, block)| is(block, "tool_use")) else { continue };
        let late = run.blocks.iter().skip(first).filter(|(_, block)| is(block, "text"));
        found.extend(late.map(|(at, _)| (at.clone(), "text follows a call".to_owned())));
    }
    found
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn illegal_id(body: &Object) -> Vec<(String, String)> {
    let key = |block: &Object| match block.get_str("type").as_deref() {
        Some("tool_use") => Some("id"),
        Some("tool_result") => Some("tool_use_id"),
        _ => None,
    };
    let ids =
        blocks(body).filter_map(|(at, _, block)| key(block).map(|key| (format!("{at}.{key}"), block.get_str(key))));
    let wrong = ids.filter(|(_, id)| !id.as_deref().is_some_and(is_word));
    wrong.map(|(at, _)| (at, "the id has other characters than letters, digits, `_` and `-`".to_owned())).collect()
}

fn illegal_name(body: &Object) -> Vec<(String, String)> {
    let legal = |object: &Object| object.get_str("name").is_some_and(|name| is_word(&name) && name.len() <= 128);
    let what = "the name has other characters than letters, digits, `_` and `-`, or is too long".to_owned();
    let calls = blocks(body).filter(|(_, _, block)| is(block, "tool_use") && !legal(block));
    let mut found: Vec<_> = calls.map(|(at, _, _)| (format!("{at}.name"), what.clone())).collect();
    for (index, tool) in items(body, "tools").iter().enumerate() {
        let custom = tool.as_object().filter(|tool| tool.contains("input_schema"));
        if custom.is_some_and(|tool| !legal(tool)) {
            found.push((format!("tools[{index}].name"), what.clone()));
        }
    }
    found
}

fn bad_input(body: &Object) -> Vec<(String, String)> {
    let calls = blocks(body).filter(|(_, _, block)| is(block, "tool_use"));
    let wrong = calls.filter(|(_, _, block)| !matches!(block.get("input"), Some(Json::Object(_))));
    wrong.map(|(at, _, _)| (format!("{at}.input"), "the arguments are no object".to_owned())).collect()
}

fn misplaced(body: &Object, kind: &str, wanted: &str) -> Vec<(String, String)> {
    let wrong = blocks(body).filter(|(_, role, block)| is(block, kind) && role != wanted);
    wrong.map(|(at, role, _)| (at, format!("it stands in a message of role `{role}`"))).collect()
}

fn call_role(body: &Object) -> Vec<(String, String)> {
    misplaced(body, "tool_use", "assistant")
}

fn result_role(body: &Object) -> Vec<(String, String)> {
    misplaced(body, "tool_result", "user")
}

fn schema(body: &Object) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (index, tool) in items(body, "tools").iter().enumerate() {
        let Some(schema) = tool.as_object().and_then(|tool| tool.get("input_schema")) else { continue };
        let is_object = schema.as_object().and_then(|schema| schema.get_str("type")).as_deref() == Some("object");
        if !is_object {
            found.push((
                format!("tools[{index}].input_schema"),
                "the arguments are not described as an object".to_owned(),
            ));
        }
    }
    found
}

fn strict_tools(body: &Object) -> Vec<(String, String)> {
    let is_strict = |tool: &&Json| tool.as_object().and_then(|tool| tool.get("strict")) == Some(&Json::Bool(true));
    let count = items(body, "tools").iter().filter(is_strict).count();
    (count > 20).then(|| ("tools".to_owned(), format!("{count} tools are strict"))).into_iter().collect()
}

fn results_first(body: &Object) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for run in runs(body).iter().filter(|run| run.role == "user") {
        let Some(other) = run.blocks.iter().position(|(_, block)| !is(block, "tool_result")) else { continue };
        let late = run.blocks.iter().skip(other).filter(|(_, block)| is(block, "tool_result"));
        found.extend(late.map(|(at, _)| (at.clone(), "the result stands behind other content".to_owned())));
    }
    found
}

fn no_tools(body: &Object) -> Vec<(String, String)> {
    let used = blocks(body).find(|(_, _, block)| is(block, "tool_use") || is(block, "tool_result"));
    let missing = used.filter(|_| items(body, "tools").is_empty());
    missing.map(|(at, _, _)| (at, "the history uses tools and none is defined".to_owned())).into_iter().collect()
}
