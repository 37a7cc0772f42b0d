//! From chunks to the response they make up.

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Object};

use crate::wire::{Assembled, Assembler, Beside, Delta};

/// Texts of a message that grow piece by piece, beside its content.
const GROWING: &[&str] = &["reasoning_content", "reasoning", "refusal"];

/// Puts `chat.completion.chunk`s together.
#[derive(Default)]
pub(super) struct Chunks {
    head: Object,
    choices: Vec<Choice>,
    usage: Option<Json>,
    beside: Beside,
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

/// A part of a content.
enum Part {
    Object(Grown),
    /// What is no object.
    Other(Json),
}

/// An object of which some texts grow.
#[derive(Default)]
struct Grown {
    object: Object,
    texts: Vec<(&'static str, String)>,
}

#[derive(Default)]
struct Call {
    index: Option<u64>,
    fields: Object,
    function: Object,
    arguments: Option<String>,
}

impl Assembler for Chunks {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let mut deltas = Vec::new();
        let chunk = match event {
            Json::Object(chunk) => chunk,
            other => {
                self.beside.keep_value(other);
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
                    set_last(&mut self.head, name, value, &mut self.beside);
                }
            }
        }
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let Chunks { mut head, choices, usage, beside, failed } = *self;
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
        Assembled { body: Json::Object(body), complete, beside: beside.into_values() }
    }
}

impl Chunks {
    fn choices(&mut self, value: Json, deltas: &mut Vec<Delta>) {
        let items = match value {
            Json::Array(items) => items,
            other => return self.beside.keep_value(other),
        };
        for (place, item) in items.into_iter().enumerate() {
            let choice = match item {
                Json::Object(choice) => choice,
                other => {
                    self.beside.keep_value(other);
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
                own.push(choice, shown, &mut self.beside);
            }
        }
    }
}

impl Choice {
    fn push(&mut self, choice: Object, deltas: &mut Vec<Delta>, beside: &mut Beside) {
        let has_delta = choice.get("delta").and_then(Json::as_object).is_some();
        for (key, value) in choice {
            match (&*key.to_str_lossy(), value) {
                ("index", _) => {}
                ("delta", Json::Object(delta)) => self.delta(delta, deltas, beside),
                // Some vendors repeat the message so far beside every delta.
                ("message", Json::Object(message)) if !has_delta => self.delta(message, deltas, beside),
                ("message", Json::Object(_)) => {}
                ("message" | "delta", value) => beside.keep_value(value),
                ("finish_reason", Json::Null) => {}
                ("finish_reason", reason) => {
                    let word = reason.as_str().map(std::borrow::Cow::into_owned).unwrap_or_default();
                    deltas.push(Delta::Finished { reason: word });
                    self.finish = Some(reason);
                }
                ("logprobs", Json::Object(more)) => append_lists(&mut self.logprobs, more, beside),
                (name, value) => set_last(&mut self.fields, name, value, beside),
            }
        }
    }

