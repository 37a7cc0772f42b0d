//! The next request of any session: made valid for a vendor, then written.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, Loss, LossKind, Media, Outcome, Part, Reasoning, Session, Text, ToolResult, Turn,
};

use super::contract::LIMITS;
use super::head::head;
use super::profile::{Profile, ThinkingIn};
use super::{ID, media, options, profile, restore};
use crate::codec::EncodeOptions;
use crate::format::responses::is_strict;
use crate::models::settle::is_of_session;
use crate::models::{self, Target};
use crate::wire::document::text_of;
use crate::wire::repair::{History, INTERRUPTED, Piece, Sends, legal_name, speaker};
use crate::wire::{self, Kind};

/// The longest name of a tool.
pub(super) const LONGEST_NAME: usize = LIMITS.tool_name;

/// The next request, and what is known of what did not survive.
pub(super) fn next(session: &mut Session, wanted: &EncodeOptions) -> (Json, Vec<Loss>) {
    let own = is_own(session);
    let origin = if own { origin(session) } else { profile::named(None) };
    let profile = wanted.variant.as_deref().map_or(origin, |name| profile::named(Some(name)));
    // What only one vendor knows is not sent to another.
    let keeps = own && profile.name == origin.name && !profile.strict;
    let mut history = history(session, profile, keeps);
    let mut losses = std::mem::take(&mut history.losses);
    let model = model(session, profile, own, wanted, &mut losses);
    let target = models::asked(ID, Some(profile.name), &model, wanted);
    let is_same_model = own && profile.name == origin.name && is_of_session(session, ID, "model", &model);
    let mut head = head(session, profile, keeps, Some(target).filter(|_| !is_same_model), &mut losses);
    if matches!(profile.name, "openai" | "azure") {
        of_model(target, &mut history, &mut head, &mut losses);
    }
    head.extra.part_mut(ID).fields.remove("model");
    head.extra.tidy();
    let messages = history.into_messages(restore::is_one_message, restore::message);
    let body = options::request(&head, Some(&model), messages);
    (Json::Object(body), losses)
}

/// What OpenAI's models do not take, and what its strict schemas have to be.
fn of_model(target: Target, history: &mut History, head: &mut Session, losses: &mut Vec<Loss>) {
    for (index, tool) in head.tools.iter_mut().enumerate() {
        if tool.strict == Some(true) && !is_closed(&tool.parameters) {
            tool.strict = None;
            let at = format!("tools[{index}].strict");
            losses.push(Loss::encode(LossKind::Dropped, at, "a strict schema is closed and requires every property"));
        }
    }
    let is_system = |piece: &&mut Piece| matches!(piece.block.author, Author::System | Author::Developer);
    for piece in history.pieces.iter_mut().filter(|_| !target.row.system).filter(is_system) {
        piece.block.author = Author::User;
        losses.push(Loss::encode(LossKind::Coerced, piece.at("author"), "this model knows no system text"));
    }
}

fn is_closed(schema: &Json) -> bool {
    let closed = schema.as_object().and_then(|schema| schema.get("additionalProperties")?.as_bool()) == Some(false);
    closed && is_strict(schema)
}

/// Whether a session was decoded from this wire.
fn is_own(session: &Session) -> bool {
    let kind = session.extra.spelling(ID, "kind").and_then(Json::as_str);
    kind.is_some_and(|word| Kind::from_word(&word).is_some())
}

/// The vendor that a session of this wire was recorded at: the one that was named, else as far as it shows.
fn origin(session: &Session) -> &'static Profile {
    if let Some(named) = wire::origin(session, ID) {
        return profile::named(Some(&named));
    }
    // Only OpenRouter hands out thinking in pieces that it wants back.
    if session.blocks().any(|(_, block)| has_details(block)) {
        return profile::named(Some("openrouter"));
    }
    let left = session.extra.fields(ID).and_then(|fields| fields.get_str("model"));
    let asked = left.as_deref().or_else(|| session.turns.iter().rev().find_map(|turn| turn.model.as_deref()));
    let answered = session.turns.iter().rev().find_map(|turn| turn.provider.as_deref());
    let by_name = answered.and_then(|name| profile::PROFILES.iter().find(|profile| profile.name == name));
    let by_model = || asked.and_then(|model| profile::PROFILES.iter().find(|profile| profile.owns(model)));
    by_name.or_else(by_model).unwrap_or(profile::named(None))
}

fn has_details(block: &Block) -> bool {
    let unread = block.message.extra.fields(ID).is_some_and(|fields| fields.contains("reasoning_details"));
    unread || block.extra.spelling(ID, "detail").is_some()
}

