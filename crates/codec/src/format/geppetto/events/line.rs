//! One line: an event, its type, and when it happened.

use turnkeep_model::json::{self, Json, Node, Number, Object};
use turnkeep_model::{Error, ErrorKind, Result};

/// A line of `events.ndjson`. Lines come with a time (`ts`) or, from older programs, with a `meta` beside the event;
/// whatever a line has is kept as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLine {
    object: Object,
}

/// Every type of event, with the ids that its correlation must have.
pub const TYPES: &[(&str, &[&str])] = &[
    ("run-started", RUN),
    ("run-finished", RUN),
    ("run-stopped", RUN),
    ("run-failed", RUN),
    ("provider-call-started", CALL),
    ("provider-call-metadata-updated", CALL),
    ("provider-call-finished", CALL),
    ("text-segment-started", SEGMENT),
    ("text-delta", SEGMENT),
    ("text-segment-finished", SEGMENT),
    ("reasoning-segment-started", SEGMENT),
    ("reasoning-delta", SEGMENT),
    ("reasoning-segment-finished", SEGMENT),
    ("tool-call-started", TOOL),
    ("tool-call-arguments-delta", TOOL),
    ("tool-call-requested", TOOL),
    ("tool-execution-started", TOOL),
    ("tool-result-ready", TOOL),
    ("tool-call-finished", TOOL),
    ("error", &[]),
    ("interrupt", &[]),
    ("log", &[]),
    ("info", &[]),
    ("agent-mode-switch", &[]),
    ("debugger.pause", &[]),
    ("citation", &[]),
    ("tool-search-results", &[]),
];
const RUN: &[&str] = &["run_id"];
const CALL: &[&str] = &["run_id", "provider_call_id"];
const SEGMENT: &[&str] = &["run_id", "provider_call_id", "segment_id"];
const TOOL: &[&str] = &["run_id", "tool_call_id"];

impl EventLine {
    /// A line of an event that happened at a time, in milliseconds since 1970.
    pub fn new(event: Object, at: i64) -> EventLine {
        let kind = event.get_str("type").unwrap_or_default().into_owned();
        let pairs = [("event", Json::Object(event)), ("ts", at.into()), ("type", kind.into())];
        EventLine { object: pairs.into_iter().collect() }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// `Corrupt` where it is no JSON object with an `event`.
    pub fn parse(line: &str) -> Result<EventLine> {
        match json::parse(line)?.into_json() {
            Json::Object(object) if object.get("event").is_some_and(|event| event.as_object().is_some()) => {
                Ok(EventLine { object })
            }
            _ => Err(Error::new(ErrorKind::Corrupt, "a line of events is an object with an `event`")),
        }
    }

    /// Reads every line of a text.
    ///
    /// # Errors
    /// `Corrupt`, with the line, where one is no line of events.
    pub fn parse_all(text: &str) -> Result<Vec<EventLine>> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(index, line)| EventLine::parse(line).map_err(|error| error.line(index + 1))).collect()
    }

    /// The line as text, without a line break.
    pub fn to_text(&self) -> String {
        Json::Object(self.object.clone()).to_text()
    }

    /// The event's type.
    pub fn kind(&self) -> String {
        let own = self.object.get_str("type").or_else(|| self.event().get_str("type"));
        own.map(std::borrow::Cow::into_owned).unwrap_or_default()
    }

    /// The event itself; of a type that nobody knows, all that it has.
    pub fn event(&self) -> &Object {
        static NONE: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);
        self.object.get("event").and_then(Json::as_object).unwrap_or(&NONE)
    }

    /// When it happened, in milliseconds since 1970, where the line says so.
    pub fn at(&self) -> Option<i64> {
        self.object.get("ts").and_then(Json::as_number).and_then(Number::as_i64)
    }

    /// What the event says of its run; older lines say it beside the event.
    pub fn meta(&self) -> Option<&Object> {
        let within = self.event().get("meta").and_then(Json::as_object);
        within.or_else(|| self.object.get("meta").and_then(Json::as_object))
    }
}

/// The ids that an event's correlation must have and lacks. Events of unknown types need none.
pub fn validate(event: &Object) -> Vec<&'static str> {
    let kind = event.get_str("type").unwrap_or_default();
    let needed = TYPES.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, needed)| needed);
    let correlation = event.get("correlation").and_then(Json::as_object);
    let has = |key: &str| correlation.and_then(|object| object.get_str(key)).is_some_and(|id| !id.trim().is_empty());
    needed.iter().copied().filter(|key| !has(key)).collect()
}

/// Parses a text as JSON, or gives it as it is.
pub(super) fn value_of(text: &str) -> Json {
    json::parse(text).map(Node::into_json).unwrap_or_else(|_| text.into())
}
