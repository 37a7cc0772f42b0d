//! The next request of any session.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, Extra, Loss, LossKind, Media, Part, Reasoning, Session, ToolCall, ToolResult};

use super::block::TOOL_RESULT;
use super::contract::LIMITS;
use super::decode::{REQUEST, platform};
use super::limits::RequestTarget;
use super::tools::{fit_tools, mark_tools};
use super::{WIRE, block, limits, settings};
use crate::codec::EncodeOptions;
use crate::fields::{Kept, Writer};
use crate::models;
use crate::models::fit::ThinkingMode;
use crate::models::settle::is_of_session;
use crate::wire::cache::{self, CONTROL};
use crate::wire::degrade::{object_of, wrapped};
use crate::wire::dialogue::{At, Dialogue, Item, Message, Side, UNKNOWN_OUTCOME, Wants, legal};
use crate::wire::document::{in_words, text_of};
use crate::wire::prefix::{self, is_of_other_account};

/// The model that a request is for where nothing names one.
const MODEL: &str = "claude-sonnet-4-5";
/// The longest name of a tool.
pub(super) const NAME_LENGTH: usize = LIMITS.tool_name;
/// How many tools may be strict.
pub(super) const STRICT_TOOLS: usize = 20;

/// The next request of a session, and what is known of the places where it says something else than the session.
pub(super) fn next(session: &Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
    let mut losses = Vec::new();
    let mut writer = Writer::new(Kept::of(&session.extra, WIRE), REQUEST);
    let model = model(session, options, &mut losses);
    let empty = Object::new();
    let host = platform(session.extra.fields(WIRE).unwrap_or(&empty));
    let is_own = session.extra.part(WIRE).is_some();
    let broken = prefix::broken(session);
    let sends = |at: At, block: &Block| {
        let (turn, _) = at.indices();
        let turn = session.turns.get(turn);
        let is_home = is_own || turn.is_some_and(|turn| turn.api.as_deref() == Some(WIRE));
        match &block.body {
            Body::Reasoning(_) if broken.contains(&at.indices()) => {
                Err((LossKind::Dropped, "what stands before it is not what it was signed with"))
            }
            Body::Reasoning(reasoning) if is_of_other_account(reasoning, turn, options.account.as_deref()) => {
                Err((LossKind::Dropped, "only the account it was made for can verify it"))
            }
            _ => sends(block, host, &model, is_home),
        }
    };
    let wants = Wants { wire: WIRE, ids: LIMITS.call_ids, sends: &sends };
    let dialogue = Dialogue::of(session, &wants);
    let mut head = session.head();
    let is_same_model = is_own && is_of_session(session, WIRE, "model", &model);
    let aim = RequestTarget { target: models::asked(WIRE, None, &model, options), is_own, is_same_model };
    let wants_budget = head.options.budget_tokens.is_some();
    let mode = limits::fit(&mut head, &dialogue, &aim, &mut losses);
    fit_tools(&mut head, &dialogue, &mut losses);
    mark_tools(&mut head);
    writer.set("model", model.as_str());
    let mut encoder = Encoder { losses };
    let system = encoder.system(&dialogue);
    if !system.is_empty() {
        let only = match dialogue.system.as_slice() {
            [(_, only)] => Some(*only),
            _ => None,
        };
        writer.set("system", as_spelled(only, system));
    }
    writer.set("messages", encoder.messages(&dialogue));
    settings::write(&head, &mut writer);
    if mode == ThinkingMode::On && wants_budget && aim.target.row.adaptive && head.options.budget_tokens.is_none() {
        let adaptive: Object = [("type", Json::from("adaptive"))].into_iter().collect();
        writer.set("thinking", adaptive);
    }
    let Encoder { mut losses } = encoder;
    losses.extend(dialogue.losses);
    (Json::Object(writer.finish()), losses)
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn model(session: &Session, options: &EncodeOptions, losses: &mut Vec<Loss>) -> String {
    let own = || session.extra.fields(WIRE)?.get_str("model").map(std::borrow::Cow::into_owned);
    let answered = || session.turns.iter().rev().find_map(|turn| turn.model.clone().filter(|m| m.contains("claude")));
    if let Some(model) = options.model.clone().or_else(own).or_else(answered) {
        return model;
    }
    let what = format!("a request names its model; `{MODEL}` was filled in");
    for at in ["extra", "extra.anthropic.messages", "extra.anthropic.messages.fields"] {
        losses.push(Loss::encode(LossKind::Synthesised, at, what.clone()));
    }
    MODEL.to_owned()
}

/// Whether a block can be sent, or why not.
fn sends(block: &Block, host: &str, model: &str, is_own: bool) -> Result<(), (LossKind, &'static str)> {
    match &block.body {
        Body::Text(text) if text.text.trim().is_empty() => Err((LossKind::Dropped, "the vendor refuses empty text")),
        Body::Summary(summary) if summary.text.trim().is_empty() => {
            Err((LossKind::Dropped, "the vendor refuses empty text"))
        }
        Body::Reasoning(reasoning) if !verifies(reasoning, host, model) => {
            Err((LossKind::Dropped, "the vendor takes thinking back only as the same model signed it"))
        }
        Body::Other { kind, raw } if !cache::is_point(block) && !is_vendors(kind, raw, is_own) => {
            Err((LossKind::Dropped, "the vendor does not know this kind of block"))
        }
        _ => Ok(()),
    }
}

fn verifies(reasoning: &Reasoning, host: &str, model: &str) -> bool {
    let is_signed = reasoning.signature.as_deref().is_some_and(|signature| !signature.is_empty());
    let is_opaque = is_signed || reasoning.text.is_none() && reasoning.encrypted.is_some();
    reasoning.scope.as_ref().is_some_and(|scope| {
        is_opaque
            && scope.provider.as_deref() == Some(host)
            && scope.model.as_deref().is_none_or(|made_by| made_by == model)
    })
}

/// Whether a block that the model has no place for is the vendor's own: other vendors use the same words for others.
fn is_vendors(kind: &str, raw: &Json, is_own: bool) -> bool {
    let typed = raw.as_object().and_then(|raw| raw.get_str("type")).is_some_and(|word| word == kind);
    typed && is_own
}

struct Encoder {
    losses: Vec<Loss>,
}

impl Encoder {
    fn system(&mut self, dialogue: &Dialogue<'_>) -> Vec<Json> {
        let mut content = Vec::new();
        for (at, block) in &dialogue.system {
            match &block.body {
                Body::Other { raw, .. } if cache::is_point(block) => self.mark(*at, raw, &mut content),
                Body::Other { raw, .. } => content.push(raw.clone()),
                Body::Media(media) => content.push(block::text_value(&in_words(media))),
                _ => content.push(block::write(block)),
            }
        }
        content
    }

    /// Marks the block before a cache point of Converse.
    fn mark(&mut self, at: At, point: &Json, content: &mut [Json]) {
        let is_thinking = |block: &Object| {
            block.get_str("type").is_some_and(|kind| matches!(&*kind, "thinking" | "redacted_thinking"))
        };
        let loss = match (content.last_mut(), cache::control_of(point)) {
            (Some(Json::Object(before)), Some(control)) if !is_thinking(before) => {
                before.set(CONTROL, control);
                Loss::encode(LossKind::Renamed, at.path(""), "a cache point is a mark on the block before it here")
            }
            _ => Loss::encode(LossKind::Dropped, at.path(""), "there is no block before it to cache"),
        };
        self.losses.push(loss);
    }

    fn messages(&mut self, dialogue: &Dialogue<'_>) -> Vec<Json> {
        let last = dialogue.messages.len().saturating_sub(1);
        let written = dialogue.messages.iter().enumerate();
        let written = written.filter_map(|(index, message)| {
            let mut content = self.content(message);
            if index == last && message.side == Side::Assistant {
                trim_end(&mut content);
            }
            (!content.is_empty()).then(|| message_value(message, content))
        });
        written.collect()
    }

    fn content(&mut self, message: &Message<'_>) -> Vec<Json> {
        let mut content = Vec::with_capacity(message.items.len());
        for item in &message.items {
            match item {
                Item::Block(at, Block { body: Body::Other { raw, .. }, .. }) if cache::control_of(raw).is_some() => {
                    self.mark(*at, raw, &mut content);
                }
                item => content.push(self.item(item, message.side)),
            }
        }
        content
    }

    fn item(&mut self, item: &Item<'_>, side: Side) -> Json {
        match item {
            Item::Block(at, content) => match &content.body {
                Body::Media(media) => self.media(*at, content, media, side),
                _ => block::write(content),
            },
            Item::Call(at, content, call, id) => self.call(*at, content, call, id),
            Item::Result(at, content, result, id) => self.result(*at, content, result, id),
            Item::Unknown(id) => result_value(id, vec![block::text_value(UNKNOWN_OUTCOME)], None, &Extra::NONE),
        }
    }

    fn media(&mut self, at: At, content: &Block, media: &Media, side: Side) -> Json {
        let is_own = content.extra.part(WIRE).is_some();
        if side == Side::User && (is_own || takes(media)) {
            return block::media_value(&sendable(media), &content.extra);
        }
        self.losses.push(Loss::encode(LossKind::Textified, at.path(""), "the vendor does not take such media here"));
        block::text_value(&in_words(media))
    }

    fn call(&mut self, at: At, content: &Block, call: &ToolCall, id: &str) -> Json {
        let mut call = call.clone();
        call.call = turnkeep_model::CallId::given(id);
        call.name = self.name(&call.name, at);
        let mut extra = content.extra.clone();
        if let Some(part) = extra.parts_mut().find(|(name, _)| *name == WIRE).map(|(_, part)| part) {
            part.spelling.remove("input");
            part.spelling.remove("absent");
        }
        if call.arguments.trim().is_empty() {
            call.arguments = "{}".to_owned();
        }
        if object_of(&call.arguments).is_none() {
            let what = "arguments are an object with the vendor; these are sent as text inside one";
            self.losses.push(Loss::encode(LossKind::Wrapped, at.path("arguments"), what));
            call.arguments = wrapped(&call.arguments).to_text();
        }
        block::write(&Block { extra, ..Block::new(turnkeep_model::Author::Assistant, call) })
    }

    fn name(&mut self, name: &str, at: At) -> String {
        let sent = legal(name, is_word, NAME_LENGTH);
        if sent != name {
            let what = format!("the vendor does not take this name; it is sent as `{sent}`");
            self.losses.push(Loss::encode(LossKind::Renamed, at.path("name"), what));
        }
        sent
    }

    fn result(&mut self, at: At, content: &Block, result: &ToolResult, id: &str) -> Json {
        let mut parts = Vec::new();
        for (index, part) in result.parts.iter().enumerate() {
            parts.extend(self.part(at, index, part));
        }
        let told = |text: &String| result.parts.iter().any(|part| matches!(part, Part::Text(t) if t.text == *text));
        if let Some(error) = result.error.as_ref().filter(|error| !error.trim().is_empty() && !told(error)) {
            parts.push(block::text_value(error));
        }
        if parts.is_empty() && result.outcome == Some(turnkeep_model::Outcome::Interrupted) {
            parts.push(block::text_value(UNKNOWN_OUTCOME));
        }
        let is_error = result.is_error.or(result.error.is_some().then_some(true));
        let as_text = content.extra.spelling(WIRE, "content").is_some();
        let value = match parts.as_slice() {
            [only] if as_text => only.as_object().and_then(|only| only.get("text")).cloned(),
            _ => None,
        };
        match value {
            Some(text) => result_value(id, text, is_error, &content.extra),
            None => result_value(id, parts, is_error, &content.extra),
        }
    }

    fn part(&mut self, at: At, index: usize, part: &Part) -> Option<Json> {
        let mut textified = |what: &str| {
            self.losses.push(Loss::encode(LossKind::Textified, at.path(&format!("parts[{index}]")), what));
        };
        match part {
            Part::Text(text) if text.text.is_empty() => None,
            Part::Text(text) => Some(block::text_value(&text.text)),
            Part::Data(data) => {
                textified("results are text with the vendor");
                Some(block::text_value(&data.json.to_text()))
            }
            Part::Media(media) if takes(media) => Some(block::media_value(&sendable(media), &Extra::NONE)),
            Part::Media(media) => {
                textified("the vendor does not take such media");
                Some(block::text_value(&in_words(media)))
            }
            Part::Other { kind, raw } => {
                let mut object = Object::new();
                object.push("type", kind.as_str());
                raw.iter().for_each(|(key, value)| object.push(key.clone(), value.clone()));
                let known = ["text", "image", "document", "search_result", "tool_reference"].contains(&kind.as_str());
                if known && is_part(kind, raw) {
                    return Some(Json::Object(object));
                }
                textified("the vendor does not know this kind of part");
                Some(block::text_value(&Json::Object(object).to_text()))
            }
            _ => None,
        }
    }
}

/// Whether the fields of a part are those that its kind must have.
fn is_part(kind: &str, raw: &Object) -> bool {
    match kind {
        "text" => raw.get_str("text").is_some_and(|text| !text.is_empty()),
        "tool_reference" => raw.get_str("tool_name").is_some(),
        "search_result" => raw.get_str("source").is_some() && raw.contains("content"),
        _ => raw.get("source").and_then(Json::as_object).is_some_and(|source| source.get_str("type").is_some()),
    }
}

fn result_value(id: &str, content: impl Into<Json>, is_error: Option<bool>, extra: &Extra) -> Json {
    let mut writer = Writer::new(Kept::of(extra, WIRE), TOOL_RESULT);
    writer.set("type", "tool_result");
    writer.set("tool_use_id", id);
    match content.into() {
        Json::Array(parts) if parts.is_empty() => {}
        content => writer.set("content", content),
    }
    writer.set_some("is_error", is_error);
    Json::Object(writer.finish())
}

fn message_value(message: &Message<'_>, content: Vec<Json>) -> Json {
    let role = match message.side {
        Side::User => "user",
        Side::Assistant => "assistant",
        Side::System => "system",
    };
    let only = match message.items.as_slice() {
        [Item::Block(_, only)] => Some(*only),
        _ => None,
    };
    Json::Object([("role", Json::from(role)), ("content", as_spelled(only, content))].into_iter().collect())
}

/// The content as blocks, or as text where the source had it so: what was sent before stays as it was.
fn as_spelled(only: Option<&Block>, content: Vec<Json>) -> Json {
    let as_text = only.is_some_and(|only| only.message.extra.spelling(WIRE, "content").is_some());
    let text = match content.as_slice() {
        [Json::Object(block)] if as_text && block.len() == 2 => block.get("text").cloned(),
        _ => None,
    };
    text.unwrap_or(Json::Array(content))
}

/// The vendor refuses a last answer that ends in white space.
fn trim_end(content: &mut [Json]) {
    let Some(Json::Object(last)) = content.last_mut() else { return };
    let is_text = last.get_str("type").as_deref() == Some("text");
    let Some(text) = last.get_str("text").filter(|_| is_text) else { return };
    let trimmed = text.trim_end().to_owned();
    last.set("text", trimmed);
}

/// Whether the vendor takes such media.
fn takes(media: &Media) -> bool {
    let images = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let known = |media_type: &str| images.contains(&media_type) || media_type == "application/pdf";
    if text_of(media).is_some_and(|text| !text.trim().is_empty()) {
        return true;
    }
    let by_value = media.inline.as_deref().is_some_and(|data| !data.is_empty());
    let by_url = media.url.as_deref().is_some_and(|url| url.starts_with("https://") || url.starts_with("http://"));
    match media.media_type.as_deref() {
        Some(media_type) => known(media_type) && (by_value || by_url),
        None => by_url && media.inline.is_none(),
    }
}

/// The media by its text, its bytes or its address: ids of files are another vendor's.
fn sendable(media: &Media) -> Media {
    if let Some(text) = text_of(media) {
        let media_type = Some("text/plain".to_owned());
        return Media { text: Some(text.into_owned()), media_type, name: media.name.clone(), ..Media::default() };
    }
    match (&media.inline, &media.url) {
        (None, None) => media.clone(),
        _ => Media { file_id: None, ..media.clone() },
    }
}
