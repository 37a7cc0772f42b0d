//! From bodies to sessions, and from a turn to the response it came from.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Block, Finish, FinishReason, Scope, Session, Time, Turn, TurnId};

use super::message::Messages;
use super::{ID, options, profile, restore, usage};
use crate::fields::{Fields, Form, Kept, optional, plain_count};
use crate::wire::message_wire::MessageWire;
use crate::wire::tables::{Words, meant};

const RESPONSE: Form = &optional(["id", "object", "created", "model", "choices", "usage", "error"]);
const CHOICE: Form = &optional(["index", "message", "logprobs", "finish_reason"]);
const ERROR: Form = &optional(["message", "type"]);

impl MessageWire for Messages {
    const ID: &'static str = ID;
    const REQUEST: Form = options::REQUEST;

    fn message(&mut self, message: Json) -> Vec<Block> {
        self.next(message)
    }

    fn settings(fields: &mut Fields, session: &mut Session) {
        options::take(fields, session);
    }

    fn answer(&mut self, body: Object) -> (Turn, Vec<Block>) {
        answer(body, self)
    }
}

/// What a response says: all of a turn but its blocks, and those.
fn answer(body: Object, messages: &mut Messages) -> (Turn, Vec<Block>) {
    let provider = profile::made_by(&body).map(str::to_owned);
    let mut fields = Fields::new(body, RESPONSE);
    let mut turn = Turn { provider, api: Some(ID.to_owned()), ..Turn::default() };
    turn.id = fields.text("id").map(TurnId::new);
    turn.model = fields.text("model");
    turn.timing.created = fields.count("created").map(|seconds| Time::new(seconds.to_string()));
    if fields.take_if("object", |word| word.as_str().is_some_and(|word| word == "chat.completion")).is_none() {
        fields.note("object", "absent");
    }
    messages.scope = Scope { provider: turn.provider.clone(), model: turn.model.clone(), ..Scope::default() };
    if let Some(count) = fields.object("usage") {
        fields.note("usage", true);
        turn.usage = usage::read(count);
    }
    take_error(&mut fields, &mut turn);
    let blocks = take_choices(&mut fields, &mut turn, messages);
    fields.note("answer", true);
    fields.keep(ID, &mut turn.extra);
    (turn, blocks)
}

fn take_choices(fields: &mut Fields, turn: &mut Turn, messages: &mut Messages) -> Vec<Block> {
    let some = |value: &Json| matches!(value.as_array(), Some([Json::Object(_), ..]));
    let Some(Json::Array(choices)) = fields.take_if("choices", some) else {
        fields.note("choices", "absent");
        return Vec::new();
    };
    let mut choices = choices.into_iter();
    let Some(Json::Object(first)) = choices.next() else { return Vec::new() };
    let mut choice = Fields::new(first, CHOICE);
    let zero = |value: &Json| value.as_number().and_then(plain_count) == Some(0);
    if choice.take_if("index", zero).is_none() {
        choice.note("index", "absent");
    }
    if let Some(word) = choice.text("finish_reason") {
        turn.finish = Some(Finish { reason: reason(&word), word: Some(word), ..Finish::default() });
    }
    let blocks = match choice.object("message") {
        Some(message) => messages.answer_of(message),
        None => {
            choice.note("message", "absent");
            Vec::new()
        }
    };
    let rest: Vec<Json> = choices.collect();
    if !rest.is_empty() {
        fields.leave("choices", rest);
    }
    fields.nest("choice", choice);
    blocks
}

/// The words of vendors beside those that are ours too.
const REASONS: Words<FinishReason> = &[
    ("function_call", FinishReason::ToolCalls),
    ("eos", FinishReason::Stop),
    ("eos_token", FinishReason::Stop),
    ("end_turn", FinishReason::Stop),
    ("model_length", FinishReason::Length),
    ("error", FinishReason::Error),
];

fn reason(word: &str) -> FinishReason {
    meant(REASONS, word).unwrap_or_else(|| FinishReason::from_word(word))
}

fn take_error(fields: &mut Fields, turn: &mut Turn) {
    let told = |value: &Json| value.as_object().is_some_and(|error| error.get_str("message").is_some());
    let Some(Json::Object(error)) = fields.take_if("error", told) else { return };
    let mut error = Fields::new(error, ERROR);
    let message = error.text("message").unwrap_or_default();
    let mut found = TurnError { message, class: error.text("type"), ..TurnError::default() };
    error.keep(ID, &mut found.extra);
    turn.errors.push(found);
    turn.finish = Some(Finish { reason: FinishReason::Error, ..Finish::default() });
}

/// The response that a turn came from.
pub(super) fn response(turn: &Turn) -> Object {
    let notes = Kept::of(&turn.extra, ID);
    let mut body = Object::new();
    if let Some(id) = &turn.id {
        body.push("id", id.as_str());
    }
    if !notes.is("object", "absent") {
        body.push("object", "chat.completion");
    }
    if let Some(created) = turn.timing.created.as_ref().and_then(|time| Number::parse(time.as_str())) {
        body.push("created", created);
    }
    if let Some(model) = &turn.model {
        body.push("model", model.as_str());
    }
    if !notes.is("choices", "absent") {
        body.push("choices", choices(turn, notes));
    }
    if notes.note("usage").is_some() {
        body.push("usage", usage::write(&turn.usage));
    }
    if let Some(error) = turn.errors.first() {
        body.push("error", error_object(error));
    }
    notes.without(|key| key.is("choice")).complete(body, RESPONSE)
}

fn choices(turn: &Turn, notes: Kept<'_>) -> Vec<Json> {
    let mut choice = Object::new();
    if notes.at("choice").word("index").is_none() {
        choice.push("index", 0_u64);
    }
    let blocks: Vec<&Block> = turn.blocks.iter().filter(|block| block.is_answer()).collect();
    if notes.at("choice").word("message").is_none() {
        choice.push("message", restore::message(&blocks));
    }
    if let Some(word) = turn.finish.as_ref().and_then(|finish| finish.word.as_deref()) {
        choice.push("finish_reason", word);
    }
    let first = Json::Object(notes.at("choice").complete(choice, CHOICE));
    let more = notes.field("choices").and_then(Json::as_array).unwrap_or_default();
    std::iter::once(first).chain(more.iter().cloned()).collect()
}

fn error_object(error: &TurnError) -> Object {
    let mut object = Object::new();
    object.push("message", error.message.as_str());
    if let Some(class) = &error.class {
        object.push("type", class.as_str());
    }
    Kept::of(&error.extra, ID).complete(object, ERROR)
}
