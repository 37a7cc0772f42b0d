//! The places of a session and what a loss there takes away.

use super::super::Severity::{self, Content, Setting, Spelling};

/// What a loss at a place of a session takes away. Places have no indices here; the longest one that holds a place
/// decides. Every field of a session, a turn and a block has a row.
pub(super) const TABLE: &[(&str, Severity)] = &[
    ("", Content),
    ("sessions", Content),
    ("main", Setting),
    ("seq", Setting),
    ("journal", Setting),
    ("id", Setting),
    ("parent", Setting),
    ("children", Setting),
    ("title", Setting),
    ("agent", Setting),
    ("prompt", Setting),
    ("initial_query", Content),
    ("tools", Setting),
    ("response_format", Setting),
    ("options", Setting),
    ("status", Setting),
    ("usage", Setting),
    ("timing", Setting),
    ("logs", Content),
    ("tags", Setting),
    ("metadata", Setting),
    ("slices", Setting),
    ("runs", Setting),
    ("turns", Content),
    ("turns.id", Setting),
    ("turns.run", Setting),
    ("turns.evaluation", Setting),
    ("turns.provider", Setting),
    ("turns.api", Setting),
    ("turns.model", Setting),
    ("turns.account", Setting),
    ("turns.options", Setting),
    ("turns.usage", Setting),
    ("turns.timing", Setting),
    ("turns.finish", Setting),
    ("turns.errors", Content),
    ("turns.continuation", Setting),
    ("turns.provider_payload", Setting),
    ("turns.metadata", Setting),
    ("turns.data", Setting),
    ("turns.blocks", Content),
    ("turns.interrupted", Content),
    ("turns.blocks.id", Setting),
    ("turns.blocks.author", Setting),
    ("turns.blocks.message", Setting),
    ("turns.blocks.message.ordinal", Spelling),
    ("turns.blocks.message.joined", Spelling),
    ("turns.blocks.item_id", Setting),
    ("turns.blocks.metadata", Setting),
    ("turns.blocks.type", Content),
    // Text, thinking and summaries.
    ("turns.blocks.text", Content),
    ("turns.blocks.summary", Content),
    ("turns.blocks.signature", Setting),
    ("turns.blocks.encrypted", Content),
    ("turns.blocks.scope", Setting),
    ("turns.blocks.from", Setting),
    ("turns.blocks.to", Setting),
    ("turns.blocks.exchanges", Content),
    // Calls and results. A call never loses its name alone: that is the name on a result or on a file.
    ("turns.blocks.call", Setting),
    ("turns.blocks.name", Setting),
    ("turns.blocks.arguments", Content),
    ("turns.blocks.parts", Content),
    ("turns.blocks.parts.media_type", Setting),
    ("turns.blocks.parts.name", Setting),
    ("turns.blocks.parts.detail", Setting),
    ("turns.blocks.error", Content),
    ("turns.blocks.is_error", Content),
    ("turns.blocks.outcome", Content),
    // Media.
    ("turns.blocks.media_type", Setting),
    ("turns.blocks.inline", Content),
    ("turns.blocks.url", Content),
    ("turns.blocks.file_id", Content),
    ("turns.blocks.digest", Content),
    ("turns.blocks.detail", Setting),
    // What only its source knows.
    ("turns.blocks.kind", Content),
    ("turns.blocks.raw", Content),
];

/// Fields with keys of an application's own: an `extra` in them is one of these keys.
pub(super) const FREE: &[&str] =
    &["metadata", "data", "items", "provider_payload", "raw", "json", "schema", "parameters", "context", "arguments"];

/// Fields of bodies that hold what is said, shown, called or returned, in any vendor's words. Where a reader could not take
/// such a field, an `extra` has it, and it is content there too.
pub(super) const SAYS: &[&str] = &[
    "arguments",
    "content",
    "contents",
    "data",
    "error",
    "executed_tools",
    "file",
    "file_data",
    "file_id",
    "image_url",
    "images",
    "input",
    "input_audio",
    "message",
    "messages",
    "output",
    "parts",
    "refusal",
    "source",
    "text",
    "thinking",
    "tool_calls",
    "transcript",
    "url",
];

/// Fields that name something.
pub(super) const IDS: &[&str] = &["id", "call", "item_id"];

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::block::{Block, Media, MessageKey, Reasoning, Summary, Text, ToolCall, ToolResult};
    use crate::native::Archive;
    use crate::session::{Session, Turn};
    use crate::shape::FlatShape;

    /// Every place of a session, a turn, a block and a message that `diff` can name.
    fn places() -> Vec<String> {
        let bodies =
            [Text::FIELDS, Reasoning::FIELDS, ToolCall::FIELDS, ToolResult::FIELDS, Media::FIELDS, Summary::FIELDS];
        let flat = ["type", "kind", "raw"];
        let blocks = Block::FIELDS.iter().filter(|field| **field != "body").chain(bodies.into_iter().flatten());
        let below = |prefix: &'static str| move |field: &&str| format!("{prefix}{field}");
        let whole = Archive::FIELDS.iter().chain(Session::FIELDS).map(|field| (*field).to_owned());
        whole
            .chain(Turn::FIELDS.iter().map(|field| below("turns.")(field)))
            .chain(blocks.chain(&flat).map(|field| below("turns.blocks.")(field)))
            .chain([String::new(), "journal".to_owned()])
            .collect()
    }

    #[test]
    fn every_declared_field_has_a_row() {
        let missing: Vec<_> = places().into_iter().filter(|place| !TABLE.iter().any(|(row, _)| row == place)).collect();
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn every_row_is_a_declared_field() {
        let mut known = places();
        let message = MessageKey::FIELDS.iter().copied().chain(["joined"]);
        known.extend(message.map(|field| format!("turns.blocks.message.{field}")));
        known.extend(Media::FIELDS.iter().map(|field| format!("turns.blocks.parts.{field}")));
        let stale: Vec<_> = TABLE.iter().map(|(row, _)| *row).filter(|row| !known.iter().any(|k| k == row)).collect();
        assert_eq!(stale, Vec::<&str>::new());
    }
}
