//! From sessions to documents.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Node, Text, Value};
use turnkeep_model::{Body, CallId, Session, Status, Usage, status as states};

use super::compose::{self, System};
use super::tree::{self, Kept, Maker};
use super::{FORMAT, java, options, status, usage};
use crate::codec::Mode;

/// The state of a session.
pub(super) fn state<'s>(session: &'s Session, standing: &'s Status, mode: Mode) -> Node<'s> {
    let kept = Kept::of(&session.extra, mode);
    let (system, messages) = compose::messages(session, System::Apart, mode);
    let mut maker = Maker::new(kept);
    maker.set("conversation", conversation(messages, kept));
    maker.choose("initialQuery", session.initial_query.as_deref().map(tree::text), Some(tree::null()));
    maker.set("status", status::write(standing, kept));
    maker.set("logs", tree::array(session.logs.iter().map(|line| tree::text(line))));
    maker.choose("systemMessage", system.map(tree::text), Some(tree::null()));
    maker.set("completionOptions", options::write(&session.options, mode));
    let summary = usage::write(&session.usage, mode);
    let (used, unused) = if session.usage == Usage::default() { (None, Some(summary)) } else { (Some(summary), None) };
    maker.choose("usageSummary", used, unused);
    spelled(maker.finish(), mode)
}

/// The session file of a session.
pub(super) fn session<'s>(session: &'s Session, standing: &'s Status, mode: Mode) -> Node<'s> {
    let kept = Kept::of(&session.extra, mode);
    let directory = session.extra.fields(FORMAT).and_then(|fields| fields.get("sessionDir")).map(Json::to_node);
    let created = session.timing.created.as_ref();
    let own = created.filter(|_| kept.spelled("created").is_some()).map(|time| time.as_str().to_owned());
    let created = own.or_else(|| created.and_then(java::local_time));
    let mut maker = Maker::new(kept);
    maker.set("sessionId", tree::text(session.id.as_ref().map_or("", |id| id.as_str())));
    maker.set("sessionDir", directory.unwrap_or_else(|| tree::text("")));
    maker.set("created", created.map_or_else(|| tree::text("1970-01-01T00:00"), tree::owned));
    maker.set("agentState", agent(session, standing, kept, mode));
    spelled(maker.finish(), mode)
}

fn agent<'s>(session: &'s Session, standing: &'s Status, kept: Kept<'s>, mode: Mode) -> Node<'s> {
    if kept.is_null("agentState") && session.turns.is_empty() && session.status.is_none() {
        return tree::null();
    }
    let kept = kept.under("agentState");
    let (_, messages) = compose::messages(session, System::Inside, mode);
    let mut maker = Maker::new(kept);
    maker.set("conversation", conversation(messages, kept));
    maker.choose("initialQuery", session.initial_query.as_deref().map(tree::text), Some(tree::null()));
    maker.set("status", status::write(standing, kept));
    maker.set("logs", tree::array(session.logs.iter().map(|line| tree::text(line))));
    let names = tree::array(session.tools.iter().map(|tool| tree::text(&tool.name)));
    let (some, none) = if session.tools.is_empty() { (None, Some(names)) } else { (Some(names), None) };
    maker.choose("toolNames", some, none);
    maker.finish()
}

fn conversation<'s>(messages: Vec<Node<'s>>, kept: Kept<'s>) -> Node<'s> {
    let null = |key: &str| kept.is_null(key) && messages.is_empty();
    if null("conversation") {
        return tree::null();
    }
    let none = null("messages");
    let mut maker = Maker::new(kept.under("conversation"));
    maker.set("messages", if none { tree::null() } else { tree::array(messages) });
    maker.finish()
}

/// Where a session stands: what it says, or what its blocks show.
pub(super) fn standing(session: &Session) -> Status {
    if let Some(status) = &session.status {
        return status.clone();
    }
    let mut open: HashSet<&CallId> = HashSet::new();
    for (_, block) in session.blocks() {
        match &block.body {
            Body::ToolCall(call) => _ = open.insert(&call.call),
            Body::ToolResult(result) => _ = open.remove(&result.call),
            _ => {}
        }
    }
    let last = session.blocks().last().map(|(_, block)| block);
    match last {
        _ if !open.is_empty() => Status::WaitingForTools(states::WaitingForTools {}),
        Some(block) if block.is_answer() => Status::Completed(states::Completed {}),
        _ => Status::InProgress(states::InProgress {}),
    }
}

/// The document as the library spells it: every number has been a double, and no key repeats.
fn spelled(node: Node<'_>, mode: Mode) -> Node<'_> {
    if mode == Mode::Faithful {
        return node;
    }
    let value = match node.value {
        Value::Number(text) => Value::Number(java::number(&text).into()),
        Value::Text(text) => Value::Text(plain(text)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| spelled(item, mode)).collect()),
        Value::Object(fields) => Value::Object(unique(fields, mode)),
        other => other,
    };
    Node { at: node.at, value }
}

fn unique<'s>(fields: Vec<(Text<'s>, Node<'s>)>, mode: Mode) -> Vec<(Text<'s>, Node<'s>)> {
    let mut places = std::collections::HashMap::new();
    let mut kept: Vec<(Text<'s>, Node<'s>)> = Vec::with_capacity(fields.len());
    for (key, value) in fields {
        let (key, value) = (plain(key), spelled(value, mode));
        let place = *places.entry(key.to_str_lossy().into_owned()).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(pair) => pair.1 = value,
            None => kept.push((key, value)),
        }
    }
    kept
}

/// A string without its source's escapes; the library writes `?` for half a surrogate pair.
fn plain(text: Text<'_>) -> Text<'_> {
    match &text {
        Text::Escaped(_) | Text::OwnedEscaped(_) => {
            let (content, verdict) = text.into_string_lossy();
            Text::Owned(if verdict.is_err() { content.replace('\u{fffd}', "?") } else { content }.into())
        }
        Text::Plain(_) | Text::Owned(_) | Text::Bare(_) => text,
    }
}
