//! From messages to blocks.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, Data, ItemId, Part, Reasoning, Scope, Text, ToolCall, ToolResult};

use super::{ID, media};
use crate::wire::taken::Fields;

/// The usual order of a message's fields.
pub(super) const MESSAGE: &[&str] = &[
    "role",
    "content",
    "refusal",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "tool_calls",
    "function_call",
    "audio",
    "name",
    "tool_call_id",
];
/// The usual order of a part's fields.
pub(super) const PART: &[&str] = &["type", "text", "refusal", "thinking", "image_url", "input_audio", "file"];
/// The usual order of a call's fields.
pub(super) const CALL: &[&str] = &["id", "type", "function", "custom"];
/// The usual order of the fields of a function that is called.
pub(super) const FUNCTION: &[&str] = &["name", "arguments", "input"];
/// The usual order of a piece of reasoning.
pub(super) const DETAIL: &[&str] = &["type", "text", "summary", "data", "signature", "id"];

/// Reads messages, one after the other.
#[derive(Default)]
pub(super) struct Messages {
    ordinal: u32,
    calls: u32,
    /// The latest call that has no id.
    nameless: Option<(u32, String)>,
    /// Who made opaque reasoning.
    pub(super) scope: Scope,
}

impl Messages {
    /// The blocks of the next message. There is always one.
    pub(super) fn next(&mut self, message: Json) -> Vec<Block> {
        let mut blocks = match message {
            Json::Object(object) => self.message(object),
            raw => vec![other("message", raw, Author::User)],
        };
        blocks.iter_mut().for_each(|block| block.message.ordinal = self.ordinal);
        self.ordinal += 1;
        blocks
    }

    /// The blocks of a response's message: whatever it says of itself, it is an answer.
    pub(super) fn answer_of(&mut self, message: Object) -> Vec<Block> {
        if message.get_str("role").is_some_and(|role| role == "assistant") {
            return self.next(Json::Object(message));
        }
        let block = other("message", Json::Object(message), Author::Assistant).in_message(self.ordinal);
        self.ordinal += 1;
        vec![block]
    }

    fn message(&mut self, object: Object) -> Vec<Block> {
        let mut fields = Fields::new(object, MESSAGE);
        let Some(role) = fields.string("role") else {
            return vec![other("message", Json::Object(fields.into_rest(MESSAGE)), Author::User)];
        };
        let name = fields.string("name");
        let author = match role.as_str() {
            "function" => Author::Tool,
            word => Author::from_word(word),
        };
        let mut blocks = match author {
            Author::Assistant => self.answer(&mut fields),
            Author::Tool => self.result(&mut fields, &role, name.as_deref()),
            _ => content(&mut fields, &author),
        };
        let Some(first) = blocks.first_mut() else {
            fields.put("role", role);
            name.into_iter().for_each(|name| fields.put("name", name));
            return vec![other("message", Json::Object(fields.into_rest(MESSAGE)), author)];
        };
        fields.leave(ID, &mut first.message.extra);
        if author != Author::Tool {
            blocks.iter_mut().for_each(|block| block.message.name.clone_from(&name));
        }
        blocks
    }

    /// The blocks of the assistant's message: thinking, text, calls.
    fn answer(&mut self, fields: &mut Fields) -> Vec<Block> {
        let mut blocks = self.reasoning(fields);
        let calls: Vec<Block> = self.calls(fields);
        let refusal = fields.string("refusal").map(|text| {
            let mut block = Block::text(Author::Assistant, text);
            block.extra.part_mut(ID).spelling.set("refusal", "field");
            block
        });
        let heard =
            |value: &Json| value.as_object().is_some_and(|audio| audio.get_str("id").is_some_and(|id| !id.is_empty()));
        let audio = fields.take_if("audio", heard).map(|raw| {
            let mut block = other("audio", raw, Author::Assistant);
            block.extra.part_mut(ID).spelling.set("place", "audio");
            block
        });
        let rest: Vec<Block> = refusal.into_iter().chain(audio).chain(calls).collect();
        if !(blocks.is_empty() && rest.is_empty()) {
            unsaid(fields);
        }
        let said = content(fields, &Author::Assistant);
        if said.is_empty() && fields.get("content").is_some() {
            fields.note("content", "absent");
        }
        blocks.extend(said);
        blocks.extend(rest);
        blocks
    }

