//! The newest messages of a session, cut and reduced.

use std::collections::HashSet;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::policy::Truncate;
use turnkeep_model::view::{Slim, ViewMessage};
use turnkeep_model::{Block, Body, CallId, Error, ErrorKind, Extra, Loss, LossKind, Part, Result, Session};

use super::super::message::{Messages, SECTION};
use super::super::message_out::{self, Group};
use super::super::slim::{Dialect, OMITTED};
use super::super::style::Style;
use super::super::{FORMAT, call};
use crate::codec::Mode;

/// What stands after a text that was cut.
const SUFFIX: &str = "...";

/// The place of a block: its turn, and its index there.
pub(super) type BlockIndex = (usize, usize);

/// Which blocks are in a view, message by message.
#[derive(Debug, Default)]
pub(super) struct SelectedBlocks {
    pub(super) messages: Vec<Vec<BlockIndex>>,
    /// Results whose call was cut off.
    pub(super) orphans: Vec<BlockIndex>,
    pub(super) blocks: HashSet<BlockIndex>,
    pub(super) turns: HashSet<usize>,
}

/// Chooses the newest messages. A result whose call is older goes too, unless the original is asked for.
pub(super) fn choose(session: &Session, config: &Slim, mode: Mode) -> SelectedBlocks {
    let mut messages: Vec<Vec<BlockIndex>> = Vec::new();
    let mut last: Option<&Block> = None;
    for (turn, index, block) in session.in_message_order() {
        if !has_place(block) {
            continue;
        }
        let joins = last.is_some_and(|last| message_out::are_one(last, block));
        match messages.last_mut().filter(|_| joins) {
            Some(message) => message.push((turn, index)),
            None => {
                messages.push(vec![(turn, index)]);
                last = Some(block);
            }
        }
    }
    let keep = usize::try_from(config.max_messages).unwrap_or(0);
    let kept = messages.split_off(messages.len().saturating_sub(keep));
    let mut chosen = SelectedBlocks { messages: kept, ..SelectedBlocks::default() };
    if mode == Mode::Faithful {
        chosen.drop_orphans(session, &messages);
    }
    chosen.blocks = chosen.messages.iter().flatten().copied().collect();
    chosen.turns = chosen.blocks.iter().map(|(turn, _)| *turn).collect();
    chosen
}

impl SelectedBlocks {
    fn drop_orphans(&mut self, session: &Session, older: &[Vec<BlockIndex>]) {
        let calls = |messages: &[Vec<BlockIndex>]| -> HashSet<CallId> {
            let blocks = messages.iter().flatten().filter_map(|place| block_at(session, *place));
            blocks
                .filter_map(|block| if let Body::ToolCall(call) = &block.body { Some(call.call.clone()) } else { None })
                .collect()
        };
        let (gone, here) = (calls(older), calls(&self.messages));
        let orphans = &mut self.orphans;
        self.messages.retain(|message| {
            let is_orphan = message.iter().any(|place| match block_at(session, *place).map(|block| &block.body) {
                Some(Body::ToolResult(result)) => gone.contains(&result.call) && !here.contains(&result.call),
                _ => false,
            });
            if is_orphan {
                orphans.extend(message);
            }
            !is_orphan
        });
    }
}

pub(super) fn block_at(session: &Session, (turn, index): BlockIndex) -> Option<&Block> {
    session.turns.get(turn)?.blocks.get(index)
}

/// Whether a view has a place for a block: thinking and what only its source knows stay out.
fn has_place(block: &Block) -> bool {
    !matches!(block.body, Body::Reasoning(_) | Body::Other { .. }) && !call::is_of_step(block)
}

/// Writes the chosen messages, and says what they lost.
pub(super) fn write(
    session: &Session,
    chosen: &SelectedBlocks,
    config: &Slim,
    dialect: Dialect,
    mode: Mode,
) -> Result<(Vec<ViewMessage>, Vec<Loss>)> {
    let mut losses = Vec::new();
    let mut written = Vec::new();
    for places in &chosen.messages {
        let originals: Vec<&Block> = places.iter().filter_map(|place| block_at(session, *place)).collect();
        let cleaned: Vec<Block> = originals.iter().map(|block| clean(block)).collect();
        let group = Group { turn: places.first().map_or(0, |place| place.0), blocks: cleaned.iter().collect() };
        let json = message_out::write(&group, dialect.style(), Object::new());
        losses.extend(changed(&json, places, &originals, dialect.style()));
        let mut message = message(json, dialect.style());
        losses.extend(cut(&mut message, places, config, mode)?);
        losses.extend(omit(&mut message, places, config));
        losses.extend(redact(&mut message, places, &originals, config));
        written.push(message);
    }
    Ok((written, losses))
}

/// A block without what its source had beyond it. That a content was a list of parts is no content.
fn clean(block: &Block) -> Block {
    let mut clean = Block { extra: Extra::NONE, item_id: None, ..block.clone() };
    clean.message.extra = Extra::NONE;
    let parts = Json::from("parts");
    if block.message.extra.spelling(FORMAT, "content") == Some(&parts) {
        clean.message.extra.part_mut(FORMAT).spelling.set("content", parts);
    }
    if let Body::ToolResult(result) = &mut clean.body {
        result.parts.retain(|part| !matches!(part, Part::Other { .. }));
    }
    clean
}

