//! Where messages stand: every message has an ordinal, and readers sort by it.
//!
//! The results of a turn's calls have their places reserved right after the calls, in the order of the calls, so that a
//! request does not depend on which tool was faster.

use turnkeep_model::{Body, CallId, Session, Turn};

/// The ordinal of the next message of the turn before which `turns` turns stand, or of the last of them.
pub(crate) fn next_ordinal(session: &Session, turns: usize) -> u32 {
    let mut before = session.turns.iter().take(turns).rev();
    before.find_map(last_place).map_or(0, |highest| highest.saturating_add(1))
}

/// The last ordinal that a turn has, or keeps for the results of its calls.
fn last_place(turn: &Turn) -> Option<u32> {
    let taken = turn.blocks.iter().map(|block| block.message.ordinal).max()?;
    let calls = u32::try_from(crate::plan::calls(turn).count()).unwrap_or(u32::MAX);
    Some(place_of_calls(turn).map_or(taken, |at| taken.max(at.saturating_add(calls))))
}

fn place_of_calls(turn: &Turn) -> Option<u32> {
    let calls = turn.blocks.iter().filter(|block| matches!(block.body, Body::ToolCall(_)));
    calls.map(|block| block.message.ordinal).max()
}

/// Results follow their calls in the order of the calls, however they ended: so a request does not depend on which tool
/// was faster, and nobody's words come between.
pub(crate) fn place_of_result(session: &Session, turn: u32, call: &CallId) -> u32 {
    let own = session.turns.get(turn as usize);
    let made = own.and_then(|own| crate::plan::calls(own).position(|made| made.call == *call));
    let (Some(at), Some(base)) = (made, own.and_then(place_of_calls)) else {
        return next_ordinal(session, turn as usize + 1);
    };
    let wanted = base.saturating_add(1).saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
    let later = session.turns.iter().skip(turn as usize + 1).flat_map(|turn| &turn.blocks);
    later.map(|block| block.message.ordinal).min().map_or(wanted, |later| wanted.min(later))
}
