//! The conversation-state specification of weakincentives: prompts, evaluations that resume, and a loop over requests.
//!
//! The specification keeps a conversation as a slice of the session and saves checkpoints of it, because its loop has no
//! other memory. Here the journal is that memory, so:
//!
//! - [`ConversationState`] is folded from the turns whenever someone asks for it, and is never stored beside them.
//! - [`MainLoop`] evaluates a request in the session that is named after it. The journal of that session is the
//!   request's checkpoint, from its first record on; a [`CheckpointHandler`](crate::CheckpointHandler) keeps a copy.
//! - [`evaluate`] asks a [`Prompt`] or goes on with a state: in its own session, or in one that does not hold it yet.
//!
//! **Invariant: the key of a call never comes from a retry.** It follows from the session that began the evaluation and
//! the id of the call, in whatever process, session or checkpoint the evaluation goes on.

pub(crate) mod conversation;
mod evaluations;
mod main_loop;
mod prompt;
mod store_checkpoints;

pub use conversation::{
    ConversationMessage, ConversationState, ConversationTurn, ToolCallRecord, enable_conversation_recording,
};
pub use main_loop::{LoopDefinition, MainLoop};
pub use prompt::{Evaluation, Origin, Prompt, PromptResponse, ResumeFrom, Template, evaluate};
pub use store_checkpoints::StoreCheckpoints;
