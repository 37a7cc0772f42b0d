//! From the events of a stream to the response they make up.

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Object};

use crate::base64_text;
use crate::take;
use crate::wire::frame::aws;
use crate::wire::{Assembled, Assembler, Delta, StreamExtras, arguments, block_index};

/// A response being put together.
#[derive(Debug, Default)]
pub(super) struct Stream {
    role: Option<Json>,
    blocks: Vec<Open>,
    /// What stands beside the message.
    rest: Object,
    extras: StreamExtras,
    complete: bool,
}

/// What only holds a stream together.
const FRAMING: &[&str] = &["contentBlockIndex"];

/// A block being put together: the objects it is made of so far, and texts that grow.
#[derive(Debug, Default)]
struct Open {
    index: u64,
    object: Object,
    text: Option<String>,
    input: String,
    thought: Option<String>,
    signature: Option<String>,
    redacted: Vec<u8>,
    citations: Vec<Json>,
    results: Vec<Json>,
}

impl Assembler for Stream {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let mut deltas = Vec::new();
        let event = match aws::unwrapped(event) {
            Json::Object(event) => event,
            other => {
                self.extras.keep_value(other);
                return Ok(deltas);
            }
        };
        for (name, payload) in event {
            let name = name.to_str_lossy();
            let mut payload = match payload {
                Json::Object(payload) => payload,
                other => {
                    self.extras.keep_value(Json::Object([(&*name, other)].into_iter().collect()));
                    continue;
                }
            };
            // Padding that hides the length of what is said.
            payload.remove("p");
            deltas.extend(self.event(&name, &mut payload));
            if !payload.is_empty() && payload.iter().any(|(key, _)| !FRAMING.contains(&&*key.to_str_lossy())) {
                self.extras.keep_value(Json::Object([(&*name, Json::Object(payload))].into_iter().collect()));
            }
        }
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let Stream { role, blocks, rest, extras, complete } = *self;
        let mut message = Object::new();
        message.push("role", role.unwrap_or_else(|| "assistant".into()));
        message.push("content", blocks.into_iter().map(Open::finish).collect::<Vec<_>>());
        let output: Object = [("message", Json::Object(message))].into_iter().collect();
        let mut body = Object::new();
        body.push("output", output);
        if !rest.contains("stopReason") {
            body.push("stopReason", Json::Null);
        }
        rest.into_iter().for_each(|(key, value)| body.push(key, value));
        Assembled { body: Json::Object(body), complete, extras: extras.into_values() }
    }
}

impl Stream {
    fn event(&mut self, name: &str, payload: &mut Object) -> Option<Delta> {
        match name {
            "messageStart" => self.role = payload.remove("role"),
            "contentBlockStart" => return self.start(payload),
            "contentBlockDelta" => return self.grow(payload),
            "messageStop" => {
                self.complete = true;
                let reason = payload.get_str("stopReason").map(std::borrow::Cow::into_owned);
                self.tell(payload);
                return reason.map(|reason| Delta::Finished { reason });
            }
            "metadata" => self.tell(payload),
            // A stream that fails says so in an event that is named after the error.
            name if name.ends_with("Exception") => self.tell(payload),
            _ => {}
        }
        None
    }

    fn tell(&mut self, payload: &mut Object) {
        std::mem::take(payload).into_iter().for_each(|(key, value)| self.rest.push(key, value));
    }

