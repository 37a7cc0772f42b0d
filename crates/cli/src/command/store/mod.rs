//! Commands on stored sessions.

mod carry;
mod change;
mod each;
mod erase;
mod label;
mod list;
mod upkeep;

pub(super) use carry::journal;
pub(crate) use carry::load;
pub(super) use carry::{copy, export, import};
pub(super) use change::{fork, rm};
pub(super) use erase::erase;
pub(super) use label::tag;
pub(super) use list::{ls, search};
pub(super) use upkeep::{du, gc, verify};