/// The history as the vendor takes it.
fn history(session: &mut Session, profile: &Profile, own: bool) -> History {
    let mut history = History::take(session);
    // An answer of the same vendor is its own, wherever the rest of the session came from.
    let is_home = |turn: Option<&Turn>| {
        let answered = turn.filter(|turn| turn.api.as_deref() == Some(ID));
        own || !profile.strict && answered.is_some_and(|turn| turn.provider.as_deref() == Some(profile.name))
    };
    if !own {
        let mut answered = session.turns.iter().filter(|turn| turn.provider.is_some()).peekable();
        let all_home = answered.peek().is_some() && answered.all(|turn| is_home(Some(turn)));
        history.forget_extras(all_home.then_some(ID));
    }
    history.limit_reasoning(session, |_, turn| sends(profile, is_home(turn)));
    history.plain_bodies(session, |kind, turn| is_home(turn) && kind != "message" && kind != "part");
    let takes = |media: &Media| takes(media, profile, own);
    history.describe_media(|media, block| block.author == Author::User && takes(media), takes);
    history.remove_empty_text(|text, _| text.is_empty());
    history.pieces.iter_mut().for_each(|piece| settle(piece, profile, own));
    history.pair_calls();
    history.lift_media();
    history.rename_calls(&profile.ids);
    history.rename_tools(LONGEST_NAME);
    history.number_messages(joins);
    drop_bare_reasoning(&mut history);
    if profile.thinking_required {
        require_thinking(&mut history);
    }
    history.number_messages(joins);
    if profile.prefix {
        mark_prefix(&mut history);
    }
    history
}

fn joins(before: &Block, block: &Block) -> bool {
    let who = speaker(block);
    before.message.ordinal == block.message.ordinal && speaker(before) == who && who != Author::Tool
}

fn sends(profile: &Profile, own: bool) -> Sends {
    match profile.thinking {
        ThinkingIn::No => Sends::Nothing,
        ThinkingIn::Details if own => Sends::Whole,
        ThinkingIn::Details | ThinkingIn::Field(_) | ThinkingIn::Part => Sends::Text,
    }
}

fn takes(media: &Media, profile: &Profile, own: bool) -> bool {
    let kind = media::part_kind(media);
    let reachable = match kind {
        "image_url" => media.url.is_some() || media.inline.is_some(),
        // A file of text is said in words: only some vendors read such files.
        "file" if !own && text_of(media).is_some() => false,
        "file" if media.inline.is_none() && media.url.is_some() => profile.files_by_url || own,
        _ => media.inline.is_some() || own && media.file_id.is_some(),
    };
    reachable && profile.media.contains(&kind)
}

/// Makes a block what the vendor takes of it.
fn settle(piece: &mut Piece, profile: &Profile, own: bool) {
    let block = &mut piece.block;
    block.author = match speaker(block) {
        Author::Developer if !profile.developer => Author::System,
        author => author,
    };
    block.message.name = block.message.name.take().filter(|name| legal_name(name, LONGEST_NAME).is_none());
    settle_extras(block, profile);
    match &mut block.body {
        Body::ToolResult(result) => settle_result(result, own),
        Body::Reasoning(_)
            if profile.thinking == ThinkingIn::Details && block.extra.spelling(ID, "detail").is_some() => {}
        Body::Reasoning(reasoning) => {
            let text = reasoning.text.take().unwrap_or_else(|| reasoning.summary.join("\n\n"));
            *reasoning = Reasoning { text: Some(text), ..Reasoning::default() };
            block.extra.remove(ID);
            let field = match profile.thinking {
                ThinkingIn::Part => "thinking",
                ThinkingIn::Field(field) => field,
                ThinkingIn::Details | ThinkingIn::No => "reasoning",
            };
            if field != "reasoning_content" {
                block.extra.part_mut(ID).spelling.set("field", field);
            }
        }
        _ => {}
    }
}

/// Fields of messages and calls that a vendor wants back; others are answers' own.
const GIVEN_BACK: &[&str] = &["cache_control", "extra_content", "prefix", "reasoning_signature", "thought_signature"];

