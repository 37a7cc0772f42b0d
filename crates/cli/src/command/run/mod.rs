//! Commands on running sessions.

mod human;
mod ledger;
mod resume;
mod tail;

pub(super) use human::{approve, deny, resolve};
pub(crate) use ledger::event_line;
pub(super) use ledger::ledger;
pub(super) use resume::resume;
pub(super) use tail::tail;
