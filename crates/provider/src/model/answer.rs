//! From the body of an answer to what an agent records.

use turnkeep_codec::wire;
use turnkeep_model::json::Json;
use turnkeep_model::{Block, Body, Loss, Turn};
use turnkeep_runtime::port::{Answer, Delta, Deltas};

use super::settings::{Payload, WireModel};

impl WireModel {
    /// The answer in a body, and what of it could not be kept.
    pub(super) fn answered(&self, body: Json) -> turnkeep_model::Result<(Answer, Vec<Loss>)> {
        let received = wire::received(self.wire, body)?;
        let payload = if self.payload == Payload::Keep { received.body } else { Json::Null };
        Ok((self.answer_of(received.turn, payload), received.losses))
    }

    fn answer_of(&self, turn: Turn, payload: Json) -> Answer {
        let mut blocks: Vec<Block> = turn.blocks.into_iter().filter(Block::is_answer).collect();
        blocks.iter_mut().for_each(|block| self.stamp(block));
        let mut usage = turn.usage;
        if let (Some(prices), None) = (&self.prices, &usage.cost) {
            usage.cost = prices.cost(&usage);
        }
        Answer { blocks, finish: turn.finish, usage, model: turn.model, payload, ..Answer::default() }
    }

    /// Opaque reasoning goes back to the endpoint that made it: by the name of the model that was asked, which is often
    /// an alias of the one that answered, and to the same account.
    fn stamp(&self, block: &mut Block) {
        if let Body::Reasoning(reasoning) = &mut block.body
            && let Some(scope) = &mut reasoning.scope
        {
            scope.model = Some(self.model.clone());
            scope.account.clone_from(&self.account);
        }
    }
}

/// Tells an agent what arrives. Calls are counted; blocks of other kinds are not.
pub(super) struct Telling<'a> {
    deltas: &'a dyn Deltas,
    calls: Vec<usize>,
}

impl<'a> Telling<'a> {
    pub(super) fn new(deltas: &'a dyn Deltas) -> Telling<'a> {
        Telling { deltas, calls: Vec::new() }
    }

    pub(super) fn tell(&mut self, arrived: Vec<wire::Delta>) {
        for delta in arrived {
            match delta {
                wire::Delta::Text { text, .. } => self.deltas.delta(Delta::Text(text)),
                wire::Delta::Reasoning { text, .. } => self.deltas.delta(Delta::Reasoning(text)),
                wire::Delta::CallStarted { block, name } => {
                    let index = self.call(block);
                    self.deltas.delta(Delta::Call { index, name });
                }
                wire::Delta::Arguments { block, text } => {
                    let index = self.call(block);
                    self.deltas.delta(Delta::Arguments { index, text });
                }
                // The end is known when the answer is.
                _ => {}
            }
        }
    }

    fn call(&mut self, block: usize) -> u32 {
        let at = self.calls.iter().position(|known| *known == block).unwrap_or_else(|| {
            self.calls.push(block);
            self.calls.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}
