//! Streams: whole responses, a piece at a time.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::{piecewise, spelled};
use crate::take;
use crate::wire::{Assembled, Assembler, Delta, StreamExtras};

/// Puts the pieces of a response together: parts of one kind that follow each other are one part.
#[derive(Debug, Default)]
pub(super) struct Stream {
    body: Object,
    candidates: Vec<Candidate>,
    extras: StreamExtras,
    finished: bool,
}

#[derive(Debug, Default)]
struct Candidate {
    /// What stands beside the content.
    fields: Object,
    content: Option<Content>,
}

#[derive(Debug, Default)]
struct Content {
    /// What stands beside the parts.
    fields: Object,
    parts: Vec<Part>,
}

/// A part, and how its text goes on.
#[derive(Debug)]
struct Part {
    object: Json,
    more: String,
}

/// Fields that count the response so far: the last one holds.
const COUNTS: &[&str] = &["usageMetadata", "tokenCount"];

impl Assembler for Stream {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let Json::Object(mut event) = event else {
            return Err(Error::new(ErrorKind::Corrupt, "an event of this wire is an object"));
        };
        let mut deltas = Vec::new();
        for (place, piece) in take::array(&mut event, "candidates").unwrap_or_default().into_iter().enumerate() {
            match piece {
                Json::Object(piece) => self.candidate(place, piece, &mut deltas),
                other => self.extras.keep_value(other),
            }
        }
        merge(&mut self.body, event, &mut self.extras);
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let complete = self.finished || self.candidates.is_empty() && !self.body.is_empty();
        let mut body = Object::new();
        if !self.candidates.is_empty() {
            body.push("candidates", self.candidates.into_iter().map(Candidate::finish).collect::<Vec<_>>());
        }
        self.body.into_iter().for_each(|(key, value)| body.push(key, value));
        Assembled { body: Json::Object(body), complete, extras: self.extras.into_values() }
    }
}

impl Stream {
    fn candidate(&mut self, place: usize, mut piece: Object, deltas: &mut Vec<Delta>) {
        let own = piece.get("index").and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
        // The vendor's number must not make us fill a list of any length.
        let index = own.and_then(|index| usize::try_from(index).ok()).filter(|index| *index < 64).unwrap_or(place);
        while self.candidates.len() <= index {
            self.candidates.push(Candidate::default());
        }
        let Some(candidate) = self.candidates.get_mut(index) else { return };
        // The last chunk may come without content; it says nothing of what came before.
        if piece.get("content") == Some(&Json::Null) {
            piece.remove("content");
        }
        if let Some(content) = take::object(&mut piece, "content") {
            candidate.content.get_or_insert_default().join(content, &mut self.extras, deltas);
        }
        if let Some(reason) = piece.get("finishReason").filter(|reason| **reason != Json::Null) {
            self.finished = true;
            let reason = reason.as_str().map_or_else(|| reason.to_text(), std::borrow::Cow::into_owned);
            deltas.push(Delta::Finished { reason });
        }
        merge(&mut candidate.fields, piece, &mut self.extras);
    }
}

/// Sets fields of which the last value counts; other values before them stay beside.
fn merge(own: &mut Object, more: Object, extras: &mut StreamExtras) {
    for (key, value) in more {
        match &*key.to_str_lossy() {
            key if COUNTS.contains(&key) => own.set(key, value),
            key => extras.replace(own, key, value),
        }
    }
}

impl Candidate {
    fn finish(self) -> Json {
        let mut candidate = Object::new();
        if let Some(Content { mut fields, parts }) = self.content {
            fields.set("parts", parts.into_iter().map(Part::finish).collect::<Vec<_>>());
            candidate.push("content", fields);
        }
        self.fields.into_iter().for_each(|(key, value)| candidate.push(key, value));
        Json::Object(candidate)
    }
}

impl Content {
    fn join(&mut self, mut piece: Object, extras: &mut StreamExtras, deltas: &mut Vec<Delta>) {
        let parts = match piece.remove("parts") {
            Some(Json::Array(parts)) => parts,
            Some(part @ Json::Object(_)) => vec![part],
            _ => Vec::new(),
        };
        merge(&mut self.fields, piece, extras);
        parts.into_iter().for_each(|part| self.join_part(part, deltas));
    }

    fn join_part(&mut self, part: Json, deltas: &mut Vec<Delta>) {
        let part = match self.go_on(part, deltas) {
            Some(part) => part,
            None => return,
        };
        let text = part.as_object().and_then(|part| part.get_str("text")).map(std::borrow::Cow::into_owned);
        let thought = is_thought(&part);
        let joins = self.parts.last().is_some_and(|last| can_join(&last.object, &part));
        let block = if joins { self.parts.len().saturating_sub(1) } else { self.parts.len() };
        match (self.parts.last_mut().filter(|_| joins), &text) {
            (Some(last), Some(text)) => last.more.push_str(text),
            _ => {
                if text.as_deref().is_none_or(str::is_empty) {
                    call_deltas(&part, block, deltas);
                }
                self.parts.push(Part { object: part, more: String::new() });
            }
        }
        match text.filter(|text| !text.is_empty()) {
            Some(text) if thought => deltas.push(Delta::Reasoning { block, text }),
            Some(text) => deltas.push(Delta::Text { block, text }),
            None => {}
        }
    }
}

impl Content {
    /// Adds a piece of a call's arguments to the call that goes on; any other part is given back.
    fn go_on(&mut self, part: Json, deltas: &mut Vec<Delta>) -> Option<Json> {
        let block = self.parts.len().saturating_sub(1);
        let open = self.parts.last_mut().and_then(|last| piecewise::open_call(&mut last.object));
        match (open, piecewise::piece(&part)) {
            (Some(call), Some(piece)) => {
                let text = piecewise::join(call, piece);
                deltas.extend(Some(text).filter(|text| !text.is_empty()).map(|text| Delta::Arguments { block, text }));
                None
            }
            _ => Some(part),
        }
    }
}

impl Part {
    fn finish(self) -> Json {
        match self.object {
            Json::Object(mut part) if !self.more.is_empty() => {
                let text = format!("{}{}", part.get_str("text").unwrap_or_default(), self.more);
                part.set("text", text);
                Json::Object(part)
            }
            object => object,
        }
    }
}

fn is_thought(part: &Json) -> bool {
    part.as_object().and_then(|part| part.get("thought")).and_then(Json::as_bool) == Some(true)
}

/// Texts of one kind join; a signed part is never merged with what follows it.
fn can_join(last: &Json, part: &Json) -> bool {
    let (Some(before), Some(after)) = (last.as_object(), part.as_object()) else { return false };
    let texts = before.get_str("text").is_some() && after.get_str("text").is_some();
    let plain = |map: &Object| map.iter().all(|(key, _)| matches!(&*key.to_str_lossy(), "text" | "thought"));
    texts && is_thought(last) == is_thought(part) && plain(before) && plain(after)
}

fn call_deltas(part: &Json, block: usize, deltas: &mut Vec<Delta>) {
    let Some(part) = part.as_object() else { return };
    let Some(call) = spelled(part, "functionCall").and_then(|key| part.get(key)).and_then(Json::as_object) else {
        return;
    };
    deltas.push(Delta::CallStarted { block, name: call.get_str("name").unwrap_or_default().into_owned() });
    if let Some(args) = call.get("args") {
        deltas.push(Delta::Arguments { block, text: args.to_text() });
    }
}
