//! Commands on stored sessions.

mod batch_result;
mod change;
mod erase;
mod label;
mod list;
mod maintenance;
mod transfer;

pub(super) use change::{fork, rm};
pub(super) use erase::erase;
pub(super) use label::tag;
pub(super) use list::{ls, search};
pub(super) use maintenance::{du, gc, verify};
pub(super) use transfer::journal;
pub(crate) use transfer::load;
pub(super) use transfer::{copy, export, import};
