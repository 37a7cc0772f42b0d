//! From a session to the bodies it came from.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Author, Block, Body, Media, Part, Session, ToolCall, ToolResult, Turn, Usage};

use super::decode::{BODY, CANDIDATE, ERROR, REQUEST, USAGE};
use super::part::{
    ALONE, AROUND, BLOB, CALL, CONTENT, INNER, PART, RESPONSE, SHOWN, STRING, SYSTEM, SYSTEM_PART, TEXT, blob_kind,
};
use super::{FORMAT, SPELLINGS, options};
use crate::fields::{Kept, Writer, follow_orders, in_order};
use crate::wire::{Kind, Parts};

/// The bodies of a session that was decoded from this wire.
pub(super) fn parts(session: &Session, kind: Kind) -> Parts {
    let answer = || session.turns.iter().rfind(|turn| is_answer(turn));
    let mut parts = Parts {
        request: matches!(kind, Kind::Request | Kind::Exchange).then(|| request(session)),
        response: (kind != Kind::Request).then(|| answer().map_or(Json::Null, response)),
    };
    // Earlier versions noted the orders of a body in one place.
    if let Some(part) = session.extra.part(FORMAT) {
        for (name, body) in [("request", &mut parts.request), ("response", &mut parts.response)] {
            body.iter_mut().for_each(|body| follow_orders(body, name, &part.spelling));
        }
    }
    parts
}

/// Whether a turn came from a response body.
fn is_answer(turn: &Turn) -> bool {
    turn.extra.spelling(FORMAT, "response").is_some()
}

/// The request that the session is the history of.
pub(super) fn request(session: &Session) -> Json {
    let mut contents = Vec::new();
    let mut system = SystemText::default();
    for message in messages(session) {
        match message.first() {
            Some(block) if place(block).is_some() => system.add(&message),
            _ => contents.push(content(&message)),
        }
    }
    let mut writer = Writer::new(Kept::of(&session.extra, FORMAT), REQUEST);
    if let Some((key, value)) = system.finish() {
        writer.set(&key, value);
    }
    if writer.kept().field("contents").is_none() && !writer.kept().lacks("contents") {
        let shape = writer.kept().word("contents");
        writer.set("contents", in_shape(contents, shape.as_deref()));
    }
    options::write(session, &mut writer);
    Json::Object(writer.finish())
}

/// The blocks that are not an answer just given, message by message.
fn messages(session: &Session) -> Vec<Vec<&Block>> {
    let mut messages: Vec<(u32, Vec<&Block>)> = Vec::new();
    for (turn, _, block) in session.in_message_order() {
        let answered = session.turns.get(turn).is_some_and(is_answer);
        if answered && (block.is_answer() || is_bare_answer(block)) {
            continue;
        }
        match messages.last_mut() {
            Some((ordinal, message)) if *ordinal == block.message.ordinal => message.push(block),
            _ => messages.push((block.message.ordinal, vec![block])),
        }
    }
    messages.into_iter().map(|(_, message)| message).collect()
}

fn is_bare_answer(block: &Block) -> bool {
    block.author == Author::Assistant
}

fn place(block: &Block) -> Option<String> {
    block.extra.spelling(FORMAT, "place").and_then(Json::as_str).map(std::borrow::Cow::into_owned)
}

/// A list as its source had it: the only thing in it, or its text, where that stood in place of the list.
fn in_shape(mut items: Vec<Json>, shape: Option<&str>) -> Json {
    let text = |item: &Json, key: &str| item.as_object().and_then(|item| item.get(key)).cloned();
    let alone = match (shape, items.as_slice()) {
        (Some(ALONE), [_]) => items.pop(),
        (Some(TEXT), [only]) => text(only, "text").or_else(|| text(only, "parts")),
        _ => None,
    };
    alone.unwrap_or(Json::Array(items))
}

#[derive(Default)]
struct SystemText<'a> {
    first: Option<Kept<'a>>,
    parts: Vec<Json>,
}

