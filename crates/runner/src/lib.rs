//! Runs fixtures: a session in, and out come the requests it made, what happened, and the session afterwards.
//!
//! A [`Fixture`] is a conversation and what is said next. [`run`] answers it with any model and with tools that a
//! [`manifest`] lists; nothing here knows files but those that tools are.

mod artifact;
mod compare;
mod duration;
mod ear;
mod environment;
mod fixture;
pub mod manifest;
mod run;
mod shell;
mod tap;

pub use artifact::{Artifact, artifacts};
pub use compare::difference;
pub use environment::{Keys, Variable};
pub use fixture::Fixture;
pub use run::{Ran, Setup, run};
pub use shell::ShellTool;
pub use tap::Tap;
