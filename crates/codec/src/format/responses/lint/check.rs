//! What the rules look for.

use turnkeep_model::json::{Node, Text, Value};

use super::super::{FORMAT, fit, part};
use super::body::{Body, Hit, Item, Key, Kind};
use crate::models::{self, Thinks};

pub(super) fn orphans(body: &Body<'_, '_>) -> Vec<Hit> {
    if body.refers {
        return Vec::new();
    }
    body.outputs().filter(|(_, call)| call.made.is_none()).map(|(item, _)| item.hit_call()).collect()
}

pub(super) fn early_outputs(body: &Body<'_, '_>) -> Vec<Hit> {
    let early = body.outputs().filter(|(item, call)| call.made.is_some_and(|call| call > item.place));
    early.map(|(item, _)| item.hit_call()).collect()
}

pub(super) fn dangling(body: &Body<'_, '_>) -> Vec<Hit> {
    if body.has_references {
        return Vec::new();
    }
    let calls = body.items.iter().filter(|item| item.is_call());
    calls.filter(|item| body.call(item).outputs == 0).map(Item::hit_call).collect()
}

pub(super) fn repeated_outputs(body: &Body<'_, '_>) -> Vec<Hit> {
    let most = |calls: usize| calls.max(1);
    if body.calls.iter().all(|call| call.outputs <= most(call.calls)) {
        return Vec::new();
    }
    let mut seen = vec![0; body.calls.len()];
    let repeated = body.outputs().filter(|(item, call)| {
        let Some(count) = seen.get_mut(item.call) else { return false };
        *count += 1;
        *count > most(call.calls)
    });
    repeated.map(|(item, _)| item.hit_call()).collect()
}

/// Calls that something else follows before their outputs.
pub(super) fn interleaved(body: &Body<'_, '_>) -> Vec<Hit> {
    let mut open: Vec<&Item<'_, '_>> = Vec::new();
    let mut hits = Vec::new();
    for item in &body.items {
        if item.is_call() {
            open.push(item);
        } else if item.is_output() {
            open.retain(|call| call.call != item.call);
        } else if item.kind == Kind::Message {
            hits.extend(open.drain(..).map(Item::hit_call));
        }
    }
    hits
}

/// What reasoning led to must follow it, and with its id where the vendor looks it up by that.
pub(super) fn reasoning_without_follower(body: &Body<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let is_reasoning = |item: &Item<'_, '_>| item.kind == Kind::Reasoning;
    for (index, item) in body.items.iter().enumerate().filter(|(_, item)| is_reasoning(item) && item.has(Key::Id)) {
        let follower = body.items.iter().skip(index + 1).find(|next| !is_reasoning(next));
        let by_id = !(body.is_stateless() && item.has(Key::Encrypted));
        if !follower.is_some_and(|next| next.is_answer && (next.has(Key::Id) || !by_id)) {
            hits.push(item.hit("", item.text(Key::Id)));
        }
    }
    hits
}

/// A call that thinking led to names it by its id. Which calls are such cannot be seen: where the model thinks, it is
/// likely.
pub(super) fn call_without_reasoning(body: &Body<'_, '_>) -> Vec<Hit> {
    if body.refers || !(always_thinks(body) || is_told_to_think(body)) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    let mut thought = false;
    for item in &body.items {
        match item.kind {
            Kind::Reasoning => thought = true,
            Kind::Call if item.has(Key::Id) && !thought => hits.push(item.hit("id", item.text(Key::Id))),
            Kind::Message if !item.is_answer => thought = false,
            _ => {}
        }
    }
    hits
}

/// Whether the model cannot be told not to think. Later ones can.
fn always_thinks(body: &Body<'_, '_>) -> bool {
    models::of(FORMAT, Some(body.profile.name), &body.model).row.thinks == Thinks::Always
}

fn is_told_to_think(body: &Body<'_, '_>) -> bool {
    let effort = body.node.get("reasoning").and_then(|reasoning| reasoning.get_str("effort"));
    effort.is_some_and(|effort| effort != "none") || body.of_kind(Kind::Reasoning).next().is_some()
}

