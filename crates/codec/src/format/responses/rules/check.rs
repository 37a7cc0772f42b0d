//! What the rules look for.

use std::collections::HashMap;

use turnkeep_model::json::{Node, Text, Value};

use super::super::{FORMAT, fit, part};
use super::items::{
    ItemKind, all, call_id, has, has_references, hit_at, hit_call, is_answer, is_stateless, model, of_kind, pairs,
    profile, refers, text, tools,
};
use crate::lint::rule::Hit;
use crate::lint::view::{Block, Message as Item, Paired, RequestView};
use crate::models::{self, Thinks};

/// The outputs for which something is wrong with what is known of their calls.
fn outputs(view: &RequestView<'_, '_>, mut wrong: impl FnMut(&Item<'_, '_>, Paired) -> bool) -> Vec<Hit> {
    let pairs = pairs(view);
    let outputs = all(view).filter(|(kind, _)| kind.is_output()).map(|(_, item)| item);
    let paired = |item: &Item<'_, '_>| pairs.get(call_id(item)).copied().unwrap_or_default();
    outputs.filter(|item| wrong(item, paired(item))).map(hit_call).collect()
}

pub(super) fn orphans(view: &RequestView<'_, '_>) -> Vec<Hit> {
    if refers(view) { Vec::new() } else { outputs(view, |_, call| call.made.is_none()) }
}

pub(super) fn early_outputs(view: &RequestView<'_, '_>) -> Vec<Hit> {
    outputs(view, |item, call| call.made.is_some_and(|made| made > item.index))
}

pub(super) fn dangling(view: &RequestView<'_, '_>) -> Vec<Hit> {
    if has_references(view) {
        return Vec::new();
    }
    let pairs = pairs(view);
    let calls = all(view).filter(|(kind, _)| kind.is_call()).map(|(_, item)| item);
    calls.filter(|item| pairs.get(call_id(item)).is_none_or(|pair| pair.outputs == 0)).map(hit_call).collect()
}

pub(super) fn repeated_outputs(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    outputs(view, |item, call| {
        let most = call.calls.max(1);
        if call.outputs <= most {
            return false;
        }
        let count = seen.entry(call_id(item).to_owned()).or_default();
        *count += 1;
        *count > most
    })
}

/// Calls that something else follows before their outputs.
pub(super) fn interleaved(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut open: Vec<&Item<'_, '_>> = Vec::new();
    let mut hits = Vec::new();
    for (kind, item) in all(view) {
        if kind.is_call() {
            open.push(item);
        } else if kind.is_output() {
            open.retain(|call| call_id(call) != call_id(item));
        } else if kind == ItemKind::Message {
            hits.extend(open.drain(..).map(hit_call));
        }
    }
    hits
}

/// What reasoning led to must follow it, and with its id where the vendor looks it up by that.
pub(super) fn reasoning_without_follower(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    // The reasoning that nothing else has followed yet.
    let mut waiting: Vec<&Item<'_, '_>> = Vec::new();
    let lacks = |item: &Item<'_, '_>, is_answer: bool, has_id: bool| {
        let by_id = !(is_stateless(view) && has(item.node, "encrypted_content"));
        !(is_answer && (has_id || !by_id))
    };
    for (kind, item) in all(view) {
        if kind == ItemKind::Reasoning {
            waiting.extend(has(item.node, "id").then_some(item));
            continue;
        }
        let (answers, has_id) = (is_answer(kind, item), has(item.node, "id"));
        hits.extend(waiting.drain(..).filter(|item| lacks(item, answers, has_id)));
    }
    hits.extend(waiting);
    hits.into_iter().map(|item| item.hit("", text(item, "id"))).collect()
}

/// A call that thinking led to names it by its id. Which calls are such cannot be seen: where the model thinks, it is
/// likely.
pub(super) fn call_without_reasoning(view: &RequestView<'_, '_>) -> Vec<Hit> {
    if refers(view) || !(always_thinks(view) || is_told_to_think(view)) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    let mut thought = false;
    for (kind, item) in all(view) {
        match kind {
            ItemKind::Reasoning => thought = true,
            ItemKind::Call if has(item.node, "id") && !thought => hits.push(item.hit("id", text(item, "id"))),
            ItemKind::Message if !is_answer(kind, item) => thought = false,
            _ => {}
        }
    }
    hits
}