    fn reasoning(&mut self, fields: &mut Fields) -> Vec<Block> {
        let details = fields.get("reasoning_details").and_then(Json::as_array).unwrap_or_default();
        let known = !details.is_empty() && details.iter().all(|detail| detail_text(detail).is_some());
        let joined = known.then(|| details.iter().filter_map(detail_text).collect::<String>());
        // Servers that changed the name of the field say the same thought under both, and in its details.
        let content = fields.string("reasoning_content");
        let mut blocks = Vec::new();
        for (field, text) in [("reasoning_content", content.clone()), ("reasoning", fields.string("reasoning"))] {
            let Some(text) = text else { continue };
            if joined.as_ref() == Some(&text) {
                fields.note(field, "joined");
            } else if field == "reasoning" && content.as_ref() == Some(&text) {
                fields.note(field, "repeated");
            } else {
                blocks.push(thought_in(field, text));
            }
        }
        if known {
            let details = fields.array("reasoning_details").unwrap_or_default();
            blocks.extend(details.into_iter().filter_map(|detail| self.detail(detail)));
        }
        blocks
    }

    fn detail(&self, detail: Json) -> Option<Block> {
        let Json::Object(object) = detail else { return None };
        let mut fields = Fields::new(object, DETAIL);
        let kind = fields.string("type")?;
        fields.note("detail", kind.as_str());
        let mut reasoning = Reasoning::default();
        match kind.as_str() {
            "reasoning.summary" => reasoning.summary.extend(fields.string("summary")),
            "reasoning.encrypted" => reasoning.encrypted = fields.string("data"),
            _ => reasoning.text = fields.string("text"),
        }
        reasoning.signature = fields.string("signature");
        if reasoning.signature.is_some() || reasoning.encrypted.is_some() {
            let provider = self.scope.provider.clone().or_else(|| Some("openrouter".to_owned()));
            reasoning.scope = Some(Scope { provider, ..self.scope.clone() });
        }
        let item_id = fields.string("id").map(ItemId::new);
        let mut block = Block { item_id, ..Block::new(Author::Assistant, reasoning) };
        fields.leave(ID, &mut block.extra);
        Some(block)
    }

    fn calls(&mut self, fields: &mut Fields) -> Vec<Block> {
        let some = |value: &Json| value.as_array().is_some_and(|calls| !calls.is_empty());
        let calls = match fields.take_if("tool_calls", some) {
            Some(Json::Array(calls)) => calls,
            _ => Vec::new(),
        };
        let mut blocks: Vec<Block> = calls.into_iter().map(|call| self.call(call)).collect();
        let named = |value: &Json| {
            value.as_object().is_some_and(|call| call.get_str("name").is_some_and(|name| !name.is_empty()))
        };
        if let Some(Json::Object(call)) = fields.take_if("function_call", named) {
            blocks.push(self.legacy_call(call));
        }
        blocks
    }

    fn call(&mut self, call: Json) -> Block {
        let position = self.calls;
        self.calls += 1;
        let inside = match &call {
            Json::Object(object) => inside(object),
            _ => None,
        };
        let (object, kind) = match (call, inside) {
            (Json::Object(object), Some(kind)) => (object, kind),
            (raw, _) => {
                let mut block = other("tool_call", raw, Author::Assistant);
                block.extra.part_mut(ID).spelling.set("place", "tool_calls");
                return block;
            }
        };
        let mut fields = Fields::new(object, CALL);
        if fields.string("type").is_none() {
            fields.note("type", "absent");
        }
        let call = match fields.string("id") {
            Some(id) => CallId::given(id),
            None => CallId::Minted(position),
        };
        let mut inner = Fields::new(fields.object(kind).unwrap_or_default(), FUNCTION);
        let name = inner.string("name").unwrap_or_default();
        let arguments = if kind == "custom" {
            fields.note("type", "custom");
            inner.string("input").unwrap_or_default()
        } else {
            arguments(&mut inner)
        };
        fields.inner(kind, inner);
        if call.as_given().is_none() {
            self.nameless = Some((position, name.clone()));
        }
        let mut block = Block::new(Author::Assistant, ToolCall { call, name, arguments });
        fields.leave(ID, &mut block.extra);
        block
    }

