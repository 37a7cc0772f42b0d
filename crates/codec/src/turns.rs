//! From a flat sequence of blocks to turns.

use std::collections::HashMap;

use turnkeep_model::{Block, Body, CallId, Turn};

/// Groups blocks into turns: one answer each, the input that led to it, and the results of its calls.
///
/// A turn opens at the first input after an answer, or at the next answer if there is none; results join the turn of
/// their call. Where an answer is one message of its source, say so with [`TurnBuilder::begin_answer`].
#[derive(Debug, Default)]
pub struct TurnBuilder {
    turns: Vec<Turn>,
    stage: Stage,
    /// Where every call stands: its turn, and its place there.
    calls: Vec<(usize, usize)>,
    /// The last turn that holds each call. It knows the first `indexed` of them: most results answer a recent call.
    homes: HashMap<CallId, usize>,
    indexed: usize,
}

/// How many of the latest calls are looked through before the index is asked.
const RECENT: usize = 16;

#[derive(Debug, Default, PartialEq, Clone, Copy)]
enum Stage {
    /// No turn is open.
    #[default]
    Closed,
    /// Only input so far.
    Asked,
    /// An answer has begun.
    Answered,
    /// A result has come: the next answer is another one.
    Resulted,
}

impl TurnBuilder {
    /// Adds the next block of the source.
    pub fn push(&mut self, block: Block) {
        if let Body::ToolResult(result) = &block.body {
            let home = self.home_of(&result.call).unwrap_or_else(|| self.open());
            if home + 1 == self.turns.len() {
                self.stage = Stage::Resulted;
            }
            return self.put(home, block);
        }
        let wanted = if block.is_answer() { Stage::Answered } else { Stage::Asked };
        let fits = match wanted {
            Stage::Answered => matches!(self.stage, Stage::Asked | Stage::Answered),
            _ => self.stage == Stage::Asked,
        };
        if !fits {
            self.turns.push(Turn::default());
        }
        self.stage = wanted;
        let last = self.open();
        if let Body::ToolCall(_) = &block.body {
            let place = self.current().blocks.len();
            self.calls.push((last, place));
        }
        self.put(last, block);
    }

    /// Says that the next answer block begins another answer.
    pub fn begin_answer(&mut self) {
        if self.stage == Stage::Answered {
            self.stage = Stage::Resulted;
        }
    }

    /// Says that the next block begins another turn, whatever it is.
    pub fn begin_turn(&mut self) {
        self.stage = Stage::Closed;
    }

    /// Ends the turn of the input that has no answer yet, or an empty one, and gives its place.
    pub fn settle(&mut self) -> usize {
        if self.stage != Stage::Asked {
            self.turns.push(Turn::default());
        }
        self.stage = Stage::Closed;
        self.open()
    }

    /// The place of the turn that is being filled, opened if need be.
    pub fn place(&mut self) -> usize {
        self.open()
    }

    /// The turn that is being filled, opened if need be.
    pub fn current(&mut self) -> &mut Turn {
        let last = self.open();
        #[expect(clippy::indexing_slicing, reason = "open gives the index of the last turn")]
        &mut self.turns[last]
    }

    /// The turns.
    pub fn finish(self) -> Vec<Turn> {
        self.turns
    }

    fn open(&mut self) -> usize {
        if self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        self.turns.len() - 1
    }

    fn put(&mut self, turn: usize, block: Block) {
        if let Some(turn) = self.turns.get_mut(turn) {
            turn.blocks.push(block);
        }
    }

    /// The last turn that holds a call.
    fn home_of(&mut self, wanted: &CallId) -> Option<usize> {
        let recent = self.calls.iter().rev().take(RECENT);
        let found = recent.copied().find(|place| self.call_at(*place) == Some(wanted));
        found.map(|(turn, _)| turn).or_else(|| self.indexed_home_of(wanted))
    }

    fn indexed_home_of(&mut self, wanted: &CallId) -> Option<usize> {
        for place in self.calls.iter().skip(self.indexed).copied() {
            if let Some(call) = call_at(&self.turns, place) {
                self.homes.insert(call.clone(), place.0);
            }
        }
        self.indexed = self.calls.len();
        self.homes.get(wanted).copied()
    }

    fn call_at(&self, place: (usize, usize)) -> Option<&CallId> {
        call_at(&self.turns, place)
    }
}

fn call_at(turns: &[Turn], (turn, block): (usize, usize)) -> Option<&CallId> {
    match &turns.get(turn)?.blocks.get(block)?.body {
        Body::ToolCall(call) => Some(&call.call),
        _ => None,
    }
}
