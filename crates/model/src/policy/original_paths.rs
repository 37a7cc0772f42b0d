//! Where the turns and blocks of a reduced session stood at first.

use crate::loss::{Loss, LossKind};
use crate::session::Session;

/// For every turn and block its place before the first step; what a step made has the place it was given.
pub struct OriginalPaths(Vec<(usize, Vec<usize>)>);

/// A turn, or a block of one.
type BlockIndex = (usize, Option<usize>);

impl OriginalPaths {
    /// The places of a session before any step.
    pub fn of(session: &Session) -> OriginalPaths {
        OriginalPaths(
            session.turns.iter().enumerate().map(|(index, turn)| (index, (0..turn.blocks.len()).collect())).collect(),
        )
    }

    /// The loss with its place as it was before the first step.
    pub fn original(&self, loss: &Loss) -> Loss {
        let translated = split(&loss.at).filter(|_| !is_new(loss)).and_then(|((turn, block), rest)| {
            let (first_turn, blocks) = self.0.get(turn)?;
            Some(match block {
                None => format!("turns[{first_turn}]{rest}"),
                Some(block) => format!("turns[{first_turn}].blocks[{}]{rest}", blocks.get(block)?),
            })
        });
        translated.map_or_else(|| loss.clone(), |at| Loss { at, ..loss.clone() })
    }

    /// Follows a step by its losses.
    pub fn after(&mut self, losses: &[Loss], reduced: &Session) {
        let whole = |wanted: fn(&Loss) -> bool| -> Vec<BlockIndex> {
            let places = losses.iter().filter(|loss| wanted(loss)).filter_map(|loss| split(&loss.at));
            let mut places: Vec<BlockIndex> =
                places.filter(|(_, rest)| rest.is_empty()).map(|(place, _)| place).collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        let (gone, new) = (whole(is_gone), whole(is_new));
        for place in gone.iter().rev() {
            self.remove(*place);
        }
        for place in &new {
            self.insert(*place);
        }
        // A step that did not keep to the rules leaves places that nobody can translate; they are told as they come.
        self.0.truncate(reduced.turns.len());
    }

    fn remove(&mut self, (turn, block): BlockIndex) {
        match block {
            None if turn < self.0.len() => drop(self.0.remove(turn)),
            None => {}
            Some(block) => {
                if let Some((_, blocks)) = self.0.get_mut(turn).filter(|(_, blocks)| block < blocks.len()) {
                    blocks.remove(block);
                }
            }
        }
    }

    fn insert(&mut self, (turn, block): BlockIndex) {
        match block {
            None => self.0.insert(turn.min(self.0.len()), (turn, Vec::new())),
            Some(block) => {
                if let Some((_, blocks)) = self.0.get_mut(turn) {
                    blocks.insert(block.min(blocks.len()), block);
                }
            }
        }
    }
}

fn is_gone(loss: &Loss) -> bool {
    matches!(loss.kind, LossKind::Dropped | LossKind::Condensed)
}

fn is_new(loss: &Loss) -> bool {
    matches!(loss.kind, LossKind::Synthesised | LossKind::Reordered)
        && split(&loss.at).is_some_and(|(_, rest)| rest.is_empty())
}

/// The turn or block that a place is in, and the rest of the place.
fn split(at: &str) -> Option<(BlockIndex, &str)> {
    let (turn, rest) = index(at.strip_prefix("turns")?)?;
    match rest.strip_prefix(".blocks").and_then(index) {
        Some((block, rest)) => Some(((turn, Some(block)), rest)),
        None => Some(((turn, None), rest)),
    }
}

/// The number in brackets that a text begins with.
fn index(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, rest))
}
