//! What most programs need: `use turnkeep::prelude::*;`.

pub use turnkeep_model::event::Effect;
pub use turnkeep_model::{Author, Block, CallId, Json, Session, SessionId, Status};
pub use turnkeep_runtime::human::{ConsentDecision, KnownOutcome};
#[cfg(feature = "schema")]
pub use turnkeep_runtime::port::tool;
pub use turnkeep_runtime::port::{Answer, Model, Tool, ToolContext, ToolError, ToolOutput};
pub use turnkeep_runtime::slices::SliceItem;
pub use turnkeep_runtime::{Agent, Conversation, Recorder, RunEvent, Script, Stopped};
pub use turnkeep_store::Store;
