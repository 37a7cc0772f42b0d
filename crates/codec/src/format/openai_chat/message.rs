//! From messages to blocks.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, ItemId, Reasoning, Scope, ToolCall, ToolResult};

use super::part::{content, part, result_parts};
use super::{ID, media};
use crate::fields::{Fields, Form, optional};

/// The usual order of a message's fields.
pub(super) const MESSAGE: Form = &optional([
    "role",
    "content",
    "images",
    "refusal",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "tool_calls",
    "function_call",
    "audio",
    "name",
    "tool_call_id",
]);
/// The usual order of a call's fields.
pub(super) const CALL: Form = &optional(["id", "type", "function", "custom"]);
/// The usual order of the fields of a function that is called.
pub(super) const FUNCTION: Form = &optional(["name", "arguments", "input"]);
/// The usual order of a piece of reasoning.
pub(super) const DETAIL: Form = &optional(["type", "text", "summary", "data", "signature", "id"]);

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
        let Some(role) = fields.text("role") else {
            return vec![other("message", Json::Object(fields.into_rest()), Author::User)];
        };
        let name = fields.text("name");
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
            fields.put_back("role", role);
            name.into_iter().for_each(|name| fields.put_back("name", name));
            return vec![other("message", Json::Object(fields.into_rest()), author)];
        };
        fields.keep(ID, &mut first.message.extra);
        if author != Author::Tool {
            blocks.iter_mut().for_each(|block| block.message.name.clone_from(&name));
        }
        blocks
    }

    /// The blocks of the assistant's message: thinking, text, calls.
    fn answer(&mut self, fields: &mut Fields) -> Vec<Block> {
        let mut blocks = self.reasoning(fields);
        let calls: Vec<Block> = self.calls(fields);
        let refusal = fields.text("refusal").map(|text| {
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
        let rest: Vec<Block> = images(fields).into_iter().chain(refusal).chain(audio).chain(calls).collect();
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
        let content = fields.text("reasoning_content");
        let mut blocks = Vec::new();
        for (field, text) in [("reasoning_content", content.clone()), ("reasoning", fields.text("reasoning"))] {
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
        let kind = fields.text("type")?;
        fields.note("detail", kind.as_str());
        let mut reasoning = Reasoning::default();
        match kind.as_str() {
            "reasoning.summary" => reasoning.summary.extend(fields.text("summary")),
            "reasoning.encrypted" => reasoning.encrypted = fields.text("data"),
            _ => reasoning.text = fields.text("text"),
        }
        reasoning.signature = fields.text("signature");
        if reasoning.signature.is_some() || reasoning.encrypted.is_some() {
            let provider = self.scope.provider.clone().or_else(|| Some("openrouter".to_owned()));
            reasoning.scope = Some(Scope { provider, ..self.scope.clone() });
        }
        let item_id = fields.text("id").map(ItemId::new);
        let mut block = Block { item_id, ..Block::new(Author::Assistant, reasoning) };
        fields.keep(ID, &mut block.extra);
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
        if fields.text("type").is_none() {
            fields.note("type", "absent");
        }
        let call = match fields.text("id") {
            Some(id) => CallId::given(id),
            None => CallId::Minted(position),
        };
        let mut inner = Fields::new(fields.object(kind).unwrap_or_default(), FUNCTION);
        let name = inner.text("name").unwrap_or_default();
        let arguments = if kind == "custom" {
            fields.note("type", "custom");
            inner.text("input").unwrap_or_default()
        } else {
            arguments(&mut inner)
        };
        fields.nest(kind, inner);
        if call.as_given().is_none() {
            self.nameless = Some((position, name.clone()));
        }
        let mut block = Block::new(Author::Assistant, ToolCall { call, name, arguments });
        fields.keep(ID, &mut block.extra);
        block
    }

    fn legacy_call(&mut self, call: Object) -> Block {
        let position = self.calls;
        self.calls += 1;
        let mut inner = Fields::new(call, FUNCTION);
        let name = inner.text("name").unwrap_or_default();
        let arguments = arguments(&mut inner);
        self.nameless = Some((position, name.clone()));
        let mut fields = Fields::new(Object::new(), &[]);
        fields.nest("function", inner);
        fields.note("place", "function_call");
        let mut block = Block::new(Author::Assistant, ToolCall { call: CallId::Minted(position), name, arguments });
        fields.keep(ID, &mut block.extra);
        block
    }

    fn result(&mut self, fields: &mut Fields, role: &str, name: Option<&str>) -> Vec<Block> {
        if role == "function" {
            fields.note("role", "function");
        }
        let call = match fields.text("tool_call_id") {
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

/// Images that a model made: routers answer with them beside the content.
fn images(fields: &mut Fields) -> Vec<Block> {
    let is_image = |image: &Json| {
        let image = image.as_object().filter(|image| image.get_str("type").is_some_and(|kind| kind == "image_url"));
        image.is_some_and(|image| media::media("image_url", image).is_some())
    };
    let some = |value: &Json| value.as_array().is_some_and(|images| !images.is_empty() && images.iter().all(is_image));
    let Some(Json::Array(images)) = fields.take_if("images", some) else { return Vec::new() };
    let block = |image: Json| {
        let mut block = part(image, &Author::Assistant);
        block.extra.part_mut(ID).spelling.set("place", "images");
        block
    };
    images.into_iter().map(block).collect()
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
    if let Some(text) = inner.text("arguments") {
        return text;
    }
    if let Some(object) = inner.take_if("arguments", |value| value.as_object().is_some()) {
        inner.note("arguments", "object");
        return object.to_text();
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
