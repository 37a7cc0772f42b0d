//! Streams: whole responses, a piece at a time.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::spelled;
use crate::wire::{Assembled, Assembler, Delta};

/// Puts the pieces of a response together: parts of one kind that follow each other are one part.
#[derive(Debug, Default)]
pub(super) struct Stream {
    body: Object,
    candidates: Vec<Object>,
    finished: bool,
}

impl Assembler for Stream {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let Json::Object(mut event) = event else {
            return Err(Error::new(ErrorKind::Corrupt, "an event of this wire is an object"));
        };
        let mut deltas = Vec::new();
        if let Some(Json::Array(pieces)) = event.remove("candidates") {
            for (place, piece) in pieces.into_iter().enumerate() {
                if let Json::Object(piece) = piece {
                    self.candidate(place, piece, &mut deltas);
                }
            }
        }
        for (key, value) in event {
            self.body.set(&key.to_str_lossy(), value);
        }
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let complete = self.finished || self.candidates.is_empty() && !self.body.is_empty();
        let mut body = Object::new();
        if !self.candidates.is_empty() {
            body.push("candidates", self.candidates.into_iter().map(Json::Object).collect::<Vec<_>>());
        }
        for (key, value) in self.body {
            body.push(key, value);
        }
        Assembled { body: Json::Object(body), complete }
    }
}

impl Stream {
    fn candidate(&mut self, place: usize, mut piece: Object, deltas: &mut Vec<Delta>) {
        let own = piece.get("index").and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
        let index = own.and_then(|index| usize::try_from(index).ok()).filter(|index| *index < 64).unwrap_or(place);
        while self.candidates.len() <= index {
            self.candidates.push(Object::new());
        }
        let Some(candidate) = self.candidates.get_mut(index) else { return };
        if let Some(Json::Object(content)) = piece.remove("content") {
            join_content(candidate, content, deltas);
        }
        if let Some(reason) = piece.get("finishReason").filter(|reason| **reason != Json::Null) {
            self.finished = true;
            let reason = reason.as_str().map_or_else(|| reason.to_text(), std::borrow::Cow::into_owned);
            deltas.push(Delta::Finished { reason });
        }
        for (key, value) in piece {
            candidate.set(&key.to_str_lossy(), value);
        }
    }
}

fn join_content(candidate: &mut Object, mut piece: Object, deltas: &mut Vec<Delta>) {
    let mut content = candidate.get("content").and_then(Json::as_object).cloned().unwrap_or_default();
    let more = match piece.remove("parts") {
        Some(Json::Array(parts)) => parts,
        _ => Vec::new(),
    };
    for (key, value) in piece {
        content.set(&key.to_str_lossy(), value);
    }
    let mut parts = match content.remove("parts") {
        Some(Json::Array(parts)) => parts,
        _ => Vec::new(),
    };
    more.into_iter().for_each(|part| join_part(&mut parts, part, deltas));
    content.set("parts", parts);
    candidate.set("content", content);
}

fn join_part(parts: &mut Vec<Json>, part: Json, deltas: &mut Vec<Delta>) {
    let text = part.as_object().and_then(|part| part.get_str("text")).map(std::borrow::Cow::into_owned);
    let thought = is_thought(&part);
    let joins = parts.last().is_some_and(|last| can_join(last, &part));
    let block = if joins { parts.len().saturating_sub(1) } else { parts.len() };
    match (&text, thought) {
        (Some(text), true) if !text.is_empty() => deltas.push(Delta::Reasoning { block, text: text.clone() }),
        (Some(text), false) if !text.is_empty() => deltas.push(Delta::Text { block, text: text.clone() }),
        _ => call_deltas(&part, block, deltas),
    }
    match (parts.last_mut().filter(|_| joins), part) {
        (Some(Json::Object(last)), Json::Object(part)) => join_fields(last, part),
        (_, part) => parts.push(part),
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

fn join_fields(last: &mut Object, part: Object) {
    let joined = format!("{}{}", last.get_str("text").unwrap_or_default(), part.get_str("text").unwrap_or_default());
    last.set("text", joined);
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
