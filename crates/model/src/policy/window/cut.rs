//! Which blocks stay, and what follows from that.

use std::collections::HashMap;

use crate::block::{Author, Block, Body};
use crate::diff::{Order, diff_blocks, message_order};
use crate::id::CallId;
use crate::loss::{Loss, LossKind};
use crate::session::{Session, Turn};

/// Whether a block instructs rather than converses.
pub(super) fn is_instruction(block: &Block) -> bool {
    matches!(block.author, Author::System | Author::Developer) && !matches!(block.body, Body::ToolResult(_))
}

/// What becomes of instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Instructions {
    /// They stay.
    Kept,
    /// They count like any other block.
    Counted,
}

/// For every block whether it stays.
pub(super) struct WindowCut {
    kept: Vec<Vec<bool>>,
    /// The first turn that stays as a turn, where turns are what is counted; what is kept of earlier ones moves to it.
    from: usize,
}

impl WindowCut {
    /// Keeps the blocks for which this holds.
    pub(super) fn of(session: &Session, keeps: impl Fn(usize, &Block) -> bool) -> WindowCut {
        let turn = |(index, turn): (usize, &Turn)| turn.blocks.iter().map(|block| keeps(index, block)).collect();
        WindowCut { kept: session.turns.iter().enumerate().map(turn).collect(), from: 0 }
    }

    /// Keeps the turns from this one on, and the instructions of those before.
    pub(super) fn from_turn(session: &Session, from: usize) -> WindowCut {
        WindowCut { from, ..WindowCut::of(session, |turn, block| turn >= from || is_instruction(block)) }
    }

    /// Keeps these blocks, and instructions where they do not count.
    pub(super) fn keeping(session: &Session, kept: &[(usize, usize)], instructions: Instructions) -> WindowCut {
        let mut cutting =
            WindowCut::of(session, |_, block| instructions == Instructions::Kept && is_instruction(block));
        for (turn, block) in kept {
            cutting.set(*turn, *block, true);
        }
        cutting
    }

    fn set(&mut self, turn: usize, block: usize, stays: bool) {
        if let Some(slot) = self.kept.get_mut(turn).and_then(|turn| turn.get_mut(block)) {
            *slot = stays;
        }
    }

    fn stays(&self, turn: usize, block: usize) -> bool {
        self.kept.get(turn).and_then(|turn| turn.get(block)).copied().unwrap_or_default()
    }

    /// Lets go what the cut leaves without the other half.
    pub(super) fn drop_orphans(&mut self, session: &Session) {
        let groups: Vec<Vec<(usize, usize)>> = pairs(session).into_iter().chain(thoughts(session)).collect();
        loop {
            let split = |group: &&Vec<(usize, usize)>| {
                let stay = group.iter().filter(|(turn, block)| self.stays(*turn, *block)).count();
                stay > 0 && stay < group.len()
            };
            let Some(group) = groups.iter().find(split).cloned() else { return };
            group.iter().for_each(|(turn, block)| self.set(*turn, *block, false));
        }
    }

    /// Cuts the session, and tells what went.
    pub(super) fn apply(self, session: &mut Session) -> Vec<Loss> {
        if self.from == 0 && self.kept.iter().flatten().all(|stays| *stays) {
            return Vec::new();
        }
        let first = self.first_turn(session);
        let orders = message_order(session);
        let mut losses = Vec::new();
        let mut moved = Vec::new();
        let mut turns = Vec::new();
        let mut origins: Vec<Vec<Option<(usize, usize)>>> = Vec::new();
        for (index, mut turn) in std::mem::take(&mut session.turns).into_iter().enumerate() {
            let blocks = std::mem::take(&mut turn.blocks);
            let stays = |block: usize| self.stays(index, block);
            if index < first || !self.has_turn(index, &blocks) {
                losses.push(dropped(format!("turns[{index}]")));
                let kept = blocks.into_iter().enumerate().filter(|(block, _)| stays(*block)).map(|(_, block)| block);
                moved.extend(kept);
                continue;
            }
            let mut origin: Vec<Option<(usize, usize)>> = moved.iter().map(|_| None).collect();
            for place in 0..moved.len() {
                let at = format!("turns[{}].blocks[{place}]", turns.len());
                let what = "the turn it stood in is gone; it stands in front of the first one that is left";
                losses.push(Loss::policy(LossKind::Reordered, at, what));
            }
            turn.blocks.append(&mut moved);
            for (block, content) in blocks.into_iter().enumerate() {
                if stays(block) {
                    turn.blocks.push(content);
                    origin.push(Some((index, block)));
                } else {
                    losses.push(dropped(format!("turns[{index}].blocks[{block}]")));
                }
            }
            turns.push(turn);
            origins.push(origin);
        }
        if !moved.is_empty() {
            // No turn is left to stand in front of.
            losses.push(Loss::policy(
                LossKind::Synthesised,
                format!("turns[{}]", turns.len()),
                "holds the instructions that are left",
            ));
            origins.push(moved.iter().map(|_| None).collect());
            turns.push(Turn { blocks: moved, ..Turn::default() });
        }
        session.turns = turns;
        losses.extend(reordered(session, &orders, &origins));
        losses
    }

