//! From bodies to a session.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Data, Error, ErrorKind, Finish, FinishReason, Loss, Media, Part, Reasoning, Result,
    Scope, Session, Text, ToolCall, ToolResult, Turn, Usage,
};

use super::{FORMAT, options, restore, spelled};
use crate::take;
use crate::turns::TurnBuilder;
use crate::wire::{Parts, prefix};

/// The session of some bodies, and the order of their fields where it is not the usual one.
pub(super) fn session(parts: Parts) -> Result<(Session, Vec<Loss>)> {
    let original = parts.clone();
    let mut session = read(parts)?;
    restore::note_order(&original, &mut session);
    if original.request.is_some() {
        prefix::stamp(&mut session);
    }
    Ok((session, Vec::new()))
}

fn read(parts: Parts) -> Result<Session> {
    let mut decoder = Decoder::default();
    let mut session = Session::default();
    if let Some(request) = parts.request {
        decoder.request(object(request, "request")?, &mut session)?;
    }
    if let Some(response) = parts.response {
        decoder.response(object(response, "response")?)?;
    }
    session.turns = decoder.turns.finish();
    session.turns.iter_mut().for_each(|turn| turn.extra.tidy());
    session.extra.tidy();
    Ok(session)
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
    fn request(&mut self, mut body: Object, session: &mut Session) -> Result<()> {
        if let Some(key) = spelled(&body, "systemInstruction") {
            self.system(&mut body, key);
        }
        let contents = match body.get("contents") {
            Some(Json::Array(_)) => take::array(&mut body, "contents").unwrap_or_default(),
            Some(Json::Object(_) | Json::String(_)) | None => Vec::new(),
            Some(other) => {
                let what = format!("expected a list of contents, found {}", other.kind());
                return Err(Error::new(ErrorKind::Corrupt, what).path("contents"));
            }
        };
        for (index, content) in contents.into_iter().enumerate() {
            self.content(content, Author::User).map_err(|error| error.path(format!("contents[{index}]")))?;
        }
        options::take(&mut body, session);
        session.extra.part_mut(FORMAT).fields = body;
        Ok(())
    }

    fn system(&mut self, body: &mut Object, key: &'static str) {
        let Some(mut content) = take::object(body, key) else { return };
        let parts = content.get("parts").and_then(Json::as_array).map(<[Json]>::to_vec).unwrap_or_default();
        let is_text = |part: &Json| part.as_object().is_some_and(|part| part.get_str("text").is_some());
        if parts.is_empty() || !parts.iter().all(is_text) {
            return body.set(key, content);
        }
        content.remove("parts");
        let mut rest = Some(content).filter(|rest| !rest.is_empty());
        for part in &parts {
            let text = part.as_object().and_then(|part| part.get_str("text")).unwrap_or_default();
            let mut block = Block::text(Author::System, text).in_message(self.ordinal);
            let spelling = block.extra.part_mut(FORMAT);
            spelling.spelling.set("place", key);
            if let Some(rest) = rest.take() {
                spelling.fields.push("content", rest);
            }
            let beside = part.as_object().into_iter().flat_map(Object::iter);
            let beside = beside.filter(|(key, _)| key.to_str_lossy() != "text");
            let beside: Object = beside.map(|(key, value)| (key.clone(), value.clone())).collect();
            if !beside.is_empty() {
                spelling.fields.push("part", beside);
            }
            self.turns.push(block);
        }
        self.ordinal += 1;
    }

    fn content(&mut self, content: Json, default: Author) -> Result<()> {
        let Json::Object(mut content) = content else {
            return Err(Error::new(ErrorKind::Corrupt, format!("expected a content, found {}", content.kind())));
        };
        let role = take::text(&mut content, "role");
        let parts = take::array(&mut content, "parts");
        let is_empty = parts.as_ref().is_none_or(Vec::is_empty);
        let author = match role.as_deref() {
            Some("model") => Author::Assistant,
            Some("user") => Author::User,
            None => default,
            Some(other) => Author::from_word(other),
        };
        if author == Author::Assistant {
            self.turns.begin_answer();
        }
        let mut blocks: Vec<Block> = parts.iter().flatten().map(|part| self.part(part.clone(), &author)).collect();
        if is_empty {
            // A content without parts is a message without content.
            let mut block = Block::text(author.clone(), "");
            let note = if parts.is_some() { "empty" } else { "absent" };
            block.extra.part_mut(FORMAT).spelling.set("parts", note);
            blocks.push(block);
        }
        if let Some(first) = blocks.first_mut() {
            dress(first, role, content);
        }
        for block in blocks {
            self.turns.push(block.in_message(self.ordinal));
        }
        self.ordinal += 1;
        Ok(())
    }

    fn part(&mut self, part: Json, author: &Author) -> Block {
        let Json::Object(mut part) = part else {
            return Block::new(author.clone(), Body::Other { kind: "part".to_owned(), raw: part });
        };
        let mut notes = Object::new();
        let body = self.body(&mut part, &mut notes);
        let author = match &body {
            Body::ToolResult(_) => Author::Tool,
            _ => author.clone(),
        };
        let mut block = Block::new(author, body);
        let extra = block.extra.part_mut(FORMAT);
        extra.fields = part;
        extra.spelling = notes;
        block.extra.tidy();
        block
    }

    fn body(&mut self, part: &mut Object, notes: &mut Object) -> Body {
        if part.get_str("text").is_some() {
            return text(part, notes);
        }
        for key in ["functionCall", "functionResponse", "inlineData", "fileData"] {
            let Some(found) = spelled(part, key) else { continue };
            let Some(inner) = part.get(found).and_then(Json::as_object).cloned() else { continue };
            let body = match key {
                "functionCall" => self.call(inner, notes),
                "functionResponse" => self.response_part(inner, notes),
                _ => media(inner, notes),
            };
            if let Some(body) = body {
                if found != key {
                    notes.set("spelling", "snake");
                }
                part.remove(found);
                return body;
            }
        }
        let kind = part.iter().next().map_or_else(|| "part".to_owned(), |(key, _)| key.to_str_lossy().into_owned());
        Body::Other { kind, raw: Json::Object(std::mem::take(part)) }
    }

    fn call(&mut self, mut inner: Object, notes: &mut Object) -> Option<Body> {
        let name = take::text(&mut inner, "name")?;
        let arguments = match inner.remove("args") {
            Some(args) => args.to_text(),
            None => {
                notes.set("args", "absent");
                String::new()
            }
        };
        let call = self.call_id(take::text(&mut inner, "id"));
        if call.as_given().is_none() {
            self.open.push((name.clone(), call.clone()));
        }
        keep(notes, inner);
        Some(ToolCall { call, name, arguments }.into())
    }

    fn call_id(&mut self, id: Option<String>) -> CallId {
        self.calls += 1;
        id.map_or(CallId::Minted(self.calls - 1), CallId::given)
    }

    fn response_part(&mut self, mut inner: Object, notes: &mut Object) -> Option<Body> {
        let name = take::text(&mut inner, "name")?;
        let id = take::text(&mut inner, "id");
        let call = match id {
            Some(id) => CallId::given(id),
            None => self.answered(&name),
        };
        let parts = inner.remove("response").map(|json| Part::Data(Data { json })).into_iter().collect();
        keep(notes, inner);
        Some(ToolResult { call, name: Some(name), parts, error: None, is_error: None, outcome: None }.into())
    }

    /// The call that a response without an id answers: the oldest open one of its name.
    fn answered(&mut self, name: &str) -> CallId {
        match self.open.iter().position(|(open, _)| open == name) {
            Some(at) => self.open.remove(at).1,
            None => self.call_id(None),
        }
    }

    fn response(&mut self, mut body: Object) -> Result<()> {
        let mut candidates = take::array(&mut body, "candidates").unwrap_or_default();
        let had_candidates = !candidates.is_empty();
        self.turns.begin_answer();
        let mut candidate = match candidates.first() {
            Some(Json::Object(_)) => match candidates.remove(0) {
                Json::Object(candidate) => candidate,
                _ => Object::new(),
            },
            _ => Object::new(),
        };
        match candidate.remove("content") {
            Some(content @ Json::Object(_)) => {
                self.content(content, Author::Assistant).map_err(|error| error.path("candidates[0].content"))?;
            }
            Some(other) => candidate.set("content", other),
            None => {}
        }
        let model = take::text(&mut body, "modelVersion");
        let turn = self.turns.current();
        finish(turn, &mut candidate);
        usage(turn, &mut body);
        turn.provider = Some("google".to_owned());
        turn.model = model;
        stamp(turn);
        let extra = turn.extra.part_mut(FORMAT);
        extra.spelling.set("response", true);
        if !had_candidates {
            extra.spelling.set("candidates", if body.contains("candidates") { "other" } else { "absent" });
        }
        if !candidate.is_empty() {
            extra.fields.push("candidate", candidate);
        }
        if !candidates.is_empty() {
            extra.fields.push("candidates", candidates);
        }
        for (key, value) in body {
            extra.fields.push(key, value);
        }
        Ok(())
    }
}

