//! Older turns replaced by a summary: what would be replaced, and doing it.
//!
//! Condensing has three steps. [`plan`] says which turns a summary would stand for. Someone summarises them: a model, or
//! [`extract`], which needs none. [`apply`] puts a [`Summary`](crate::Summary) in their place. A turn that is stood for keeps its
//! place, its ids, counts and times, and its system text; everything else that was said in it goes. In a journal the replacement is
//! one event, so that a fold without it ([`expanded`](crate::expanded)) gives the originals back.

mod extract;
mod lexicon;
mod plan;
mod replace;
mod score;
mod sentence;
mod stale;
mod words;

pub use extract::extract;
use plan::going as going_of;
pub use plan::{CondensePlan, CondenseSettings, KEEP, NothingToCondense, plan};
pub(crate) use replace::replace;
pub use replace::{apply, check};

use super::tokens::TokenCounter;
use super::{Pipeline, Policy};
use crate::block::{Block, Body, Part};
use crate::error::Result;
use crate::loss::Loss;
use crate::session::{Session, Turn};

/// Condenses with the conversation's own sentences, as a step of a [`Pipeline`]. Where there is nothing to condense, or the summary
/// would not be shorter, the session stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Condense {
    /// How far.
    pub settings: CondenseSettings,
}

impl Policy for Condense {
    fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
        let Ok(plan) = plan(session, &self.settings, &estimate) else { return Ok(Vec::new()) };
        let text = extract(session.turns.get(plan.turns()).unwrap_or_default(), plan.target, &estimate);
        Ok(match check(session, &plan, &text, &estimate) {
            Ok(()) => apply(session, &plan, text),
            Err(_) => Vec::new(),
        })
    }
}

impl Pipeline {
    /// Adds condensing as the next step.
    #[must_use]
    pub fn condense(self, settings: CondenseSettings) -> Pipeline {
        self.then(Condense { settings })
    }
}

/// How many tokens a text has, or about how many.
pub type CountTokens<'a> = &'a dyn Fn(&str) -> u64;

/// About how many tokens a text has, whoever counts.
pub fn estimate(text: &str) -> u64 {
    TokenCounter::ESTIMATE.text(text)
}

/// What a turn says, piece by piece, as far as it is text.
fn said(turn: &Turn) -> impl Iterator<Item = &str> {
    turn.blocks.iter().flat_map(texts)
}

/// The texts of a block.
fn texts(block: &Block) -> Vec<&str> {
    match &block.body {
        Body::Text(text) => vec![&text.text],
        Body::Summary(summary) => vec![&summary.text],
        Body::Reasoning(reasoning) => reasoning.text.iter().chain(&reasoning.summary).map(String::as_str).collect(),
        Body::ToolCall(call) => vec![&call.name, &call.arguments],
        Body::ToolResult(result) => {
            let texts = result.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.text.as_str()),
                _ => None,
            });
            texts.chain(result.error.as_deref()).collect()
        }
        Body::Media(_) | Body::Other { .. } => Vec::new(),
    }
}

/// Whether a block is an instruction: it is never summarised.
fn instructs(block: &Block) -> bool {
    use crate::block::Author;
    matches!(block.author, Author::System | Author::Developer) && !matches!(block.body, Body::Summary(_))
}
