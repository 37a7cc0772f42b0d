//! A serialized AI session as a value.

use turnkeep_model::json::{Json, Object};

/// A serialized AI session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Document {
    /// How the text is laid out.
    pub(super) layout: Layout,
    /// Whether keys are upper case, as an application without preserved case writes them.
    pub(super) upper: bool,
    /// The keys as spelled and in their order, where that is not the usual way.
    pub(super) keys: Option<Vec<String>>,
    /// What stands under the known keys but `history`.
    pub(super) settings: Object,
    /// The exchanges.
    pub(super) history: Vec<Item>,
    /// Fields that the format does not know.
    pub(super) unknown: Object,
}

/// How a text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Layout {
    /// Whether it stands on one line without spaces.
    pub(super) compact: bool,
    /// Whether its lines end as on Windows.
    pub(super) crlf: bool,
    /// Whether no line end follows it.
    pub(super) unended: bool,
}

/// One exchange.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Item {
    /// The keys as spelled and in their order, where that is not the usual way.
    pub(super) keys: Option<Vec<String>>,
    /// What was asked.
    pub(super) question: Side,
    /// What was answered.
    pub(super) answer: Side,
    /// Fields that the format does not know.
    pub(super) unknown: Object,
}

/// A question or an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Side {
    /// `null`
    #[default]
    Null,
    /// A text.
    Text(String),
    /// A number or a truth value where a text should stand.
    Scalar(Json),
    /// Several parts, or one that is not text.
    Parts(Vec<Part>),
}

/// One part of a question or an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Part {
    /// The keys as spelled and in their order, where that is not the usual way.
    pub(super) keys: Option<Vec<String>>,
    /// Its media type.
    pub(super) content_type: String,
    /// What it is: `text`, `struct` or `binary`.
    pub(super) kind: String,
    /// The content.
    pub(super) content: Json,
    /// Fields that the format does not know.
    pub(super) unknown: Object,
}

/// The keys that Lucee passes over; written only when there is something under them.
pub(super) const OURS: [&str; 2] = ["tags", "metadata"];

/// The text that stands for the question of a summary.
pub(super) const SUMMARY_QUESTION: &str = "Summarize our conversation so far.";

/// Every known key of a session, in order.
pub(super) const SESSION_KEYS: [&str; 8] =
    ["temperature", "limit", "connectionTimeout", "socketTimeout", "systemMessage", "history", "tags", "metadata"];

/// The keys of an exchange, in order.
pub(super) const ITEM_KEYS: [&str; 2] = ["question", "answer"];

/// The keys of a part, in order.
pub(super) const PART_KEYS: [&str; 3] = ["contenttype", "type", "content"];

/// The usual spelling of a key in a document.
pub(super) fn spelled(key: &str, upper: bool) -> String {
    if upper { key.to_uppercase() } else { key.to_owned() }
}

/// The known key that `key` is, whatever its case.
pub(super) fn known(keys: &[&'static str], key: &str) -> Option<&'static str> {
    keys.iter().copied().find(|known| known.eq_ignore_ascii_case(key))
}

/// What stands under a setting when nothing is set.
pub(super) fn unset(key: &str) -> Json {
    match key {
        "limit" | "connectionTimeout" | "socketTimeout" => Json::from(-1i64),
        _ => Json::Null,
    }
}
