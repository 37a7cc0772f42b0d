//! From bodies to sessions.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{
    Author, Block, Body, Error, ErrorKind, Finish, FinishReason, Loss, MessageId, Number, Result, Scope, Session, Turn,
    Usage,
};

use super::{WIRE, block, settings};
use crate::turns::TurnBuilder;
use crate::wire::fields::Fields;
use crate::wire::messages::{number_blocks, put_answer, settle_order};
use crate::wire::{Parts, prefix};

/// The usual order of a request's fields.
pub(super) const REQUEST: &[&str] = &[
    "anthropic_version",
    "model",
    "max_tokens",
    "system",
    "messages",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "stream",
];
/// The usual order of a response's fields.
pub(super) const RESPONSE: &[&str] = &[
    "model",
    "id",
    "type",
    "role",
    "content",
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "usage",
    "context_management",
    "container",
];
/// The usual order of a message's fields.
pub(super) const MESSAGE: &[&str] = &["role", "content"];
/// The usual order of usage.
pub(super) const USAGE: &[&str] = &[
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "cache_creation",
    "output_tokens",
    "output_tokens_details",
    "service_tier",
    "inference_geo",
    "server_tool_use",
];
/// The usual order of an error.
pub(super) const ERROR: &[&str] = &["type", "message"];

/// The session that some bodies hold.
pub(super) fn session(parts: Parts) -> Result<(Session, Vec<Loss>)> {
    let mut decoder = Decoder::default();
    let mut session = Session::default();
    let has_history = parts.request.is_some();
    if let Some(request) = parts.request {
        decoder.request(body(request, "request")?, &mut session);
    }
    let answer = match parts.response {
        Some(response) => Some(decoder.response(body(response, "response")?)),
        None => None,
    };
    session.turns = decoder.turns.finish();
    if let Some((answer, count)) = answer {
        put_answer(&mut session.turns, answer, count);
    }
    settle_order(WIRE, &mut session);
    // What stood before the answer is known only where the request is.
    if has_history {
        prefix::stamp(&mut session);
    }
    Ok((session, Vec::new()))
}

fn body(value: Json, which: &str) -> Result<Object> {
    match value {
        Json::Object(object) => Ok(object),
        value => Err(Error::new(ErrorKind::Corrupt, format!("the body is {}, not an object", value.kind()))
            .path(which)
            .hint("give the body as the vendor's interface takes it")),
    }
}

#[derive(Default)]
struct Decoder {
    turns: TurnBuilder,
    ordinal: u32,
    scope: Scope,
}

impl Decoder {
    fn request(&mut self, body: Object, session: &mut Session) {
        let mut fields = Fields::new(body, REQUEST);
        self.scope = Scope {
            provider: Some(platform(fields.left()).to_owned()),
            model: fields.left().get_str("model").map(std::borrow::Cow::into_owned),
            ..Scope::default()
        };
        self.system(&mut fields);
        match fields.items("messages") {
            Some(messages) => messages.into_iter().for_each(|message| self.message(message)),
            None if fields.left().get("messages").is_none() => fields.note_absent("messages"),
            None => {}
        }
        settings::read(&mut fields, session);
        fields.keep(WIRE, &mut session.extra);
    }

    fn system(&mut self, fields: &mut Fields) {
        if let Some(text) = fields.text("system") {
            let mut block = Block::text(Author::System, text);
            block.message.extra.part_mut(WIRE).spelling.set("content", "string");
            self.push(vec![block]);
        } else if let Some(items) = fields.items("system") {
            self.push(items.into_iter().map(|item| block::read(item, &Author::System, &self.scope)).collect());
        }
    }

    fn message(&mut self, message: Json) {
        let readable = message.as_object().and_then(role).zip(content(&message));
        let Some((author, ())) = readable else { return self.whole(message) };
        let Json::Object(object) = message else { return };
        let mut fields = Fields::new(object, MESSAGE);
        fields.take("role");
        let mut blocks = match fields.text("content") {
            Some(text) => {
                fields.note("content", "string");
                vec![Block::text(author.clone(), text)]
            }
            None => {
                let items = fields.items("content").unwrap_or_default();
                items.into_iter().map(|item| block::read(item, &author, &self.scope)).collect()
            }
        };
        match author {
            Author::Assistant => self.turns.begin_answer(),
            Author::System => fields.note("place", "messages"),
            _ => {}
        }
        if let Some(first) = blocks.first_mut() {
            fields.keep(WIRE, &mut first.message.extra);
        }
        self.push(blocks);
    }

    /// A message that is not one is kept as it is.
    fn whole(&mut self, message: Json) {
        let author = message.as_object().and_then(role).unwrap_or(Author::User);
        if author == Author::Assistant {
            self.turns.begin_answer();
        }
        let mut block = Block::new(author, Body::Other { kind: "message".to_owned(), raw: message });
        block.message.extra.part_mut(WIRE).spelling.set("content", "whole");
        self.push(vec![block]);
    }

    fn push(&mut self, mut blocks: Vec<Block>) {
        number_blocks(WIRE, &mut blocks);
        for block in blocks {
            self.turns.push(block.in_message(self.ordinal));
        }
        self.ordinal += 1;
    }

