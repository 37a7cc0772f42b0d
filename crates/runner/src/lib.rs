//! Runs fixtures: a session in, and out come the requests it made, what happened, and the session afterwards.
//!
//! A [`Fixture`] is a conversation and what is said next. [`run`] answers it with any model and with tools that a
//! [`manifest`] lists; nothing here knows files but those that tools are.

mod artifact;
mod compare;
mod duration;
mod fixture;
pub mod manifest;
mod overhear;
mod run;
mod shell;

pub use artifact::{Artifact, artifacts};
pub use compare::difference;
pub use fixture::Fixture;
pub use overhear::{Said, Tap};
pub use run::{Ran, Setup, run};
pub use shell::ShellTool;
