//! The native document as plain serde structs: what one would write who only wants the fields.
//!
//! A block is one flat struct and its kind a plain enum, because that is the fastest that serde can do: a tagged or
//! flattened enum makes it buffer every block first.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Serialize, Deserialize)]
pub(crate) struct Archive {
    turnkeep: u16,
    sessions: Vec<Session>,
}

#[derive(Serialize, Deserialize)]
struct Session {
    id: Option<String>,
    title: Option<String>,
    turns: Vec<Turn>,
}

#[derive(Serialize, Deserialize)]
struct Turn {
    id: Option<String>,
    provider: Option<String>,
    api: Option<String>,
    model: Option<String>,
    usage: Usage,
    timing: Timing,
    finish: Option<Finish>,
    metadata: Map<String, Value>,
    blocks: Vec<Block>,
}

#[derive(Serialize, Deserialize)]
struct Usage {
    input: Option<u64>,
    output: Option<u64>,
    cached_read: Option<u64>,
    total: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Timing {
    started: Option<String>,
    completed: Option<String>,
    seconds: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct Finish {
    reason: String,
    word: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Author {
    User,
    Assistant,
    Tool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Reasoning,
    ToolCall,
    ToolResult,
}

#[derive(Serialize, Deserialize)]
struct Block {
    author: Author,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Message {
    ordinal: u32,
}

#[derive(Serialize, Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: PartKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartKind {
    Text,
    Json,
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) seq: u64,
    time: Option<String>,
    events: Vec<Event>,
    sum: String,
}

#[derive(Serialize, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    /// A small object, or a number.
    turn: Option<Value>,
    block: Option<Block>,
    call: Option<String>,
    effect: Option<String>,
    outcome: Option<String>,
}

#[cfg(test)]
mod tests {
    use turnkeep_model::json::Layout;

    use super::*;

    #[test]
    fn the_structs_hold_the_whole_document() {
        let text = crate::sessions::archive(200_000).to_json(Layout::Compact);

        let archive: Archive = serde_json::from_str(&text).unwrap();

        assert_eq!(serde_json::to_string(&archive).unwrap(), text);
    }
}