/// Whether the model cannot be told not to think. Later ones can.
fn always_thinks(view: &RequestView<'_, '_>) -> bool {
    models::of(FORMAT, view.dialect, &model(view)).row.thinks == Thinks::Always
}

fn is_told_to_think(view: &RequestView<'_, '_>) -> bool {
    let effort = view.body.get("reasoning").and_then(|reasoning| reasoning.get_str("effort"));
    effort.is_some_and(|effort| effort != "none") || of_kind(view, ItemKind::Reasoning).next().is_some()
}

pub(super) fn reasoning_without_content(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let reads_text = !profile(view).reasoning_needs_follower;
    let is_kept =
        |item: &&Item<'_, '_>| has(item.node, "id") && !is_stateless(view) || has(item.node, "content") && reads_text;
    let reasoning = of_kind(view, ItemKind::Reasoning);
    let bare = reasoning.filter(|item| !has(item.node, "encrypted_content") && !is_kept(item));
    bare.map(|item| item.hit("encrypted_content", text(item, "id"))).collect()
}

pub(super) fn reasoning_without_summary(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let has_summary = |item: &&Item<'_, '_>| item.node.get("summary").and_then(Node::as_array).is_some();
    let bare = of_kind(view, ItemKind::Reasoning).filter(|item| !has_summary(item));
    bare.map(|item| hit_at(item, "summary")).collect()
}

pub(super) fn references_without_store(view: &RequestView<'_, '_>) -> Vec<Hit> {
    if !is_stateless(view) {
        return Vec::new();
    }
    of_kind(view, ItemKind::Reference).map(|item| item.hit("id", text(item, "id"))).collect()
}

pub(super) fn id_lengths(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let longest = profile(view).longest_call_id;
    let mut hits = Vec::new();
    for (kind, item) in all(view) {
        let needs_id = kind.is_call() || kind.is_output();
        for key in ["call_id", "id"] {
            let Some(id) = item.node.get_str(key) else { continue };
            let is_empty = id.is_empty() && (key == "id" || needs_id);
            let is_long = id.len() > longest && id.chars().count() > longest && (key == "call_id" || needs_id);
            if is_empty || is_long {
                hits.push(hit_at(item, key));
            }
        }
    }
    hits
}

pub(super) fn id_beginnings(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let begins = |kind: ItemKind, item: &Item<'_, '_>| match kind {
        ItemKind::Reasoning => Some("rs"),
        ItemKind::Call => Some("fc"),
        ItemKind::CustomCall => Some("ctc"),
        ItemKind::Message if is_answer(kind, item) => Some("msg"),
        _ => None,
    };
    let wrong = |kind: ItemKind, item: &Item<'_, '_>| {
        let id = text(item, "id");
        !id.is_empty() && begins(kind, item).is_some_and(|begins| !id.starts_with(begins))
    };
    all(view).filter(|(kind, item)| wrong(*kind, item)).map(|(_, item)| hit_at(item, "id")).collect()
}

pub(super) fn incomplete_calls(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (kind, item) in all(view) {
        let needed: &[&str] = match kind {
            ItemKind::Call => &["call_id", "name", "arguments"],
            ItemKind::CustomCall => &["call_id", "name", "input"],
            ItemKind::Output | ItemKind::CustomOutput => &["call_id"],
            ItemKind::Message | ItemKind::Reasoning | ItemKind::Reference | ItemKind::Other => &[],
        };
        let missing = needed.iter().filter(|key| !is_text(item.node.get(key)));
        hits.extend(missing.map(|key| hit_at(item, key)));
        if kind.is_output() && !has(item.node, "output") {
            hits.push(hit_at(item, "output"));
        }
    }
    hits
}

