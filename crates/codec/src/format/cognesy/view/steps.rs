//! Summaries of the newest steps.

use turnkeep_model::view::{self, Slim, ViewStep};
use turnkeep_model::{Body, FinishReason, Session, Turn};

use super::super::slim::{Dialect, before};
use super::super::words;
use crate::codec::Mode;

/// The turns that are steps.
pub(super) fn of(session: &Session) -> Vec<usize> {
    session.turns.iter().enumerate().filter(|(_, turn)| view::is_step(turn)).map(|(at, _)| at).collect()
}

/// The newest steps with their turns. They are numbered as in the session; the original numbers those it lists.
pub(super) fn list(session: &Session, config: &Slim, dialect: Dialect, mode: Mode) -> Vec<(usize, ViewStep)> {
    let keep = usize::try_from(config.max_steps).ok().filter(|_| config.include_steps).unwrap_or(0);
    let all = of(session);
    let skipped = all.len().saturating_sub(keep);
    let first = match mode {
        Mode::Faithful => before(session).saturating_add(skipped as u64),
        Mode::Compat => 0,
    };
    let turns = all.into_iter().skip(skipped).filter_map(|at| Some((at, session.turns.get(at)?)));
    turns.zip(first..).map(|((at, turn), number)| (at, step(turn, number.saturating_add(1), dialect))).collect()
}

fn step(turn: &Turn, step_number: u64, dialect: Dialect) -> ViewStep {
    let kind = match (words::step_type(turn), dialect) {
        ("final_response", Dialect::Proposal) => "final",
        (kind, _) => kind,
    };
    let calls = turn.blocks.iter().filter_map(|block| match &block.body {
        Body::ToolCall(call) => Some((call.call.as_given().map(str::to_owned), call.name.clone())),
        _ => None,
    });
    let used = [turn.usage.input, turn.usage.output].into_iter().flatten().fold(0, u64::saturating_add);
    ViewStep {
        step_number,
        kind: kind.to_owned(),
        has_tool_calls: words::has_calls(turn),
        finish_reason: turn.finish.as_ref().map(|finish| finish_word(&finish.reason, dialect).to_owned()),
        errors: turn.errors.len() as u64,
        total: turn.usage.total.unwrap_or(used),
        duration_ms: view::milliseconds(&turn.timing),
        tool_calls: calls.collect(),
    }
}

/// The word of a closed list for why an answer ended.
pub(super) fn finish_word(reason: &FinishReason, dialect: Dialect) -> &'static str {
    match reason {
        _ if dialect == Dialect::Proposal => view::finish_word(reason),
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Error | FinishReason::Interrupted => "error",
        FinishReason::ContentFilter | FinishReason::Refusal => "content_filter",
        _ => "other",
    }
}
