//! From bodies to sessions, and back to the bodies they came from.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{Block, Effort, Finish, FinishReason, ResponseFormat, ResponseKind, Session, Time, Turn};

use super::message::Messages;
use super::{ID, restore};
use crate::fields::{Fields, Form, Kept, is_text, optional};
use crate::format::openai_chat::options::{put_tools, take_tools};
use crate::wire::message_wire::MessageWire;
use crate::wire::tables::{OptionRow, option_rows, options_set, take_options};

const REQUEST: Form = &optional(["model", "messages", "tools", "format", "think", "options", "stream"]);
const OPTIONS: Form = &optional([
    "temperature",
    "top_p",
    "top_k",
    "num_predict",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "stop",
]);
const ROWS: &[OptionRow] = option_rows! {
    "temperature" => number temperature,
    "top_p" => number top_p,
    "top_k" => number top_k,
    "num_predict" => number max_tokens,
    "presence_penalty" => number presence_penalty,
    "frequency_penalty" => number frequency_penalty,
    "seed" => number seed,
    "stop" => texts stop,
};
const RESPONSE: Form =
    &optional(["model", "created_at", "message", "done_reason", "done", "error", "prompt_eval_count", "eval_count"]);

impl MessageWire for Messages {
    const ID: &'static str = ID;
    const REQUEST: Form = REQUEST;

    fn message(&mut self, message: Json) -> Vec<Block> {
        self.next(message)
    }

    fn settings(fields: &mut Fields, session: &mut Session) {
        take_settings(fields, session);
    }

    fn answer(&mut self, body: Object) -> (Turn, Vec<Block>) {
        answer(body, self)
    }
}

fn take_settings(fields: &mut Fields, session: &mut Session) {
    if let Some(inner) = fields.object("options") {
        let mut inner = Fields::new(inner, OPTIONS);
        take_options(ROWS, &mut inner, &mut session.options);
        inner.note("object", true);
        fields.nest("options", inner);
    }
    session.options.reasoning = match fields.take_if("think", |value| *value == Json::Bool(false) || is_text(value)) {
        Some(Json::Bool(_)) => Some(Effort::None),
        Some(level) => level.as_str().map(|word| {
            if word == "none" {
                fields.note("think", "word");
            }
            Effort::from_word(&word)
        }),
        None => None,
    };
    session.response_format = take_format(fields);
    take_tools(fields, &mut session.tools, ID);
}

fn take_format(fields: &mut Fields) -> Option<ResponseFormat> {
    let known = |value: &Json| value.as_object().is_some() || value.as_str().is_some_and(|word| word == "json");
    Some(match fields.take_if("format", known)? {
        schema @ Json::Object(_) => {
            ResponseFormat { kind: ResponseKind::JsonSchema, schema, ..ResponseFormat::default() }
        }
        _ => ResponseFormat { kind: ResponseKind::JsonObject, ..ResponseFormat::default() },
    })
}

/// The request with these messages to this model.
pub(super) fn request(session: &Session, model: Option<&str>, messages: Vec<Json>) -> Object {
    let notes = Kept::of(&session.extra, ID);
    let mut body = Object::new();
    model.into_iter().for_each(|model| body.push("model", model));
    if !(notes.is("messages", "absent") && messages.is_empty()) {
        body.push("messages", messages);
    }
    put_tools(session, notes, &mut body, ID);
    if let Some(format) = &session.response_format {
        match (&format.kind, &format.schema) {
            (ResponseKind::JsonSchema, schema @ Json::Object(_)) => body.push("format", schema.clone()),
            _ => body.push("format", "json"),
        }
    }
    match &session.options.reasoning {
        Some(Effort::None) if !notes.is("think", "word") => body.push("think", false),
        Some(effort) => body.push("think", effort.as_str()),
        None => {}
    }
    let inner: Object = options_set(ROWS, &session.options).collect();
    if !inner.is_empty() || notes.note("options").is_some() {
        body.push("options", notes.at("options").complete(inner, OPTIONS));
    }
    notes.complete(body, REQUEST)
}

fn answer(body: Object, messages: &mut Messages) -> (Turn, Vec<Block>) {
    let mut fields = Fields::new(body, RESPONSE);
    let mut turn = Turn { provider: Some("ollama".to_owned()), api: Some(ID.to_owned()), ..Turn::default() };
    turn.model = fields.text("model");
    turn.timing.created = fields.text("created_at").map(Time::new);
    turn.usage.input = fields.count("prompt_eval_count");
    turn.usage.output = fields.count("eval_count");
    if let Some(word) = fields.text("done_reason") {
        turn.finish = Some(Finish { reason: FinishReason::from_word(&word), word: Some(word), ..Finish::default() });
    }
    if let Some(message) = fields.text("error") {
        turn.errors.push(TurnError { message, ..TurnError::default() });
        turn.finish.get_or_insert_default().reason = FinishReason::Error;
    }
    let blocks = match fields.object("message") {
        Some(message) => messages.answer_of(message),
        None => {
            fields.note("message", "absent");
            Vec::new()
        }
    };
    if turn.finish.as_ref().is_some_and(|finish| finish.reason == FinishReason::Stop)
        && blocks.iter().any(|block| matches!(block.body, turnkeep_model::Body::ToolCall(_)))
        && let Some(finish) = &mut turn.finish
    {
        // The wire has no word of its own for it.
        finish.reason = FinishReason::ToolCalls;
    }
    fields.note("answer", true);
    fields.keep(ID, &mut turn.extra);
    (turn, blocks)
}

/// The response that a turn came from.
pub(super) fn response(turn: &Turn) -> Object {
    let notes = Kept::of(&turn.extra, ID);
    let mut body = Object::new();
    turn.model.iter().for_each(|model| body.push("model", model.as_str()));
    turn.timing.created.iter().for_each(|time| body.push("created_at", time.as_str()));
    let blocks: Vec<&Block> = turn.blocks.iter().filter(|block| block.is_answer()).collect();
    if !notes.is("message", "absent") {
        body.push("message", restore::message(&blocks));
    }
    if let Some(word) = turn.finish.as_ref().and_then(|finish| finish.word.as_deref()) {
        body.push("done_reason", word);
    }
    turn.errors.iter().for_each(|error| body.push("error", error.message.as_str()));
    let counts = [("prompt_eval_count", turn.usage.input), ("eval_count", turn.usage.output)];
    for (key, count) in counts {
        count.into_iter().for_each(|count| body.push(key, count));
    }
    notes.complete(body, RESPONSE)
}
