//! From the events of a stream to the response they make up.

use std::collections::BTreeMap;

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Number, Object};

use crate::take;
use crate::wire::{Assembled, Assembler, Delta, StreamExtras};

/// A machine that puts streams of this wire together.
pub fn assembler() -> Box<dyn Assembler> {
    Box::new(Stream::default())
}

/// A response that is being streamed.
#[derive(Debug, Default)]
struct Stream {
    /// The response as it was last told as a whole.
    body: Object,
    items: BTreeMap<u64, Item>,
    extras: StreamExtras,
    complete: bool,
}

/// What only holds a stream together.
const FRAMING: &[&str] = &[
    "type",
    "sequence_number",
    "item_id",
    "output_index",
    "content_index",
    "summary_index",
    "annotation_index",
    "obfuscation",
];

/// What is told beside a text, and again when its item is done.
const TOLD_AGAIN: &[&str] = &["logprobs", "name"];

/// An item that is being streamed.
#[derive(Debug, Default)]
struct Item {
    object: Object,
    done: bool,
    /// Texts that grow, by where they stand in the item.
    texts: Vec<(TextSlot, String)>,
}

/// Where a text stands in an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextSlot {
    /// In a field of the item.
    Field(&'static str),
    /// In a field of an object in the item.
    Within(&'static str, &'static str),
    /// In a field of an element of a list in the item; the element has this type.
    Element(&'static str, u64, &'static str, &'static str),
}

/// What an event does to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Append,
    Replace,
}

impl Assembler for Stream {
    fn push(&mut self, event: Json) -> Result<Vec<Delta>> {
        let mut event = match event {
            Json::Object(event) => event,
            other => {
                self.extras.keep_value(other);
                return Ok(Vec::new());
            }
        };
        let kind = event.get_str("type").unwrap_or_default().into_owned();
        let deltas = self.event(&kind, &mut event);
        self.extras.keep(event, FRAMING);
        Ok(deltas)
    }

    fn finish(self: Box<Self>) -> Assembled {
        let Stream { mut body, items, extras, complete } = *self;
        let told = body.get("output").and_then(Json::as_array).map_or(0, <[Json]>::len);
        // Some say at the end what was answered, some leave it out.
        if !complete || told == 0 && !items.is_empty() {
            let items = items.into_values().map(|item| item.finish(complete)).collect::<Vec<_>>();
            if body.is_empty() {
                body.push("object", "response");
                body.push("status", "in_progress");
            }
            body.set("output", items);
        }
        Assembled { body: Json::Object(body), complete, extras: extras.into_values() }
    }
}

