//! What the rules look for.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use turnkeep_model::json::{Node, Text, Value};

use super::super::{fit, part};
use super::body::{Body, Hit, Item};

/// The place of the first call with each id.
fn calls<'b>(body: &Body<'b, '_>) -> HashMap<Cow<'b, str>, usize> {
    let mut places = HashMap::new();
    for item in body.items.iter().filter(|item| item.is_answer && item.has("call_id")) {
        places.entry(item.call.clone()).or_insert(item.place);
    }
    places
}

pub(super) fn orphans(body: &Body<'_, '_>) -> Vec<Hit> {
    if body.refers {
        return Vec::new();
    }
    let calls = calls(body);
    let outputs = body.items.iter().filter(|item| item.is_output());
    let orphans = outputs.filter(|item| !calls.contains_key(&item.call));
    orphans.map(|item| item.hit("call_id", item.call.clone())).collect()
}

pub(super) fn early_outputs(body: &Body<'_, '_>) -> Vec<Hit> {
    let calls = calls(body);
    let outputs = body.items.iter().filter(|item| item.is_output());
    let early = outputs.filter(|item| calls.get(&item.call).is_some_and(|call| *call > item.place));
    early.map(|item| item.hit("call_id", item.call.clone())).collect()
}

pub(super) fn dangling(body: &Body<'_, '_>) -> Vec<Hit> {
    if body.has_references {
        return Vec::new();
    }
    let answered: HashSet<Cow<'_, str>> =
        body.items.iter().filter(|item| item.is_output()).map(|item| item.call.clone()).collect();
    let calls = body.items.iter().filter(|item| item.is_call());
    let open = calls.filter(|item| !answered.contains(&item.call));
    open.map(|item| item.hit("call_id", item.call.clone())).collect()
}

pub(super) fn repeated_outputs(body: &Body<'_, '_>) -> Vec<Hit> {
    let calls = body.items.iter().filter(|item| item.is_call()).fold(HashMap::new(), |mut counts, item| {
        *counts.entry(item.call.clone()).or_insert(0usize) += 1;
        counts
    });
    let mut seen: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let outputs = body.items.iter().filter(|item| item.is_output());
    let repeated = outputs.filter(|item| {
        let count = seen.entry(item.call.clone()).or_default();
        *count += 1;
        *count > calls.get(&item.call).copied().unwrap_or(1)
    });
    repeated.map(|item| item.hit("call_id", item.call.clone())).collect()
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
        } else if item.kind == "message" {
            hits.extend(open.drain(..).map(|call| call.hit("call_id", call.call.clone())));
        }
    }
    hits
}

/// What reasoning led to must follow it, and with its id where the vendor looks it up by that.
pub(super) fn reasoning_without_follower(body: &Body<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, item) in body.items.iter().enumerate().filter(|(_, item)| item.kind == "reasoning" && item.has("id")) {
        let follower = body.items.iter().skip(index + 1).find(|next| next.kind != "reasoning");
        let by_id = !(body.is_stateless() && item.has("encrypted_content"));
        if !follower.is_some_and(|next| next.is_answer && (next.has("id") || !by_id)) {
            hits.push(item.hit("", item.text("id")));
        }
    }
    hits
}

/// A call that thinking led to names it by its id. Which calls are such cannot be seen: where the model thinks, it is
/// likely.
pub(super) fn call_without_reasoning(body: &Body<'_, '_>) -> Vec<Hit> {
    if body.refers || !(fit::always_thinks(&body.model) || is_told_to_think(body)) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    let mut thought = false;
    for item in &body.items {
        match &*item.kind {
            "reasoning" => thought = true,
            "function_call" if item.has("id") && !thought => hits.push(item.hit("id", item.text("id"))),
            "message" if !item.is_answer => thought = false,
            _ => {}
        }
    }
    hits
}

fn is_told_to_think(body: &Body<'_, '_>) -> bool {
    let effort = body.node.get("reasoning").and_then(|reasoning| reasoning.get_str("effort"));
    effort.is_some_and(|effort| effort != "none") || body.of_kind(&["reasoning"]).next().is_some()
}

pub(super) fn reasoning_without_content(body: &Body<'_, '_>) -> Vec<Hit> {
    let reads_text = !body.profile.reasoning_needs_follower;
    let is_kept = |item: &&Item<'_, '_>| item.has("id") && !body.is_stateless() || item.has("content") && reads_text;
    let bare = body.of_kind(&["reasoning"]).filter(|item| !item.has("encrypted_content") && !is_kept(item));
    bare.map(|item| item.hit("encrypted_content", item.text("id"))).collect()
}

pub(super) fn reasoning_without_summary(body: &Body<'_, '_>) -> Vec<Hit> {
    let bare = body.of_kind(&["reasoning"]).filter(|item| item.node.get("summary").and_then(Node::as_array).is_none());
    bare.map(|item| item.hit("summary", format!("input[{}].summary", item.place))).collect()
}

