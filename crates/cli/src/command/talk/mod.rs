//! Commands that talk to models.

mod aloud;
mod answering;
mod ask;
mod attach;
mod chat;
mod compare;
mod editor;
mod endpoints;
mod follow;
mod interrupt;
mod run;
mod scripted;
mod session;

pub(super) use answering::{configured, model_of, tools};
pub(super) use ask::{ask, ending, tell_failure};
pub(super) use chat::chat;
pub(super) use endpoints::endpoints;
pub(super) use interrupt::Interrupt;
pub(super) use run::run;
pub(super) use session::{Heard, open_talk};
