//! Windows as llm4s defines them: limits that say when, and strategies that say what goes.

use super::cut::{Instructions, WindowCut};
use super::{Pairs, TokenCounter};
use crate::block::{Author, Block, Body};
use crate::error::{Error, ErrorKind, Result};
use crate::session::Session;

/// When a history is too long, and what then goes.
///
/// Where `max_tokens` is set only tokens decide whether anything goes, else the number of messages; without either nothing
/// does, but for [`Strategy::Adaptive`], which has a limit of its own. System messages stay unless told otherwise.
///
/// The last `min_recent_turns` user messages and what follows them always stay, though the limit be exceeded by them: with
/// [`Window::plain`](super::Window::plain) that number is ignored, as llm4s does.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextWindow {
    /// The most tokens.
    pub max_tokens: Option<u64>,
    /// The most messages.
    pub max_messages: Option<usize>,
    /// Whether system messages stay.
    pub system: System,
    /// How many of the last user messages always stay.
    pub min_recent_turns: usize,
    /// What goes.
    pub strategy: Strategy,
    /// How tokens are counted.
    pub counting: TokenCounter,
}

/// Whether system messages stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// They do.
    Kept,
    /// They count like any other.
    Counted,
}

impl Default for ContextWindow {
    fn default() -> ContextWindow {
        ContextWindow {
            max_tokens: None,
            max_messages: None,
            system: System::Kept,
            min_recent_turns: 3,
            strategy: Strategy::OldestFirst,
            counting: TokenCounter::WORDS,
        }
    }
}

/// What goes of a history that is too long.
#[derive(Debug, Clone, PartialEq)]
pub enum Strategy {
    /// The oldest messages.
    OldestFirst,
    /// The middle: half of what stays is from the beginning.
    MiddleOut,
    /// Everything before the last so many user messages.
    RecentTurns(usize),
    /// The oldest messages, beyond a budget that follows from the model's context and costs.
    Adaptive(Adaptive),
}

/// A budget that follows from the model's context and costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptive {
    context: u64,
    costs: Option<(f64, f64)>,
    sensitivity: f64,
    min_turns: usize,
}

impl Adaptive {
    /// For a model with a context of so many tokens; costs do not matter yet, and three turns stay at least.
    ///
    /// # Errors
    /// `Unsupported` where the context is empty.
    pub fn new(context: u64) -> Result<Adaptive> {
        if context == 0 {
            return Err(Error::new(ErrorKind::Unsupported, "the context of a model has more than 0 tokens"));
        }
        Ok(Adaptive { context, costs: None, sensitivity: 0.5, min_turns: 3 })
    }

    /// What a token sent and a token answered cost: the dearer input is, the smaller the window.
    ///
    /// # Errors
    /// `Unsupported` where a cost is negative or no number.
    pub fn with_costs(self, input: f64, output: f64) -> Result<Adaptive> {
        if !(input.is_finite() && output.is_finite() && input >= 0.0 && output >= 0.0) {
            return Err(Error::new(ErrorKind::Unsupported, "the costs of tokens are numbers from 0 on"));
        }
        Ok(Adaptive { costs: Some((input, output)), ..self })
    }

    /// How much costs matter, from 0 to 1.
    ///
    /// # Errors
    /// `Unsupported` where it is not between them.
    pub fn with_sensitivity(self, sensitivity: f64) -> Result<Adaptive> {
        if !(0.0..=1.0).contains(&sensitivity) {
            return Err(Error::new(ErrorKind::Unsupported, "the sensitivity to costs is a number from 0 to 1"));
        }
        Ok(Adaptive { sensitivity, ..self })
    }

    /// How many of the last user messages always stay.
    #[must_use]
    pub fn with_min_turns(self, min_turns: usize) -> Adaptive {
        Adaptive { min_turns, ..self }
    }

    /// The most tokens that stay.
    pub fn budget(&self) -> u64 {
        let share = match self.context {
            ..=32_000 => 0.6,
            32_001..=100_000 => 0.7,
            100_001..=200_000 => 0.75,
            _ => 0.8,
        };
        let dear = match self.costs {
            Some((input, output)) if input + output > 0.0 => input / (input + output),
            _ => 0.0,
        };
        let tokens = self.context as f64 * share * (1.0 - dear * self.sensitivity * 0.2);
        // What is whole but for the rounding of floats is whole.
        ((tokens + 1e-6).floor() as u64).max(1000)
    }
}

/// One message: who wrote it, its blocks, and its tokens.
struct Message {
    is_system: bool,
    is_user: bool,
    blocks: Vec<(usize, usize)>,
    tokens: u64,
}

impl ContextWindow {
    pub(super) fn cutting(&self, session: &Session, pairs: Pairs) -> WindowCut {
        let messages = messages(session, self.counting);
        let kept =
            if self.is_exceeded(&messages) { self.kept(&messages, pairs) } else { (0..messages.len()).collect() };
        let blocks: Vec<_> =
            kept.iter().filter_map(|at| messages.get(*at)).flat_map(|message| message.blocks.clone()).collect();
        WindowCut::keeping(session, &blocks, Instructions::Counted)
    }

    fn is_exceeded(&self, messages: &[Message]) -> bool {
        let tokens: u64 = messages.iter().map(|message| message.tokens).sum();
        let own = match &self.strategy {
            Strategy::Adaptive(adaptive) => Some(adaptive.budget()),
            Strategy::OldestFirst | Strategy::MiddleOut | Strategy::RecentTurns(_) => None,
        };
        match (self.max_tokens.or(own), self.max_messages) {
            (Some(most), _) => tokens > most,
            (None, Some(most)) => messages.len() > most,
            (None, None) => false,
        }
    }