    fn legacy_call(&mut self, call: Object) -> Block {
        let position = self.calls;
        self.calls += 1;
        let mut inner = Fields::new(call, FUNCTION);
        let name = inner.string("name").unwrap_or_default();
        let arguments = arguments(&mut inner);
        self.nameless = Some((position, name.clone()));
        let mut fields = Fields::new(Object::new(), &[]);
        fields.inner("function", inner);
        fields.note("place", "function_call");
        let mut block = Block::new(Author::Assistant, ToolCall { call: CallId::Minted(position), name, arguments });
        fields.leave(ID, &mut block.extra);
        block
    }

    fn result(&mut self, fields: &mut Fields, role: &str, name: Option<&str>) -> Vec<Block> {
        if role == "function" {
            fields.note("role", "function");
        }
        let call = match fields.string("tool_call_id") {
            Some(id) => CallId::given(id),
            None => self.nameless_call(name),
        };
        let parts = result_parts(fields);
        let name = name.map(str::to_owned);
        let result = ToolResult { call, name, parts, error: None, is_error: None, outcome: None };
        vec![Block::new(Author::Tool, result)]
    }

    fn nameless_call(&self, name: Option<&str>) -> CallId {
        match &self.nameless {
            Some((position, own)) if name.is_none_or(|name| name == own) => CallId::Minted(*position),
            _ => CallId::Minted(self.calls),
        }
    }
}

/// Takes a content that says nothing, beside thinking or calls.
fn unsaid(fields: &mut Fields) {
    if fields.get("content").is_none() {
        return fields.note("content", "absent");
    }
    let is_empty = |value: &Json| value.as_str().is_some_and(|text| text.is_empty());
    if fields.take_if("content", is_empty).is_some() {
        return fields.note("content", "empty");
    }
    fields.take_if("content", |value| *value == Json::Null);
}

/// Which object of a call says what is called, if it is one we know.
fn inside(call: &Object) -> Option<&'static str> {
    let has = |key: &str, wanted: &[&str]| {
        let inner = call.get(key).and_then(Json::as_object);
        inner.is_some_and(|inner| wanted.iter().all(|key| inner.get_str(key).is_some()))
    };
    match call.get("type").map(Json::as_str) {
        None if has("function", &["name"]) => Some("function"),
        Some(Some(kind)) if kind == "function" && has("function", &["name"]) => Some("function"),
        Some(Some(kind)) if kind == "custom" && has("custom", &["name", "input"]) => Some("custom"),
        _ => None,
    }
}

fn arguments(inner: &mut Fields) -> String {
    if let Some(text) = inner.string("arguments") {
        return text;
    }
    if let Some(object) = inner.object("arguments") {
        inner.note("arguments", "object");
        return Json::Object(object).to_text();
    }
    inner.note("arguments", "absent");
    String::new()
}

/// A thought in a field of the message.
fn thought_in(field: &str, text: String) -> Block {
    let mut block = thought(text);
    if field != "reasoning_content" {
        block.extra.part_mut(ID).spelling.set("field", field);
    }
    block
}

fn thought(text: String) -> Block {
    Block::new(Author::Assistant, Reasoning { text: Some(text), ..Reasoning::default() })
}

/// What can be read of a piece of reasoning; `None` where it is of a kind we do not know.
fn detail_text(detail: &Json) -> Option<String> {
    let detail = detail.as_object()?;
    let text = |key: &str| detail.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default();
    match &*detail.get_str("type")? {
        "reasoning.text" => Some(text("text")),
        "reasoning.summary" => Some(text("summary")),
        "reasoning.encrypted" => Some(String::new()),
        _ => None,
    }
}

/// A block of something only this wire knows.
pub(super) fn other(kind: &str, raw: Json, author: Author) -> Block {
    Block::new(author, Body::Other { kind: kind.to_owned(), raw })
}

/// The blocks of a message's content.
fn content(fields: &mut Fields, author: &Author) -> Vec<Block> {
    if let Some(text) = fields.string("content") {
        return vec![Block::text(author.clone(), text)];
    }
    let some = |value: &Json| value.as_array().is_some_and(|parts| !parts.is_empty());
    let Some(Json::Array(parts)) = fields.take_if("content", some) else { return Vec::new() };
    let blocks: Vec<Block> = parts.into_iter().map(|part| self::part(part, author)).collect();
    if let [only] = blocks.as_slice()
        && only.body.as_text().is_some()
        && only.extra.is_empty()
    {
        fields.note("content", "parts");
    }
    blocks
}

