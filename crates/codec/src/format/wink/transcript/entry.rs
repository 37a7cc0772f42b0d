//! One entry of a transcript as a value.

use turnkeep_model::json::{Json, Object};

/// The event that marks an entry among the log records.
pub(super) const EVENT: &str = "transcript.entry";

const LOGGER: &str = "weakincentives.runtime.transcript";

/// One entry: its log record, and the envelope in its context.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Entry {
    /// When the record was logged, if it says so.
    pub logged: Option<String>,
    pub prompt_name: String,
    pub adapter: String,
    pub kind: String,
    pub sequence: u64,
    pub source: String,
    /// When it happened, if it says so.
    pub time: Option<String>,
    pub session_id: Option<String>,
    pub detail: Option<Json>,
    pub raw: Option<String>,
}

impl Entry {
    /// Reads a record; `None` where it is none that the emitter writes, to the letter.
    pub(super) fn read(record: &Json) -> Option<Entry> {
        let object = record.as_object()?;
        let context = object.get("context")?.as_object()?;
        let text = |object: &Object, key: &str| object.get_str(key).map(std::borrow::Cow::into_owned);
        let entry = Entry {
            logged: text(object, "timestamp"),
            prompt_name: text(context, "prompt_name")?,
            adapter: text(context, "adapter")?,
            kind: text(context, "entry_type")?,
            sequence: context.get("sequence_number")?.as_number()?.as_u64()?,
            source: text(context, "source")?,
            time: text(context, "timestamp"),
            session_id: text(context, "session_id"),
            detail: context.get("detail").cloned(),
            raw: text(context, "raw"),
        };
        (same_text(&entry.to_json(), record)).then_some(entry)
    }

    /// The record as the original logs it.
    pub(super) fn to_json(&self) -> Json {
        let mut context = Object::new();
        context.push("component", "transcript");
        context.push("prompt_name", self.prompt_name.as_str());
        context.push("adapter", self.adapter.as_str());
        context.push("entry_type", self.kind.as_str());
        context.push("sequence_number", self.sequence);
        context.push("source", self.source.as_str());
        push_text(&mut context, "timestamp", self.time.as_deref());
        push_text(&mut context, "session_id", self.session_id.as_deref());
        if let Some(detail) = &self.detail {
            context.push("detail", detail.clone());
        }
        push_text(&mut context, "raw", self.raw.as_deref());
        let mut record = Object::new();
        push_text(&mut record, "timestamp", self.logged.as_deref());
        record.push("level", "DEBUG");
        record.push("logger", LOGGER);
        record.push("event", EVENT);
        record.push("message", format!("transcript entry: {}", self.kind));
        record.push("context", context);
        Json::Object(record)
    }
}

fn push_text(object: &mut Object, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        object.push(key, text);
    }
}

/// Whether two values are written alike: equal, with their keys in the same order.
fn same_text(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.0 == b.0 && same_text(a.1, b.1))
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_text(a, b)),
        (a, b) => a == b,
    }
}
