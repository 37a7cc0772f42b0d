//! From bodies to sessions, and from a turn to the response it came from.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Block, Error, ErrorKind, Finish, FinishReason, Loss, Result, Scope, Session, Time, Turn, TurnId};

use super::message::Messages;
use super::{ID, options, profile, restore, usage};
use crate::turns::TurnBuilder;
use crate::wire::Parts;
use crate::wire::taken::{Fields, Notes, plain_count};

const RESPONSE: &[&str] = &["id", "object", "created", "model", "choices", "usage", "error"];
const CHOICE: &[&str] = &["index", "message", "logprobs", "finish_reason"];
const ERROR: &[&str] = &["message", "type"];

/// The session that some bodies hold.
pub(super) fn decode(parts: Parts) -> Result<(Session, Vec<Loss>)> {
    decode_history(parts, &mut std::iter::empty())
}

/// The same, where the request's messages come apart.
pub(super) fn decode_history(parts: Parts, apart: &mut dyn Iterator<Item = Json>) -> Result<(Session, Vec<Loss>)> {
    let mut session = Session::default();
    let mut messages = Messages::default();
    let mut turns = TurnBuilder::default();
    let mut asked_model = None;
    if let Some(request) = parts.request {
        let mut fields = Fields::new(object(request, "request")?, options::REQUEST);
        match fields.array("messages") {
            Some(items) => items.into_iter().chain(apart).for_each(|item| add(&mut turns, messages.next(item))),
            None => fields.note("messages", "absent"),
        }
        options::take(&mut fields, &mut session);
        asked_model = Some(fields.string("model"));
        fields.leave(ID, &mut session.extra);
    }
    if let Some(response) = parts.response {
        let answer = answer(object(response, "response")?, &mut messages);
        session.turns = answered(turns, answer);
    } else {
        session.turns = turns.finish();
    }
    if let Some(model) = asked_model {
        place_model(&mut session, model);
    }
    Ok((session, Vec::new()))
}

fn object(body: Json, what: &str) -> Result<Object> {
    match body {
        Json::Object(object) => Ok(object),
        other => Err(Error::new(ErrorKind::Corrupt, format!("expected an object, found {}", other.kind())).path(what)),
    }
}

fn add(turns: &mut TurnBuilder, blocks: Vec<Block>) {
    if blocks.iter().any(Block::is_answer) {
        turns.begin_answer();
    }
    blocks.into_iter().for_each(|block| turns.push(block));
}

/// The model that was asked is the one of the turn that waits for its answer, or that it answered.
fn place_model(session: &mut Session, model: Option<String>) {
    let extra = &mut session.extra;
    match (session.turns.last_mut(), model) {
        (Some(last), Some(model)) if last.model.is_none() && !last.blocks.iter().any(Block::is_answer) => {
            last.model = Some(model);
        }
        (Some(last), Some(model)) if last.model.as_ref() == Some(&model) => {}
        (_, Some(model)) => extra.part_mut(ID).fields.push("model", model),
        (Some(last), None) if last.model.is_some() => extra.part_mut(ID).spelling.set("model", "absent"),
        (_, None) => {}
    }
}

/// The turns of a request and the answer to it: the answer's blocks join the turn that waits for one.
fn answered(mut turns: TurnBuilder, (mut head, blocks): (Turn, Vec<Block>)) -> Vec<Turn> {
    let is_empty = blocks.is_empty();
    turns.begin_answer();
    blocks.into_iter().for_each(|block| turns.push(block));
    let mut turns = turns.finish();
    let open = turns.last().is_some_and(|turn| !turn.blocks.iter().any(Block::is_answer));
    if is_empty && !open {
        turns.push(Turn::default());
    }
    if let Some(last) = turns.last_mut() {
        head.blocks = std::mem::take(&mut last.blocks);
        *last = head;
    }
    turns
}

/// What a response says: all of a turn but its blocks, and those.
fn answer(body: Object, messages: &mut Messages) -> (Turn, Vec<Block>) {
    let provider = profile::made_by(&body).map(str::to_owned);
    let mut fields = Fields::new(body, RESPONSE);
    let mut turn = Turn { provider, api: Some(ID.to_owned()), ..Turn::default() };
    turn.id = fields.string("id").map(TurnId::new);
    turn.model = fields.string("model");
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
    fields.leave(ID, &mut turn.extra);
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
    if let Some(word) = choice.string("finish_reason") {
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
        fields.put("choices", rest);
    }
    fields.inner("choice", choice);
    blocks
}

fn reason(word: &str) -> FinishReason {
    match word {
        "function_call" => FinishReason::ToolCalls,
        "eos" | "eos_token" | "end_turn" => FinishReason::Stop,
        "model_length" => FinishReason::Length,
        "error" => FinishReason::Error,
        word => FinishReason::from_word(word),
    }
}

fn take_error(fields: &mut Fields, turn: &mut Turn) {
    let told = |value: &Json| value.as_object().is_some_and(|error| error.get_str("message").is_some());
    let Some(Json::Object(error)) = fields.take_if("error", told) else { return };
    let mut error = Fields::new(error, ERROR);
    let message = error.string("message").unwrap_or_default();
    let mut found = TurnError { message, class: error.string("type"), ..TurnError::default() };
    error.leave(ID, &mut found.extra);
    turn.errors.push(found);
    turn.finish = Some(Finish { reason: FinishReason::Error, ..Finish::default() });
}

/// The response that a turn came from.
pub(super) fn response(turn: &Turn) -> Object {
    let notes = Notes::of(&turn.extra, ID);
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
    if notes.get("usage").is_some() {
        body.push("usage", usage::write(&turn.usage));
    }
    if let Some(error) = turn.errors.first() {
        body.push("error", error_object(error));
    }
    let apart: &[&str] = if notes.is("choices", "absent") { &["choice"] } else { &["choice", "choices"] };
    notes.complete(body, RESPONSE, apart)
}

fn choices(turn: &Turn, notes: Notes<'_>) -> Vec<Json> {
    let mut choice = Object::new();
    if notes.inner_word("choice", "index").is_none() {
        choice.push("index", 0_u64);
    }
    let blocks: Vec<&Block> = turn.blocks.iter().filter(|block| block.is_answer()).collect();
    if notes.inner_word("choice", "message").is_none() {
        choice.push("message", restore::message(&blocks));
    }
    if let Some(word) = turn.finish.as_ref().and_then(|finish| finish.word.as_deref()) {
        choice.push("finish_reason", word);
    }
    let first = Json::Object(notes.complete_inner("choice", choice, CHOICE));
    let more = notes.field("choices").and_then(Json::as_array).unwrap_or_default();
    std::iter::once(first).chain(more.iter().cloned()).collect()
}

fn error_object(error: &TurnError) -> Object {
    let mut object = Object::new();
    object.push("message", error.message.as_str());
    if let Some(class) = &error.class {
        object.push("type", class.as_str());
    }
    Notes::of(&error.extra, ID).complete(object, ERROR, &[])
}
