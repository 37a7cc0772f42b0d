//! Records an agent while it runs, survives its death, and resumes it.
//!
//! A [`Recorder`] is the single writer of a session: what it records is durable when it returns. An [`Agent`] is a model,
//! its tools and the rules of its runs. The model's answer and the intents of its calls are one batch, recorded before
//! any tool runs; each outcome with its result is another. So a process can die anywhere: [`plan`](plan::plan) says from
//! the journal alone what is to be done, and a call that may have acted is never silently repeated.

mod agent;
mod blocking;
mod checkpoint;
pub mod condense;
mod conversation;
pub mod criteria;
pub mod envelope;
mod error;
mod evaluations;
mod family;
mod handoff;
mod hub;
pub mod human;
mod main_loop;
mod moment;
mod outcomes;
mod phase;
pub mod plan;
pub mod port;
mod ports;
mod prompt;
mod rebuild;
mod recorder;
pub mod schema;
mod script;
pub mod slices;
mod stop;
mod stream;
mod tail;
mod take_up;
mod tools;
mod typed;
mod worker;

pub use agent::{Agent, Duplicates, Guard, Stopped, Unsure, Waiting, WaitingFor};
pub use checkpoint::{
    Checkpoint, CheckpointHandler, FileCheckpoints, NativeSnapshots, SnapshotFormat, StoreCheckpoints, UserRequest,
};
pub use conversation::{
    ConversationMessage, ConversationState, ConversationTurn, ToolCallRecord, enable_conversation_recording,
};
pub use error::{Error, Named, Result};
pub use family::bottom_up;
pub use handoff::{Carry, handoff};
pub use hub::{Heard, Hub, Subscription};
pub use human::{Input, say};
pub use main_loop::{LoopDefinition, MainLoop};
pub use moment::Moment;
pub use phase::{Phase, phases};
pub use plan::ResumePolicy;
pub use ports::Ports;
pub use prompt::{Evaluation, Origin, Prompt, PromptResponse, ResumeFrom, Template, evaluate};
pub use rebuild::{Rebuilt, rebuild};
pub use recorder::{Recorder, post};
pub use script::Script;
pub use stop::Stop;
pub use stream::{Stream, StreamEvent, Streamed};
pub use tail::{Followed, Tail};
pub use take_up::{BusyRun, TakeOver, TakenUp, busy_run};
pub use tools::Tools;
pub use worker::Worker;
