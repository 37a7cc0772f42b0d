//! Turn documents as values: what the serde specification calls Turn and Block.

use turnkeep_model::json::{Json, Object};

/// A file of turn documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The `version` at the root, where it stands there and not in the turn itself.
    pub version: Option<u64>,
    /// What the file holds.
    pub content: Content,
    /// Fields of the root that the format does not know.
    pub unknown: Object,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// One turn, at the root.
    Turn(Turn),
    /// A collection under `turns`.
    Turns(Vec<Turn>),
    /// A runner's fixture: a turn and the blocks to append one by one.
    Fixture {
        /// The turn to start from; absent is an empty one.
        turn: Option<Turn>,
        /// The blocks to append; absent differs from none.
        followups: Option<Vec<Block>>,
    },
}

/// One turn: the whole context of one inference.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    /// Its `version`, if it has one.
    pub version: Option<u64>,
    /// Its id.
    pub id: Option<String>,
    /// The run it belongs to, in old files.
    pub run_id: Option<String>,
    /// The blocks in order; `None` where the key is missing.
    pub blocks: Option<Vec<Block>>,
    /// Its metadata; `Some` of nothing is written as an empty map.
    pub metadata: Option<Object>,
    /// Its data; `Some` of nothing is written as an empty map.
    pub data: Option<Object>,
    /// Fields that the format does not know.
    pub unknown: Object,
    /// Places of strings that stand unquoted in YAML, as JSON pointers.
    pub bare: Vec<String>,
}

/// One block of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Its id.
    pub id: Option<String>,
    /// What it is; `None` where the key is missing.
    pub kind: Option<Kind>,
    /// The kind as written, where the format does not know it.
    pub raw_kind: Option<String>,
    /// Who speaks.
    pub role: Option<String>,
    /// The content; `Some` of nothing is written as an empty map.
    pub payload: Option<Object>,
    /// Its metadata; `Some` of nothing is written as an empty map.
    pub metadata: Option<Object>,
    /// Whether the file itself held `serde.kind_raw`.
    pub holds_kind_raw: bool,
    /// Fields that the format does not know, `turn_id` of old files among them.
    pub unknown: Object,
    /// Places of strings that stand unquoted in YAML, as JSON pointers.
    pub bare: Vec<String>,
    /// The byte where the block stands in its source.
    pub at: u32,
    /// The byte where its role stands.
    pub role_at: u32,
}

/// Which run, call and segment a tool call belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "each field is named as in the document")]
pub struct Correlation {
    pub session_id: Option<String>,
    pub run_id: Option<String>,
    pub turn_id: Option<String>,
    pub provider_call_id: Option<String>,
    pub segment_id: Option<String>,
    pub tool_call_id: Option<String>,
}

/// The metadata key under which an unknown kind is kept.
pub const KIND_RAW: &str = "serde.kind_raw";

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Input of the user.
    User,
    /// Text of the model.
    LlmText,
    /// A call of a tool.
    ToolCall,
    /// A tool's answer.
    ToolUse,
    /// The system text.
    System,
    /// Thinking.
    Reasoning,
    /// Anything else.
    Other,
}

impl Kind {
    /// Every kind with its word.
    pub const ALL: [(Kind, &'static str); 7] = [
        (Kind::User, "user"),
        (Kind::LlmText, "llm_text"),
        (Kind::ToolCall, "tool_call"),
        (Kind::ToolUse, "tool_use"),
        (Kind::System, "system"),
        (Kind::Reasoning, "reasoning"),
        (Kind::Other, "other"),
    ];

    /// The kind's word.
    pub fn as_str(self) -> &'static str {
        Kind::ALL.iter().find(|(kind, _)| *kind == self).map_or("other", |(_, word)| word)
    }

    /// The kind of a word, trimmed and case-folded.
    pub fn from_word(word: &str) -> Option<Kind> {
        let word = word.trim().to_lowercase();
        Kind::ALL.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }

    /// The role that a block of this kind should have.
    pub fn role(self) -> Option<&'static str> {
        match self {
            Kind::User => Some("user"),
            Kind::System => Some("system"),
            Kind::LlmText => Some("assistant"),
            Kind::ToolCall | Kind::ToolUse | Kind::Reasoning | Kind::Other => None,
        }
    }
}

impl File {
    /// Every whole turn in it.
    pub fn turns(&mut self) -> impl Iterator<Item = &mut Turn> {
        let (one, many): (Option<&mut Turn>, &mut [Turn]) = match &mut self.content {
            Content::Turn(turn) => (Some(turn), &mut []),
            Content::Turns(turns) => (None, turns),
            Content::Fixture { turn, .. } => (turn.as_mut(), &mut []),
        };
        one.into_iter().chain(many)
    }
}

impl Turn {
    /// Applies the defaults of the specification: text of the model is by the assistant, a missing payload is empty.
    pub fn normalize(&mut self) {
        self.blocks.iter_mut().flatten().for_each(Block::normalize);
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        self.blocks.as_deref().unwrap_or_default()
    }
}

impl Block {
    /// A block of a kind, with nothing in it.
    pub fn new(kind: Kind) -> Block {
        Block { kind: Some(kind), role: kind.role().map(str::to_owned), ..Block::default() }
    }

    /// The kind; a block without one is `other`.
    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Other)
    }

    /// The value in the payload under `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.payload.as_ref()?.get(key)
    }

    /// Which run, call and segment a tool call belongs to, in either spelling of the keys; nothing where all are empty.
    pub fn correlation(&self) -> Option<Correlation> {
        let map = self.get("correlation")?.as_object()?;
        let text = |snake: &str, camel: &str| {
            let value = map.get_str(snake).or_else(|| map.get_str(camel));
            value.map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty())
        };
        let correlation = Correlation {
            session_id: text("session_id", "sessionId"),
            run_id: text("run_id", "runId"),
            turn_id: text("turn_id", "turnId"),
            provider_call_id: text("provider_call_id", "providerCallId"),
            segment_id: text("segment_id", "segmentId"),
            tool_call_id: text("tool_call_id", "toolCallId"),
        };
        (correlation != Correlation::default()).then_some(correlation)
    }

    fn normalize(&mut self) {
        self.fill_role();
        self.payload.get_or_insert_default();
    }

    /// Sets the role of text of the model where it is blank, and says whether it was.
    pub(super) fn fill_role(&mut self) -> bool {
        let blank = self.role.as_deref().is_none_or(|role| role.trim().is_empty());
        let fill = self.kind == Some(Kind::LlmText) && blank;
        if fill {
            self.role = Some("assistant".to_owned());
        }
        fill
    }
}