pub(super) fn references_without_store(body: &Body<'_, '_>) -> Vec<Hit> {
    if !body.is_stateless() {
        return Vec::new();
    }
    body.of_kind(&["item_reference"]).map(|item| item.hit("id", item.text("id"))).collect()
}

pub(super) fn id_lengths(body: &Body<'_, '_>) -> Vec<Hit> {
    let longest = body.profile.longest_call_id;
    let mut hits = Vec::new();
    for item in &body.items {
        let needs_id = item.is_call() || item.is_output();
        for key in ["call_id", "id"] {
            let Some(id) = item.node.get_str(key) else { continue };
            let is_empty = id.is_empty() && (key == "id" || needs_id);
            let is_long = id.chars().count() > longest && (key == "call_id" || needs_id);
            if is_empty || is_long {
                hits.push(item.hit(key, format!("input[{}].{key}", item.place)));
            }
        }
    }
    hits
}

pub(super) fn id_beginnings(body: &Body<'_, '_>) -> Vec<Hit> {
    let begins = |item: &Item<'_, '_>| match &*item.kind {
        "reasoning" => Some("rs"),
        "function_call" => Some("fc"),
        "custom_tool_call" => Some("ctc"),
        "message" if item.is_answer => Some("msg"),
        _ => None,
    };
    let wrong = |item: &&Item<'_, '_>| {
        let id = item.text("id");
        begins(item).is_some_and(|begins| !id.is_empty() && !id.starts_with(begins))
    };
    body.items.iter().filter(wrong).map(|item| item.hit("id", format!("input[{}].id", item.place))).collect()
}

pub(super) fn incomplete_calls(body: &Body<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for item in &body.items {
        let needed: &[&str] = match &*item.kind {
            "function_call" => &["call_id", "name", "arguments"],
            "custom_tool_call" => &["call_id", "name", "input"],
            "function_call_output" | "custom_tool_call_output" => &["call_id"],
            _ => &[],
        };
        let missing = needed.iter().filter(|key| !is_text(item.node.get(key)));
        hits.extend(missing.map(|key| item.hit(key, format!("input[{}].{key}", item.place))));
        if item.is_output() && !item.has("output") {
            hits.push(item.hit("output", format!("input[{}].output", item.place)));
        }
    }
    hits
}

pub(super) fn names(body: &Body<'_, '_>) -> Vec<Hit> {
    let wrong =
        |name: &str| name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let calls =
        body.of_kind(&["function_call"]).filter(|item| item.node.get_str("name").is_some_and(|name| wrong(&name)));
    let calls = calls.map(|item| item.hit("name", format!("input[{}].name", item.place)));
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
    let known = ["assistant", "system", "developer", "user"];
    let wrong = body.of_kind(&["message"]).filter(|item| !known.contains(&&*item.text("role")));
    wrong.map(|item| item.hit("role", item.text("role"))).collect()
}

pub(super) fn parts(body: &Body<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for item in body.of_kind(&["message"]) {
        for (place, part) in item.parts("content") {
            let kind = part.get_str("type").unwrap_or_default();
            let fits =
                if item.is_answer { matches!(&*kind, "output_text" | "refusal") } else { kind.starts_with("input_") };
            if !fits {
                hits.push(item.hit(&format!("content[{place}].type"), kind));
            }
        }
    }
    hits
}

pub(super) fn empty_texts(body: &Body<'_, '_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for item in body.of_kind(&["message"]) {
        if is_empty(item.node.get("content")) {
            hits.push(item.hit("content", format!("input[{}].content", item.place)));
        }
        for (place, _) in item.parts("content").filter(|(_, part)| is_empty(part.get("text"))) {
            let field = format!("content[{place}].text");
            hits.push(item.hit(&field, format!("input[{}].{field}", item.place)));
        }
    }
    hits
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
    let mut hits = Vec::new();
    for item in &body.items {
        for key in ["content", "output"] {
            for (place, _) in item.parts(key).filter(|(_, part)| is_unreadable(part)) {
                let field = format!("{key}[{place}].file_data");
                hits.push(item.hit(&field, format!("input[{}].{field}", item.place)));
            }
        }
    }
    hits
}

fn is_unreadable(content: &Node<'_>) -> bool {
    let data = content.get_str("file_data").unwrap_or_default();
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

pub(super) fn effort(body: &Body<'_, '_>) -> Vec<Hit> {
    let word = body.node.get("reasoning").and_then(|reasoning| reasoning.get_str("effort"));
    let wrong = word.filter(|word| !matches!(&**word, "low" | "medium" | "high"));
    wrong.map(|word| Hit { at: "reasoning.effort".to_owned(), subject: word.into_owned() }).into_iter().collect()
}
