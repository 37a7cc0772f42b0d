//! Which turns a summary would stand for.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use super::{CountTokens, instructs, said};
use crate::block::{Block, Body};
use crate::id::CallId;
use crate::session::{Session, Turn};

/// How many exchanges at the end stay as they are, unless told otherwise.
pub const KEEP: usize = 4;

/// The least that is worth a summary, in tokens.
const LEAST: u64 = 24;

/// What a short conversation may keep, in tokens, as long as that is no more than half of it: a quarter of little is nothing.
const SHORT: u64 = 600;

/// How far a session is condensed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CondenseSettings {
    /// How many exchanges at the end stay as they are.
    pub keep: usize,
    /// Stop as soon as the session has no more tokens than this; without it, all but the kept exchanges go.
    pub budget: Option<u64>,
}

impl Default for CondenseSettings {
    fn default() -> CondenseSettings {
        CondenseSettings { keep: KEEP, budget: None }
    }
}

/// Which turns a summary would stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CondensePlan {
    /// The first turn, from 0.
    pub from: u32,
    /// The last turn.
    pub to: u32,
    /// How many exchanges these are.
    pub exchanges: usize,
    /// How many blocks would go.
    pub blocks: usize,
    /// How many tokens these have.
    pub tokens: u64,
    /// How many tokens the whole session has.
    pub total: u64,
    /// How many tokens the summary should have at most.
    pub target: u64,
}

impl CondensePlan {
    /// The turns.
    pub fn turns(&self) -> Range<usize> {
        self.from as usize..(self.to as usize).saturating_add(1)
    }
}

/// Why there is nothing to condense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingToCondense {
    /// All exchanges are among those that stay, or summarised already.
    Kept,
    /// It is within its budget.
    WithinBudget,
    /// What could go is shorter than a summary of it.
    Short,
    /// The oldest exchange has a call whose result is elsewhere or missing.
    OpenCall,
}

impl fmt::Display for NothingToCondense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NothingToCondense::Kept => "every exchange is among those that stay, or summarised already",
            NothingToCondense::WithinBudget => "the session is within its budget",
            NothingToCondense::Short => "what could go is too short to be summarised",
            NothingToCondense::OpenCall => "the oldest exchange has a tool call without a result",
        })
    }
}

/// Says which turns a summary would stand for. It touches nothing; the same session gives the same plan.
///
/// # Errors
/// Why there is nothing to condense.
pub fn plan(
    session: &Session,
    settings: &CondenseSettings,
    count: CountTokens<'_>,
) -> Result<CondensePlan, NothingToCondense> {
    let start = summarised(session);
    let exchanges: Vec<Range<usize>> =
        session.exchanges().into_iter().filter(|exchange| exchange.start >= start && !exchange.is_empty()).collect();
    let free = exchanges.len().saturating_sub(settings.keep);
    let Some(from) = exchanges.first().filter(|_| free > 0).map(|first| first.start) else {
        return Err(NothingToCondense::Kept);
    };
    let total: u64 = session.turns.iter().flat_map(said).map(count).sum();
    if settings.budget.is_some_and(|budget| total <= budget) {
        return Err(NothingToCondense::WithinBudget);
    }
    let split = splits(session);
    let mut plan = CondensePlan { from: place(from), to: 0, exchanges: 0, blocks: 0, tokens: 0, total, target: 0 };
    let mut found = None;
    for exchange in exchanges.get(..free).unwrap_or_default() {
        plan.take(session.turns.get(exchange.clone()).unwrap_or_default(), exchange.end, settings, count);
        if split.get(exchange.end).copied().unwrap_or(false) {
            continue;
        }
        found = Some(plan.clone());
        if settings.budget.is_some_and(|budget| plan.left() <= budget) {
            break;
        }
    }
    match found {
        None => Err(NothingToCondense::OpenCall),
        Some(plan) if plan.tokens < LEAST => Err(NothingToCondense::Short),
        Some(plan) => Ok(plan),
    }
}

/// The first turn that no summary stands for and that comes after all summaries.
fn summarised(session: &Session) -> usize {
    let ends = session.blocks().filter_map(|(turn, block)| match &block.body {
        Body::Summary(summary) => Some(summary.to.map_or(turn, |to| (to as usize).max(turn)) + 1),
        _ => None,
    });
    ends.max().unwrap_or(0)
}

/// For every turn, whether ending before it would part a call from its result, or leave a call without one behind.
fn splits(session: &Session) -> Vec<bool> {
    let mut results: HashMap<&CallId, usize> = HashMap::new();
    let mut calls: HashMap<&CallId, usize> = HashMap::new();
    for (turn, block) in session.blocks() {
        match &block.body {
            Body::ToolCall(call) => drop(calls.entry(&call.call).or_insert(turn)),
            Body::ToolResult(result) => drop(results.insert(&result.call, turn)),
            _ => {}
        }
    }
    let mut open = vec![0_i64; session.turns.len().saturating_add(2)];
    let mut add = |turn: usize, change: i64| {
        if let Some(slot) = open.get_mut(turn.saturating_add(1)) {
            *slot += change;
        }
    };
    for (id, call) in calls {
        add(call, 1);
        if let Some(result) = results.get(id).filter(|result| **result >= call) {
            add(*result, -1);
        }
    }
    let running = open.iter().scan(0_i64, |sum, change| {
        *sum += change;
        Some(*sum > 0)
    });
    running.collect()
}

impl CondensePlan {
    /// Takes more turns in, up to `end`.
    fn take(&mut self, turns: &[Turn], end: usize, settings: &CondenseSettings, count: CountTokens<'_>) {
        for block in turns.iter().flat_map(going) {
            self.blocks += 1;
            self.tokens += super::texts(block).into_iter().map(count).sum::<u64>();
        }
        self.exchanges += 1;
        self.to = place(end.saturating_sub(1));
        let room = |budget: u64| budget.saturating_sub(self.total.saturating_sub(self.tokens));
        let wanted = (self.tokens / 4).max(SHORT.min(self.tokens / 2));
        self.target = wanted.min(settings.budget.map_or(u64::MAX, room)).max(LEAST / 2);
    }

    /// How many tokens are left where the summary is as long as it may be.
    fn left(&self) -> u64 {
        self.total.saturating_sub(self.tokens).saturating_add(self.target)
    }
}

fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The blocks of a turn that a summary would stand for.
pub(super) fn going(turn: &Turn) -> impl Iterator<Item = &Block> {
    turn.blocks.iter().filter(|block| !instructs(block))
}
