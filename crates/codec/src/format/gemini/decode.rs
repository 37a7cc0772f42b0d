//! From bodies to a session.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
use turnkeep_model::{
    Author, Block, Body, CallId, Data, Error, ErrorKind, Finish, FinishReason, Loss, Part, Result, Scope, Session,
    ToolCall, ToolResult, Turn, Usage,
};

use super::part::{
    ALONE, AROUND, BLOB, CALL, CONTENT, INNER, PART, RESPONSE, SHOWN, STRING, SYSTEM, TEXT, is_snake, media_of,
    note_snake, other, system_part, take_parts, take_shown, text,
};
use super::{FORMAT, options, spelled_in};
use crate::fields::{Fields, Form, KeyRule, OTHERS, taken, taken_last};
use crate::turns::TurnBuilder;
use crate::wire::tables::{Words, meant};
use crate::wire::{Parts, prefix};

/// The usual order of a request's fields. A setting of which only a part was taken stands with the other fields.
pub(super) const REQUEST: Form = &[
    ("systemInstruction", KeyRule::Taken),
    ("system_instruction", KeyRule::Taken),
    ("contents", KeyRule::Taken),
    ("model", KeyRule::Taken),
    OTHERS,
    ("generationConfig", KeyRule::Taken),
    ("generation_config", KeyRule::Taken),
    ("toolConfig", KeyRule::Taken),
    ("tools", KeyRule::Taken),
];
/// The usual order of a response's fields.
pub(super) const BODY: Form = &taken(["candidates", "usageMetadata", "modelVersion", "error"]);
pub(super) const CANDIDATE: Form = &taken_last(["", "content", "finishReason"]);
pub(super) const USAGE: Form = &taken([
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "totalTokenCount",
]);
pub(super) const ERROR: Form = &[("code", KeyRule::Optional), ("message", KeyRule::Taken), ("status", KeyRule::Taken)];

/// The session of some bodies.
pub(super) fn session(parts: Parts) -> Result<(Session, Vec<Loss>)> {
    let mut decoder = Decoder::default();
    let mut session = Session::default();
    let is_request = parts.request.is_some();
    if let Some(request) = parts.request {
        decoder.request(object(request, "request")?, &mut session)?;
    }
    if let Some(response) = parts.response {
        decoder.response(object(response, "response")?)?;
    }
    session.turns = decoder.turns.finish();
    if is_request {
        prefix::stamp(&mut session);
    }
    Ok((session, Vec::new()))
}

fn object(body: Json, what: &str) -> Result<Object> {
    match body {
        Json::Object(body) => Ok(body),
        other => Err(Error::new(ErrorKind::Corrupt, format!("the {what} is {}, not an object", other.kind()))),
    }
}

#[derive(Default)]
struct Decoder {
    turns: TurnBuilder,
    ordinal: u32,
    calls: u32,
    /// Calls without an id that have no response yet, with the names they are answered by.
    open: Vec<(String, CallId)>,
}

impl Decoder {
    fn request(&mut self, body: Object, session: &mut Session) -> Result<()> {
        let mut fields = Fields::new(body, REQUEST);
        if let Some(key) = spelled_in(&fields, "systemInstruction") {
            self.system(&mut fields, key);
        }
        for (index, content) in contents(&mut fields)?.into_iter().enumerate() {
            self.content(content, Author::User).map_err(|error| error.path(format!("contents[{index}]")))?;
        }
        options::read(&mut fields, session);
        fields.keep(FORMAT, &mut session.extra);
        Ok(())
    }

    /// The system's text, as a content, as its parts or as a string.
    fn system(&mut self, body: &mut Fields, key: &'static str) {
        let (content, is_string) = match body.get(key) {
            Some(Json::Object(content)) => (content.clone(), false),
            Some(text @ Json::String(_)) => ([("parts", text.clone())].into_iter().collect(), true),
            _ => return,
        };
        let mut content = Fields::new(content, SYSTEM);
        let (parts, shape) = take_parts(&mut content);
        let Some(parts) = parts.filter(|parts| !parts.is_empty()) else { return };
        // The key stands twice: nobody knows which text counts, so both stay where they are.
        if body.take(key).is_none() {
            return;
        }
        let shape = if is_string { Some(STRING) } else { shape };
        let mut around = Some((content, shape));
        for part in parts {
            let (block, rest) = system_part(part);
            let mut block = block.in_message(self.ordinal);
            let mut fields = Fields::new(Object::new(), &[]);
            fields.nest("part", rest);
            fields.note("place", key);
            if let Some((content, shape)) = around.take() {
                fields.nest("content", content);
                shape.into_iter().for_each(|shape| fields.note("parts", shape));
            }
            fields.keep(FORMAT, &mut block.extra);
            self.turns.push(block);
        }
        self.ordinal += 1;
    }

