//! One event, as it was dispatched.

use turnkeep_model::{Json, Number, Object, Usage};

/// One event, as it was dispatched.
pub(super) struct Raw<'a> {
    /// The class, without its namespace.
    pub(super) name: String,
    data: &'a Object,
    event: &'a Object,
}

impl<'a> Raw<'a> {
    pub(super) fn of(event: &'a Json) -> Option<Raw<'a>> {
        let event = event.as_object()?;
        let name = event.get_str("event")?;
        let name = name.rsplit(['\\', '/']).next().unwrap_or(&name).to_owned();
        Some(Raw { name, data: event.get("data")?.as_object()?, event })
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Json> {
        self.data.get(key)
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.data.get_str(key).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty())
    }

    pub(super) fn count(&self, key: &str) -> u64 {
        self.number(key).and_then(Number::as_u64).unwrap_or(0)
    }

    pub(super) fn number(&self, key: &str) -> Option<&'a Number> {
        self.data.get(key)?.as_number()
    }

    pub(super) fn is(&self, key: &str) -> bool {
        self.data.get(key).and_then(Json::as_bool).unwrap_or(false)
    }

    pub(super) fn usage(&self) -> Usage {
        let usage = self.data.get("usage").and_then(Json::as_object);
        let count = |key: &str| usage?.get(key)?.as_number()?.as_u64();
        Usage {
            input: count("input"),
            output: count("output"),
            cached_write: count("cacheWrite"),
            cached_read: count("cacheRead"),
            reasoning: count("reasoning"),
            ..Usage::default()
        }
    }

    /// When it happened, where it says so.
    pub(super) fn time(&self) -> Option<String> {
        let outer = ["createdAt", "timestamp"].iter().find_map(|key| self.event.get_str(key));
        let own = || ["completed", "at"].iter().find_map(|key| self.data.get_str(key));
        outer.or_else(own).map(std::borrow::Cow::into_owned)
    }

    /// The text of the last message that a step gave.
    pub(super) fn output(&self) -> Option<String> {
        let telemetry = self.data.get("telemetry")?.as_object()?;
        let messages = telemetry.get("io")?.as_object()?.get("output")?.as_array()?;
        let content = messages.iter().rev().find_map(|message| message.as_object()?.get_str("content"));
        content.map(std::borrow::Cow::into_owned)
    }
}
