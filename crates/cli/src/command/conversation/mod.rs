//! Commands that talk to models, and those by which a person decides about what models want.
//!
//! What a conversation is and does stands in `turnkeep_runtime::Conversation`. Here its arguments are read, its progress
//! is printed ([`printer`]), and signals stop it ([`interrupt`]).

mod ask;
mod attach;
mod chat;
mod compare;
mod decision;
mod editor;
mod endpoints;
mod interrupt;
mod outcome;
mod printer;
mod responder;
mod resume;
mod scripted;

pub(super) use ask::ask;
pub(super) use chat::chat;
pub(super) use decision::{approve, deny, resolve};
pub(super) use endpoints::endpoints;
pub(super) use interrupt::Interrupt;
pub(super) use outcome::{exit_of, kept_text};
pub(super) use responder::{configured, model_of, replaying, responder, tools};
pub(super) use resume::resume;
pub(super) use scripted::beside;