pub(super) fn reasoning_without_content(body: &Body<'_, '_>) -> Vec<Hit> {
    let reads_text = !body.profile.reasoning_needs_follower;
    let is_kept =
        |item: &&Item<'_, '_>| item.has(Key::Id) && !body.is_stateless() || item.has(Key::Content) && reads_text;
    let bare = body.of_kind(Kind::Reasoning).filter(|item| !item.has(Key::Encrypted) && !is_kept(item));
    bare.map(|item| item.hit("encrypted_content", item.text(Key::Id))).collect()
}

pub(super) fn reasoning_without_summary(body: &Body<'_, '_>) -> Vec<Hit> {
    let has_summary = |item: &&Item<'_, '_>| item.get(Key::Summary).and_then(Node::as_array).is_some();
    body.of_kind(Kind::Reasoning).filter(|item| !has_summary(item)).map(|item| item.hit_at("summary")).collect()
}

pub(super) fn references_without_store(body: &Body<'_, '_>) -> Vec<Hit> {
    if !body.is_stateless() {
        return Vec::new();
    }
    body.of_kind(Kind::Reference).map(|item| item.hit("id", item.text(Key::Id))).collect()
}

pub(super) fn id_lengths(body: &Body<'_, '_>) -> Vec<Hit> {
    let longest = body.profile.longest_call_id;
    let mut hits = Vec::new();
    for item in &body.items {
        let needs_id = item.is_call() || item.is_output();
        for key in [Key::CallId, Key::Id] {
            let Some(id) = item.get(key).and_then(Node::as_str) else { continue };
            let is_empty = id.is_empty() && (key == Key::Id || needs_id);
            let is_long = id.len() > longest && id.chars().count() > longest && (key == Key::CallId || needs_id);
            if is_empty || is_long {
                hits.push(item.hit_at(key.name()));
            }
        }
    }
    hits
}

pub(super) fn id_beginnings(body: &Body<'_, '_>) -> Vec<Hit> {
    let begins = |item: &Item<'_, '_>| match item.kind {
        Kind::Reasoning => Some("rs"),
        Kind::Call => Some("fc"),
        Kind::CustomCall => Some("ctc"),
        Kind::Message if item.is_answer => Some("msg"),
        _ => None,
    };
    let wrong = |item: &&Item<'_, '_>| {
        let id = item.text(Key::Id);
        !id.is_empty() && begins(item).is_some_and(|begins| !id.starts_with(begins))
    };
    body.items.iter().filter(wrong).map(|item| item.hit_at("id")).collect()
}

pub(super) fn incomplete_calls(body: &Body<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for item in &body.items {
        let needed: &[Key] = match item.kind {
            Kind::Call => &[Key::CallId, Key::Name, Key::Arguments],
            Kind::CustomCall => &[Key::CallId, Key::Name, Key::Input],
            Kind::Output | Kind::CustomOutput => &[Key::CallId],
            Kind::Message | Kind::Reasoning | Kind::Reference | Kind::Other => &[],
        };
        let missing = needed.iter().filter(|key| !is_text(item.get(**key)));
        hits.extend(missing.map(|key| item.hit_at(key.name())));
        if item.is_output() && !item.has(Key::Output) {
            hits.push(item.hit_at("output"));
        }
    }
    hits
}

pub(super) fn names(body: &Body<'_, '_>) -> Vec<Hit> {
    let wrong =
        |name: &str| name.is_empty() || !name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'));
    let named = |item: &&Item<'_, '_>| item.get(Key::Name).and_then(Node::as_str).is_some_and(|name| wrong(&name));
    let calls = body.of_kind(Kind::Call).filter(named).map(|item| item.hit_at("name"));
    let functions = body.tools().filter(|(_, tool)| is(tool, "type", "function"));
    let tools = functions.filter(|(_, tool)| wrong(&tool.get_str("name").unwrap_or_default()));
    let tools = tools.map(|(place, _)| at(format!("tools[{place}].name")));
    calls.chain(tools).collect()
}