    /// Whether a turn stays as a turn: something of it does, or it never had anything.
    fn has_turn(&self, index: usize, blocks: &[Block]) -> bool {
        blocks.is_empty() || (0..blocks.len()).any(|block| self.stays(index, block))
    }

    /// The first turn of which more than instructions stays; the first with any where there is none.
    fn first_turn(&self, session: &Session) -> usize {
        if (1..session.turns.len()).contains(&self.from) {
            return self.from;
        }
        let has = |wanted: fn(&Block) -> bool| {
            session.turns.iter().enumerate().position(|(index, turn)| {
                turn.blocks.iter().enumerate().any(|(block, content)| wanted(content) && self.stays(index, block))
            })
        };
        has(|block| !is_instruction(block)).or_else(|| has(|_| true)).unwrap_or(session.turns.len())
    }
}

fn dropped(at: String) -> Loss {
    Loss::policy(LossKind::Dropped, at, "it is outside of the window")
}

/// Blocks whose place among the messages is another one now.
fn reordered(session: &Session, before: &[Vec<Order>], origins: &[Vec<Option<(usize, usize)>>]) -> Vec<Loss> {
    let after = message_order(session);
    let mut losses = Vec::new();
    for (index, (turn, origins)) in session.turns.iter().zip(origins).enumerate() {
        for (place, (block, origin)) in turn.blocks.iter().zip(origins).enumerate() {
            let Some((from, was)) = *origin else { continue };
            let order = |orders: &[Vec<Order>], turn: usize, block: usize| {
                orders.get(turn).and_then(|turn| turn.get(block)).copied().unwrap_or_default()
            };
            let (old, new) = (order(before, from, was), order(&after, index, place));
            if old != new {
                let at = format!("turns[{from}].blocks[{was}]");
                let what = "what it was one message with, or stood behind, is outside of the window";
                let changes = diff_blocks((block, old), (block, new), &at);
                losses.extend(changes.into_iter().map(|change| Loss::policy(LossKind::Reordered, change.at, what)));
            }
        }
    }
    losses
}

/// Every call with its results.
fn pairs(session: &Session) -> Vec<Vec<(usize, usize)>> {
    let mut open: HashMap<&CallId, usize> = HashMap::new();
    let mut pairs: Vec<Vec<(usize, usize)>> = Vec::new();
    for (turn, index, block) in session.in_message_order() {
        match &block.body {
            Body::ToolCall(call) => {
                // Ids repeat from turn to turn at some vendors: the newest call is meant.
                open.insert(&call.call, pairs.len());
                pairs.push(vec![(turn, index)]);
            }
            Body::ToolResult(result) => {
                if let Some(pair) = open.get(&result.call).and_then(|at| pairs.get_mut(*at)) {
                    pair.push((turn, index));
                }
            }
            _ => {}
        }
    }
    pairs.retain(|pair| pair.len() > 1);
    pairs
}

/// Reasoning with the part of the answer that follows it.
fn thoughts(session: &Session) -> Vec<Vec<(usize, usize)>> {
    let mut groups = Vec::new();
    for (turn, content) in session.turns.iter().enumerate() {
        let mut thought: Vec<(usize, usize)> = Vec::new();
        for (index, block) in content.blocks.iter().enumerate() {
            match &block.body {
                Body::Reasoning(_) => thought.push((turn, index)),
                _ if block.is_answer() && !thought.is_empty() => {
                    thought.push((turn, index));
                    groups.push(std::mem::take(&mut thought));
                }
                _ => thought.clear(),
            }
        }
    }
    groups
}
