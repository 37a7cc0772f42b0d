//! From messages to blocks.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, CallId, Media, Part, Reasoning, Text, ToolCall, ToolResult};

use super::ID;
use crate::fields::{Fields, Form, is_text, optional};

/// The usual order of a message's fields.
pub(super) const MESSAGE: Form =
    &optional(["role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"]);
/// The usual order of a call's fields.
pub(super) const CALL: Form = &optional(["id", "type", "function"]);
/// The usual order of the fields of a function that is called.
pub(super) const FUNCTION: Form = &optional(["index", "name", "arguments"]);

/// Reads messages, one after the other.
#[derive(Default)]
pub(super) struct Messages {
    ordinal: u32,
    calls: u32,
    /// Calls without a result so far, and their tools.
    open: Vec<(CallId, String)>,
}

impl Messages {
    /// The blocks of the next message. There is always one.
    pub(super) fn next(&mut self, message: Json) -> Vec<Block> {
        let mut blocks = match message {
            Json::Object(object) => self.message(object),
            raw => vec![other(raw, Author::User)],
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
        let block = other(Json::Object(message), Author::Assistant).in_message(self.ordinal);
        self.ordinal += 1;
        vec![block]
    }

    fn message(&mut self, object: Object) -> Vec<Block> {
        let has_text = object.get("content").is_none_or(|content| is_text(content) || *content == Json::Null);
        let role = object.get_str("role").map(std::borrow::Cow::into_owned);
        let Some(role) = role.filter(|_| has_text && !object.has_duplicates()) else {
            let author = object.get_str("role").map_or(Author::User, |role| Author::from_word(&role));
            return vec![other(Json::Object(object), author)];
        };
        let author = Author::from_word(&role);
        let mut fields = Fields::new(object, MESSAGE);
        fields.take("role");
        let mut blocks = match author {
            Author::Tool => vec![self.result(&mut fields)],
            _ => self.spoken(&mut fields, &author),
        };
        let Some(first) = blocks.first_mut() else {
            fields.put_back("role", role);
            return vec![other(Json::Object(fields.into_rest()), author)];
        };
        fields.keep(ID, &mut first.message.extra);
        blocks
    }

    fn spoken(&mut self, fields: &mut Fields, author: &Author) -> Vec<Block> {
        let thought = fields.text("thinking");
        let thought = thought.map(|text| Reasoning { text: Some(text), ..Reasoning::default() });
        let images: Vec<Block> =
            take_images(fields).into_iter().map(|media| Block::new(author.clone(), media)).collect();
        let calls = self.calls(fields);
        let said = match fields.text("content") {
            Some(text) if text.is_empty() && !(thought.is_none() && images.is_empty() && calls.is_empty()) => None,
            Some(text) => Some(Block::text(author.clone(), text)),
            None => {
                fields.note("content", "absent");
                None
            }
        };
        let thought = thought.map(|thought| Block::new(author.clone(), thought));
        thought.into_iter().chain(said).chain(images).chain(calls).collect()
    }

    fn calls(&mut self, fields: &mut Fields) -> Vec<Block> {
        let known = |value: &Json| value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_call));
        match fields.take_if("tool_calls", known) {
            Some(Json::Array(calls)) => calls.into_iter().map(|call| self.call(call)).collect(),
            _ => Vec::new(),
        }
    }

    fn call(&mut self, call: Json) -> Block {
        let object = match call {
            Json::Object(object) => object,
            _ => Object::new(),
        };
        let position = self.calls;
        self.calls += 1;
        let mut fields = Fields::new(object, CALL);
        let id = fields.text("id").map_or(CallId::Minted(position), CallId::given);
        let mut inner = Fields::new(fields.object("function").unwrap_or_default(), FUNCTION);
        let name = inner.text("name").unwrap_or_default();
        let arguments = match inner.take_if("arguments", |value| value.as_object().is_some()) {
            Some(arguments) => arguments.to_text(),
            None => match inner.text("arguments") {
                Some(text) => {
                    inner.note("arguments", "string");
                    text
                }
                None => {
                    inner.note("arguments", "absent");
                    String::new()
                }
            },
        };
        fields.nest("function", inner);
        self.open.push((id.clone(), name.clone()));
        let mut block = Block::new(Author::Assistant, ToolCall { call: id, name, arguments });
        fields.keep(ID, &mut block.extra);
        block
    }

    fn result(&mut self, fields: &mut Fields) -> Block {
        let name = fields.text("tool_name");
        let given = fields.text("tool_call_id").map(CallId::given);
        let call = match given {
            Some(id) => {
                self.open.retain(|(open, _)| *open != id);
                id
            }
            None => {
                let call = self.first_open(name.as_deref());
                if call.as_given().is_some() {
                    fields.note("tool_call_id", "absent");
                }
                call
            }
        };
        let mut parts: Vec<Part> = match fields.text("content") {
            Some(text) => vec![Text { text }.into()],
            None => {
                fields.note("content", "absent");
                Vec::new()
            }
        };
        parts.extend(take_images(fields).into_iter().map(Part::from));
        Block::new(Author::Tool, ToolResult { call, name, parts, error: None, is_error: None, outcome: None })
    }

    /// The call that a result without an id answers: the first open one of its tool, or the first at all.
    fn first_open(&mut self, name: Option<&str>) -> CallId {
        let named = self.open.iter().position(|(_, own)| Some(own.as_str()) == name);
        let at = named.or((!self.open.is_empty() && name.is_none()).then_some(0));
        match at {
            Some(at) => self.open.remove(at).0,
            None => CallId::Minted(self.calls),
        }
    }
}

/// Takes the images of a message, which are their bytes and nothing else.
fn take_images(fields: &mut Fields) -> Vec<Media> {
    let images = |value: &Json| value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_text));
    let images = match fields.take_if("images", images) {
        Some(Json::Array(images)) => images,
        _ => Vec::new(),
    };
    let image =
        |image: Json| image.as_str().map(|bytes| Media { inline: Some(bytes.into_owned()), ..Media::default() });
    images.into_iter().filter_map(image).collect()
}

fn is_call(call: &Json) -> bool {
    let function = call.as_object().and_then(|call| call.get("function")?.as_object());
    function.is_some_and(|function| function.get_str("name").is_some() && !function.has_duplicates())
        && call.as_object().is_some_and(|call| !call.has_duplicates())
}

fn other(raw: Json, author: Author) -> Block {
    Block::new(author, Body::Other { kind: "message".to_owned(), raw })
}