    /// The places of the messages that stay.
    fn kept(&self, messages: &[Message], pairs: Pairs) -> Vec<usize> {
        let all: Vec<usize> = (0..messages.len()).collect();
        let is_system = |at: &usize| messages.get(*at).is_some_and(|message| message.is_system);
        let (system, others): (Vec<usize>, Vec<usize>) = all.iter().partition(|at| is_system(at));
        let pool = match self.system {
            System::Kept => &others,
            System::Counted => &all,
        };
        let mut kept: Vec<usize> = match &self.strategy {
            Strategy::OldestFirst => last(pool, self.oldest_first(messages, &system, &others)).to_vec(),
            Strategy::Adaptive(adaptive) => last(pool, fitting(messages, &system, &others, adaptive.budget())).to_vec(),
            Strategy::MiddleOut => {
                let target = self.max_messages.unwrap_or(messages.len() / 2);
                let start = target / 2;
                pool.iter().take(start).chain(last(pool, target - start)).copied().collect()
            }
            Strategy::RecentTurns(turns) => from_turn(messages, &others, *turns).to_vec(),
        };
        if self.system == System::Kept {
            kept.extend(&system);
        }
        if pairs == Pairs::Whole {
            kept.extend(from_turn(messages, &others, self.least_turns()));
        }
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    fn oldest_first(&self, messages: &[Message], system: &[usize], others: &[usize]) -> usize {
        match self.max_messages {
            Some(most) => most.saturating_sub(system.len()).max(1),
            None => fitting(messages, system, others, self.max_tokens.unwrap_or(u64::MAX)),
        }
    }

    fn least_turns(&self) -> usize {
        match &self.strategy {
            Strategy::Adaptive(adaptive) => adaptive.min_turns,
            // What was asked for in turns is no more than that.
            Strategy::RecentTurns(turns) => self.min_recent_turns.min(*turns),
            Strategy::OldestFirst | Strategy::MiddleOut => self.min_recent_turns,
        }
    }
}

/// The last so many.
fn last(places: &[usize], count: usize) -> &[usize] {
    places.get(places.len().saturating_sub(count)..).unwrap_or_default()
}

/// How many of the last messages fit beside the system's: one at least.
fn fitting(messages: &[Message], system: &[usize], others: &[usize], budget: u64) -> usize {
    let tokens = |at: &usize| messages.get(*at).map_or(0, |message| message.tokens);
    let mut sum: u64 = system.iter().map(tokens).sum();
    let fits = |at: &&usize| {
        sum = sum.saturating_add(tokens(at));
        sum <= budget
    };
    others.iter().rev().take_while(fits).count().max(1)
}

/// Everything from the last so many user messages on; all of it where there are fewer.
fn from_turn<'a>(messages: &[Message], others: &'a [usize], turns: usize) -> &'a [usize] {
    let is_user = |at: &usize| messages.get(*at).is_some_and(|message| message.is_user);
    let starts: Vec<usize> = others.iter().enumerate().filter(|(_, at)| is_user(at)).map(|(place, _)| place).collect();
    let from = match starts.len().checked_sub(turns) {
        None | Some(0) => 0,
        Some(first) => starts.get(first).copied().unwrap_or(others.len()),
    };
    others.get(from..).unwrap_or_default()
}

fn messages(session: &Session, counting: TokenCounter) -> Vec<Message> {
    let mut messages: Vec<(u32, Message)> = Vec::new();
    for (turn, index, block) in session.in_message_order() {
        let tokens = tokens_of(block, counting);
        match messages.last_mut().filter(|(ordinal, _)| *ordinal == block.message.ordinal) {
            Some((_, message)) => {
                message.blocks.push((turn, index));
                message.tokens += tokens;
            }
            None => messages.push((
                block.message.ordinal,
                Message {
                    is_system: block.author == Author::System,
                    is_user: block.author == Author::User,
                    blocks: vec![(turn, index)],
                    tokens,
                },
            )),
        }
    }
    messages.into_iter().map(|(_, message)| message).collect()
}

/// By words calls do not count, as llm4s has it.
fn tokens_of(block: &Block, counting: TokenCounter) -> u64 {
    match block.body {
        Body::ToolCall(_) | Body::Reasoning(_) if counting == TokenCounter::WORDS => 0,
        _ => counting.block(block),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adaptive_budget_follows_from_context_and_costs() {
        let budget = |context: u64| Adaptive::new(context).unwrap().budget();

        assert_eq!(
            [8_000, 128_000, 1_000_000, 32_000, 100_000, 500].map(budget),
            [4_800, 96_000, 800_000, 19_200, 70_000, 1_000]
        );
        assert_eq!(Adaptive::new(128_000).unwrap().with_costs(3e-6, 15e-6).unwrap().budget(), 94_400);
    }

    #[test]
    fn nonsense_is_refused() {
        let adaptive = || Adaptive::new(1000).unwrap();

        assert!(Adaptive::new(0).is_err());
        assert!(adaptive().with_sensitivity(1.1).is_err());
        assert!(adaptive().with_sensitivity(f64::NAN).is_err());
        assert!(adaptive().with_costs(-1.0, 1.0).is_err());
        assert!(adaptive().with_costs(f64::INFINITY, 1.0).is_err());
    }
}
