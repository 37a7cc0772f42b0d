//! From blocks to messages.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, ExtraPart, Session, ToolResult};

use super::call::{self, Shape};
use super::content;
use super::map::{Draft, note_word, part};
use super::message::{CONTENT, METADATA, METADATA_NOTE, RESULT, SECTION, SUMMARY, text_part};
use super::style::Style;
use super::words;

/// The blocks of one message, and the turn they are in.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub turn: usize,
    pub blocks: Vec<&'a Block>,
}

impl Group<'_> {
    /// The block that carries what belongs to the message.
    pub(super) fn first(&self) -> Option<&Block> {
        self.blocks.first().copied()
    }

    /// The section it stands in. A summary that nothing stands before has its own.
    pub(super) fn section(&self, leads: bool) -> String {
        let Some(first) = self.first() else { return SECTION.to_owned() };
        let own = note_word(&first.message.extra, "section");
        let usual = if leads && matches!(first.body, Body::Summary(_)) { SUMMARY } else { SECTION };
        own.unwrap_or_else(|| usual.to_owned())
    }
}

/// The messages of a session in order, without the blocks that `skip` names.
pub(super) fn groups<'a>(session: &'a Session, skip: impl Fn(&Block) -> bool) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (turn, _, block) in session.in_message_order() {
        if skip(block) || matches!(block.body, Body::Reasoning(_)) || call::is_of_step(block) {
            continue;
        }
        match groups.last_mut() {
            Some(group) if group.first().is_some_and(|first| are_one(first, block)) => group.blocks.push(block),
            _ => groups.push(Group { turn, blocks: vec![block] }),
        }
    }
    groups
}

/// Whether two blocks are of one message.
pub(super) fn are_one(first: &Block, block: &Block) -> bool {
    let is_result = |block: &Block| matches!(block.body, Body::ToolResult(_));
    first.message.ordinal == block.message.ordinal
        && first.author == block.author
        && !is_result(first)
        && !is_result(block)
}

/// The message of some blocks. `tags` is what a step adds to its metadata.
pub(super) fn write(group: &Group<'_>, style: &Style, tags: Object) -> Json {
    write_after(group, style, tags, None)
}

/// The message of some blocks, which names the message before it.
pub(super) fn write_after(group: &Group<'_>, style: &Style, tags: Object, before: Option<&str>) -> Json {
    let Some(first) = group.first() else { return Json::Null };
    if let Body::Other { kind, raw } = &first.body
        && kind == "message"
    {
        return raw.clone();
    }
    let notes = part(&first.message.extra);
    let spelled = |key: &str| note_word(&first.message.extra, key);
    let mut draft = Draft::default();
    let any_id = !style.uuids || spelled("ids").is_some();
    let id = first.message.id.as_ref().map(turnkeep_model::MessageId::as_str);
    draft.put_text("id", id.filter(|id| any_id || words::is_uuid(id)));
    draft.put_time("createdAt", first.message.time.as_ref());
    if let Some(before) = before.filter(|_| spelled("parent").is_none()) {
        draft.derive("parentId", before);
    }
    draft.put_text("role", Some(first.author.as_str()).filter(|_| spelled("role").is_none()));
    draft.put_text("name", first.message.name.as_deref());
    let mut inner = Draft::default();
    match &first.body {
        Body::ToolResult(result) => put_result(result, style, notes, &mut draft, &mut inner),
        _ => {
            put_content(&group.blocks, notes, &mut draft);
            put_calls(&group.blocks, style, notes, &mut draft, &mut inner);
        }
    }
    put_metadata(first, inner, tags, style, &mut draft);
    narrow(&mut draft, style);
    draft.finish(style.form, notes, "")
}

/// Snapshots have no place for a message's id, time and name.
fn narrow(draft: &mut Draft, style: &Style) {
    for key in ["id", "createdAt", "name"] {
        if !style.form.iter().any(|(known, _)| *known == key) {
            draft.forget(key);
        }
    }
}

