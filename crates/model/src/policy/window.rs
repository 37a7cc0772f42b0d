//! Keeps the newest of a session, and lets the older go.

mod context;
mod cut;

pub use context::{Adaptive, ContextWindow, Strategy, System};

use super::pipeline::Policy;
use super::tokens::TokenCounter;
use crate::block::Author;
use crate::error::Result;
use crate::loss::Loss;
use crate::session::{Session, Turn};
use crate::shape::string_enum;
use cut::{Instructions, WindowCut, is_instruction};

string_enum! {
    /// What a window counts.
    pub enum Unit {
        /// A user's question up to the final answer.
        Exchanges = "exchanges",
        /// A model's answer with its input and its results.
        Turns = "turns",
        /// A piece of content.
        Blocks = "blocks",
    }
}

/// Keeps the newest of a session. Instructions (texts of the system and the developer) are kept on top and not counted:
/// where their turn goes, they stand in front of the first turn that is left.
///
/// A call is never parted from its result, nor reasoning from what follows it: what the cut would leave without the other
/// goes too, so that there is never more left than was asked for.
///
/// ```
/// use turnkeep_model::policy::{Policy, Unit, Window};
/// use turnkeep_model::{Author, Block, Session, Turn};
///
/// let turn = |at: u32, text: &str| Turn { blocks: vec![Block::text(Author::User, text).in_message(at)], ..Turn::default() };
/// let mut session = Session { turns: vec![turn(0, "a"), turn(1, "b"), turn(2, "c")], ..Session::default() };
///
/// let losses = Window::last(1, Unit::Turns).apply(&mut session).unwrap();
///
/// assert_eq!(session.turns, [turn(2, "c")]);
/// assert_eq!(losses.iter().map(|loss| loss.at.as_str()).collect::<Vec<_>>(), ["turns[0]", "turns[1]"]);
/// ```
#[derive(Debug, Clone)]
pub struct Window {
    keep: Keep,
    pairs: Pairs,
}

#[derive(Debug, Clone)]
enum Keep {
    Last(usize, Unit),
    Tokens(u64, TokenCounter),
    Context(ContextWindow),
}

/// What becomes of pairs that the cut goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pairs {
    /// They go.
    Whole,
    /// They are parted, as the original programs do.
    Parted,
}

impl Window {
    /// The last so many exchanges, turns or blocks.
    #[must_use]
    pub fn last(count: usize, unit: Unit) -> Window {
        Window { keep: Keep::Last(count, unit), pairs: Pairs::Whole }
    }

    /// The newest blocks that take no more than so many tokens together with the instructions.
    #[must_use]
    pub fn tokens(budget: u64, counting: TokenCounter) -> Window {
        Window { keep: Keep::Tokens(budget, counting), pairs: Pairs::Whole }
    }

    /// What a strategy leaves of a history that is too long.
    #[must_use]
    pub fn context(config: ContextWindow) -> Window {
        Window { keep: Keep::Context(config), pairs: Pairs::Whole }
    }

    /// Slices plainly, as the original programs do: pairs are parted, and of blocks instructions count like any other.
    #[must_use]
    pub fn plain(self) -> Window {
        Window { pairs: Pairs::Parted, ..self }
    }

    fn cutting(&self, session: &Session) -> WindowCut {
        match &self.keep {
            Keep::Last(count, Unit::Blocks) => last_blocks(session, *count, self.pairs),
            Keep::Last(count, Unit::Turns) => last_turns(session, &counted_turns(session), *count),
            Keep::Last(count, Unit::Exchanges) => last_turns(session, &exchange_starts(session), *count),
            Keep::Tokens(budget, counting) => within_budget(session, *budget, *counting),
            Keep::Context(config) => config.cutting(session, self.pairs),
        }
    }
}

impl Policy for Window {
    fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
        let mut cutting = self.cutting(session);
        if self.pairs == Pairs::Whole {
            cutting.drop_orphans(session);
        }
        Ok(cutting.apply(session))
    }
}

/// The turns that count: not those that only instruct.
fn counted_turns(session: &Session) -> Vec<usize> {
    let counts = |turn: &Turn| turn.blocks.is_empty() || !turn.blocks.iter().all(is_instruction);
    session.turns.iter().enumerate().filter(|(_, turn)| counts(turn)).map(|(index, _)| index).collect()
}

/// The turns that begin an exchange.
fn exchange_starts(session: &Session) -> Vec<usize> {
    let asks = |index: &usize| {
        session.turns.get(*index).is_some_and(|turn| turn.blocks.iter().any(|block| block.author == Author::User))
    };
    let counted = counted_turns(session);
    let first = counted.first().copied();
    counted.into_iter().filter(|index| asks(index) || Some(*index) == first).collect()
}

/// Everything from the start of the last so many on.
fn last_turns(session: &Session, starts: &[usize], count: usize) -> WindowCut {
    let from = match starts.len().checked_sub(count) {
        None | Some(0) => 0,
        Some(first) => starts.get(first).copied().unwrap_or(session.turns.len()),
    };
    WindowCut::from_turn(session, from)
}

fn last_blocks(session: &Session, count: usize, pairs: Pairs) -> WindowCut {
    let order = session.in_message_order();
    let counted = order.iter().rev().filter(|(.., block)| pairs == Pairs::Parted || !is_instruction(block));
    let kept: Vec<(usize, usize)> = counted.take(count).map(|(turn, block, _)| (*turn, *block)).collect();
    let instructions = match pairs {
        Pairs::Whole => Instructions::Kept,
        Pairs::Parted => Instructions::Counted,
    };
    WindowCut::keeping(session, &kept, instructions)
}

fn within_budget(session: &Session, budget: u64, counting: TokenCounter) -> WindowCut {
    let order = session.in_message_order();
    let told: u64 =
        order.iter().filter(|(.., block)| is_instruction(block)).map(|(.., block)| counting.block(block)).sum();
    let mut left = budget.saturating_sub(told);
    let mut kept = Vec::new();
    for (turn, index, block) in order.iter().rev().filter(|(.., block)| !is_instruction(block)) {
        let Some(rest) = left.checked_sub(counting.block(block)) else { break };
        left = rest;
        kept.push((*turn, *index));
    }
    WindowCut::keeping(session, &kept, Instructions::Kept)
}
