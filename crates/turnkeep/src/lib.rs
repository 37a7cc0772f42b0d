//! Durable, portable sessions for LLM agents.
//!
//! An agent records what it does while it does it: the question before the request leaves, the intent before a tool runs, the
//! outcome with its result. So a process can die anywhere and another goes on, on the same model or a different one.
//!
#![cfg_attr(feature = "schema", doc = "```")]
#![cfg_attr(not(feature = "schema"), doc = "```ignore")]
//! use turnkeep::prelude::*;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Charge {
//!     /// In whole euros.
//!     eur: u32,
//! }
//!
//! async fn charge(charge: Charge, call: ToolContext) -> Result<String, ToolError> {
//!     Ok(format!("charged {} EUR under the key {}", charge.eur, call.key))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> turnkeep::Result<()> {
//! # let answers = vec![Answer::calling("c1", "charge", r#"{"eur":42}"#), Answer::text("You paid 42 EUR.")];
//! let model = Script::new("a script", answers); // or `turnkeep::endpoint("my-endpoint")?`
//! let agent = Agent::builder()
//!     .model(model)
//!     .tool(tool("charge", "Charges the card.", charge).once())
//!     .store("memory:") // or "sqlite:agent.db"
//!     .build()?;
//!
//! let stopped = agent.open("order-7")?.ask("Charge 42 EUR, please.").await?;
//! assert_eq!(stopped.text.as_deref(), Some("You paid 42 EUR."));
//! # Ok(())
//! # }
//! ```
//!
//! # The five types that matter
//!
//! | type | what it is |
//! |---|---|
//! | [`Agent`] | a model, its tools and the rules of its runs: [`Agent::builder`] |
//! | [`Conversation`] | one stored session and the agent that answers in it: [`Agent::open`], then `ask`, `stream`, `resume`, `decide`, `resolve` |
//! | [`RunEvent`] | what happens in a run, from a [`RunStream`] that ends when the run does |
//! | [`Session`] | the conversation as a value: turns, options, tools, side-state; it converts to every format ([`convert`], [`open_file`], [`save_file`]) and says what is lost ([`Loss`]) |
//! | [`Store`] | a durable home of journals, opened by URL ([`open_store`]), or one of your own |
//!
//! Around them: [`tool`] makes a tool of an async function; a [`StopSignal`] ends one run; [`enqueue`] and [`Worker`] share
//! sessions out to a fleet; a [`Tail`] follows a session; a [`Recorder`] writes one without an agent; [`Error`] is what every
//! call here can fail with, and what the errors of the rooms and of the system convert to.
//!
//! # Rooms
//!
//! [`model`] values · [`codec`] formats · [`mod@file`] files · [`store`] durability · [`runtime`] runs, tools, slices, checkpoints ·
//! `provider` vendors · `runner` configured endpoints, scripts and recordings. Most programs need [`prelude`] and the root.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `formats` | yes | session files of every text format, conversion, and what it loses |
//! | `html` | yes | sessions as one self-contained page |
//! | `http` | yes | vendors' models over the network: `endpoint`, `provider`, `runner` |
//! | `schema` | yes | [`tool`]: tools of async functions, with the schema of their arguments derived |
//! | `sqlite` | yes | the store `sqlite:PATH`, and formats that are SQLite files |
//! | `zip` | yes | formats that are zip files |
//! | `zstd` | yes | compressed documents |
//! | `weakincentives` | yes | the main loop and the conversations of weakincentives |
//! | `broadcast` | no | envelopes to files, Pusher servers and webhooks |
//! | `server` | no | sessions over HTTP: a router to mount, with the viewer |
//! | `postgres` | no | the store `postgres://...`, for many machines |

pub mod prelude;
#[cfg(all(feature = "formats", feature = "weakincentives"))]
mod wink;

#[cfg(feature = "broadcast")]
pub use turnkeep_broadcast as broadcast;
#[cfg(feature = "formats")]
pub use turnkeep_codec as codec;
#[cfg(feature = "formats")]
pub use turnkeep_file as file;
pub use turnkeep_model as model;
#[cfg(feature = "http")]
pub use turnkeep_provider as provider;
#[cfg(feature = "http")]
pub use turnkeep_provider::endpoint::endpoint;
#[cfg(feature = "http")]
pub use turnkeep_runner as runner;
pub use turnkeep_runtime as runtime;
#[cfg(feature = "server")]
pub use turnkeep_server as server;
pub use turnkeep_store as store;

#[cfg(feature = "formats")]
pub use turnkeep_codec::format::lucee;
#[cfg(feature = "formats")]
pub use turnkeep_codec::{Encoded, Target};
#[cfg(feature = "formats")]
pub use turnkeep_file::{
    Conversion, ConvertOptions, OpenOptions, Opened, ToArchive, convert, decode, decode_from, encode, encode_to,
    open as open_file, save_packed, save_session as save_file,
};
pub use turnkeep_model::{
    Archive, Author, Block, Body, CallId, Change, Effort, ErrorKind, Journal, Json, Loss, LossKind, Options, Session,
    SessionId, Snapshot, Turn, diff, fold,
};
#[cfg(feature = "http")]
pub use turnkeep_runner::{Observer, Responder};
#[cfg(feature = "schema")]
pub use turnkeep_runtime::port::tool;
pub use turnkeep_runtime::{
    Agent, AgentBuilder, Conversation, Error, Job, Recorder, Result, RunEvent, RunStream, StopSignal, Stopped, Tail,
    Worker, enqueue,
};
pub use turnkeep_store::{Store, open as open_store};
#[cfg(all(feature = "formats", feature = "weakincentives"))]
pub use wink::{WinkJson, WinkSnapshots};

/// The programs of the project's front page, as doctests.
#[cfg(all(doctest, feature = "formats", feature = "schema"))]
#[doc = include_str!("../../../README.md")]
struct FrontPage;

/// The programs of the guide, as doctests. They ask vendors' models by their wires and derive schemas.
#[cfg(all(doctest, feature = "formats", feature = "http", feature = "schema", feature = "sqlite"))]
#[doc = include_str!("../../../docs/library.md")]
struct Guide;