    fn delta(&mut self, delta: Object, deltas: &mut Vec<Delta>, beside: &mut Beside) {
        for (key, value) in delta {
            match (&*key.to_str_lossy(), value) {
                ("content", Json::String(text)) => self.say(&text.to_str_lossy(), deltas),
                ("content", Json::Array(parts)) => parts.into_iter().for_each(|part| self.part(part, deltas, beside)),
                ("tool_calls", Json::Array(calls)) => {
                    calls.into_iter().for_each(|call| self.call(call, deltas, beside));
                }
                ("function_call", Json::Object(call)) => self.legacy_call(call, beside),
                ("reasoning_details", Json::Array(details)) => {
                    details.into_iter().for_each(|one| self.detail(one, beside));
                }
                ("audio", Json::Object(audio)) => self.audio.push(audio, &["data", "transcript"], beside),
                ("annotations", Json::Array(more)) => append(&mut self.message, "annotations", more),
                (name, Json::String(text)) if GROWING.contains(&name) => self.grow(name, &text.to_str_lossy(), deltas),
                ("role", Json::String(role)) if role.to_str_lossy().is_empty() => {}
                (name, value) => set_last(&mut self.message, name, value, beside),
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
    fn part(&mut self, part: Json, deltas: &mut Vec<Delta>, beside: &mut Beside) {
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
            Some(Part::Object(last)) if kind == "text" && goes_on(&last.object) => last.push(part, &["text"], beside),
            Some(Part::Object(last)) if kind == "thinking" && goes_on(&last.object) => last.think_on(part, beside),
            _ => self.parts.push(Part::Object(Grown { object: part, texts: Vec::new() })),
        }
    }

    fn detail(&mut self, detail: Json, beside: &mut Beside) {
        let detail = match detail {
            Json::Object(detail) => detail,
            other => return beside.keep_value(other),
        };
        let same = |own: &&mut Grown| {
            let own = &own.object;
            own.get("type") == detail.get("type") && own.get("index") == detail.get("index") && !is_whole(&detail)
        };
        match self.details.last_mut().filter(same) {
            Some(own) => own.push(detail, &["text", "summary", "data"], beside),
            None => self.details.push(Grown { object: detail, texts: Vec::new() }),
        }
    }

    fn call(&mut self, call: Json, deltas: &mut Vec<Delta>, beside: &mut Beside) {
        let call = match call {
            Json::Object(call) => call,
            other => return beside.keep_value(other),
        };
        let at = self.call_at(&call);
        let name = function_text(&call, "name");
        let text = function_text(&call, "arguments");
        if let Some(own) = self.calls.get_mut(at) {
            own.push(call, beside);
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

    fn legacy_call(&mut self, call: Object, beside: &mut Beside) {
        let mut whole = Object::new();
        whole.push("function", call);
        self.legacy.get_or_insert_default().push(whole, beside);
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

impl Call {
    fn push(&mut self, call: Object, beside: &mut Beside) {
        for (key, value) in call {
            match (&*key.to_str_lossy(), value) {
                ("index", _) => {}
                ("function", Json::Object(function)) => self.function(function, beside),
                (name, value) => set_first(&mut self.fields, name, value),
            }
        }
    }

    fn function(&mut self, function: Object, beside: &mut Beside) {
        for (key, value) in function {
            match (&*key.to_str_lossy(), value) {
                ("arguments", Json::String(text)) => {
                    self.arguments.get_or_insert_default().push_str(&text.to_str_lossy());
                }
                ("name", value) => set_first(&mut self.function, "name", value),
                (name, value) => set_last(&mut self.function, name, value, beside),
            }
        }
    }

    fn finish(self) -> Json {
        let Call { fields, mut function, arguments, .. } = self;
        if let Some(arguments) = arguments {
            function.set("arguments", arguments);
        }
        let mut call = fields;
        if !function.is_empty() {
            call.push("function", function);
        }
        Json::Object(call)
    }
}

impl Part {
    fn finish(self) -> Json {
        match self {
            Part::Object(own) => Json::Object(own.finish()),
            Part::Other(value) => value,
        }
    }
}

impl Grown {
    /// Adds an object: texts named in `texts` go on, other fields are replaced.
    fn push(&mut self, more: Object, texts: &[&'static str], beside: &mut Beside) {
        for (key, value) in more {
            let key = key.to_str_lossy();
            let name = texts.iter().find(|name| **name == key && self.object.get_str(name).is_some());
            match (name, &value) {
                (Some(name), Json::String(text)) => self.append(name, &text.to_str_lossy(), text_in),
                _ => set_last(&mut self.object, &key, value, beside),
            }
        }
    }

    /// Adds a piece of thinking, whose text stands in a list.
    fn think_on(&mut self, more: Object, beside: &mut Beside) {
        self.append(THINKING, &thinking_text(&more), |object, _| thinking_text(object));
        let rest = more.into_iter().filter(|(key, _)| !matches!(&*key.to_str_lossy(), "type" | THINKING));
        rest.for_each(|(key, value)| set_last(&mut self.object, &key.to_str_lossy(), value, beside));
    }

    fn append(&mut self, name: &'static str, more: &str, start: fn(&Object, &str) -> String) {
        match self.texts.iter_mut().find(|(own, _)| *own == name) {
            Some((_, text)) => text.push_str(more),
            None => self.texts.push((name, start(&self.object, name) + more)),
        }
    }

    fn finish(mut self) -> Object {
        for (name, text) in self.texts {
            match name {
                THINKING => self.object.set(name, vec![text_part(text)]),
                _ => self.object.set(name, text),
            }
        }
        self.object
    }
}

/// The field of a part that holds thinking.
const THINKING: &str = "thinking";

fn text_in(object: &Object, key: &str) -> String {
    object.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

fn text_part(text: String) -> Json {
    Json::Object([("type", Json::from("text")), ("text", Json::from(text))].into_iter().collect())
}

fn function_text(call: &Object, key: &str) -> Option<String> {
    call.get("function")?.as_object()?.get_str(key).map(std::borrow::Cow::into_owned)
}

/// Whether a piece of reasoning comes in one, as ciphers do.
fn is_whole(detail: &Object) -> bool {
    detail.get_str("type").is_some_and(|kind| kind == "reasoning.encrypted") && detail.contains("id")
}

fn thinking_text(part: &Object) -> String {
    let items = part.get("thinking").and_then(Json::as_array).unwrap_or_default();
    let texts = items.iter().filter_map(|item| item.as_object()?.get_str("text").map(std::borrow::Cow::into_owned));
    texts.collect()
}

/// Keeps the first value that says something.
fn set_first(object: &mut Object, key: &str, value: Json) {
    if object.get(key).is_none_or(says_nothing) {
        object.set(key, value);
    }
}

/// Keeps the last value that says something, and another one before it beside.
fn set_last(object: &mut Object, key: &str, value: Json, beside: &mut Beside) {
    if !says_nothing(&value) || object.get(key).is_none() {
        beside.replace(object, key, value);
    }
}

fn says_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.to_str_lossy().is_empty(),
        Json::Number(number) => number.as_str() == "0",
        _ => false,
    }
}

fn append(object: &mut Object, key: &str, more: Vec<Json>) {
    let mut items = match object.remove(key) {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    };
    items.extend(more);
    object.push(key, items);
}

fn append_lists(own: &mut Object, more: Object, beside: &mut Beside) {
    for (key, value) in more {
        let key = key.to_str_lossy();
        match value {
            Json::Array(items) => append(own, &key, items),
            value => set_last(own, &key, value, beside),
        }
    }
}
