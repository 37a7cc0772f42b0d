//! Commands that show what a journal knows: its events as they happen, and its tool calls.

mod events;
mod ledger;
mod tail;

pub(super) use events::events;
pub(crate) use ledger::event_line;
pub(super) use ledger::ledger;
pub(super) use tail::tail;
