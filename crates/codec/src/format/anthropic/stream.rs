//! From the events of a stream to the message they make up.

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Object};

use crate::take;
use crate::wire::frame::aws;
use crate::wire::{Assembled, Assembler, Delta, StreamExtras, arguments, block_index};

/// A message being put together.
#[derive(Debug, Default)]
pub(super) struct Stream {
    message: Object,
    blocks: Vec<Open>,
    extras: StreamExtras,
    complete: bool,
}

/// What only holds a stream together.
const FRAMING: &[&str] = &["type", "index"];

/// A block being put together: its fields, and texts that grow.
#[derive(Debug, Default)]
struct Open {
    index: u64,
    object: Object,
    growing: Vec<(String, String)>,
    input: String,
}

impl Assembler for Stream {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let mut event = match aws::unwrapped(event) {
            Json::Object(event) => event,
            other => {
                self.extras.keep_value(other);
                return Ok(Vec::new());
            }
        };
        let kind = Kind::of(&event);
        let mut deltas = Vec::new();
        match kind {
            Kind::Start => {
                if let Some(message) = take::object(&mut event, "message") {
                    self.start(message);
                }
            }
            Kind::BlockStart => deltas.extend(self.start_block(&mut event)),
            Kind::Delta => deltas.extend(self.grow(&mut event)),
            Kind::Close => return Ok(self.close(event)),
            Kind::Stop => self.complete = true,
            Kind::Error => self.fail(&mut event),
            Kind::Pause => {}
            Kind::Unknown => {
                self.extras.keep_value(Json::Object(event));
                return Ok(deltas);
            }
        }
        self.extras.keep(event, FRAMING);
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let Stream { mut message, blocks, extras, complete } = *self;
        let extras = extras.into_values();
        let failed = message.get_str("type").as_deref() == Some("error");
        if failed && blocks.is_empty() {
            return Assembled { body: Json::Object(message), complete: false, extras };
        }
        if message.is_empty() {
            message.push("type", "message");
            message.push("role", "assistant");
        }
        message.set("content", blocks.into_iter().map(Open::finish).collect::<Vec<_>>());
        if !message.contains("stop_reason") {
            message.set("stop_reason", Json::Null);
        }
        Assembled { body: Json::Object(message), complete, extras }
    }
}

impl Stream {
    /// Content may come with the message's start already.
    fn start(&mut self, message: Object) {
        self.message = message;
        if let Some(Json::Array(items)) = self.message.get("content").cloned() {
            for (index, item) in items.into_iter().enumerate() {
                let Json::Object(object) = item else { continue };
                self.blocks.push(Open { index: index as u64, object, ..Open::default() });
            }
        }
    }

    fn start_block(&mut self, event: &mut Object) -> Option<Delta> {
        let object = take::object(event, "content_block")?;
        let index = block_index(event, "index");
        let called = object.get_str("type").is_some_and(|kind| kind.ends_with("tool_use"));
        let name = object.get_str("name").filter(|_| called).map(std::borrow::Cow::into_owned);
        let block = self.blocks.len();
        self.blocks.push(Open { index, object, ..Open::default() });
        name.map(|name| Delta::CallStarted { block, name })
    }

    /// A delta of a block that never began stays in its event.
    fn grow(&mut self, event: &mut Object) -> Option<Delta> {
        let index = block_index(event, "index");
        let block = self.blocks.iter().rposition(|open| open.index == index)?;
        let mut delta = take::object(event, "delta")?;
        let open = self.blocks.get_mut(block)?;
        let shown = match delta.get_str("type").as_deref() {
            Some("text_delta") => open.grow_text("text", &mut delta).map(|text| Delta::Text { block, text }),
            Some("thinking_delta") => {
                open.grow_text("thinking", &mut delta).map(|text| Delta::Reasoning { block, text })
            }
            Some("input_json_delta") => take::text(&mut delta, "partial_json").and_then(|text| {
                open.input.push_str(&text);
                (!text.is_empty()).then_some(Delta::Arguments { block, text })
            }),
            Some("citations_delta") => {
                open.cite(&mut delta);
                None
            }
            _ => {
                open.grow_unknown(std::mem::take(&mut delta));
                None
            }
        };
        self.extras.keep(delta, FRAMING);
        shown
    }

    fn close(&mut self, event: Object) -> Vec<Delta> {
        let mut deltas = Vec::new();
        for (key, value) in event {
            match (&*key.to_str_lossy(), value) {
                ("type", _) => {}
                ("delta", Json::Object(delta)) => {
                    deltas.extend(delta.get_str("stop_reason").map(|reason| Delta::Finished { reason: reason.into() }));
                    delta.into_iter().for_each(|(key, value)| self.message.set(&key.to_str_lossy(), value));
                }
                ("usage", Json::Object(usage)) => self.count(usage),
                (key, value) => self.message.set(key, value),
            }
        }
        deltas
    }

    /// Counts are of the whole message so far; a count that comes again replaces the one before.
    fn count(&mut self, usage: Object) {
        let mut all = self.message.get("usage").and_then(Json::as_object).cloned().unwrap_or_default();
        usage.into_iter().for_each(|(key, value)| all.set(&key.to_str_lossy(), value));
        self.message.set("usage", all);
    }

    fn fail(&mut self, event: &mut Object) {
        match self.message.is_empty() {
            true => self.message = std::mem::take(event),
            false => self.message.set("error", event.remove("error").unwrap_or_default()),
        }
    }
}

/// What an event is.
enum Kind {
    Start,
    BlockStart,
    Delta,
    Close,
    Stop,
    Error,
    /// Says nothing of the message.
    Pause,
    Unknown,
}

impl Kind {
    fn of(event: &Object) -> Kind {
        match event.get_str("type").as_deref() {
            Some("message_start") => Kind::Start,
            Some("content_block_start") => Kind::BlockStart,
            Some("content_block_delta") => Kind::Delta,
            Some("message_delta") => Kind::Close,
            Some("message_stop") => Kind::Stop,
            Some("error") => Kind::Error,
            Some("content_block_stop" | "ping") => Kind::Pause,
            _ => Kind::Unknown,
        }
    }
}

impl Open {
    fn grow_text(&mut self, key: &str, delta: &mut Object) -> Option<String> {
        let text = take::text(delta, key)?;
        self.append(key, &text);
        (!text.is_empty()).then_some(text)
    }

    fn append(&mut self, key: &str, text: &str) {
        if let Some((_, grown)) = self.growing.iter_mut().find(|(known, _)| known == key) {
            return grown.push_str(text);
        }
        let start = self.object.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default();
        self.growing.push((key.to_owned(), start + text));
    }

    fn cite(&mut self, delta: &mut Object) {
        let mut citations = match self.object.remove("citations") {
            Some(Json::Array(items)) => items,
            _ => Vec::new(),
        };
        citations.extend(delta.remove("citation"));
        self.object.set("citations", citations);
    }

    /// Of a delta that nobody knows yet, texts grow and all else is set.
    fn grow_unknown(&mut self, delta: Object) {
        for (key, value) in delta {
            let key = key.to_str_lossy().into_owned();
            match value.as_str() {
                _ if key == "type" => {}
                Some(text) => self.append(&key, &text),
                None => self.object.set(&key, value),
            }
        }
    }

    fn finish(mut self) -> Json {
        for (key, text) in self.growing {
            self.object.set(&key, text);
        }
        if !self.input.is_empty() {
            self.object.set("input", arguments(self.input));
        }
        Json::Object(self.object)
    }
}
