//! From chunks to the response they make up.

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Object};

use super::growing::{
    Call, Grown, Part, append, append_lists, function_text, is_whole, set_first, set_last, text_part, thinking_text,
};
use crate::wire::{Assembled, Assembler, Delta, StreamExtras};

/// Texts of a message that grow piece by piece, beside its content.
const GROWING: &[&str] = &["reasoning_content", "reasoning", "refusal"];

/// Puts `chat.completion.chunk`s together.
#[derive(Default)]
pub(super) struct Chunks {
    head: Object,
    choices: Vec<Choice>,
    usage: Option<Json>,
    extras: StreamExtras,
    failed: bool,
}

#[derive(Default)]
struct Choice {
    index: u64,
    fields: Object,
    message: Object,
    content: Option<String>,
    parts: Vec<Part>,
    growing: Vec<(&'static str, String)>,
    details: Vec<Grown>,
    calls: Vec<Call>,
    legacy: Option<Call>,
    audio: Grown,
    logprobs: Object,
    finish: Option<Json>,
    /// What a screen has been shown, in order: the numbers of blocks.
    shown: Vec<Shown>,
}

#[derive(PartialEq, Clone, Copy)]
enum Shown {
    Text,
    Reasoning,
    Call(usize),
}

impl Assembler for Chunks {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let mut deltas = Vec::new();
        let chunk = match event {
            Json::Object(chunk) => chunk,
            other => {
                self.extras.keep_value(other);
                return Ok(deltas);
            }
        };
        for (key, value) in chunk {
            match &*key.to_str_lossy() {
                "choices" => self.choices(value, &mut deltas),
                "usage" if value != Json::Null => self.usage = Some(value),
                // Padding, and what tells a chunk from a response.
                "usage" | "object" | "obfuscation" => {}
                name @ ("id" | "created" | "model") => set_first(&mut self.head, name, value),
                name => {
                    self.failed |= name == "error";
                    set_last(&mut self.head, name, value, &mut self.extras);
                }
            }
        }
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let Chunks { mut head, choices, usage, extras, failed } = *self;
        let complete = failed || !choices.is_empty() && choices.iter().all(|choice| choice.finish.is_some());
        let mut body = Object::new();
        for key in ["id", "created", "model"] {
            if let Some(value) = head.remove(key) {
                body.push(key, value);
            }
            if key == "id" {
                body.push("object", "chat.completion");
            }
        }
        if !choices.is_empty() || !failed {
            body.push("choices", choices.into_iter().map(Choice::finish).collect::<Vec<_>>());
        }
        usage.into_iter().for_each(|usage| body.push("usage", usage));
        head.into_iter().for_each(|(key, value)| body.push(key, value));
        Assembled { body: Json::Object(body), complete, extras: extras.into_values() }
    }
}

impl Chunks {
    fn choices(&mut self, value: Json, deltas: &mut Vec<Delta>) {
        let items = match value {
            Json::Array(items) => items,
            other => return self.extras.keep_value(other),
        };
        for (place, item) in items.into_iter().enumerate() {
            let choice = match item {
                Json::Object(choice) => choice,
                other => {
                    self.extras.keep_value(other);
                    continue;
                }
            };
            let index = choice.get("index").and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
            let index = index.unwrap_or(place as u64);
            let at = self.choices.iter().position(|own| own.index == index).unwrap_or_else(|| {
                self.choices.push(Choice { index, ..Choice::default() });
                self.choices.len() - 1
            });
            let mut ignored = Vec::new();
            let shown = if at == 0 { &mut *deltas } else { &mut ignored };
            if let Some(own) = self.choices.get_mut(at) {
                own.push(choice, shown, &mut self.extras);
            }
        }
    }
}

impl Choice {
    fn push(&mut self, choice: Object, deltas: &mut Vec<Delta>, extras: &mut StreamExtras) {
        let has_delta = choice.get("delta").and_then(Json::as_object).is_some();
        for (key, value) in choice {
            match (&*key.to_str_lossy(), value) {
                ("index", _) => {}
                ("delta", Json::Object(delta)) => self.delta(delta, deltas, extras),
                // Some vendors repeat the message so far beside every delta.
                ("message", Json::Object(message)) if !has_delta => self.delta(message, deltas, extras),
                ("message", Json::Object(_)) => {}
                ("message" | "delta", value) => extras.keep_value(value),
                ("finish_reason", Json::Null) => {}
                ("finish_reason", reason) => {
                    let word = reason.as_str().map(std::borrow::Cow::into_owned).unwrap_or_default();
                    deltas.push(Delta::Finished { reason: word });
                    self.finish = Some(reason);
                }
                ("logprobs", Json::Object(more)) => append_lists(&mut self.logprobs, more, extras),
                (name, value) => set_last(&mut self.fields, name, value, extras),
            }
        }
    }

