//! The end of a session without its beginning: its head, and the turns that were opened last.
//!
//! A head is folded from every batch, but holds no turn; turns are folded from the batch in which the first of them opened.

use turnkeep_model::event::{BlockAdded, ModelFailed, SessionCondensed, SessionOpened, TurnClosed};
use turnkeep_model::{Batch, Event, Head, Result as ModelResult, Seq, Session, Turn, absorb, apply};

use crate::error::{Error, Result};

/// The last turns of a session, with all of it that is not turns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The head, with the turns of the window put into its session.
    pub head: Head,
    /// The index of the first turn that is there.
    pub first: u32,
}

impl Window {
    /// The last `turns` turns of a whole session.
    pub(crate) fn of(mut head: Head, mut session: Session, turns: u32) -> Window {
        let first = session.turns.len().saturating_sub(turns as usize);
        session.turns.drain(..first);
        *head.session = session;
        Window { head, first: u32::try_from(first).unwrap_or(u32::MAX) }
    }
}

/// Takes a batch into a head.
pub(crate) fn take_in(head: &mut Head, batch: &Batch) -> Result<()> {
    for (entry, seq) in batch.events.iter().zip(batch.seq.0..) {
        head.apply(Seq(seq), &entry.event).map_err(|error| Error::from(error).seq(Seq(seq)))?;
    }
    head.seq = batch.last();
    Ok(())
}

/// Folds turns from somewhere in the middle of a journal: what concerns earlier ones is passed over.
#[derive(Debug, Default)]
pub(crate) struct TurnFold {
    /// A session that has only the turns from `first` on.
    session: Session,
    first: u32,
}

impl TurnFold {
    /// A fold that begins where `turns` turns are open.
    pub(crate) fn after(turns: u32) -> TurnFold {
        TurnFold { session: Session::default(), first: turns }
    }

    pub(crate) fn apply(&mut self, batch: Batch) -> ModelResult<()> {
        batch.events.into_iter().try_for_each(|entry| self.apply_event(entry.event))
    }

    /// The index of the first turn that is held.
    pub(crate) fn first(&self) -> usize {
        self.first as usize
    }

    /// How many turns are held.
    pub(crate) fn held(&self) -> usize {
        self.session.turns.len()
    }

    /// How many turns have been opened.
    pub(crate) fn opened(&self) -> usize {
        self.first().saturating_add(self.held())
    }

    /// How many bytes of text are held.
    #[cfg(test)]
    pub(crate) fn text(&self) -> usize {
        self.session.blocks().filter_map(|(_, block)| block.body.as_text()).map(str::len).sum()
    }

    /// Takes the first `count` turns out; what comes later does not concern them.
    pub(crate) fn take_first(&mut self, count: usize) -> Vec<Turn> {
        let count = count.min(self.held());
        self.first = self.first.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.session.turns.drain(..count).collect()
    }

    pub(crate) fn apply_event(&mut self, event: Event) -> ModelResult<()> {
        match event {
            Event::SessionOpened(SessionOpened { session }) => {
                self.first = 0;
                self.session.turns = session.turns;
            }
            Event::TurnOpened(_) => absorb(&mut self.session, event)?,
            Event::BlockAdded(BlockAdded { turn, block }) => {
                if let Some(turn) = turn.checked_sub(self.first) {
                    absorb(&mut self.session, Event::BlockAdded(BlockAdded { turn, block }))?;
                }
            }
            Event::TurnClosed(closed) => {
                if let Some(turn) = closed.turn.checked_sub(self.first) {
                    apply(&mut self.session, &Event::TurnClosed(TurnClosed { turn, ..closed }))?;
                }
            }
            Event::ModelFailed(failed) => {
                if let Some(turn) = failed.turn.checked_sub(self.first) {
                    apply(&mut self.session, &Event::ModelFailed(ModelFailed { turn, ..failed }))?;
                }
            }
            Event::SessionCondensed(condensed) => self.condense(condensed)?,
            _ => {}
        }
        Ok(())
    }

    /// A summary that stands for turns from before the window is not in it, but what it stands for in it goes.
    fn condense(&mut self, condensed: SessionCondensed) -> ModelResult<()> {
        let Some(to) = condensed.to.checked_sub(self.first) else { return Ok(()) };
        let from = condensed.from.saturating_sub(self.first);
        let inside = condensed.from >= self.first;
        apply(&mut self.session, &Event::SessionCondensed(SessionCondensed { from, to, ..condensed }))?;
        if !inside && let Some(turn) = self.session.turns.first_mut() {
            turn.blocks.pop();
        }
        Ok(())
    }

    /// The last `count` turns, and the index of the first of them.
    pub(crate) fn last(self, count: u32) -> (Vec<Turn>, u32) {
        let mut turns = self.session.turns;
        let skipped = turns.len().saturating_sub(count as usize);
        turns.drain(..skipped);
        (turns, self.first.saturating_add(u32::try_from(skipped).unwrap_or(u32::MAX)))
    }
}