impl Stream {
    fn event(&mut self, kind: &str, event: &mut Object) -> Vec<Delta> {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.tell(event);
                Vec::new()
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => {
                self.tell(event);
                self.complete = true;
                vec![Delta::Finished { reason: self.reason() }]
            }
            "error" => self.fail(event),
            "response.output_item.added" | "response.output_item.done" => self.item(kind.ends_with("done"), event),
            _ => self.inside(kind, event),
        }
    }

    fn tell(&mut self, event: &mut Object) {
        if let Some(response) = take::object(event, "response") {
            self.body = response;
        }
    }

    /// The vendor's word for why it ended.
    fn reason(&self) -> String {
        let details = self.body.get("incomplete_details").and_then(Json::as_object);
        let reason = details.and_then(|details| details.get_str("reason"));
        reason.or_else(|| self.body.get_str("status")).unwrap_or_default().into_owned()
    }

    /// An error ends the stream.
    fn fail(&mut self, event: &mut Object) -> Vec<Delta> {
        let error = take::object(event, "error").unwrap_or_else(|| {
            let told = ["code", "message"].into_iter().filter_map(|key| Some((key, event.remove(key)?)));
            told.collect()
        });
        if self.body.is_empty() {
            self.body.push("object", "response");
        }
        self.body.set("status", "failed");
        self.body.set("error", error);
        let items = std::mem::take(&mut self.items);
        self.body.set("output", items.into_values().map(|item| item.finish(false)).collect::<Vec<_>>());
        self.complete = true;
        vec![Delta::Finished { reason: "failed".to_owned() }]
    }

    fn item(&mut self, done: bool, event: &mut Object) -> Vec<Delta> {
        let index = index(event, "output_index");
        let Some(object) = take::object(event, "item") else { return Vec::new() };
        let name =
            object.get_str("name").filter(|_| !done && object.contains("call_id")).map(std::borrow::Cow::into_owned);
        self.items.insert(index, Item { object, done, texts: Vec::new() });
        let block = self.block(index, 0);
        name.map(|name| Delta::CallStarted { block, name }).into_iter().collect()
    }

    /// An event inside an item.
    fn inside(&mut self, kind: &str, event: &mut Object) -> Vec<Delta> {
        let output = index(event, "output_index");
        let Some(effect) = effect(kind, event) else { return Vec::new() };
        let item = self.items.entry(output).or_default();
        match effect {
            Effect::Set(list, index, value) => {
                item.texts.retain(
                    |(place, _)| !matches!(place, TextSlot::Element(in_list, at, ..) if *in_list == list && *at == index),
                );
                set_element(&mut item.object, list, index, value);
                Vec::new()
            }
            Effect::Annotate(part, annotation) => {
                item.annotate(part, annotation);
                Vec::new()
            }
            Effect::Text(place, change, text) => {
                item.change(place, change, &text);
                if change == Change::Append { self.delta(output, place, text) } else { Vec::new() }
            }
        }
    }

    fn delta(&self, output: u64, place: TextSlot, text: String) -> Vec<Delta> {
        let part = match place {
            TextSlot::Element("content", index, ..) => index,
            _ => 0,
        };
        let block = self.block(output, part);
        vec![match place {
            TextSlot::Element("summary", ..) | TextSlot::Element(_, _, "reasoning_text", _) => {
                Delta::Reasoning { block, text }
            }
            TextSlot::Element(..) => Delta::Text { block, text },
            TextSlot::Field(_) | TextSlot::Within(..) => Delta::Arguments { block, text },
        }]
    }

    /// Which block of the answer a part of an item is: a message has one for each of its parts.
    fn block(&self, output: u64, part: u64) -> usize {
        let before = self.items.range(..output).map(|(_, item)| item.blocks());
        before.sum::<usize>() + usize::try_from(part).unwrap_or_default()
    }
}

/// What an event inside an item does.
enum Effect {
    Set(&'static str, u64, Json),
    Annotate(u64, Json),
    Text(TextSlot, Change, String),
}

fn effect(kind: &str, event: &mut Object) -> Option<Effect> {
    let name = kind.strip_prefix("response.")?;
    let (subject, verb) = name.rsplit_once('.')?;
    let content = index(event, "content_index");
    let summary = index(event, "summary_index");
    match (subject, verb) {
        ("content_part" | "reasoning_part", "added" | "done") => {
            return Some(Effect::Set("content", content, event.remove("part")?));
        }
        ("reasoning_summary_part", "added" | "done") => {
            return Some(Effect::Set("summary", summary, event.remove("part")?));
        }
        ("output_text.annotation", "added") => return Some(Effect::Annotate(content, event.remove("annotation")?)),
        _ => {}
    }
    let (place, key) = match subject {
        "output_text" => (TextSlot::Element("content", content, "output_text", "text"), "text"),
        "refusal" => (TextSlot::Element("content", content, "refusal", "refusal"), "refusal"),
        "reasoning_text" => (TextSlot::Element("content", content, "reasoning_text", "text"), "text"),
        "reasoning_summary_text" => (TextSlot::Element("summary", summary, "summary_text", "text"), "text"),
        "function_call_arguments" | "mcp_call_arguments" => (TextSlot::Field("arguments"), "arguments"),
        "custom_tool_call_input" => (TextSlot::Field("input"), "input"),
        "code_interpreter_call_code" => (TextSlot::Field("code"), "code"),
        "apply_patch_call_operation_diff" => (TextSlot::Within("operation", "diff"), "diff"),
        _ => return None,
    };
    let (change, key) = match verb {
        "delta" => (Change::Append, "delta"),
        "done" => (Change::Replace, key),
        _ => return None,
    };
    let text = take::text(event, key)?;
    TOLD_AGAIN.iter().for_each(|key| drop(event.remove(key)));
    Some(Effect::Text(place, change, text))
}

fn index(event: &Object, key: &str) -> u64 {
    event.get(key).and_then(Json::as_number).and_then(Number::as_u64).unwrap_or_default()
}

impl Item {
    fn change(&mut self, place: TextSlot, change: Change, more: &str) {
        let at = self.texts.iter().position(|(own, _)| *own == place).unwrap_or_else(|| {
            self.texts.push((place, String::new()));
            self.texts.len() - 1
        });
        let Some((_, text)) = self.texts.get_mut(at) else { return };
        match change {
            Change::Append => text.push_str(more),
            Change::Replace => more.clone_into(text),
        }
    }

