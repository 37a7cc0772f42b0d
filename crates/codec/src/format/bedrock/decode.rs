//! From bodies to sessions.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{
    Author, Block, Body, Error, ErrorKind, Finish, FinishReason, Loss, Number, Result, Scope, Session, Turn, Usage,
};

use super::{WIRE, block, settings};
use crate::turns::TurnBuilder;
use crate::wire::fields::{Fields, spelled_order};
use crate::wire::messages::{number_blocks, put_answer, settle_order};
use crate::wire::{Parts, prefix};

/// The usual order of a request's fields.
pub(super) const REQUEST: &[&str] = &[
    "modelId",
    "messages",
    "system",
    "inferenceConfig",
    "toolConfig",
    "additionalModelRequestFields",
    "guardrailConfig",
    "outputConfig",
];
/// The usual order of a response's fields.
pub(super) const RESPONSE: &[&str] =
    &["output", "stopReason", "usage", "metrics", "additionalModelResponseFields", "trace"];
/// The usual order of a message's fields.
pub(super) const MESSAGE: &[&str] = &["role", "content"];
/// The usual order of usage.
pub(super) const USAGE: &[&str] =
    &["inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens"];
/// Who hosts the models.
pub(super) const HOST: &str = "bedrock";

/// The session that some bodies hold.
pub(super) fn session(parts: Parts) -> Result<(Session, Vec<Loss>)> {
    let mut decoder = Decoder::default();
    decoder.scope.provider = Some(HOST.to_owned());
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
        self.scope.model = fields.left().get_str("modelId").map(std::borrow::Cow::into_owned);
        if let Some(items) = fields.items("system") {
            self.push(items.into_iter().map(|item| block::read(item, &Author::System, &self.scope)).collect());
        }
        match fields.items("messages") {
            Some(messages) => messages.into_iter().for_each(|message| self.message(message)),
            None if fields.left().get("messages").is_none() => fields.note_absent("messages"),
            None => {}
        }
        settings::read(&mut fields, session);
        fields.keep(WIRE, &mut session.extra);
    }

    fn message(&mut self, message: Json) {
        let readable = message.as_object().and_then(role).filter(|_| has_blocks(&message));
        let Some(author) = readable else { return self.whole(message) };
        let Json::Object(object) = message else { return };
        let mut fields = Fields::new(object, MESSAGE);
        fields.take("role");
        let items = fields.items("content").unwrap_or_default();
        let mut blocks: Vec<Block> = items.into_iter().map(|item| block::read(item, &author, &self.scope)).collect();
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
        let items = answer(&mut fields).unwrap_or_default();
        let blocks: Vec<Block> =
            items.into_iter().map(|item| block::read(item, &Author::Assistant, &self.scope)).collect();
        let count = blocks.len();
        let mut turn = Turn { provider: Some(HOST.to_owned()), ..Turn::default() };
        if let Some(counts) = fields.object("usage") {
            match counts.is_empty() {
                true => fields.put_back("usage", counts),
                false => turn.usage = usage(counts),
            }
        }
        turn.finish = finish(&mut fields);
        // What stands for a response where the call failed.
        if let Some(message) = fields.text("message") {
            turn.errors.push(TurnError { message, ..TurnError::default() });
        }
        fields.note("from", "response");
        fields.keep(WIRE, &mut turn.extra);
        self.turns.begin_answer();
        self.push(blocks);
        (turn, count)
    }
}

/// The blocks of the answer, if it is a message that holds nothing else.
fn answer(fields: &mut Fields) -> Option<Vec<Json>> {
    let output = fields.left().get("output")?.as_object().filter(|output| output.len() == 1)?;
    let message = output.get("message")?.as_object().filter(|message| message.len() == 2)?;
    let order = spelled_order(message, MESSAGE);
    let is_answer = message.get_str("role").as_deref() == Some("assistant");
    let items = message.get("content")?.as_array().filter(|items| is_answer && !items.is_empty())?.to_vec();
    fields.take("output");
    if let Some(order) = order {
        fields.note("message", order);
    }
    Some(items)
}

fn role(message: &Object) -> Option<Author> {
    match message.get_str("role")?.as_ref() {
        "user" => Some(Author::User),
        "assistant" => Some(Author::Assistant),
        "system" => Some(Author::System),
        _ => None,
    }
}

fn has_blocks(message: &Json) -> bool {
    let content = message.as_object().and_then(|message| message.get("content"));
    content.and_then(Json::as_array).is_some_and(|items| !items.is_empty())
}

/// Input is counted without what came from or went into a cache; we count all that was sent.
fn usage(object: Object) -> Usage {
    let mut fields = Fields::new(object, USAGE);
    let mut usage = Usage {
        cached_read: fields.count("cacheReadInputTokens"),
        cached_write: fields.count("cacheWriteInputTokens"),
        output: fields.count("outputTokens"),
        total: fields.count("totalTokens"),
        ..Usage::default()
    };
    let cached = usage.cached_read.unwrap_or(0).saturating_add(usage.cached_write.unwrap_or(0));
    let sent = fields.left().get("inputTokens").and_then(Json::as_number).and_then(Number::as_u64);
    usage.input = sent.and_then(|sent| sent.checked_add(cached));
    if usage.input.is_some() {
        fields.take("inputTokens");
    }
    fields.keep(WIRE, &mut usage.extra);
    usage
}

fn finish(fields: &mut Fields) -> Option<Finish> {
    if fields.left().get("stopReason") == Some(&Json::Null) {
        fields.take("stopReason");
        return Some(Finish { reason: FinishReason::Interrupted, ..Finish::default() });
    }
    let word = fields.text("stopReason")?;
    let reason = match word.as_str() {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "guardrail_intervened" | "content_filtered" => FinishReason::ContentFilter,
        "malformed_model_output" | "malformed_tool_use" => FinishReason::Error,
        other => FinishReason::Other(other.to_owned()),
    };
    Some(Finish { reason, word: Some(word), ..Finish::default() })
}