/// Keeps what a call or a response has beyond the model.
fn keep(notes: &mut Object, rest: Object) {
    if !rest.is_empty() {
        notes.set("inner", rest);
    }
}

fn text(part: &mut Object, notes: &mut Object) -> Body {
    let text = take::text(part, "text").unwrap_or_default();
    if part.get("thought").and_then(Json::as_bool) != Some(true) {
        return Text { text }.into();
    }
    part.remove("thought");
    let signature = spelled(part, "thoughtSignature").and_then(|key| {
        if key != "thoughtSignature" {
            notes.set("spelling", "snake");
        }
        take::text(part, key)
    });
    Reasoning { text: Some(text), signature, ..Reasoning::default() }.into()
}

fn media(mut inner: Object, notes: &mut Object) -> Option<Body> {
    let snake = inner.contains("mime_type") || inner.contains("file_uri");
    let media = Media {
        media_type: spelled(&inner, "mimeType").and_then(|key| take::text(&mut inner, key)),
        inline: take::text(&mut inner, "data"),
        url: spelled(&inner, "fileUri").and_then(|key| take::text(&mut inner, key)),
        ..Media::default()
    };
    if snake {
        notes.set("inner_spelling", "snake");
    }
    if media.inline.is_none() && media.url.is_none() {
        return None;
    }
    keep(notes, inner);
    Some(media.into())
}