    fn content(&mut self, content: Json, default: Author) -> Result<()> {
        let Json::Object(content) = content else {
            return Err(Error::new(ErrorKind::Corrupt, format!("expected a content, found {}", content.kind())));
        };
        let mut content = Fields::new(content, CONTENT);
        let role = content.text("role");
        let (parts, shape) = take_parts(&mut content);
        let author = match role.as_deref() {
            Some("model") => Author::Assistant,
            Some("user") => Author::User,
            None => default,
            Some(other) => Author::from_word(other),
        };
        if author == Author::Assistant {
            self.turns.begin_answer();
        }
        let empty = if parts.is_some() { "empty" } else { "absent" };
        let mut blocks: Vec<Block> = parts.into_iter().flatten().map(|part| self.part(part, &author)).collect();
        let shape = if blocks.is_empty() {
            // A content without parts is a message without content.
            blocks.push(Block::text(author, ""));
            Some(empty)
        } else {
            shape
        };
        if let Some(first) = blocks.first_mut() {
            note_content(first, role, shape, content);
        }
        for block in blocks {
            self.turns.push(block.in_message(self.ordinal));
        }
        self.ordinal += 1;
        Ok(())
    }

    fn part(&mut self, part: Json, author: &Author) -> Block {
        let Json::Object(part) = part else {
            return Block::new(author.clone(), Body::Other { kind: "part".to_owned(), raw: part });
        };
        let mut part = Fields::new(part, PART);
        let Some(body) = self.body(&mut part) else { return other(author.clone(), part) };
        let author = match &body {
            Body::ToolResult(_) => Author::Tool,
            _ => author.clone(),
        };
        let mut block = Block::new(author, body);
        part.keep(FORMAT, &mut block.extra);
        block
    }

    fn body(&mut self, part: &mut Fields) -> Option<Body> {
        if let Some(said) = part.text("text") {
            return Some(text(said, part));
        }
        // A part says one thing; of one that holds several, the first in this order is it and the rest is kept beside.
        for (key, form) in
            [("functionCall", CALL), ("functionResponse", RESPONSE), ("inlineData", BLOB), ("fileData", BLOB)]
        {
            let Some(found) = spelled_in(part, key) else { continue };
            let Some(inner) = part.object(found) else { continue };
            let is_snake = is_snake(&inner);
            let mut inner = Fields::new(inner, form);
            let body = match key {
                "functionCall" => self.call(&mut inner, part),
                "functionResponse" => self.response_part(&mut inner, part),
                _ => media_of(&mut inner).map(Body::from),
            };
            let Some(body) = body else {
                part.put_back(found, inner.into_rest());
                continue;
            };
            if is_snake && matches!(body, Body::Media(_)) {
                part.note("inner_spelling", "snake");
            }
            part.nest_in_notes(INNER, inner);
            note_snake(part, found != key);
            return Some(body);
        }
        None
    }

    fn call(&mut self, inner: &mut Fields, part: &mut Fields) -> Option<Body> {
        let name = inner.text("name")?;
        let arguments = match inner.take("args") {
            Some(args) => args.to_text(),
            None => {
                part.note("args", "absent");
                String::new()
            }
        };
        let call = self.call_id(inner.text("id"));
        if call.as_given().is_none() {
            self.open.push((name.clone(), call.clone()));
        }
        Some(ToolCall { call, name, arguments }.into())
    }

    fn call_id(&mut self, id: Option<String>) -> CallId {
        self.calls += 1;
        id.map_or(CallId::Minted(self.calls - 1), CallId::given)
    }

    fn response_part(&mut self, inner: &mut Fields, part: &mut Fields) -> Option<Body> {
        let name = inner.text("name")?;
        let call = match inner.text("id") {
            Some(id) => CallId::given(id),
            None => self.answered(&name),
        };
        let response = inner.take("response").map(|json| Part::Data(Data { json }));
        let (shown, orders) = take_shown(inner);
        if orders.iter().any(|order| *order != Json::Null) {
            part.note(SHOWN, orders);
        }
        let parts = response.into_iter().chain(shown).collect();
        Some(ToolResult { call, name: Some(name), parts, error: None, is_error: None, outcome: None }.into())
    }

    /// The call that a response without an id answers: the oldest open one of its name.
    fn answered(&mut self, name: &str) -> CallId {
        match self.open.iter().position(|(open, _)| open == name) {
            Some(at) => self.open.remove(at).1,
            None => self.call_id(None),
        }
    }

    fn response(&mut self, body: Object) -> Result<()> {
        let mut fields = Fields::new(body, BODY);
        let mut candidates = fields.items("candidates").unwrap_or_default();
        fields.note("response", true);
        if candidates.is_empty() {
            fields.note("candidates", if fields.get("candidates").is_some() { "other" } else { "absent" });
        }
        self.turns.begin_answer();
        let mut candidate = Fields::new(take_first(&mut candidates), CANDIDATE);
        if let Some(content) = candidate.take_if("content", |content| matches!(content, Json::Object(_))) {
            self.content(content, Author::Assistant).map_err(|error| error.path("candidates[0].content"))?;
        }
        let turn = self.turns.current();
        finish(turn, &mut candidate);
        turn.usage = fields.object("usageMetadata").map(usage).unwrap_or_default();
        turn.model = fields.text("modelVersion");
        error(turn, &mut fields);
        turn.provider = Some("google".to_owned());
        stamp(turn);
        let mut answers = Fields::new(Object::new(), &[]);
        answers.nest("candidate", candidate);
        if !candidates.is_empty() {
            answers.leave("candidates", candidates);
        }
        answers.keep(FORMAT, &mut turn.extra);
        fields.keep(FORMAT, &mut turn.extra);
        Ok(())
    }
}