fn part(part: Json, author: &Author) -> Block {
    let Json::Object(object) = part else { return other("part", part, author.clone()) };
    let kind = object.get_str("type").map(std::borrow::Cow::into_owned);
    let Some(kind) = kind.filter(|kind| is_known(kind, &object)) else {
        let kind = object.get_str("type").map_or_else(|| "part".to_owned(), std::borrow::Cow::into_owned);
        return other(&kind, Json::Object(object), author.clone());
    };
    let mut fields = Fields::new(object, PART);
    let body: Body = match kind.as_str() {
        "text" => Text { text: fields.string("text").unwrap_or_default() }.into(),
        "refusal" => {
            fields.note("refusal", "part");
            Text { text: fields.string("refusal").unwrap_or_default() }.into()
        }
        "thinking" => {
            fields.note("field", "thinking");
            Reasoning { text: thinking_text(fields.take("thinking")), ..Reasoning::default() }.into()
        }
        _ => match media::take(&kind, &mut fields) {
            Some(media) => media.into(),
            None => return other(&kind, Json::Object(fields.into_rest(PART)), author.clone()),
        },
    };
    fields.take("type");
    let mut block = Block::new(author.clone(), body);
    fields.leave(ID, &mut block.extra);
    block
}

/// Whether a part can be read as what its type says.
fn is_known(kind: &str, part: &Object) -> bool {
    match kind {
        "text" | "refusal" => part.get_str(kind).is_some() && !part.has_duplicates(),
        "thinking" => part.get("thinking").is_some_and(is_thinking) && !part.has_duplicates(),
        "image_url" | "input_audio" | "file" => !part.has_duplicates(),
        _ => false,
    }
}

/// Whether thinking is one text, as Mistral writes it.
fn is_thinking(value: &Json) -> bool {
    match value.as_array() {
        Some([Json::Object(only)]) => {
            only.len() == 2 && only.get_str("type").is_some_and(|kind| kind == "text") && only.get_str("text").is_some()
        }
        _ => false,
    }
}

fn thinking_text(value: Option<Json>) -> Option<String> {
    let items = match value {
        Some(Json::Array(items)) => items,
        _ => return None,
    };
    items.first()?.as_object()?.get_str("text").map(std::borrow::Cow::into_owned)
}

fn result_parts(fields: &mut Fields) -> Vec<Part> {
    if let Some(text) = fields.string("content") {
        return vec![Text { text }.into()];
    }
    match fields.take_if("content", |value| *value != Json::Null) {
        None => {
            fields.note("content", "absent");
            Vec::new()
        }
        Some(Json::Array(parts)) if !parts.is_empty() && parts.iter().all(is_part) => {
            let parts: Vec<Part> = parts.into_iter().map(result_part).collect();
            if let [Part::Text(_)] = parts.as_slice() {
                fields.note("content", "parts");
            }
            parts
        }
        Some(json) => {
            fields.note("content", "data");
            vec![Data { json }.into()]
        }
    }
}

fn is_part(part: &Json) -> bool {
    part.as_object().is_some_and(|part| part.get_str("type").is_some() && !part.has_duplicates())
}

fn result_part(part: Json) -> Part {
    let mut block = self::part(part, &Author::Tool);
    // A part of a result has no place for notes: the order of its fields is not kept.
    block.extra.part_mut(ID).spelling.remove("order");
    block.extra.tidy();
    match block.body {
        Body::Text(text) if block.extra.is_empty() => text.into(),
        Body::Media(media) if block.extra.is_empty() => media.into(),
        Body::Other { kind, raw: Json::Object(mut raw) } => {
            raw.remove("type");
            Part::Other { kind, raw }
        }
        _ => {
            let mut raw = super::restore::part(&block);
            let kind = raw.remove("type").as_ref().and_then(Json::as_str).map(std::borrow::Cow::into_owned);
            Part::Other { kind: kind.unwrap_or_default(), raw }
        }
    }
}