    fn annotate(&mut self, part: u64, annotation: Json) {
        let parts = list_mut(&mut self.object, "content");
        let part = usize::try_from(part).ok().and_then(|index| parts?.get_mut(index));
        if let Some(Json::Object(part)) = part
            && let Some(annotations) = list_mut(part, "annotations")
        {
            annotations.push(annotation);
        }
    }

    /// How many blocks it is read into.
    fn blocks(&self) -> usize {
        let is_message = self.object.get_str("type").is_some_and(|kind| kind == "message");
        let parts = self.object.get("content").and_then(Json::as_array).map_or(0, <[Json]>::len);
        if is_message { parts.max(1) } else { 1 }
    }

    /// The item; one that was cut off says so.
    fn finish(mut self, complete: bool) -> Json {
        for (place, text) in std::mem::take(&mut self.texts) {
            put_text(&mut self.object, place, text);
        }
        if !self.done && !complete && !self.object.contains("status") {
            self.object.push("status", "in_progress");
        }
        Json::Object(self.object)
    }
}

fn put_text(object: &mut Object, place: TextSlot, text: String) {
    match place {
        TextSlot::Field(field) => object.set(field, text),
        TextSlot::Within(outer, field) => {
            let mut inner = match object.get(outer) {
                Some(Json::Object(inner)) => inner.clone(),
                _ => Object::new(),
            };
            inner.set(field, text);
            object.set(outer, inner);
        }
        TextSlot::Element(list, index, kind, field) => {
            let found =
                object.get(list).and_then(Json::as_array).and_then(|items| items.get(usize::try_from(index).ok()?));
            let mut element = match found {
                Some(Json::Object(element)) => element.clone(),
                _ => [("type", Json::from(kind))].into_iter().collect(),
            };
            element.set(field, text);
            set_element(object, list, index, Json::Object(element));
        }
    }
}

/// Sets an element of a list; one past its end is appended, wherever it was meant to be.
fn set_element(object: &mut Object, list: &'static str, index: u64, value: Json) {
    let Some(items) = list_mut(object, list) else { return };
    match usize::try_from(index).ok().and_then(|index| items.get_mut(index)) {
        Some(slot) => *slot = value,
        None => items.push(value),
    }
}

/// The list under a key, made if need be.
fn list_mut<'a>(object: &'a mut Object, list: &str) -> Option<&'a mut Vec<Json>> {
    if object.get(list).and_then(Json::as_array).is_none() {
        object.set(list, Vec::new());
    }
    object.iter_mut().find_map(|(key, value)| match value {
        Json::Array(items) if key.to_str_lossy() == list => Some(items),
        _ => None,
    })
}