    /// The block of an index, begun if need be: text has no start of its own.
    fn block(&mut self, payload: &Object) -> (usize, &mut Open) {
        let index = block_index(payload, "contentBlockIndex");
        let place = self.blocks.iter().rposition(|open| open.index == index).unwrap_or_else(|| {
            self.blocks.push(Open { index, ..Open::default() });
            self.blocks.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was just found or made")]
        (place, &mut self.blocks[place])
    }

    fn start(&mut self, payload: &mut Object) -> Option<Delta> {
        let start = take::object(payload, "start")?;
        let (block, open) = self.block(payload);
        let call = start.get("toolUse").and_then(Json::as_object);
        let name = call.and_then(|call| call.get_str("name")).map(std::borrow::Cow::into_owned);
        open.object = start;
        name.map(|name| Delta::CallStarted { block, name })
    }

    fn grow(&mut self, payload: &mut Object) -> Option<Delta> {
        let delta = take::object(payload, "delta")?;
        let (block, open) = self.block(payload);
        let mut shown = None;
        let mut left = Object::new();
        for (key, value) in delta {
            let (delta, rest) = open.grow(&key.to_str_lossy(), value, block);
            shown = delta.or(shown);
            rest.into_iter().for_each(|rest| left.push(key.clone(), rest));
        }
        if !left.is_empty() {
            payload.push("delta", left);
        }
        shown
    }
}

impl Open {
    /// What a screen can show of a delta, and what is left of it.
    fn grow(&mut self, key: &str, value: Json, block: usize) -> (Option<Delta>, Option<Json>) {
        match (key, value) {
            ("text", Json::String(text)) => {
                let text = text.into_string_lossy();
                self.text.get_or_insert_default().push_str(&text);
                ((!text.is_empty()).then_some(Delta::Text { block, text }), None)
            }
            ("toolUse", Json::Object(mut call)) => {
                let text = take::text(&mut call, "input").unwrap_or_default();
                self.input.push_str(&text);
                ((!text.is_empty()).then_some(Delta::Arguments { block, text }), some(call))
            }
            ("reasoningContent", Json::Object(mut thought)) => (self.think(&mut thought, block), some(thought)),
            ("citation", citation) => {
                self.citations.push(citation);
                (None, None)
            }
            ("toolResult", Json::Array(parts)) => {
                self.results.extend(parts);
                (None, None)
            }
            (key, value) => {
                self.object.set(key, value);
                (None, None)
            }
        }
    }

    fn think(&mut self, thought: &mut Object, block: usize) -> Option<Delta> {
        if let Some(signature) = take::text(thought, "signature") {
            self.signature.get_or_insert_default().push_str(&signature);
        }
        if let Some(bytes) = thought.get_str("redactedContent").and_then(|data| base64_text::decode(&data)) {
            self.redacted.extend(bytes);
            thought.remove("redactedContent");
        }
        let text = take::text(thought, "text")?;
        self.thought.get_or_insert_default().push_str(&text);
        (!text.is_empty()).then_some(Delta::Reasoning { block, text })
    }

    fn finish(self) -> Json {
        let Open { mut object, text, input, thought, signature, redacted, citations, results, .. } = self;
        if let Some(Json::Object(call)) = object.get("toolUse") {
            let mut call = call.clone();
            call.set("input", if input.is_empty() { Object::new().into() } else { arguments(input) });
            object.set("toolUse", call);
        }
        if let Some(Json::Object(result)) = object.get("toolResult") {
            let mut result = result.clone();
            result.set("content", results);
            object.set("toolResult", result);
        }
        if !redacted.is_empty() {
            let data: Object = [("redactedContent", Json::from(base64_text::encode(&redacted)))].into_iter().collect();
            object.set("reasoningContent", data);
        } else if thought.is_some() || signature.is_some() {
            let mut said: Object = [("text", Json::from(thought.unwrap_or_default()))].into_iter().collect();
            signature.into_iter().for_each(|signature| said.push("signature", signature));
            let inner: Object = [("reasoningText", Json::Object(said))].into_iter().collect();
            object.set("reasoningContent", inner);
        }
        match text {
            Some(text) if !citations.is_empty() => {
                let said: Object = [("text", Json::from(text))].into_iter().collect();
                let pairs = [("content", Json::Array(vec![said.into()])), ("citations", Json::Array(citations))];
                object.set("citationsContent", pairs.into_iter().collect::<Object>());
            }
            Some(text) => object.set("text", text),
            None => {}
        }
        Json::Object(object)
    }
}

/// An object that holds something.
fn some(object: Object) -> Option<Json> {
    (!object.is_empty()).then_some(Json::Object(object))
}