fn put_metadata(first: &Block, inner: Draft, tags: Object, style: &Style, draft: &mut Draft) {
    let notes = part(&first.message.extra);
    let mut own = first.metadata.clone();
    if !inner.is_blank() || !tags.is_empty() {
        let mut all = inner;
        own.into_iter().chain(tags).for_each(|(key, value)| all.put(&key.to_str_lossy(), value));
        own = match all.finish(METADATA, notes, METADATA_NOTE) {
            Json::Object(all) => all,
            _ => Object::new(),
        };
    }
    if !own.is_empty() {
        draft.put(style.metadata, own);
    }
}

fn put_content(blocks: &[&Block], notes: Option<&ExtraPart>, draft: &mut Draft) {
    let held: Vec<&Block> = blocks.iter().copied().filter(|block| !is_call(block)).collect();
    let as_parts = notes.is_some_and(|notes| notes.spelling.get(CONTENT).is_some());
    match held.as_slice() {
        [] => {}
        [block] if !as_parts => match &block.body {
            Body::Text(text) => draft.put_text(CONTENT, Some(&text.text)),
            Body::Summary(summary) => draft.put_text(CONTENT, Some(&summary.text)),
            Body::Other { kind, raw } if kind == CONTENT => draft.put(CONTENT, raw.clone()),
            body => draft.put(CONTENT, vec![content::written(body)]),
        },
        blocks => {
            let part = |block: &&Block| text_part(block).unwrap_or_else(|| content::written(&block.body));
            draft.put(CONTENT, blocks.iter().map(part).collect::<Vec<_>>());
        }
    }
}

fn is_call(block: &Block) -> bool {
    match &block.body {
        Body::ToolCall(_) => true,
        Body::Other { kind, .. } => kind == "tool_call",
        _ => false,
    }
}

fn put_calls(blocks: &[&Block], style: &Style, notes: Option<&ExtraPart>, draft: &mut Draft, inner: &mut Draft) {
    let place = match notes.and_then(|notes| notes.spelling.get_str("calls")).as_deref() {
        Some("message") => Shape::Plain,
        Some("metadata") => Shape::Function,
        _ => style.calls,
    };
    let item = |block: &&Block| match &block.body {
        Body::ToolCall(call) => Some(call::write(call, &block.extra, place)),
        Body::Other { kind, raw } if kind == "tool_call" => Some(raw.clone()),
        _ => None,
    };
    let calls: Vec<Json> = blocks.iter().filter_map(item).collect();
    if calls.is_empty() {
        return;
    }
    match place {
        Shape::Plain => draft.put("tool_calls", calls),
        Shape::Function => inner.put("tool_calls", calls),
    }
}

fn put_result(result: &ToolResult, style: &Style, notes: Option<&ExtraPart>, draft: &mut Draft, inner: &mut Draft) {
    let spelled = |key: &str| notes.and_then(|notes| notes.spelling.get_str(key));
    let own = spelled(CONTENT).as_deref() == Some("own");
    let content = match (&result.error, result.parts.as_slice()) {
        (Some(error), []) => Json::from(error.as_str()),
        (_, parts) => content::of_parts(parts, spelled(CONTENT).is_some()),
    };
    if !own && content != "" {
        draft.put(CONTENT, content.clone());
    }
    let place = match spelled("result").as_deref() {
        Some("message") => Shape::Plain,
        Some("metadata") => Shape::Function,
        _ => style.calls,
    };
    if place == Shape::Function {
        inner.put_text("tool_call_id", result.call.as_given());
        return inner.put_text("tool_name", result.name.as_deref());
    }
    let mut held = Draft::default();
    if spelled("result_content").is_none() {
        held.put_text(CONTENT, content.as_str().as_deref());
    }
    held.put_text("call_id", result.call.as_given());
    held.put_text("tool_name", result.name.as_deref());
    let failed = result.is_error == Some(true) || result.error.is_some();
    held.put_some("is_error", failed.then_some(true));
    draft.put("tool_result", held.finish(RESULT, notes, "tool_result"));
}
