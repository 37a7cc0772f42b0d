//! Steps that make a history valid for a vendor. None of them is any vendor's own: a wire chooses and orders them.
//!
//! The session itself is never changed. A [`History`] is its blocks in the order of their messages, each with the place
//! it came from, so that what a step did to a block is told of the place in the session.

mod ids;
mod media;
mod pair;
mod whole;

use turnkeep_model::json::Json;
use turnkeep_model::{Author, Block, Body, Extra, Loss, LossKind, Reasoning, Session, Text, Turn};

pub use ids::{IdRule, legal_name};
pub use media::placeholder;
pub use whole::{Repaired, repair};

/// What a model is told of a call whose outcome nobody knows.
pub const INTERRUPTED: &str = "[interrupted: this call has no recorded result; whether it took effect is unknown]";

/// A block on its way to a vendor, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The indices of its turn and of itself in it; `None` for what a repair made up.
    pub from: Option<(usize, usize)>,
    /// The block.
    pub block: Block,
}

impl Piece {
    /// A field's place in the session; of the block itself where `field` is empty.
    pub fn at(&self, field: &str) -> String {
        let dot = if field.is_empty() { "" } else { "." };
        match self.from {
            Some((turn, block)) => format!("turns[{turn}].blocks[{block}]{dot}{field}"),
            None => "turns".to_owned(),
        }
    }
}

/// The blocks of a session in the order of their messages, and what the steps so far did to them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The blocks.
    pub pieces: Vec<Piece>,
    /// What became of some of them.
    pub losses: Vec<Loss>,
}

/// What of some thinking can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sends {
    /// All of it.
    Whole,
    /// What can be read of it, without signatures and ciphers.
    Text,
    /// Nothing.
    Nothing,
}

impl History {
    /// The history of a session, whose blocks it takes.
    pub fn take(session: &mut Session) -> History {
        let mut pieces = Vec::with_capacity(session.turns.iter().map(|turn| turn.blocks.len()).sum());
        for (turn, content) in session.turns.iter_mut().enumerate() {
            let blocks = std::mem::take(&mut content.blocks).into_iter().enumerate();
            pieces.extend(blocks.map(|(block, content)| Piece { from: Some((turn, block)), block: content }));
        }
        pieces.sort_by_key(|piece: &Piece| piece.block.message.ordinal);
        History { pieces, losses: Vec::new() }
    }

    /// The blocks, their messages numbered as they now stand.
    pub fn into_blocks(self) -> (Vec<Block>, Vec<Loss>) {
        (self.pieces.into_iter().map(|piece| piece.block).collect(), self.losses)
    }

    /// The messages of the blocks: neighbours are of one message where `joins` says so. The blocks of a message go when it
    /// is written, so that a long history is not in memory twice.
    pub(crate) fn into_messages(
        self,
        joins: impl Fn(&Block, &Block) -> bool,
        write: impl Fn(&[&Block]) -> Json,
    ) -> Vec<Json> {
        let mut messages = Vec::new();
        let mut group: Vec<Block> = Vec::new();
        for Piece { block, .. } in self.pieces {
            if group.last().is_some_and(|last| !joins(last, &block)) {
                messages.push(write(&group.iter().collect::<Vec<_>>()));
                group.clear();
            }
            group.push(block);
        }
        if !group.is_empty() {
            messages.push(write(&group.iter().collect::<Vec<_>>()));
        }
        messages
    }

    /// Forgets what sources had beyond the model, and names that only they use. What answers of `wire` had, where it is
    /// given, is kept: the vendor wants it back.
    pub fn forget_extras(&mut self, wire: Option<&str>) {
        let kept = |extra: &mut Extra| {
            let own = wire.and_then(|wire| Some((wire, extra.remove(wire)?)));
            *extra = Extra::NONE;
            if let Some((wire, part)) = own {
                extra.keep(wire, part);
            }
        };
        for piece in &mut self.pieces {
            kept(&mut piece.block.extra);
            kept(&mut piece.block.message.extra);
        }
    }

    /// Drops thinking that the vendor cannot verify or does not take, and with it the item ids of the answer it belongs
    /// to: an id without its reasoning is refused.
    pub fn limit_reasoning(&mut self, session: &Session, sends: impl Fn(&Reasoning, Option<&Turn>) -> Sends) {
        let mut bereft: Vec<u32> = Vec::new();
        let losses = &mut self.losses;
        self.pieces.retain_mut(|piece| {
            let at = piece.at("");
            let turn = piece.from.and_then(|(turn, _)| session.turns.get(turn));
            let ordinal = piece.block.message.ordinal;
            let Body::Reasoning(reasoning) = &mut piece.block.body else { return true };
            match sends(reasoning, turn) {
                Sends::Whole => return true,
                Sends::Text if reasoning.text.is_some() || !reasoning.summary.is_empty() => {
                    only_text(reasoning, &at, losses);
                    bereft.push(ordinal);
                    return true;
                }
                Sends::Text | Sends::Nothing => {}
            }
            losses.push(Loss::encode(LossKind::Dropped, at, "this model cannot take this thinking"));
            bereft.push(ordinal);
            false
        });
        self.forget_item_ids(&bereft);
    }

