//! Commands that talk to models.

mod aloud;
mod answering;
mod ask;
mod attach;
mod chat;
mod compare;
mod editor;
mod endpoints;
mod run;
mod scripted;
mod session;

pub(super) use answering::{configured, model_of};
pub(super) use ask::{ask, ending};
pub(super) use chat::chat;
pub(super) use endpoints::endpoints;
pub(super) use run::run;
pub(super) use session::{Heard, open_talk};
