//! Records an agent while it runs, survives its death, and resumes it.
//!
//! A [`Recorder`] is the single writer of a session: what it records is durable when it returns. An [`Agent`] is a model,
//! its tools and the rules of its runs. The model's answer and the intents of its calls are one batch, recorded before
//! any tool runs; each outcome with its result is another. So a process can die anywhere: [`plan`](plan::plan) says from
//! the journal alone what is to be done, and a call that may have acted is never silently repeated.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `schema` | tools of async functions, with the schema of their arguments derived |
//! | `weakincentives` | the main loop and the conversations of weakincentives |
//! | `sqlite`, `postgres` | the stores of these names |

mod acquire;
mod agent;
mod blocking;
mod call_outcomes;
mod changes;
mod checkpoint;
mod chunks;
pub mod compat;
pub mod condense;
mod conversation;
pub mod criteria;
pub mod envelope;
mod error;
mod handoff;
mod hub;
pub mod human;
mod input;
mod job;
mod lineage;
mod ordinals;
pub mod plan;
pub mod port;
mod ports;
mod post;
mod rebuild;
mod recorder;
mod relay;
mod savepoint;
pub mod schema;
mod script;
pub mod slices;
mod stop;
mod tail;
mod tool_result;
mod tools;
mod typed;
mod worker;

pub use acquire::{Acquired, BusyRun, TakeOver, busy_run};
pub use agent::{Agent, AgentBuilder, Duplicates, Guard, RunEvent, RunStream, Stopped, Unsure, Waiting, WaitingFor};
pub use changes::changes;
pub use checkpoint::{Checkpoint, CheckpointHandler, FileCheckpoints, NativeSnapshots, SnapshotFormat, UserRequest};
pub use conversation::Conversation;
pub use error::{Error, Named, Result};
pub use handoff::{HandoffHistory, handoff};
pub use hub::{Hub, HubItem, Subscription};
pub use human::say;
pub use input::Input;
pub use job::{Job, enqueue};
pub use lineage::subtree;
pub use plan::ResumePolicy;
pub use ports::Ports;
pub use post::post;
pub use rebuild::{Rebuilt, rebuild};
pub use recorder::Recorder;
pub use relay::{Relay, RelayOptions, RelayReport, RelayUntil, RelayWatch};
pub use savepoint::Savepoint;
pub use script::Script;
pub use stop::StopSignal;
pub use tail::{Tail, TailItem};
pub use tools::Tools;
pub use worker::Worker;
