//! From a session to the bodies it came from.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Author, Block, Body, ExtraPart, Media, Part, Session, ToolCall, ToolResult, Turn, Usage};

use super::decode::{ALONE, STRING, TEXT, blob_kind};
use super::{FORMAT, SPELLINGS, options};
use crate::wire::{Kind, Parts, order};

/// The bodies of a session that was decoded from this wire.
pub(super) fn parts(session: &Session, kind: Kind) -> Parts {
    let mut parts = usual_parts(session, kind);
    if let Some(Json::Object(orders)) = session.extra.spelling(FORMAT, "order") {
        let bodies = [("request", &mut parts.request), ("response", &mut parts.response)];
        for (name, body) in bodies {
            body.iter_mut().zip(orders.get(name)).for_each(|(body, noted)| order::apply(body, noted));
        }
    }
    parts
}

/// Notes the order of fields where a writing would have another.
pub(super) fn note_order(original: &Parts, session: &mut Session) {
    let kind = match (&original.request, &original.response) {
        (Some(_), Some(_)) => Kind::Exchange,
        (_, None) => Kind::Request,
        (None, Some(_)) => Kind::Response,
    };
    let written = usual_parts(session, kind);
    let noted = |original: &Option<Json>, written: &Option<Json>| order::of(original.as_ref()?, written.as_ref()?);
    let orders = [
        ("request", noted(&original.request, &written.request)),
        ("response", noted(&original.response, &written.response)),
    ];
    let orders: Object = orders.into_iter().filter_map(|(name, order)| Some((name, order?))).collect();
    if !orders.is_empty() {
        session.extra.part_mut(FORMAT).spelling.set("order", orders);
    }
}

/// The bodies with their fields in the order of the documentation.
fn usual_parts(session: &Session, kind: Kind) -> Parts {
    let answer = || session.turns.iter().rfind(|turn| is_answer(turn));
    Parts {
        request: matches!(kind, Kind::Request | Kind::Exchange).then(|| request(session)),
        response: (kind != Kind::Request).then(|| answer().map_or(Json::Null, response)),
    }
}

/// Whether a turn came from a response body.
fn is_answer(turn: &Turn) -> bool {
    turn.extra.spelling(FORMAT, "response").is_some()
}

