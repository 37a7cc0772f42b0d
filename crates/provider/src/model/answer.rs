//! From the body of an answer to what an agent records.

use turnkeep_codec::wire;
use turnkeep_model::json::Json;
use turnkeep_model::{Block, Body, Loss, LossKind, Turn};
use turnkeep_runtime::port::{Answer, Delta, Deltas};

use super::wire_model::{Payload, WireModel};
use crate::scrub::{HIDDEN, Pieces, Scrubber};

impl WireModel {
    /// The answer in a body, without keys that it repeats, and what of it could not be kept.
    pub(super) fn answered(&self, mut body: Json, keys: &Scrubber) -> turnkeep_model::Result<(Answer, Vec<Loss>)> {
        let repeats = keys.json(&mut body);
        let mut received = wire::received(self.wire, body)?;
        if repeats {
            let what =
                format!("the answer repeats a key of the endpoint `{}`; {HIDDEN} stands in its place", self.name);
            received.losses.push(Loss::decode(LossKind::Redacted, "turns", what));
        }
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

/// Tells an agent what arrives, without keys. Calls are counted; blocks of other kinds are not.
pub(super) struct DeltaForwarder<'a> {
    deltas: &'a dyn Deltas,
    keys: &'a Scrubber,
    /// What is told now, text or thinking, and what is held back of it.
    saying: Option<(TextKind, Pieces)>,
    /// The calls by their block, and what is held back of their arguments.
    calls: Vec<(usize, Pieces)>,
}

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Text,
    Reasoning,
}

impl TextKind {
    fn delta(self, text: String) -> Delta {
        match self {
            TextKind::Text => Delta::Text(text),
            TextKind::Reasoning => Delta::Reasoning(text),
        }
    }
}

impl<'a> DeltaForwarder<'a> {
    pub(super) fn new(deltas: &'a dyn Deltas, keys: &'a Scrubber) -> DeltaForwarder<'a> {
        DeltaForwarder { deltas, keys, saying: None, calls: Vec::new() }
    }

    pub(super) fn tell(&mut self, arrived: Vec<wire::Delta>) {
        for delta in arrived {
            match delta {
                wire::Delta::Text { text, .. } => self.say(TextKind::Text, &text),
                wire::Delta::Reasoning { text, .. } => self.say(TextKind::Reasoning, &text),
                wire::Delta::CallStarted { block, name } => {
                    self.end_saying();
                    let index = number(self.call(block));
                    self.deltas.delta(Delta::Call { index, name });
                }
                wire::Delta::Arguments { block, text } => self.argue(block, &text),
                // The end is known when the answer is.
                _ => {}
            }
        }
    }

    fn say(&mut self, kind: TextKind, text: &str) {
        if self.saying.as_ref().is_none_or(|(before, _)| *before != kind) {
            self.end_saying();
        }
        let (_, pieces) = self.saying.get_or_insert_with(|| (kind, Pieces::default()));
        let text = pieces.push(text, self.keys);
        self.deliver(text, |text| kind.delta(text));
    }

    fn argue(&mut self, block: usize, text: &str) {
        let at = self.call(block);
        let keys = self.keys;
        let text = self.calls.get_mut(at).map(|(_, pieces)| pieces.push(text, keys)).unwrap_or_default();
        self.deliver(text, |text| Delta::Arguments { index: number(at), text });
    }

    fn end_saying(&mut self) {
        if let Some((kind, mut pieces)) = self.saying.take() {
            self.deliver(pieces.finish(), |text| kind.delta(text));
        }
    }

    fn deliver(&self, text: String, delta: impl FnOnce(String) -> Delta) {
        // A piece that is held back altogether is no piece.
        if !text.is_empty() {
            self.deltas.delta(delta(text));
        }
    }

    fn call(&mut self, block: usize) -> usize {
        self.calls.iter().position(|(known, _)| *known == block).unwrap_or_else(|| {
            self.calls.push((block, Pieces::default()));
            self.calls.len() - 1
        })
    }
}

/// What is held back is told when nothing more comes, however that is.
impl Drop for DeltaForwarder<'_> {
    fn drop(&mut self) {
        self.end_saying();
        for (at, (_, mut pieces)) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            self.deliver(pieces.finish(), |text| Delta::Arguments { index: number(at), text });
        }
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
