//! From lines to the response they make up.

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Object};

use crate::wire::{Assembled, Assembler, Delta, StreamExtras};

/// Puts the lines of a streamed answer together.
#[derive(Default)]
pub(super) struct Lines {
    head: Object,
    message: Object,
    content: String,
    thinking: Option<String>,
    calls: Vec<Json>,
    images: Vec<Json>,
    extras: StreamExtras,
    done: bool,
    spoke: bool,
}

impl Assembler for Lines {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let mut deltas = Vec::new();
        let event = match event {
            Json::Object(event) => event,
            other => {
                self.extras.keep_value(other);
                return Ok(deltas);
            }
        };
        for (key, value) in event {
            match (&*key.to_str_lossy(), value) {
                ("message", Json::Object(message)) => self.message(message, &mut deltas),
                (name, value) => {
                    self.done |= name == "error" || name == "done" && value == Json::Bool(true);
                    if let Some(reason) = value.as_str().filter(|_| name == "done_reason") {
                        deltas.push(Delta::Finished { reason: reason.into_owned() });
                    }
                    match name {
                        "created_at" | "done" | "message" => self.head.set(name, value),
                        _ => self.extras.replace(&mut self.head, name, value),
                    }
                }
            }
        }
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let Lines { mut head, message, content, thinking, calls, images, extras, done, spoke } = *self;
        let mut whole = Object::new();
        if spoke {
            whole.push("role", message.get("role").cloned().unwrap_or_else(|| "assistant".into()));
            whole.push("content", content);
            thinking.into_iter().for_each(|thinking| whole.push("thinking", thinking));
            if !images.is_empty() {
                whole.push("images", images);
            }
            if !calls.is_empty() {
                whole.push("tool_calls", calls);
            }
            message.into_iter().filter(|(key, _)| *key.to_str_lossy() != *"role").for_each(|(key, value)| {
                whole.push(key, value);
            });
        }
        let mut body = Object::new();
        for key in ["model", "created_at"] {
            head.remove(key).into_iter().for_each(|value| body.push(key, value));
        }
        if spoke {
            body.push("message", whole);
        }
        head.into_iter().for_each(|(key, value)| body.push(key, value));
        Assembled { body: Json::Object(body), complete: done, extras: extras.into_values() }
    }
}

impl Lines {
    fn message(&mut self, message: Object, deltas: &mut Vec<Delta>) {
        self.spoke = true;
        for (key, value) in message {
            match (&*key.to_str_lossy(), value) {
                ("content", Json::String(text)) => {
                    let text = text.to_str_lossy().into_owned();
                    self.content.push_str(&text);
                    if !text.is_empty() {
                        deltas.push(Delta::Text { block: self.text_block(), text });
                    }
                }
                ("thinking", Json::String(text)) => {
                    let text = text.to_str_lossy().into_owned();
                    self.thinking.get_or_insert_default().push_str(&text);
                    deltas.push(Delta::Reasoning { block: 0, text });
                }
                ("tool_calls", Json::Array(calls)) => calls.into_iter().for_each(|call| self.call(call, deltas)),
                ("images", Json::Array(images)) => self.images.extend(images),
                (name, value) => self.extras.replace(&mut self.message, name, value),
            }
        }
    }

    fn text_block(&self) -> usize {
        usize::from(self.thinking.is_some())
    }

    /// Calls come whole.
    fn call(&mut self, call: Json, deltas: &mut Vec<Delta>) {
        let block = self.text_block() + usize::from(!self.content.is_empty()) + self.calls.len();
        let function = call.as_object().and_then(|call| call.get("function")?.as_object());
        let name = function.and_then(|function| function.get_str("name")).unwrap_or_default().into_owned();
        deltas.push(Delta::CallStarted { block, name });
        if let Some(arguments) = function.and_then(|function| function.get("arguments")) {
            deltas.push(Delta::Arguments { block, text: arguments.to_text() });
        }
        self.calls.push(call);
    }
}