fn message(json: Json, style: &Style) -> ViewMessage {
    let mut fields = match json {
        Json::Object(fields) => fields,
        _ => Object::new(),
    };
    let metadata = match fields.remove(style.metadata) {
        Some(Json::Object(metadata)) => metadata,
        _ => Object::new(),
    };
    let role = fields.get_str("role").map_or_else(|| "user".to_owned(), std::borrow::Cow::into_owned);
    ViewMessage { role, content: fields.remove("content").unwrap_or_else(|| Json::from("")), metadata }
}

/// What a reader of the message would not find, or find otherwise.
fn changed(json: &Json, places: &[BlockIndex], originals: &[&Block], style: &Style) -> Vec<Loss> {
    let back = Messages::default().read(json.clone(), style, SECTION);
    let mut losses = Vec::new();
    for (index, (place, block)) in places.iter().zip(originals).enumerate() {
        let at = format!("turns[{}].blocks[{}]", place.0, place.1);
        let found = back.get(index);
        if found.is_none_or(|found| found.author != block.author || !alike(&found.body, &block.body)) {
            losses.push(Loss::policy(LossKind::Coerced, at.clone(), "a view holds it in another form"));
        }
        if found.is_some_and(|found| found.metadata != block.metadata) {
            losses.push(Loss::policy(
                LossKind::Dropped,
                format!("{at}.metadata"),
                "a view keeps it only with the first of a message",
            ));
        }
    }
    losses
}

/// Whether two bodies say the same; an id that was never issued is none.
fn alike(found: &Body, original: &Body) -> bool {
    match (found, original) {
        (Body::ToolCall(found), Body::ToolCall(original)) => {
            found.name == original.name
                && found.arguments == original.arguments
                && found.call.as_given() == original.call.as_given()
        }
        (Body::ToolResult(found), Body::ToolResult(original)) => {
            let own = |result: &turnkeep_model::ToolResult| turnkeep_model::ToolResult {
                call: CallId::Minted(0),
                ..result.clone()
            };
            found.call.as_given() == original.call.as_given() && own(found) == own(original)
        }
        (found, original) => found == original,
    }
}

/// Cuts a text that is longer than the limit. Parts are never cut.
fn cut(message: &mut ViewMessage, places: &[BlockIndex], config: &Slim, mode: Mode) -> Result<Option<Loss>> {
    let Some(limit) = usize::try_from(config.max_content_length).ok().filter(|limit| *limit > 0) else {
        return Ok(None);
    };
    let Some(text) = message.content.as_str() else { return Ok(None) };
    let (shorter, unit) = match mode {
        Mode::Faithful => (Truncate::to(limit).with_suffix(SUFFIX).cut(&text), "characters"),
        Mode::Compat => (cut_bytes(&text, limit)?, "bytes"),
    };
    let Some(shorter) = shorter else { return Ok(None) };
    message.content = Json::from(shorter);
    let what = format!("cut after {limit} {unit}");
    Ok(first(places).map(|at| Loss::policy(LossKind::Truncated, at, what)))
}

/// Cuts at bytes, as the original does; where that breaks a character, the original cannot write what is left.
fn cut_bytes(text: &str, limit: usize) -> Result<Option<String>> {
    if text.len() <= limit {
        return Ok(None);
    }
    let broken = || Error::new(ErrorKind::Corrupt, "Malformed UTF-8 characters, possibly incorrectly encoded");
    text.get(..limit).map(|kept| Some(format!("{kept}{SUFFIX}"))).ok_or_else(broken)
}

/// Leaves out what a tool answered.
fn omit(message: &mut ViewMessage, places: &[BlockIndex], config: &Slim) -> Option<Loss> {
    if config.include_tool_results || message.role != "tool" {
        return None;
    }
    message.content = Json::from(OMITTED);
    let at = format!("{}.parts", first(places)?);
    Some(Loss::policy(LossKind::Redacted, at, "what the tool answered is left out"))
}

/// Reduces calls to their ids and tools, wherever the tool is named.
fn redact(message: &mut ViewMessage, places: &[BlockIndex], originals: &[&Block], config: &Slim) -> Vec<Loss> {
    let Some(Json::Array(calls)) = message.metadata.get("tool_calls").filter(|_| config.redact_tool_args).cloned()
    else {
        return Vec::new();
    };
    message.metadata.set("tool_calls", calls.iter().map(reduced).collect::<Vec<_>>());
    let calls = places.iter().zip(originals).filter(|(_, block)| matches!(block.body, Body::ToolCall(_)));
    let at = |place: &BlockIndex| format!("turns[{}].blocks[{}].arguments", place.0, place.1);
    calls.map(|(place, _)| Loss::policy(LossKind::Redacted, at(place), "arguments are left out")).collect()
}

fn reduced(call: &Json) -> Json {
    let field = |key: &str| call.as_object().and_then(|call| call.get(key)).filter(|value| **value != Json::Null);
    let inner = || field("function").and_then(Json::as_object).and_then(|function| function.get("name"));
    let name = field("name").or_else(inner).cloned().unwrap_or_else(|| Json::from("unknown"));
    let id = field("id").cloned().unwrap_or(Json::Null);
    Json::Object([("id", id), ("name", name)].into_iter().collect())
}

/// The place of what a message's content is.
fn first(places: &[BlockIndex]) -> Option<String> {
    places.first().map(|(turn, index)| format!("turns[{turn}].blocks[{index}]"))
}