impl<'a> SystemText<'a> {
    fn add(&mut self, message: &[&'a Block]) {
        for block in message {
            let kept = Kept::of(&block.extra, FORMAT);
            self.first.get_or_insert(kept);
            self.parts.push(match block.body.as_text() {
                Some(text) => {
                    let part = [("text", Json::from(text))].into_iter().collect();
                    Json::Object(kept.at("part").complete(part, SYSTEM_PART))
                }
                None => part(block),
            });
        }
    }

    fn finish(self) -> Option<(String, Json)> {
        let kept = self.first?;
        let (key, shape) = (kept.word("place")?.into_owned(), kept.word("parts"));
        if shape.as_deref() == Some(STRING) {
            return Some((key, in_shape(self.parts, Some(TEXT))));
        }
        let mut writer = Writer::new(kept.at("content"), SYSTEM);
        writer.set("parts", in_shape(self.parts, shape.as_deref()));
        Some((key, Json::Object(writer.finish())))
    }
}

/// One content of some blocks.
pub(super) fn content(message: &[&Block]) -> Json {
    let first = message.first();
    let kept = first.map_or(Kept::of_part(None), |block| Kept::of(&block.extra, FORMAT));
    let usual = if first.is_some_and(|block| block.author == Author::Assistant) { "model" } else { "user" };
    let mut writer = Writer::new(kept.in_notes(AROUND), CONTENT);
    match kept.note("role") {
        Some(Json::Null) => {}
        role => writer.set("role", role.cloned().unwrap_or_else(|| usual.into())),
    }
    match kept.word("parts").as_deref() {
        Some("absent") => {}
        Some("empty") => writer.set("parts", Vec::new()),
        shape => writer.set("parts", in_shape(message.iter().map(|block| part(block)).collect(), shape)),
    }
    Json::Object(writer.finish())
}

fn part(block: &Block) -> Json {
    let kept = Kept::of(&block.extra, FORMAT);
    let snake = kept.note("spelling").is_some();
    let mut writer = Writer::new(kept, PART);
    match &block.body {
        Body::Other { raw, .. } => return raw.clone(),
        Body::Text(text) => writer.set("text", text.text.as_str()),
        Body::Summary(summary) => writer.set("text", summary.text.as_str()),
        Body::Reasoning(reasoning) => {
            writer.set("text", reasoning.text.as_deref().unwrap_or_default());
            writer.set("thought", true);
            writer.set_some(key("thoughtSignature", snake), reasoning.signature.as_deref());
        }
        Body::ToolCall(call) => writer.set(key("functionCall", snake), function_call(call, kept)),
        Body::ToolResult(result) => writer.set(key("functionResponse", snake), function_response(result, kept)),
        Body::Media(media) => writer.set(key(blob_kind(media), snake), blob(media, kept)),
        _ => {}
    }
    Json::Object(writer.finish())
}

fn blob(media: &Media, kept: Kept<'_>) -> Object {
    let snake = kept.note("inner_spelling").is_some();
    let mut writer = Writer::new(kept.in_notes(INNER), BLOB);
    writer.set_some(key("mimeType", snake), media.media_type.as_deref());
    writer.set_some("data", media.inline.as_deref());
    writer.set_some(key("fileUri", snake), media.url.as_deref());
    writer.finish()
}

fn key(name: &'static str, snake: bool) -> &'static str {
    let spelled = SPELLINGS.iter().find(|(camel, _)| *camel == name).map(|(_, snake)| *snake);
    spelled.filter(|_| snake).unwrap_or(name)
}

fn function_call(call: &ToolCall, kept: Kept<'_>) -> Object {
    let mut writer = Writer::new(kept.in_notes(INNER), CALL);
    writer.set_some("id", call.call.as_given());
    writer.set("name", call.name.as_str());
    if !(call.arguments.is_empty() && kept.note("args").is_some()) {
        writer.set("args", arguments(call));
    }
    writer.finish()
}

/// The arguments as the object they must be here.
pub(super) fn arguments(call: &ToolCall) -> Json {
    call.arguments_json().unwrap_or_else(|| Json::Object(Object::new()))
}

fn function_response(result: &ToolResult, kept: Kept<'_>) -> Object {
    let mut writer = Writer::new(kept.in_notes(INNER), RESPONSE);
    writer.set_some("id", result.call.as_given());
    writer.set("name", result.name.as_deref().unwrap_or_default());
    let mut parts = result.parts.as_slice();
    if let [Part::Data(data), rest @ ..] = parts {
        writer.set("response", data.json.clone());
        parts = rest;
    }
    let orders = kept.note(SHOWN).and_then(Json::as_array).unwrap_or_default();
    let shown: Vec<Json> = parts.iter().enumerate().filter_map(|(at, part)| shown(part, orders.get(at))).collect();
    if !shown.is_empty() {
        writer.set("parts", shown);
    }
    writer.finish()
}

/// An image or a file beside the response of a function, its keys in a noted order.
fn shown(part: &Part, order: Option<&Json>) -> Option<Json> {
    let (kind, inner) = match part {
        Part::Media(media) => {
            let mut inner = blob(media, Kept::of_part(None));
            media.name.iter().for_each(|name| inner.push("displayName", name.as_str()));
            (blob_kind(media), in_order(inner, order, BLOB))
        }
        Part::Other { kind, raw } => (kind.as_str(), raw.clone()),
        _ => return None,
    };
    Some(Json::Object([(kind, Json::Object(inner))].into_iter().collect()))
}

fn response(turn: &Turn) -> Json {
    let kept = Kept::of(&turn.extra, FORMAT);
    let mut candidate = Writer::new(kept.at("candidate"), CANDIDATE);
    let blocks: Vec<&Block> = turn.blocks.iter().filter(|block| is_bare_answer(block)).collect();
    if !blocks.is_empty() {
        candidate.set("content", content(&blocks));
    }
    candidate.set_some("finishReason", turn.finish.as_ref().and_then(|finish| finish.word.as_deref()));
    // The answers have keys of their own among what is kept of the body.
    let is_listed = kept.note("candidates").is_none();
    let kept = kept.without(if is_listed {
        |key| key.is("candidate") || key.is("candidates")
    } else {
        |key| key.is("candidate")
    });
    let mut writer = Writer::new(kept, BODY);
    if is_listed {
        let others = kept.field("candidates").and_then(Json::as_array).unwrap_or_default();
        let candidates = std::iter::once(Json::Object(candidate.finish())).chain(others.iter().cloned());
        writer.set("candidates", candidates.collect::<Vec<_>>());
    }
    writer.set_some("usageMetadata", usage(&turn.usage));
    writer.set_some("modelVersion", turn.model.as_deref());
    writer.set_some("error", turn.errors.first().map(error));
    Json::Object(writer.finish())
}

fn error(error: &TurnError) -> Object {
    let mut writer = Writer::new(Kept::of(&error.extra, FORMAT), ERROR);
    writer.set("message", error.message.as_str());
    writer.set_some("status", error.class.as_deref());
    writer.finish()
}

/// What was used, as it is counted here.
pub(super) fn usage(usage: &Usage) -> Option<Object> {
    if *usage == Usage::default() {
        return None;
    }
    let mut writer = Writer::new(Kept::of(&usage.extra, FORMAT), USAGE);
    let output = usage.output.map(|output| output.saturating_sub(usage.reasoning.unwrap_or(0)));
    writer.set_some("promptTokenCount", usage.input);
    writer.set_some("candidatesTokenCount", output);
    writer.set_some("thoughtsTokenCount", usage.reasoning);
    writer.set_some("cachedContentTokenCount", usage.cached_read);
    writer.set_some("totalTokenCount", usage.total);
    Some(writer.finish())
}
