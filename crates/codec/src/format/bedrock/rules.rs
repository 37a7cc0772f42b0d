//! What the vendor demands of a request.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Object};

use crate::lint::Severity;
use crate::wire::rule::{Evidence, Rule, at, items};

type Found = Vec<(String, String)>;

/// What Converse demands of a request.
pub static RULES: &[Rule] = &[
    error(
        "BE-DANGLING",
        Evidence::Answer("Expected toolResult blocks at messages.2.content for the following Ids: tooluse_…"),
        "answer the call in the next message",
        dangling,
    ),
    error(
        "BE-ORPHAN",
        Evidence::Answer(
            "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
        ),
        "leave the result out, or give the call back",
        orphan,
    ),
    error(
        "BE-DUPID",
        Evidence::Stated("ids of calls are unique, by the documentation"),
        "give the calls of a message different ids",
        repeated,
    ),
    error(
        "BE-TOOLCFG",
        Evidence::Answer("The toolConfig field must be defined when using toolUse and toolResult content blocks."),
        "define the tools that the history calls",
        no_tools,
    ),
    error(
        "BE-ERREMPTY",
        Evidence::Answer(
            "The content field at messages.<n>.content.0.toolResult cannot be empty when status value is error.",
        ),
        "say what went wrong",
        empty_error,
    ),
    error(
        "BE-NOCONTENT",
        Evidence::Stated("a message has content, by the documentation"),
        "leave the message out",
        no_content,
    ),
    error("BE-BLANK", Evidence::Stated("text is not blank, as clients report"), "leave the block out", blank),
    error(
        "BE-ID",
        Evidence::Stated("ids match [a-zA-Z0-9_.:-]+ and have 1 to 64 characters, by the service model"),
        "rewrite the id in call and result",
        illegal_id,
    ),
    error(
        "BE-NAME",
        Evidence::Stated("names match [a-zA-Z0-9_-]+ and have 1 to 64 characters, by the service model"),
        "rename the tool",
        illegal_name,
    ),
    error(
        "BE-INPUT",
        Evidence::Stated("the input of a call is an object, by the documentation"),
        "give the arguments as an object",
        bad_input,
    ),
    error(
        "BE-SIG",
        Evidence::Stated("Claude takes thinking back only with its signature, by the documentation"),
        "send thinking only with the signature it came with",
        unsigned,
    ),
    warning(
        "BE-ALT",
        Evidence::Stated("the sides take turns, by the documentation; recorded requests were accepted without"),
        "merge messages of one role",
        alternate,
    ),
    warning(
        "BE-FIRST",
        Evidence::Stated("the user begins, by the documentation; recorded requests were accepted without"),
        "begin with the user",
        first,
    ),
];

const fn error(id: &'static str, evidence: Evidence, fix: &'static str, check: fn(&Object) -> Found) -> Rule {
    Rule { id, severity: Severity::Error, models: "", evidence, fix, check }
}

const fn warning(id: &'static str, evidence: Evidence, fix: &'static str, check: fn(&Object) -> Found) -> Rule {
    Rule { id, severity: Severity::Warning, models: "", evidence, fix, check }
}

fn role(message: &Json) -> String {
    message.as_object().and_then(|message| message.get_str("role")).unwrap_or_default().into_owned()
}

fn content(message: &Json) -> &[Json] {
    message.as_object().map(|message| items(message, "content")).unwrap_or_default()
}

/// The blocks of one kind in a message, with their place in it.
fn of_kind<'a>(message: &'a Json, kind: &'static str) -> impl Iterator<Item = (usize, &'a Object)> {
    let blocks = content(message).iter().enumerate();
    blocks.filter_map(move |(place, block)| Some((place, block.as_object()?.get(kind)?.as_object()?)))
}

fn ids(message: &Json, kind: &'static str) -> impl Iterator<Item = (usize, String)> {
    of_kind(message, kind).filter_map(|(place, block)| Some((place, block.get_str("toolUseId")?.into_owned())))
}

/// The places of blocks of a kind for which something is wrong.
fn each(body: &Object, kind: &'static str, field: &str, what: &str, wrong: impl Fn(&Object) -> bool) -> Found {
    let mut found = Vec::new();
    for (index, message) in items(body, "messages").iter().enumerate() {
        let blocks = of_kind(message, kind).filter(|(_, block)| wrong(block));
        found.extend(
            blocks.map(|(place, _)| (format!("messages[{index}].content[{place}].{kind}{field}"), what.to_owned())),
        );
    }
    found
}

fn dangling(body: &Object) -> Found {
    let messages = items(body, "messages");
    let mut found = Vec::new();
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| role(message) == "assistant") {
        let next = messages.get(index + 1);
        let own = ids(message, "toolResult");
        let answered: HashSet<String> =
            next.into_iter().flat_map(|next| ids(next, "toolResult")).chain(own).map(|(_, id)| id).collect();
        let open = ids(message, "toolUse").filter(|(_, id)| !answered.contains(id));
        let what = "the call has no result in the next message";
        found.extend(open.map(|(place, _)| (format!("messages[{index}].content[{place}]"), what.to_owned())));
    }
    found
}

