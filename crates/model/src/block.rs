//! One atomic piece of content.

mod body;

pub use body::{
    Body, Data, Media, Outcome, Part, Reasoning, Scope, ShortExchange, Summary, Text, ToolCall, ToolResult,
};

use crate::extra::Extra;
use crate::id::{BlockId, ItemId, MessageId};
use crate::json::Object;
use crate::shape::{shape, string_enum};
use crate::time::Time;

/// One atomic piece of content, who wrote it, and which message it was part of.
///
/// ```
/// use turnkeep_model::{Author, Block};
///
/// let block = Block::text(Author::User, "Hello?");
///
/// assert_eq!(block.body.as_text(), Some("Hello?"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its id, if the source has one.
    pub id: Option<BlockId>,
    /// Who wrote it.
    pub author: Author,
    /// Which message it was part of: blocks with equal keys were one message.
    pub message: MessageKey,
    /// The id of the item at the provider that made it.
    pub item_id: Option<ItemId>,
    /// What it is.
    pub body: Body,
    /// What the application keeps with it; never sent to a model.
    pub metadata: Object,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! {
    Block { id: opt, author: req, message: opt, item_id: opt, body: flat, metadata: opt }
}

impl Default for Block {
    fn default() -> Block {
        Block::new(Author::User, Text::default())
    }
}

impl Block {
    /// A block of `body` by `author`, the first message of its session.
    pub fn new(author: Author, body: impl Into<Body>) -> Block {
        Block {
            id: None,
            author,
            message: MessageKey::default(),
            item_id: None,
            body: body.into(),
            metadata: Object::new(),
            extra: Extra::NONE,
        }
    }

    /// A block of text.
    pub fn text(author: Author, text: impl Into<String>) -> Block {
        Block::new(author, Text { text: text.into() })
    }

    /// The same block in the message with this ordinal.
    #[must_use]
    pub fn in_message(mut self, ordinal: u32) -> Block {
        self.message.ordinal = ordinal;
        self
    }

    /// Whether this is part of a model's answer.
    pub fn is_answer(&self) -> bool {
        match &self.body {
            Body::Reasoning(_) | Body::ToolCall(_) => true,
            Body::ToolResult(_) => false,
            Body::Text(_) | Body::Media(_) | Body::Summary(_) | Body::Other { .. } => self.author == Author::Assistant,
        }
    }
}

string_enum! {
    /// Who wrote a block.
    ///
    /// ```
    /// use turnkeep_model::Author;
    ///
    /// assert_eq!(Author::Assistant.to_string(), "assistant");
    /// ```
    pub enum Author {
        /// The system text.
        System = "system",
        /// The developer's text.
        Developer = "developer",
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// A tool.
        Tool = "tool",
        ; /// Someone only the source knows.
        other
    }
}

/// Which message a block was part of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageKey {
    /// The place of the message among the messages of its session.
    pub ordinal: u32,
    /// The message's id, if the source has one.
    pub id: Option<MessageId>,
    /// The author's name, if the source has one.
    pub name: Option<String>,
    /// When it was written.
    pub time: Option<Time>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { MessageKey { ordinal: opt, id: opt, name: opt, time: opt } }