/// The request that the session is the history of.
pub(super) fn request(session: &Session) -> Json {
    let mut body = Object::new();
    let mut contents = Vec::new();
    let mut system = SystemText::default();
    for message in messages(session) {
        match message.first() {
            Some(block) if place(block).is_some() => system.add(&message),
            _ => contents.push(content(&message)),
        }
    }
    let rest = session.extra.fields(FORMAT).cloned().unwrap_or_default();
    if let Some((key, value)) = system.finish() {
        body.push(key.as_str(), value);
    }
    if !rest.contains("contents") {
        let shape = session.extra.spelling(FORMAT, "contents").and_then(Json::as_str);
        body.push("contents", in_shape(contents, shape.as_deref()));
    }
    for (key, value) in rest {
        body.push(key, value);
    }
    options::put(session, &mut body);
    Json::Object(body)
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
struct SystemText {
    key: Option<String>,
    shape: Option<String>,
    content: Object,
    parts: Vec<Json>,
}

impl SystemText {
    fn add(&mut self, message: &[&Block]) {
        for block in message {
            self.key = self.key.take().or_else(|| place(block));
            if let Some(Json::Object(rest)) = block.extra.fields(FORMAT).and_then(|fields| fields.get("content")) {
                self.content = rest.clone();
            }
            let shape = block.extra.spelling(FORMAT, "parts").and_then(Json::as_str);
            self.shape = self.shape.take().or_else(|| shape.map(std::borrow::Cow::into_owned));
            let Some(text) = block.body.as_text() else {
                self.parts.push(part(block));
                continue;
            };
            let mut part: Object = [("text", Json::from(text))].into_iter().collect();
            let beside = block.extra.fields(FORMAT).and_then(|fields| fields.get("part")?.as_object());
            beside.into_iter().flat_map(Object::iter).for_each(|(key, value)| part.push(key.clone(), value.clone()));
            self.parts.push(Json::Object(part));
        }
    }

    fn finish(self) -> Option<(String, Json)> {
        let (mut content, key) = (self.content, self.key?);
        if self.shape.as_deref() == Some(STRING) {
            return Some((key, in_shape(self.parts, Some(TEXT))));
        }
        content.set("parts", in_shape(self.parts, self.shape.as_deref()));
        Some((key, Json::Object(content)))
    }
}

/// One content of some blocks.
pub(super) fn content(message: &[&Block]) -> Json {
    let none = ExtraPart::default();
    let first = message.first().and_then(|block| block.extra.part(FORMAT)).unwrap_or(&none);
    let mut content = Object::new();
    let assistant = message.first().is_some_and(|block| block.author == Author::Assistant);
    match first.spelling.get("role") {
        Some(Json::Null) => {}
        Some(role) => content.push("role", role.clone()),
        None => content.push("role", if assistant { "model" } else { "user" }),
    }
    match first.spelling.get_str("parts").as_deref() {
        Some("absent") => {}
        Some("empty") => content.push("parts", Json::Array(Vec::new())),
        shape => content.push("parts", in_shape(message.iter().map(|block| part(block)).collect(), shape)),
    }
    for (key, value) in first.spelling.get("content").and_then(Json::as_object).into_iter().flat_map(Object::iter) {
        content.push(key.clone(), value.clone());
    }
    Json::Object(content)
}

fn part(block: &Block) -> Json {
    let none = ExtraPart::default();
    let extra = block.extra.part(FORMAT).unwrap_or(&none);
    let snake = extra.spelling.get("spelling").is_some();
    let mut part = Object::new();
    match &block.body {
        Body::Other { raw, .. } => return raw.clone(),
        Body::Text(text) => part.push("text", text.text.as_str()),
        Body::Summary(summary) => part.push("text", summary.text.as_str()),
        Body::Reasoning(reasoning) => {
            part.push("text", reasoning.text.as_deref().unwrap_or_default());
            part.push("thought", true);
            if let Some(signature) = &reasoning.signature {
                part.push(key("thoughtSignature", snake), signature.as_str());
            }
        }
        Body::ToolCall(call) => part.push(key("functionCall", snake), function_call(call, extra)),
        Body::ToolResult(result) => part.push(key("functionResponse", snake), function_response(result, extra)),
        Body::Media(media) => {
            part.push(key(blob_kind(media), snake), blob(media, extra));
        }
        _ => {}
    }
    for (key, value) in extra.fields.iter() {
        part.push(key.clone(), value.clone());
    }
    Json::Object(part)
}

fn blob(media: &Media, extra: &ExtraPart) -> Json {
    let snake = extra.spelling.get("inner_spelling").is_some();
    let mut inner = Object::new();
    let fields =
        [(key("mimeType", snake), &media.media_type), ("data", &media.inline), (key("fileUri", snake), &media.url)];
    for (key, value) in fields {
        if let Some(value) = value {
            inner.push(key, value.as_str());
        }
    }
    with_rest(inner, extra)
}

fn key(name: &'static str, snake: bool) -> &'static str {
    let spelled = SPELLINGS.iter().find(|(camel, _)| *camel == name).map(|(_, snake)| *snake);
    spelled.filter(|_| snake).unwrap_or(name)
}

fn function_call(call: &ToolCall, extra: &ExtraPart) -> Json {
    let mut inner = Object::new();
    if let Some(id) = call.call.as_given() {
        inner.push("id", id);
    }
    inner.push("name", call.name.as_str());
    if !(call.arguments.is_empty() && extra.spelling.get("args").is_some()) {
        inner.push("args", arguments(call));
    }
    with_rest(inner, extra)
}

/// The arguments as the object they must be here.
pub(super) fn arguments(call: &ToolCall) -> Json {
    call.arguments_json().unwrap_or_else(|| Json::Object(Object::new()))
}

fn function_response(result: &ToolResult, extra: &ExtraPart) -> Json {
    let mut inner = Object::new();
    if let Some(id) = result.call.as_given() {
        inner.push("id", id);
    }
    inner.push("name", result.name.as_deref().unwrap_or_default());
    if let Some(Part::Data(data)) = result.parts.first() {
        inner.push("response", data.json.clone());
    }
    let shown: Vec<Json> = result.parts.iter().filter_map(shown).collect();
    if !shown.is_empty() {
        inner.push("parts", shown);
    }
    with_rest(inner, extra)
}

/// An image or a file beside the response of a function.
fn shown(part: &Part) -> Option<Json> {
    let (kind, inner) = match part {
        Part::Media(media) => {
            let mut inner = match blob(media, &ExtraPart::default()) {
                Json::Object(inner) => inner,
                _ => Object::new(),
            };
            if let Some(name) = &media.name {
                inner.push("displayName", name.as_str());
            }
            (blob_kind(media), inner)
        }
        Part::Other { kind, raw } => (kind.as_str(), raw.clone()),
        _ => return None,
    };
    Some(Json::Object([(kind, Json::Object(inner))].into_iter().collect()))
}

fn with_rest(mut inner: Object, extra: &ExtraPart) -> Json {
    for (key, value) in extra.spelling.get("inner").and_then(Json::as_object).into_iter().flat_map(Object::iter) {
        inner.push(key.clone(), value.clone());
    }
    Json::Object(inner)
}

fn response(turn: &Turn) -> Json {
    let none = ExtraPart::default();
    let extra = turn.extra.part(FORMAT).unwrap_or(&none);
    let mut fields = extra.fields.clone();
    let mut candidate = match fields.remove("candidate") {
        Some(Json::Object(candidate)) => candidate,
        _ => Object::new(),
    };
    let blocks: Vec<&Block> = turn.blocks.iter().filter(|block| is_bare_answer(block)).collect();
    if !blocks.is_empty() {
        candidate.set("content", content(&blocks));
    }
    if let Some(word) = turn.finish.as_ref().and_then(|finish| finish.word.as_deref()) {
        candidate.set("finishReason", word);
    }
    let mut candidates = vec![Json::Object(candidate)];
    if let Some(Json::Array(others)) = fields.remove("candidates") {
        candidates.extend(others);
    }
    let mut body = Object::new();
    if extra.spelling.get("candidates").is_none() {
        body.push("candidates", candidates);
    }
    if let Some(usage) = usage(&turn.usage) {
        body.push("usageMetadata", usage);
    }
    if let Some(model) = &turn.model {
        body.push("modelVersion", model.as_str());
    }
    if let Some(told) = turn.errors.first() {
        body.push("error", error(told));
    }
    for (key, value) in fields {
        body.push(key, value);
    }
    Json::Object(body)
}

fn error(error: &TurnError) -> Json {
    let mut rest = error.extra.fields(FORMAT).cloned().unwrap_or_default();
    let mut map = Object::new();
    rest.remove("code").into_iter().for_each(|code| map.push("code", code));
    map.push("message", error.message.as_str());
    error.class.iter().for_each(|class| map.push("status", class.as_str()));
    rest.into_iter().for_each(|(key, value)| map.push(key, value));
    Json::Object(map)
}

/// What was used, as it is counted here.
pub(super) fn usage(usage: &Usage) -> Option<Json> {
    if *usage == Usage::default() {
        return None;
    }
    let mut map = Object::new();
    let mut set = |key: &str, count: Option<u64>| {
        if let Some(count) = count {
            map.push(key, count);
        }
    };
    set("promptTokenCount", usage.input);
    set("candidatesTokenCount", usage.output.map(|output| output.saturating_sub(usage.reasoning.unwrap_or(0))));
    set("thoughtsTokenCount", usage.reasoning);
    set("cachedContentTokenCount", usage.cached_read);
    set("totalTokenCount", usage.total);
    for (key, value) in usage.extra.fields(FORMAT).into_iter().flat_map(Object::iter) {
        map.push(key.clone(), value.clone());
    }
    Some(Json::Object(map))
}