/// What a source had beyond the model, as far as it belongs into a request.
fn settle_extras(block: &mut Block, profile: &Profile) {
    let given_back = |key: &turnkeep_model::JsonString| {
        let key = key.to_str_lossy();
        GIVEN_BACK.contains(&&*key) || profile.thinking == ThinkingIn::Details && key == "reasoning_details"
    };
    let message = block.message.extra.part_mut(ID);
    message.fields.retain(|key, _| given_back(key));
    message.spelling.remove("role");
    message.spelling.remove("reasoning_content");
    let is_joined = message.spelling.get_str("reasoning").is_some_and(|word| word == "joined");
    if profile.thinking != ThinkingIn::Details || !is_joined {
        message.spelling.remove("reasoning");
    }
    let part = block.extra.part_mut(ID);
    part.spelling.remove("bare");
    let is_custom = part.spelling.get_str("type").is_some_and(|kind| kind == "custom");
    if matches!(block.body, Body::ToolCall(_)) && !is_custom {
        // A call without a type, with an object for its arguments or in the form of old is written anew.
        part.spelling = Object::new();
        part.fields.retain(|key, _| given_back(key));
    }
    block.message.extra.tidy();
    block.extra.tidy();
}

/// A result as text: this wire has no other, and no flag for errors.
pub(crate) fn settle_result(result: &mut ToolResult, own: bool) {
    for part in &mut result.parts {
        match part {
            Part::Other { kind, raw } if !(own && kind == "text") => {
                let text = raw.get_str("text").map_or_else(|| Json::Object(raw.clone()).to_text(), Into::into);
                *part = Text { text }.into();
            }
            Part::Data(data) => *part = Text { text: data.json.to_text() }.into(),
            _ => {}
        }
    }
    if let Some(error) = result.error.take() {
        result.parts.insert(0, Text { text: format!("Error: {error}") }.into());
    } else if result.is_error == Some(true)
        && let Some(Part::Text(first)) = result.parts.first_mut()
    {
        first.text.insert_str(0, "Error: ");
    }
    if result.parts.is_empty() && result.outcome == Some(Outcome::Interrupted) {
        result.parts.push(Text { text: INTERRUPTED.to_owned() }.into());
    }
    if !own {
        result.name = None;
    }
}

/// Drops thinking that no text and no call follows in its message: alone it is no message.
fn drop_bare_reasoning(history: &mut History) {
    let is_reasoning = |piece: &Piece| matches!(piece.block.body, Body::Reasoning(_));
    let mut full: Vec<u32> =
        history.pieces.iter().filter(|piece| !is_reasoning(piece)).map(|piece| piece.block.message.ordinal).collect();
    full.dedup();
    let losses = &mut history.losses;
    history.pieces.retain(|piece| {
        let stays = !is_reasoning(piece) || full.binary_search(&piece.block.message.ordinal).is_ok();
        if !stays {
            losses.push(Loss::encode(LossKind::Dropped, piece.at(""), "thinking alone is no message here"));
        }
        stays
    });
}

/// Gives calls without thinking an empty one, which this vendor asks for.
fn require_thinking(history: &mut History) {
    let mut thought: Option<u32> = None;
    let mut pieces = Vec::with_capacity(history.pieces.len());
    for piece in std::mem::take(&mut history.pieces) {
        let ordinal = piece.block.message.ordinal;
        match &piece.block.body {
            Body::Reasoning(_) => thought = Some(ordinal),
            Body::ToolCall(_) if thought != Some(ordinal) => {
                thought = Some(ordinal);
                let empty = Reasoning { text: Some(String::new()), ..Reasoning::default() };
                let block = Block::new(Author::Assistant, empty).in_message(ordinal);
                pieces.push(Piece { from: None, block });
            }
            _ => {}
        }
        pieces.push(piece);
    }
    history.pieces = pieces;
}

/// Marks an answer at the end as the beginning of the next one.
fn mark_prefix(history: &mut History) {
    let Some(last) = history.pieces.last() else { return };
    let ordinal = last.block.message.ordinal;
    if speaker(&last.block) != Author::Assistant {
        return;
    }
    if let Some(first) = history.pieces.iter_mut().find(|piece| piece.block.message.ordinal == ordinal) {
        first.block.message.extra.part_mut(ID).fields.set("prefix", true);
    }
}

/// The model to ask.
fn model(session: &Session, profile: &Profile, own: bool, wanted: &EncodeOptions, losses: &mut Vec<Loss>) -> String {
    if let Some(model) = &wanted.model {
        return model.clone();
    }
    let left = session.extra.fields(ID).and_then(|fields| fields.get_str("model")).filter(|_| own);
    let asked = left
        .map(std::borrow::Cow::into_owned)
        .or_else(|| session.turns.iter().rev().find_map(|turn| turn.model.clone()));
    match asked {
        Some(model) if own || profile.owns(&model) => model,
        _ => {
            let at = format!("turns[{}].model", session.turns.len().saturating_sub(1));
            let what = "a request must name a model; give one with --model";
            losses.push(Loss::encode(LossKind::Synthesised, at, what));
            profile.model.to_owned()
        }
    }
}