pub(super) fn names(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let wrong =
        |name: &str| name.is_empty() || !name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'));
    let named = |item: &&Item<'_, '_>| item.node.get_str("name").is_some_and(|name| wrong(&name));
    let calls = of_kind(view, ItemKind::Call).filter(named).map(|item| hit_at(item, "name"));
    let functions = tools(view).filter(|(_, tool)| tool.get_str("type").is_some_and(|kind| kind == "function"));
    let functions = functions.filter(|(_, tool)| wrong(&tool.get_str("name").unwrap_or_default()));
    let functions = functions.map(|(place, _)| at(format!("tools[{place}].name")));
    calls.chain(functions).collect()
}

/// A hit that is named by its place.
fn at(at: String) -> Hit {
    Hit { what: at.clone(), at }
}

pub(super) fn roles(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let known = ["user", "assistant", "system", "developer"];
    let wrong = of_kind(view, ItemKind::Message).filter(|item| !known.contains(&&*item.role));
    wrong.map(|item| item.hit("role", item.role.clone())).collect()
}

/// The parts of messages, each with its message.
fn message_parts<'v, 'b, 'a>(
    view: &'v RequestView<'b, 'a>,
) -> impl Iterator<Item = (&'v Item<'b, 'a>, &'v Block<'b, 'a>)> {
    let parts = view.of_kind("content").filter_map(|part| Some((view.message_of(part)?, part)));
    parts.filter(|(item, _)| item.node.is_object() && ItemKind::of(item) == ItemKind::Message)
}

pub(super) fn parts(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (item, part) in message_parts(view) {
        let kind = part.node.get_str("type").unwrap_or_default();
        let fits = match item.is("assistant") {
            true => matches!(&*kind, "output_text" | "refusal"),
            false => kind.starts_with("input_"),
        };
        if !fits {
            hits.push(part.hit("type", kind));
        }
    }
    hits
}

pub(super) fn empty_texts(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let whole = of_kind(view, ItemKind::Message).filter(|item| is_empty(item.content));
    let whole = whole.map(|item| hit_at(item, "content"));
    let parts = message_parts(view).filter(|(_, part)| is_empty(part.node.get("text")));
    whole.chain(parts.map(|(_, part)| at(format!("{}.text", part.place)))).collect()
}

fn is_empty(text: Option<&Node<'_>>) -> bool {
    text.and_then(Node::as_text).is_some_and(Text::is_empty)
}

fn is_text(value: Option<&Node<'_>>) -> bool {
    value.and_then(Node::as_text).is_some_and(Text::is_whole)
}

pub(super) fn no_input(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let given = match view.body.get("input").map(|input| &input.value) {
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Text(_)) => true,
        _ => false,
    };
    RequestView::hit_if(!given && !refers(view), "input", "input")
}

pub(super) fn files(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let unreadable = view.blocks.iter().filter(|part| is_unreadable(part.node));
    unreadable.map(|part| at(format!("{}.file_data", part.place))).collect()
}

fn is_unreadable(content: &Node<'_>) -> bool {
    let Some(data) = content.get_str("file_data") else { return false };
    let kind = part::data_url(&data).map_or("", |(kind, _)| kind);
    ["audio/", "video/"].iter().any(|start| kind.starts_with(start))
}

pub(super) fn strict_schemas(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let strict = tools(view).filter(|(_, tool)| tool.get("strict").and_then(Node::as_bool) == Some(true));
    let wrong = strict
        .filter(|(_, tool)| tool.get("parameters").is_some_and(|schema| !fit::is_strict(&schema.clone().into_json())));
    let name = |tool: &Node<'_>| tool.get_str("name").unwrap_or_default().into_owned();
    wrong.map(|(place, tool)| Hit { at: format!("tools[{place}].parameters"), what: name(tool) }).collect()
}

pub(super) fn temperature(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let number = view.body.get("temperature").and_then(Node::as_number);
    let wrong = number.filter(|number| !(0.0..=2.0).contains(&number.as_f64()));
    wrong.map(|number| Hit { at: "temperature".to_owned(), what: number.to_string() }).into_iter().collect()
}