fn orphan(body: &Object) -> Found {
    let messages = items(body, "messages");
    let mut found = Vec::new();
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| role(message) == "user") {
        let before = index.checked_sub(1).and_then(|before| messages.get(before));
        let called: HashSet<String> =
            before.into_iter().flat_map(|before| ids(before, "toolUse")).map(|(_, id)| id).collect();
        let lost = ids(message, "toolResult").filter(|(_, id)| !called.contains(id));
        let what = "it answers no call of the message before";
        found.extend(lost.map(|(place, _)| (format!("messages[{index}].content[{place}]"), what.to_owned())));
    }
    found
}

fn repeated(body: &Object) -> Found {
    let mut found = Vec::new();
    for (index, message) in items(body, "messages").iter().enumerate() {
        for kind in ["toolUse", "toolResult"] {
            let mut seen = HashSet::new();
            let again = ids(message, kind).filter(|(_, id)| !seen.insert(id.clone()));
            let what = "another block of the message has this id";
            found.extend(again.map(|(place, _)| (format!("messages[{index}].content[{place}]"), what.to_owned())));
        }
    }
    found
}

fn no_tools(body: &Object) -> Found {
    let has_tools = at(body, &["toolConfig", "tools"]).and_then(Json::as_array).is_some_and(|tools| !tools.is_empty());
    let uses = |kind| each(body, kind, "", "the history uses tools and none is defined", |_| !has_tools);
    uses("toolUse").into_iter().chain(uses("toolResult")).take(1).collect()
}

fn empty_error(body: &Object) -> Found {
    each(body, "toolResult", ".content", "an error says nothing", |result| {
        result.get_str("status").as_deref() == Some("error") && items(result, "content").is_empty()
    })
}

fn no_content(body: &Object) -> Found {
    let empty = items(body, "messages").iter().enumerate().filter(|(_, message)| content(message).is_empty());
    empty.map(|(index, _)| (format!("messages[{index}].content"), "it is empty".to_owned())).collect()
}

/// Empty text is refused, and white space where the message has nothing else.
fn blank(body: &Object) -> Found {
    let mut found = Vec::new();
    for (index, message) in items(body, "messages").iter().enumerate() {
        let blocks = content(message);
        for (place, block) in blocks.iter().enumerate() {
            let text = block.as_object().and_then(|block| block.get_str("text"));
            let is_blank = |text: &str| text.is_empty() || text.trim().is_empty() && blocks.len() == 1;
            if text.is_some_and(|text| is_blank(&text)) {
                found.push((format!("messages[{index}].content[{place}].text"), "the text is blank".to_owned()));
            }
        }
    }
    found
}

fn is_legal(text: &str, more: &[char]) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || more.contains(&c);
    (1..=64).contains(&text.len()) && text.chars().all(legal)
}

fn illegal_id(body: &Object) -> Found {
    let wrong = |block: &Object| !block.get_str("toolUseId").is_some_and(|id| is_legal(&id, &['.', ':']));
    let what = "the id is empty, too long, or has characters that the vendor refuses";
    let of = |kind| each(body, kind, ".toolUseId", what, wrong);
    of("toolUse").into_iter().chain(of("toolResult")).collect()
}

fn illegal_name(body: &Object) -> Found {
    let what = "the name is empty, too long, or has characters that the vendor refuses";
    let legal = |object: &Object| object.get_str("name").is_some_and(|name| is_legal(&name, &[]));
    let mut found = each(body, "toolUse", ".name", what, |call| !legal(call));
    let tools = at(body, &["toolConfig", "tools"]).and_then(Json::as_array).unwrap_or_default();
    for (index, tool) in tools.iter().enumerate() {
        let spec = tool.as_object().and_then(|tool| tool.get("toolSpec")?.as_object());
        if spec.is_some_and(|spec| !legal(spec)) {
            found.push((format!("toolConfig.tools[{index}].toolSpec.name"), what.to_owned()));
        }
    }
    found
}

fn bad_input(body: &Object) -> Found {
    each(body, "toolUse", ".input", "the arguments are no object", |call| {
        !matches!(call.get("input"), Some(Json::Object(_)))
    })
}

/// Claude signs its thinking; other models, where one is named, do not.
fn unsigned(body: &Object) -> Found {
    let is_unsigned = |inner: &Object| {
        let text = inner.get("reasoningText").and_then(Json::as_object);
        text.is_some_and(|text| text.get_str("signature").is_none_or(|signature| signature.is_empty()))
    };
    let signs = body.get_str("modelId").is_none_or(|model| model.contains("claude"));
    each(body, "reasoningContent", "", "thinking has no signature", |inner| signs && is_unsigned(inner))
}

fn alternate(body: &Object) -> Found {
    let messages = items(body, "messages");
    let pairs = messages.windows(2).enumerate().filter(|(_, pair)| matches!(pair, [a, b] if role(a) == role(b)));
    pairs.map(|(index, _)| (format!("messages[{}].role", index + 1), "the same side speaks again".to_owned())).collect()
}

fn first(body: &Object) -> Found {
    let wrong = items(body, "messages").first().is_some_and(|first| role(first) == "assistant");
    wrong.then(|| ("messages[0].role".to_owned(), "the assistant speaks first".to_owned())).into_iter().collect()
}
