//! From bodies to a session.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::TurnError;
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
            Some(Json::Object(_)) => {
                session.extra.part_mut(FORMAT).spelling.set("contents", ALONE);
                body.remove("contents").into_iter().collect()
            }
            Some(Json::String(_)) => {
                session.extra.part_mut(FORMAT).spelling.set("contents", TEXT);
                let parts = body.remove("contents").unwrap_or_default();
                vec![Json::Object([("parts", parts)].into_iter().collect())]
            }
            None => Vec::new(),
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

    /// The system's text, as a content, as its parts or as a string.
    fn system(&mut self, body: &mut Object, key: &'static str) {
        let mut content = match body.get(key) {
            Some(Json::Object(content)) => content.clone(),
            Some(text @ Json::String(_)) => [("parts", text.clone())].into_iter().collect(),
            _ => return,
        };
        let is_string = matches!(body.get(key), Some(Json::String(_)));
        let (parts, shape) = take_parts(&mut content);
        if parts.as_ref().is_none_or(Vec::is_empty) {
            return;
        }
        body.remove(key);
        let mut rest = Some(content).filter(|rest| !rest.is_empty());
        let mut shape = if is_string { Some(STRING) } else { shape };
        for part in parts.into_iter().flatten() {
            let mut block = system_part(part).in_message(self.ordinal);
            let extra = block.extra.part_mut(FORMAT);
            extra.spelling.set("place", key);
            if let Some(rest) = rest.take() {
                extra.fields.push("content", rest);
            }
            if let Some(shape) = shape.take() {
                extra.spelling.set("parts", shape);
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
        let (parts, shape) = take_parts(&mut content);
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
        if let (Some(shape), Some(first)) = (shape, blocks.first_mut()) {
            first.extra.part_mut(FORMAT).spelling.set("parts", shape);
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
                _ => media_of(inner, notes).map(Body::from),
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
        let response = inner.remove("response").map(|json| Part::Data(Data { json }));
        let shown = take_shown(&mut inner);
        let parts = response.into_iter().chain(shown).collect();
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
        error(turn, &mut body);
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

/// How a single thing is noted where a list usually stands.
pub(super) const ALONE: &str = "object";
/// How a text is noted where a list of parts usually stands.
pub(super) const TEXT: &str = "text";

/// How a text is noted where a whole content usually stands.
pub(super) const STRING: &str = "string";

/// Takes the parts of a content, and says how they stood where they were no list.
fn take_parts(content: &mut Object) -> (Option<Vec<Json>>, Option<&'static str>) {
    match content.get("parts") {
        Some(Json::Array(_)) => (take::array(content, "parts"), None),
        Some(Json::Object(_)) => (content.remove("parts").map(|part| vec![part]), Some(ALONE)),
        Some(Json::String(_)) => {
            let text = content.remove("parts").unwrap_or_default();
            (Some(vec![Json::Object([("text", text)].into_iter().collect())]), Some(TEXT))
        }
        _ => (None, None),
    }
}

/// A part of the system's text. What is no text is kept as it stands.
fn system_part(part: Json) -> Block {
    let text = part.as_object().and_then(|part| part.get_str("text")).map(std::borrow::Cow::into_owned);
    let (Some(text), Json::Object(mut beside)) = (text, part.clone()) else {
        let key = part.as_object().and_then(|part| part.iter().next());
        let kind = key.map_or_else(|| "part".to_owned(), |(key, _)| key.to_str_lossy().into_owned());
        return Block::new(Author::System, Body::Other { kind, raw: part });
    };
    beside.remove("text");
    let mut block = Block::text(Author::System, text);
    if !beside.is_empty() {
        block.extra.part_mut(FORMAT).fields.push("part", beside);
    }
    block
}

/// Takes the images and files of a response, if each stands alone under its name.
fn take_shown(inner: &mut Object) -> Vec<Part> {
    let only = |part: &Json| {
        let part = part.as_object().filter(|part| part.len() == 1)?;
        let (key, inner) = part.iter().next()?;
        Some((key.to_str().ok()?.into_owned(), inner.as_object()?.clone()))
    };
    let found = inner.get("parts").and_then(Json::as_array).filter(|parts| !parts.is_empty());
    let Some(found) = found.and_then(|parts| parts.iter().map(only).collect::<Option<Vec<_>>>()) else {
        return Vec::new();
    };
    inner.remove("parts");
    found.into_iter().map(|(kind, raw)| shown(&kind, &raw).unwrap_or(Part::Other { kind, raw })).collect()
}

/// The media of a part, if it holds nothing else and is spelled as usual.
fn shown(kind: &str, raw: &Object) -> Option<Part> {
    let mut notes = Object::new();
    let mut rest = raw.clone();
    let name = take::text(&mut rest, "displayName");
    match media_of(rest, &mut notes)? {
        media if notes.is_empty() && kind == blob_kind(&media) => Some(Media { name, ..media }.into()),
        _ => None,
    }
}

/// The key that media stands under.
pub(super) fn blob_kind(media: &Media) -> &'static str {
    if media.inline.is_some() { "inlineData" } else { "fileData" }
}

/// The media of a blob, whatever stands beside it.
pub(crate) fn media(inner: &Object) -> Option<Media> {
    media_of(inner.clone(), &mut Object::new())
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

fn media_of(mut inner: Object, notes: &mut Object) -> Option<Media> {
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
    Some(media)
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

/// What went wrong, in the vendor's words.
fn error(turn: &mut Turn, body: &mut Object) {
    let told = body.get("error").and_then(Json::as_object).is_some_and(|error| error.get_str("message").is_some());
    let Some(mut rest) = told.then(|| take::object(body, "error")).flatten() else { return };
    let message = take::text(&mut rest, "message").unwrap_or_default();
    let mut error = TurnError { message, class: take::text(&mut rest, "status"), ..TurnError::default() };
    error.extra.part_mut(FORMAT).fields = rest;
    error.extra.tidy();
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