fn dress(block: &mut Block, role: Option<String>, content: Object) {
    let part = block.extra.part_mut(FORMAT);
    let expected = if block.author == Author::Assistant { "model" } else { "user" };
    if role.as_deref() != Some(expected) {
        part.spelling.set("role", role.map_or(Json::Null, Json::from));
    }
    if !content.is_empty() {
        part.spelling.set("content", content);
    }
    block.extra.tidy();
}

const REASONS: &[(&str, FinishReason)] = &[
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

fn finish(turn: &mut Turn, candidate: &mut Object) {
    let Some(word) = take::text(candidate, "finishReason") else { return };
    let calls = turn.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)));
    let known = REASONS.iter().find(|(known, _)| *known == word).map(|(_, reason)| reason.clone());
    let reason = match known {
        Some(FinishReason::Stop) if calls => FinishReason::ToolCalls,
        Some(reason) => reason,
        None => FinishReason::from_word(&word.to_lowercase()),
    };
    turn.finish = Some(Finish { reason, word: Some(word), ..Finish::default() });
}

fn usage(turn: &mut Turn, body: &mut Object) {
    let Some(mut map) = take::object(body, "usageMetadata") else { return };
    let thoughts = take::count(&mut map, "thoughtsTokenCount");
    let candidates = take::count(&mut map, "candidatesTokenCount");
    let mut usage = Usage {
        input: take::count(&mut map, "promptTokenCount"),
        // The vendor counts thinking apart; an answer's tokens are both.
        output: candidates.map(|count| count.saturating_add(thoughts.unwrap_or(0))),
        reasoning: thoughts,
        cached_read: take::count(&mut map, "cachedContentTokenCount"),
        total: take::count(&mut map, "totalTokenCount"),
        ..Usage::default()
    };
    let was_empty = map.is_empty() && usage == Usage::default();
    usage.extra.part_mut(FORMAT).fields = map;
    if was_empty {
        usage.extra.part_mut(FORMAT).spelling.set("usage", "empty");
    }
    usage.extra.tidy();
    turn.usage = usage;
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