fn is(object: &Node<'_>, key: &str, word: &str) -> bool {
    object.get_str(key).is_some_and(|own| own == word)
}

/// A hit that is named by its place.
fn at(at: String) -> Hit {
    Hit { subject: at.clone(), at }
}

pub(super) fn roles(body: &Body<'_, '_>) -> Vec<Hit> {
    let known = ["user", "assistant", "system", "developer"];
    let wrong = body.of_kind(Kind::Message).filter(|item| !known.contains(&&*item.text(Key::Role)));
    wrong.map(|item| item.hit("role", item.text(Key::Role))).collect()
}

pub(super) fn parts(body: &Body<'_, '_>) -> Vec<Hit> {
    let of_messages = body.parts().filter(|(item, part)| item.kind == Kind::Message && part.list == Key::Content);
    let mut hits = Vec::new();
    for (item, part) in of_messages {
        let kind = part.node.get_str("type").unwrap_or_default();
        let fits =
            if item.is_answer { matches!(&*kind, "output_text" | "refusal") } else { kind.starts_with("input_") };
        if !fits {
            hits.push(item.hit(&format!("content[{}].type", part.place), kind));
        }
    }
    hits
}

pub(super) fn empty_texts(body: &Body<'_, '_>) -> Vec<Hit> {
    let whole = body.of_kind(Kind::Message).filter(|item| is_empty(item.get(Key::Content)));
    let whole = whole.map(|item| item.hit_at("content"));
    let parts = body.parts().filter(|(item, part)| {
        item.kind == Kind::Message && part.list == Key::Content && is_empty(part.node.get("text"))
    });
    whole.chain(parts.map(|(item, part)| item.hit_at(&format!("content[{}].text", part.place)))).collect()
}

fn is_empty(text: Option<&Node<'_>>) -> bool {
    text.and_then(Node::as_text).is_some_and(Text::is_empty)
}

fn is_text(value: Option<&Node<'_>>) -> bool {
    value.and_then(Node::as_text).is_some_and(Text::is_whole)
}

pub(super) fn no_input(body: &Body<'_, '_>) -> Vec<Hit> {
    let given = match body.node.get("input").map(|input| &input.value) {
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Text(_)) => true,
        _ => false,
    };
    let has = given || body.refers;
    if has { Vec::new() } else { vec![at("input".to_owned())] }
}

pub(super) fn files(body: &Body<'_, '_>) -> Vec<Hit> {
    let unreadable = body.parts().filter(|(_, part)| is_unreadable(part.node));
    unreadable.map(|(item, part)| item.hit_at(&format!("{}[{}].file_data", part.list.name(), part.place))).collect()
}

fn is_unreadable(content: &Node<'_>) -> bool {
    let Some(data) = content.get_str("file_data") else { return false };
    let kind = part::data_url(&data).map_or("", |(kind, _)| kind);
    ["audio/", "video/"].iter().any(|start| kind.starts_with(start))
}

pub(super) fn strict_schemas(body: &Body<'_, '_>) -> Vec<Hit> {
    let strict = body.tools().filter(|(_, tool)| tool.get("strict").and_then(Node::as_bool) == Some(true));
    let wrong = strict
        .filter(|(_, tool)| tool.get("parameters").is_some_and(|schema| !fit::is_strict(&schema.clone().into_json())));
    let name = |tool: &Node<'_>| tool.get_str("name").unwrap_or_default().into_owned();
    wrong.map(|(place, tool)| Hit { at: format!("tools[{place}].parameters"), subject: name(tool) }).collect()
}

pub(super) fn temperature(body: &Body<'_, '_>) -> Vec<Hit> {
    let number = body.node.get("temperature").and_then(Node::as_number);
    let wrong = number.filter(|number| !(0.0..=2.0).contains(&number.as_f64()));
    wrong.map(|number| Hit { at: "temperature".to_owned(), subject: number.to_string() }).into_iter().collect()
}