    fn delta(&mut self, delta: Object, deltas: &mut Vec<Delta>, extras: &mut StreamExtras) {
        for (key, value) in delta {
            match (&*key.to_str_lossy(), value) {
                ("content", Json::String(text)) => self.say(&text.to_str_lossy(), deltas),
                ("content", Json::Array(parts)) => parts.into_iter().for_each(|part| self.part(part, deltas, extras)),
                ("tool_calls", Json::Array(calls)) => {
                    calls.into_iter().for_each(|call| self.call(call, deltas, extras));
                }
                ("function_call", Json::Object(call)) => self.legacy_call(call, extras),
                ("reasoning_details", Json::Array(details)) => {
                    details.into_iter().for_each(|one| self.detail(one, extras));
                }
                ("audio", Json::Object(audio)) => self.audio.push(audio, &["data", "transcript"], extras),
                ("annotations", Json::Array(more)) => append(&mut self.message, "annotations", more),
                (name, Json::String(text)) if GROWING.contains(&name) => self.grow(name, &text.to_str_lossy(), deltas),
                ("role", Json::String(role)) if role.to_str_lossy().is_empty() => {}
                (name, value) => set_last(&mut self.message, name, value, extras),
            }
        }
    }

    fn block(&mut self, what: Shown) -> usize {
        self.shown.iter().position(|shown| *shown == what).unwrap_or_else(|| {
            self.shown.push(what);
            self.shown.len() - 1
        })
    }

    fn say(&mut self, text: &str, deltas: &mut Vec<Delta>) {
        self.content.get_or_insert_default().push_str(text);
        if !text.is_empty() {
            deltas.push(Delta::Text { block: self.block(Shown::Text), text: text.to_owned() });
        }
    }

