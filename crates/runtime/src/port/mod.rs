//! What a run needs from outside: a model that answers, tools that act, a clock, ids and processes.

mod clock;
mod ids;
mod model;
mod processes;
mod tool;

pub(crate) use clock::seconds;
pub use clock::{Clock, SystemClock};
pub use ids::{Ids, RandomIds};
pub use model::{Answer, Begun, Delta, Deltas, Identity, Model, ModelError, NoDeltas, Request, Tried};
pub use processes::{Liveness, LocalProcesses, Processes};
pub use tool::{
    Brief, Compensate, Consent, FnTool, Found, Probe, Settings, Tool, ToolContext, ToolError, ToolFailure, ToolOutput,
};
pub use turnkeep_model::event::{Cause, SentRequest};