/// Takes the first of some candidates, which is the answer.
fn take_first(candidates: &mut Vec<Json>) -> Object {
    match candidates.first_mut() {
        Some(Json::Object(first)) => {
            let first = std::mem::take(first);
            candidates.remove(0);
            first
        }
        _ => Object::new(),
    }
}

/// The contents of a request, which may be a list, one content or a text.
fn contents(body: &mut Fields) -> Result<Vec<Json>> {
    match body.get("contents") {
        Some(Json::Array(_)) => Ok(body.array("contents").unwrap_or_default()),
        Some(Json::Object(_)) => {
            let content = body.take("contents");
            content.iter().for_each(|_| body.note("contents", ALONE));
            Ok(content.into_iter().collect())
        }
        Some(Json::String(_)) => {
            let text = body.take("contents");
            text.iter().for_each(|_| body.note("contents", TEXT));
            Ok(text.into_iter().map(|text| Json::Object([("parts", text)].into_iter().collect())).collect())
        }
        None => {
            body.note_absent("contents");
            Ok(Vec::new())
        }
        Some(other) => {
            let what = format!("expected a list of contents, found {}", other.kind());
            Err(Error::new(ErrorKind::Corrupt, what).path("contents"))
        }
    }
}

/// Notes with the first block of a content how the content was spelled.
fn note_content(block: &mut Block, role: Option<String>, shape: Option<&'static str>, content: Fields) {
    let expected = if block.author == Author::Assistant { "model" } else { "user" };
    let mut notes = Fields::new(Object::new(), &[]);
    shape.into_iter().for_each(|shape| notes.note("parts", shape));
    if role.as_deref() != Some(expected) {
        notes.note("role", role.map_or(Json::Null, Json::from));
    }
    notes.nest_in_notes(AROUND, content);
    notes.keep(FORMAT, &mut block.extra);
}

const REASONS: Words<FinishReason> = &[
    ("STOP", FinishReason::Stop),
    ("MAX_TOKENS", FinishReason::Length),
    ("SAFETY", FinishReason::ContentFilter),
    ("RECITATION", FinishReason::ContentFilter),
    ("BLOCKLIST", FinishReason::ContentFilter),
    ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
    ("SPII", FinishReason::ContentFilter),
    ("MODEL_ARMOR", FinishReason::ContentFilter),
    ("MALFORMED_FUNCTION_CALL", FinishReason::Error),
    ("UNEXPECTED_TOOL_CALL", FinishReason::Error),
];

fn finish(turn: &mut Turn, candidate: &mut Fields) {
    let Some(word) = candidate.text("finishReason") else { return };
    let calls = turn.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)));
    let reason = match meant(REASONS, &word) {
        Some(FinishReason::Stop) if calls => FinishReason::ToolCalls,
        Some(reason) => reason,
        None => FinishReason::from_word(&word.to_lowercase()),
    };
    turn.finish = Some(Finish { reason, word: Some(word), ..Finish::default() });
}

fn usage(object: Object) -> Usage {
    let was_empty = object.is_empty();
    let mut fields = Fields::new(object, USAGE);
    let thoughts = fields.count("thoughtsTokenCount");
    let candidates = fields.count("candidatesTokenCount");
    let mut usage = Usage {
        input: fields.count("promptTokenCount"),
        // The vendor counts thinking apart; an answer's tokens are both.
        output: candidates.map(|count| count.saturating_add(thoughts.unwrap_or(0))),
        reasoning: thoughts,
        cached_read: fields.count("cachedContentTokenCount"),
        total: fields.count("totalTokenCount"),
        ..Usage::default()
    };
    if was_empty {
        fields.note("usage", "empty");
    }
    fields.keep(FORMAT, &mut usage.extra);
    usage
}

/// What went wrong, in the vendor's words.
fn error(turn: &mut Turn, body: &mut Fields) {
    let told = body.get_object("error").is_some_and(|error| error.get_str("message").is_some());
    let Some(error) = told.then(|| body.object("error")).flatten() else { return };
    let mut fields = Fields::new(error, ERROR);
    let message = fields.text("message").unwrap_or_default();
    let mut error = TurnError { message, class: fields.text("status"), ..TurnError::default() };
    fields.keep(FORMAT, &mut error.extra);
    turn.errors.push(error);
    turn.finish.get_or_insert(Finish { reason: FinishReason::Error, ..Finish::default() });
}

/// Says who made the signatures.
fn stamp(turn: &mut Turn) {
    let scope = Scope { provider: turn.provider.clone(), model: turn.model.clone(), ..Scope::default() };
    for block in &mut turn.blocks {
        if let Body::Reasoning(reasoning) = &mut block.body
            && reasoning.signature.is_some()
        {
            reasoning.scope = Some(scope.clone());
        }
    }
}
