//! Runs sessions: the calls that a terminal, a server and a library user share.
//!
//! - A [`Fixture`] is a conversation and what is said next. [`run`] answers it with any model, and out come the requests
//!   it made, what happened, and the session afterwards.
//! - A [`Responder`] says who answers: an endpoint, a script, or a recording. Its [`Responder::agent`] opens conversations.
//!   Tools that are programs come from a
//!   [`manifest`]; they see a short list of variables and never a key.
//!
//! Nothing here knows files but the programs that tools are.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `http` | endpoints on the network |

mod artifact;
mod compare;
mod duration;
mod environment;
mod fixture;
pub mod manifest;
mod observer;
mod pieces;
mod process;
mod responder;
mod run;
mod shell;
mod tap;

pub use artifact::{Artifact, artifacts};
pub use compare::difference;
pub use environment::{Keys, Variable};
pub use fixture::Fixture;
pub use observer::{Observer, Progress};
pub use responder::{Between, Responder, SCRIPTED, direct};
pub use run::{Ran, Setup, run};
pub use shell::ShellTool;
pub use tap::Tap;