    fn grow(&mut self, name: &str, text: &str, deltas: &mut Vec<Delta>) {
        let Some(name) = GROWING.iter().find(|known| **known == name) else { return };
        match self.growing.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => own.push_str(text),
            None => self.growing.push((name, text.to_owned())),
        }
        if *name != "refusal" && !text.is_empty() && !self.repeats(name, text) {
            deltas.push(Delta::Reasoning { block: self.block(Shown::Reasoning), text: text.to_owned() });
        }
    }

    /// Whether a piece that has grown under a name was shown already, as it grew under another.
    fn repeats(&self, name: &str, piece: &str) -> bool {
        let mut thoughts = self.growing.iter().filter(|(own, _)| *own != "refusal");
        match (thoughts.next(), thoughts.next()) {
            (Some((_, first)), Some((own, second))) => {
                *own == name && first.len() == second.len() && first.ends_with(piece)
            }
            _ => false,
        }
    }

    /// A piece of a content in parts: of the same kind as the last one, it goes on.
    fn part(&mut self, part: Json, deltas: &mut Vec<Delta>, extras: &mut StreamExtras) {
        let part = match part {
            Json::Object(part) => part,
            other => return self.parts.push(Part::Other(other)),
        };
        let kind = part.get_str("type").map(std::borrow::Cow::into_owned).unwrap_or_default();
        match kind.as_str() {
            "text" => {
                let text = part.get_str("text").map(std::borrow::Cow::into_owned).unwrap_or_default();
                deltas.push(Delta::Text { block: self.block(Shown::Text), text });
            }
            "thinking" => {
                let text = thinking_text(&part);
                deltas.push(Delta::Reasoning { block: self.block(Shown::Reasoning), text });
            }
            _ => {}
        }
        let goes_on = |own: &Object| own.get_str("type").is_some_and(|own| own == kind);
        match self.parts.last_mut() {
            Some(Part::Object(last)) if kind == "text" && goes_on(&last.object) => last.push(part, &["text"], extras),
            Some(Part::Object(last)) if kind == "thinking" && goes_on(&last.object) => last.think_on(part, extras),
            _ => self.parts.push(Part::Object(Grown { object: part, texts: Vec::new() })),
        }
    }

    fn detail(&mut self, detail: Json, extras: &mut StreamExtras) {
        let detail = match detail {
            Json::Object(detail) => detail,
            other => return extras.keep_value(other),
        };
        let same = |own: &&mut Grown| {
            let own = &own.object;
            own.get("type") == detail.get("type") && own.get("index") == detail.get("index") && !is_whole(&detail)
        };
        match self.details.last_mut().filter(same) {
            Some(own) => own.push(detail, &["text", "summary", "data"], extras),
            None => self.details.push(Grown { object: detail, texts: Vec::new() }),
        }
    }

    fn call(&mut self, call: Json, deltas: &mut Vec<Delta>, extras: &mut StreamExtras) {
        let call = match call {
            Json::Object(call) => call,
            other => return extras.keep_value(other),
        };
        let at = self.call_at(&call);
        let name = function_text(&call, "name");
        let text = function_text(&call, "arguments");
        if let Some(own) = self.calls.get_mut(at) {
            own.push(call, extras);
        }
        let is_new = !self.shown.contains(&Shown::Call(at));
        let block = self.block(Shown::Call(at));
        if let Some(name) = name.filter(|_| is_new) {
            deltas.push(Delta::CallStarted { block, name });
        }
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            deltas.push(Delta::Arguments { block, text });
        }
    }

    /// Which call a piece belongs to. Pieces go by index; where a vendor has none, or repeats one, a new id begins a new
    /// call.
    fn call_at(&mut self, call: &Object) -> usize {
        let index = call.get("index").and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
        let id = call.get_str("id").filter(|id| !id.is_empty());
        let is_other = |own: &Call| {
            let own = own.fields.get_str("id").filter(|own| !own.is_empty());
            matches!((&own, &id), (Some(own), Some(id)) if own != id)
        };
        let found = match index {
            Some(index) => self.calls.iter().rposition(|own| own.index == Some(index)),
            None => self.calls.len().checked_sub(1),
        };
        match found {
            Some(at) if !self.calls.get(at).is_some_and(is_other) => at,
            _ => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.len() - 1
            }
        }
    }

    fn legacy_call(&mut self, call: Object, extras: &mut StreamExtras) {
        let mut whole = Object::new();
        whole.push("function", call);
        self.legacy.get_or_insert_default().push(whole, extras);
    }

    fn finish(self) -> Json {
        let mut message = Object::new();
        let mut rest = self.message;
        message.push("role", rest.remove("role").unwrap_or_else(|| "assistant".into()));
        let calls = !self.calls.is_empty() || self.legacy.is_some();
        let content = match self.content {
            Some(text) if self.parts.is_empty() => (!(text.is_empty() && calls)).then(|| Json::from(text)),
            text => {
                let text = text.filter(|text| !text.is_empty());
                let said = text.map(text_part);
                let parts: Vec<Json> = self.parts.into_iter().map(Part::finish).chain(said).collect();
                (!parts.is_empty()).then(|| Json::from(parts))
            }
        };
        rest.remove("content");
        message.push("content", content.unwrap_or_default());
        for (name, text) in self.growing {
            rest.remove(name);
            message.push(name, text);
        }
        if !self.details.is_empty() {
            message.push(
                "reasoning_details",
                self.details.into_iter().map(|own| Json::Object(own.finish())).collect::<Vec<_>>(),
            );
        }
        if !self.calls.is_empty() {
            rest.remove("tool_calls");
            message.push("tool_calls", self.calls.into_iter().map(Call::finish).collect::<Vec<_>>());
        }
        if let Some(Json::Object(mut call)) = self.legacy.map(Call::finish) {
            message.push("function_call", call.remove("function").unwrap_or_default());
        }
        let audio = self.audio.finish();
        if !audio.is_empty() {
            message.push("audio", audio);
        }
        rest.into_iter().for_each(|(key, value)| message.push(key, value));
        let mut choice = Object::new();
        choice.push("index", self.index);
        choice.push("message", message);
        if !self.logprobs.is_empty() {
            choice.push("logprobs", self.logprobs);
        }
        choice.push("finish_reason", self.finish.unwrap_or_default());
        self.fields.into_iter().filter(|(key, _)| !choice_has(key)).for_each(|(key, value)| choice.push(key, value));
        Json::Object(choice)
    }
}

/// An empty `logprobs` beside real ones says nothing.
fn choice_has(key: &turnkeep_model::JsonString) -> bool {
    *key.to_str_lossy() == *"logprobs"
}
