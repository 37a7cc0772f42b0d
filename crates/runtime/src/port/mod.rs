//! What a run needs from outside: a model that answers, tools that act and the checker of their schemas, a
//! clock, ids and processes, and a broadcaster that shows what happens.

mod broadcaster;
mod clock;
mod ids;
mod model;
mod processes;
mod schema;
mod tool;
#[cfg(feature = "schema")]
mod typed_tool;

pub use broadcaster::Broadcaster;
pub(crate) use clock::seconds;
pub use clock::{Clock, SystemClock};
pub use ids::{Ids, RandomIds};
pub(crate) use model::Tried;
pub use model::{Answer, Delta, Deltas, Identity, Model, ModelError, NoDeltas, Request};
pub use processes::{Liveness, LocalProcesses, Processes};
pub use schema::{BuiltInSchemas, SchemaChecker};
pub use tool::{
    CallInfo, Compensate, Consent, FnTool, Found, Probe, Settings, Tool, ToolContext, ToolError, ToolFailure,
    ToolOutput,
};
pub use turnkeep_model::event::{Cause, SentRequest};
// Whoever implements a port needs no store.
pub use turnkeep_store::BoxFuture;
#[cfg(feature = "schema")]
pub use typed_tool::{Handler, tool};
