//! The values turnkeep works with: sessions, turns, blocks, events, journals and losses.
//!
//! Everything here is a plain value or a pure function over values. There is no clock, no file, no network, no
//! randomness and no async in this crate.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `serde` | `Serialize` and `Deserialize` for sessions, losses and JSON |
//! | `tokens` | exact counts of tokens |

mod block;
pub mod canon;
mod decimal;
mod diff;
mod error;
pub mod event;
mod extra;
mod fold;
mod head;
mod id;
mod journal;
pub mod json;
pub mod ledger;
mod lines;
mod loss;
mod native;
mod options;
pub mod policy;
#[cfg(feature = "serde")]
mod serde;
mod session;
pub mod shape;
pub mod status;
mod time;
mod usage;
pub mod view;
mod visible;

pub use block::{
    Author, Block, Body, Data, Media, MessageKey, Outcome, Part, Reasoning, Scope, ShortExchange, Summary, Text,
    ToolCall, ToolResult,
};
pub use decimal::Decimal;
pub use diff::{Change, diff, diff_archives, each_archive_change, number_densely};
pub use error::{Error, ErrorKind, Result, line_and_column};
pub use event::Event;
pub use extra::{Extra, ExtraPart};
pub use fold::{absorb, apply, expanded, fold};
pub use head::{Head, OpenCall};
pub use id::{BlockId, CallId, EvaluationId, ItemId, MessageId, RunId, Seq, SessionId, TurnId};
pub use journal::{Batch, Entry, Journal, Record, line_sum};
pub use json::{Json, JsonString, Number, Object};
pub use ledger::Ledger;
pub use lines::Spelling;
pub use loss::{Loss, LossKind, Severity, Side};
pub use native::{Archive, Snapshot, VERSION, VERSIONS};
pub use options::{Effort, Limits, Options, ResponseFormat, ResponseKind, ToolChoice, ToolMode, ToolSpec};
#[cfg(feature = "serde")]
pub use serde::NotAValue;
pub use session::{Parent, PromptId, Run, Session, Slice, SlicePolicy, Turn};
pub use status::{Finish, FinishReason, Status, StopReason};
pub use time::{Time, Timing};
pub use usage::Usage;
pub use visible::{visible, visible_line};
