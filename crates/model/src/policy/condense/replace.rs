//! Putting a summary in the place of turns.

use std::collections::HashSet;

use super::plan::{CondensePlan, going};
use super::{CountTokens, instructs};
use crate::block::{Author, Block, Body, Summary};
use crate::error::{Error, ErrorKind, Result};
use crate::id::CallId;
use crate::json::{Json, Object, TreeSink};
use crate::loss::{Loss, LossKind};
use crate::session::{Session, Turn};
use crate::shape::Shape;

/// Checks that a summary may stand for the planned turns: it says something, in fewer tokens than they do.
///
/// # Errors
/// Why it may not, as a sentence without the summary's words.
pub fn check(
    session: &Session,
    plan: &CondensePlan,
    text: &str,
    count: CountTokens<'_>,
) -> std::result::Result<(), String> {
    if text.trim().is_empty() {
        return Err("the summary is empty".to_owned());
    }
    let tokens = count(text);
    if tokens >= plan.tokens {
        return Err(format!("the summary is not shorter: {tokens} tokens for {}", plan.tokens));
    }
    let mut after = session.clone();
    apply(&mut after, plan, text);
    match loose_ends(&after).difference(&loose_ends(session)).count() {
        0 => Ok(()),
        _ => Err("a tool call would be parted from its result".to_owned()),
    }
}

/// Calls without a result, and results without a call.
fn loose_ends(session: &Session) -> HashSet<CallId> {
    let (mut calls, mut results) = (HashSet::new(), HashSet::new());
    for (_, block) in session.blocks() {
        match &block.body {
            Body::ToolCall(call) => drop(calls.insert(call.call.clone())),
            Body::ToolResult(result) => drop(results.insert(result.call.clone())),
            _ => {}
        }
    }
    calls.symmetric_difference(&results).cloned().collect()
}

/// Puts the summary in the place of the planned turns, and says what it stands for.
///
/// ```
/// use turnkeep_model::policy::condense::{self, CondenseSettings};
/// use turnkeep_model::{Author, Block, Session, Turn};
///
/// let ask = |n: u32| Turn {
///     blocks: vec![
///         Block::text(Author::User, format!("What is {n} plus {n}, and why is that so? Explain it at length, please."))
///             .in_message(2 * n),
///         Block::text(Author::Assistant, format!("{}, because it is twice {n}.", 2 * n)).in_message(2 * n + 1),
///     ],
///     ..Turn::default()
/// };
/// let mut session = Session { turns: (0..6).map(ask).collect(), ..Session::default() };
///
/// let plan = condense::plan(&session, &CondenseSettings::default(), &condense::estimate).unwrap();
/// let losses = condense::apply(&mut session, &plan, "They doubled 0 and 1.");
///
/// assert_eq!((plan.from, plan.to), (0, 1));
/// assert_eq!(session.turns[0].blocks.len(), 1);
/// assert!(session.turns[1].blocks.is_empty());
/// assert_eq!(losses[0].at, "turns[0].blocks[0]");
/// assert_eq!(losses.len(), 5);
/// ```
pub fn apply(session: &mut Session, plan: &CondensePlan, summary: impl Into<Summary>) -> Vec<Loss> {
    let summary = Summary { from: Some(plan.from), to: Some(plan.to), ..summary.into() };
    let turns = session.turns.iter().enumerate().skip(plan.from as usize).take(plan.turns().len());
    let mut losses: Vec<Loss> = turns.flat_map(|(at, turn)| lost(at, turn)).collect();
    let planned = session.turns.get(plan.turns()).unwrap_or_default();
    let gone: HashSet<u32> = planned.iter().flat_map(going).map(|block| block.message.ordinal).collect();
    // The plan was made of this session: its turns are there.
    if replace(session, plan.from, plan.to, Block::new(Author::User, summary)).is_err() {
        return Vec::new();
    }
    losses.extend(parted(session, &gone));
    let is_new = |block: &Block| matches!(&block.body, Body::Summary(summary) if summary.from == Some(plan.from));
    let place = session.turns.get(plan.from as usize).and_then(|turn| turn.blocks.iter().position(is_new)).unwrap_or(0);
    let at = format!("turns[{}].blocks[{place}]", plan.from);
    losses.push(Loss::policy(LossKind::Synthesised, at, "it stands for what was condensed"));
    losses
}

/// Blocks that were of one message with something that is gone.
fn parted(session: &Session, gone: &HashSet<u32>) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (t, turn) in session.turns.iter().enumerate() {
        for (b, block) in turn.blocks.iter().enumerate() {
            if gone.contains(&block.message.ordinal) && !matches!(block.body, Body::Summary(_)) {
                let at = format!("turns[{t}].blocks[{b}].message.joined");
                losses.push(Loss::policy(LossKind::Condensed, at, "the rest of its message was condensed"));
            }
        }
    }
    losses
}

/// What a turn loses to a summary.
fn lost(at: usize, turn: &Turn) -> Vec<Loss> {
    let what = "a summary stands for it";
    let blocks = turn.blocks.iter().enumerate().filter(|(_, block)| !instructs(block));
    let blocks = blocks.map(|(index, _)| format!("turns[{at}].blocks[{index}]"));
    let (before, after) = (tree(&turn.head()), tree(&emptied(turn).head()));
    let gone = before.iter().filter(|(key, _)| !after.contains(&key.to_str_lossy()));
    let gone = gone.map(|(key, _)| format!("turns[{at}].{}", key.to_str_lossy()));
    blocks.chain(gone).map(|at| Loss::policy(LossKind::Condensed, at, what)).collect()
}

fn tree(turn: &Turn) -> Object {
    let mut sink = TreeSink::default();
    turn.write(&mut sink);
    match sink.into_json() {
        Json::Object(fields) => fields,
        _ => Object::new(),
    }
}

/// Puts `block` in the place of what was said in the turns `from` to `to`.
///
/// # Errors
/// `Corrupt` where one of them is not there; the session is then as it was.
pub(crate) fn replace(session: &mut Session, from: u32, to: u32, mut block: Block) -> Result<()> {
    let range = from as usize..(to as usize).saturating_add(1);
    let missing = || {
        let what = format!("a summary stands for turns {from} to {to}, which were never opened");
        Error::new(ErrorKind::Corrupt, what)
    };
    let turns = session.turns.get_mut(range).filter(|turns| !turns.is_empty()).ok_or_else(missing)?;
    let first = turns.iter().flat_map(going).map(|block| block.message.ordinal).min();
    block.message.ordinal = first.unwrap_or(block.message.ordinal);
    for turn in turns.iter_mut() {
        *turn = emptied(turn);
    }
    if let Some(turn) = turns.first_mut() {
        // Among the instructions that stay, it stands where what it stands for began.
        let later = turn.blocks.iter().position(|other| other.message.ordinal > block.message.ordinal);
        turn.blocks.insert(later.unwrap_or(turn.blocks.len()), block);
    }
    Ok(())
}

/// A turn without what was said in it: who answered, when, and what it used stays, and so do instructions.
fn emptied(turn: &Turn) -> Turn {
    Turn {
        id: turn.id.clone(),
        run: turn.run.clone(),
        evaluation: turn.evaluation.clone(),
        provider: turn.provider.clone(),
        api: turn.api.clone(),
        model: turn.model.clone(),
        account: turn.account.clone(),
        usage: turn.usage.clone(),
        timing: turn.timing.clone(),
        finish: turn.finish.clone(),
        blocks: turn.blocks.iter().filter(|block| instructs(block)).cloned().collect(),
        ..Turn::default()
    }
}