    /// What a response says of its turn, and how many blocks it has.
    fn response(&mut self, body: Object) -> (Turn, usize) {
        let mut fields = Fields::new(body, RESPONSE);
        fields.constant("type", "message");
        fields.constant("role", "assistant");
        let id = fields.text("id");
        let model = fields.text("model");
        let provider = id.as_deref().map_or("anthropic", platform_of_id);
        self.scope = Scope { provider: Some(provider.to_owned()), model: model.clone(), ..Scope::default() };
        let content = fields.items("content");
        if content.is_none() && fields.left().get("content").is_none() {
            fields.note_absent("content");
        }
        let items = content.unwrap_or_default();
        let mut blocks: Vec<Block> =
            items.into_iter().map(|item| block::read(item, &Author::Assistant, &self.scope)).collect();
        for block in &mut blocks {
            block.message.id = id.as_deref().map(MessageId::from);
        }
        let count = blocks.len();
        if count == 0
            && let Some(id) = id
        {
            fields.put_back("id", id);
        }
        let mut turn = Turn { model, provider: Some(provider.to_owned()), ..Turn::default() };
        if let Some(counts) = fields.object("usage") {
            match counts.is_empty() {
                true => fields.put_back("usage", counts),
                false => turn.usage = usage(counts),
            }
        }
        turn.finish = finish(&mut fields);
        turn.errors = error(&mut fields).into_iter().collect();
        fields.note("from", "response");
        fields.keep(WIRE, &mut turn.extra);
        self.turns.begin_answer();
        self.push(blocks);
        (turn, count)
    }
}

fn role(message: &Object) -> Option<Author> {
    match message.get_str("role")?.as_ref() {
        "user" => Some(Author::User),
        "assistant" => Some(Author::Assistant),
        "system" => Some(Author::System),
        _ => None,
    }
}

/// Whether a message has content that blocks can hold.
fn content(message: &Json) -> Option<()> {
    match message.as_object()?.get("content")? {
        Json::Array(items) if !items.is_empty() => Some(()),
        Json::String(text) if text.to_str().is_ok() => Some(()),
        _ => None,
    }
}

/// Who hosts the model that a request is for.
pub(super) fn platform(body: &Object) -> &'static str {
    match body.get_str("anthropic_version").as_deref() {
        Some(version) if version.starts_with("bedrock-") => "bedrock",
        Some(version) if version.starts_with("vertex-") => "vertex",
        _ => "anthropic",
    }
}

fn platform_of_id(id: &str) -> &'static str {
    match id {
        id if id.starts_with("msg_bdrk_") => "bedrock",
        id if id.starts_with("msg_vrtx_") => "vertex",
        _ => "anthropic",
    }
}

/// Input is counted without what came from or went into a cache; we count all that was sent.
fn usage(object: Object) -> Usage {
    let mut fields = Fields::new(object, USAGE);
    let mut usage = Usage {
        cached_read: fields.count("cache_read_input_tokens"),
        cached_write: fields.count("cache_creation_input_tokens"),
        output: fields.count("output_tokens"),
        ..Usage::default()
    };
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    let fits = |count: &u64| count.checked_add(cached).is_some();
    if fields.left().get("input_tokens").and_then(Json::as_number).and_then(Number::as_u64).is_some_and(|n| fits(&n)) {
        usage.input = fields.count("input_tokens").map(|count| count + cached);
    }
    usage.reasoning = thinking_tokens(&mut fields);
    fields.keep(WIRE, &mut usage.extra);
    usage
}

fn thinking_tokens(fields: &mut Fields) -> Option<u64> {
    let details = fields.left().get("output_tokens_details")?.as_object()?;
    let (first, value) = details.iter().next()?;
    let count = value.as_number().and_then(Number::as_u64)?;
    if first.to_str_lossy() != "thinking_tokens" {
        return None;
    }
    let mut rest = details.clone();
    rest.remove("thinking_tokens");
    fields.take("output_tokens_details");
    if !rest.is_empty() {
        fields.put_back("output_tokens_details", rest);
    }
    Some(count)
}

fn finish(fields: &mut Fields) -> Option<Finish> {
    if fields.left().get("stop_reason") == Some(&Json::Null) {
        fields.take("stop_reason");
        return Some(Finish { reason: FinishReason::Interrupted, ..Finish::default() });
    }
    let word = fields.text("stop_reason")?;
    Some(Finish { reason: reason(&word), word: Some(word), ..Finish::default() })
}

fn reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::Refusal,
        other => FinishReason::Other(other.to_owned()),
    }
}

fn error(fields: &mut Fields) -> Option<TurnError> {
    let object = fields.left().get("error").and_then(Json::as_object)?;
    object.get_str("message")?;
    let mut rest = Fields::new(fields.object("error")?, ERROR);
    let mut error = TurnError {
        message: rest.text("message").unwrap_or_default(),
        class: rest.text("type"),
        ..TurnError::default()
    };
    rest.keep(WIRE, &mut error.extra);
    Some(error)
}