    fn forget_item_ids(&mut self, bereft: &[u32]) {
        for piece in &mut self.pieces {
            if bereft.contains(&piece.block.message.ordinal) && piece.block.item_id.take().is_some() {
                let at = piece.at("item_id");
                self.losses.push(Loss::encode(LossKind::Dropped, at, "the reasoning it goes with is not sent"));
            }
        }
    }

    /// Makes summaries text, and drops what only its source knows unless `keeps` says that it is the vendor's own.
    pub fn plain_bodies(&mut self, session: &Session, keeps: impl Fn(&str, Option<&Turn>) -> bool) {
        let losses = &mut self.losses;
        self.pieces.retain_mut(|piece| match &mut piece.block.body {
            Body::Summary(summary) => {
                let text = std::mem::take(&mut summary.text);
                losses.push(Loss::encode(LossKind::Textified, piece.at("type"), "a summary is sent as text"));
                piece.block.body = Text { text }.into();
                true
            }
            Body::Other { kind, .. } if !keeps(kind, piece.from.and_then(|(turn, _)| session.turns.get(turn))) => {
                losses.push(Loss::encode(LossKind::Dropped, piece.at(""), "only the system it came from knows it"));
                false
            }
            _ => true,
        });
    }

    /// Removes text without content, which vendors refuse.
    pub fn remove_empty_text(&mut self, is_empty: impl Fn(&str, &Block) -> bool) {
        let losses = &mut self.losses;
        self.pieces.retain(|piece| {
            let empty = piece.block.body.as_text().is_some_and(|text| is_empty(text, &piece.block));
            if empty {
                losses.push(Loss::encode(LossKind::Repaired, piece.at(""), "text without content is not sent"));
            }
            !empty
        });
    }

    /// Puts every result right after the message of its call, gives calls without a result an honest one, and drops
    /// results without a call, or of a call that has one.
    pub fn pair_calls(&mut self) {
        pair::pair(self);
    }

    /// Gives every call an id that the vendor takes and no other call has, and its result the same.
    pub fn rename_calls(&mut self, rule: &IdRule) {
        ids::rename(self, rule);
    }

    /// Gives every tool a name that the vendor takes.
    pub fn rename_tools(&mut self, longest: usize) {
        for piece in &mut self.pieces {
            let name = match &mut piece.block.body {
                Body::ToolCall(call) => Some(&mut call.name),
                Body::ToolResult(result) => result.name.as_mut(),
                _ => None,
            };
            if let Some(name) = name
                && let Some(legal) = legal_name(name, longest)
            {
                *name = legal;
                self.losses.push(Loss::encode(LossKind::Renamed, piece.at("name"), "the name is not allowed here"));
            }
        }
    }

    /// Numbers the messages anew: a block stays in the message of the block before it where `joins` says so.
    pub fn number_messages(&mut self, joins: impl Fn(&Block, &Block) -> bool) {
        let mut number = 0;
        let mut before: Option<Block> = None;
        for piece in &mut self.pieces {
            let joined = before.as_ref().is_some_and(|before| joins(before, &piece.block));
            if before.is_some() && !joined {
                number += 1;
            }
            before = Some(without_content(&piece.block));
            piece.block.message.ordinal = number;
        }
    }
}

/// The block without what would be costly to copy.
fn without_content(block: &Block) -> Block {
    let body = match &block.body {
        Body::Text(_) | Body::Media(_) | Body::Summary(_) => Text::default().into(),
        other => other.clone(),
    };
    Block { message: block.message.clone(), ..Block::new(block.author.clone(), body) }
}

fn only_text(reasoning: &mut Reasoning, at: &str, losses: &mut Vec<Loss>) {
    let opaque = [("signature", reasoning.signature.take()), ("encrypted", reasoning.encrypted.take())];
    for (field, _) in opaque.iter().filter(|(_, value)| value.is_some()) {
        let what = "it can only be verified by the model that made it";
        losses.push(Loss::encode(LossKind::Dropped, format!("{at}.{field}"), what));
    }
    reasoning.scope = None;
}

/// Who says a block: calls and thinking are the assistant's, results the tool's, whatever the source says.
pub fn speaker(block: &Block) -> Author {
    match (&block.body, &block.author) {
        (Body::ToolCall(_) | Body::Reasoning(_), _) => Author::Assistant,
        (Body::ToolResult(_), _) => Author::Tool,
        (_, Author::Tool | Author::Other(_)) => Author::User,
        (_, author) => author.clone(),
    }
}
