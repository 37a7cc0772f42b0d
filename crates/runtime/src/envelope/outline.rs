//! What is remembered of a session while its records are told: its turns without what was said in them.
//!
//! Step numbers, errors, usage and durations are read from it as a slim view reads them from the session, so that both say
//! the same.

use turnkeep_model::event::{BlockAdded, TurnOpened};
use turnkeep_model::{Author, Block, Body, Event, Session, ToolCall, Turn, apply, view};

/// A session without content.
#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    session: Session,
    before: u64,
    /// How many steps there are in so many turns, the first ones: a long session is not gone through at each step.
    counted: (usize, u64),
}

impl Outline {
    /// Takes an event in. One that speaks of a turn that is not there changes nothing: the journal's reader says so.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::SessionOpened(opened) => {
                self.before = view::steps_before(&opened.session);
                self.session =
                    Session { turns: opened.session.turns.iter().map(outlined).collect(), ..Session::default() };
                self.session.status.clone_from(&opened.session.status);
                self.counted = (0, 0);
            }
            Event::SessionCondensed(_) => {
                self.counted = (0, 0);
                let _ = apply(&mut self.session, event);
            }
            Event::TurnOpened(opened) => {
                let opened = TurnOpened { turn: Box::new(outlined(&opened.turn)) };
                let _ = apply(&mut self.session, &opened.into());
            }
            Event::TurnClosed(closed) => {
                self.forget(closed.turn as usize);
                let mut closed = closed.clone();
                closed.provider_payload = turnkeep_model::Json::Null;
                let _ = apply(&mut self.session, &closed.into());
            }
            Event::BlockAdded(added) => {
                self.forget(added.turn as usize);
                if let Some(block) = outlined_block(&added.block) {
                    let _ = apply(&mut self.session, &BlockAdded { turn: added.turn, block }.into());
                }
            }
            Event::SessionChanged(changed) => {
                self.session.status = changed.status.clone().or(self.session.status.take());
            }
            Event::RunStopped(stopped) => self.session.status = stopped.status.clone().or(self.session.status.take()),
            _ => {}
        }
    }

    /// The session's turns, without content.
    pub(super) fn turn(&self, index: u32) -> Option<&Turn> {
        self.session.turns.get(index as usize)
    }

    /// The index of the last turn.
    pub(super) fn last(&self) -> u32 {
        u32::try_from(self.session.turns.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Where the session stands.
    pub(super) fn status(&self) -> Option<&turnkeep_model::Status> {
        self.session.status.as_ref()
    }

    /// The number of the step that a turn is, or will be.
    pub(super) fn number(&mut self, turn: u32) -> u64 {
        self.steps_until(turn as usize).saturating_add(1)
    }

    /// How many steps there are.
    pub(super) fn count(&mut self) -> u64 {
        self.steps_until(self.session.turns.len())
    }

    fn steps_until(&mut self, turn: usize) -> u64 {
        if self.counted.0 > turn {
            self.counted = (0, 0);
        }
        let (from, steps) = self.counted;
        let new = self.session.turns.iter().take(turn).skip(from).filter(|turn| view::is_step(turn)).count();
        // The last turn may still become a step.
        let settled = turn.min(self.session.turns.len().saturating_sub(1)).max(from);
        let last = self.session.turns.iter().take(turn).skip(settled).filter(|turn| view::is_step(turn)).count();
        self.counted = (settled, steps + (new - last) as u64);
        self.before.saturating_add(steps + new as u64)
    }

    fn forget(&mut self, turn: usize) {
        if turn < self.counted.0 {
            self.counted = (0, 0);
        }
    }
}

fn outlined(turn: &Turn) -> Turn {
    let blocks = turn.blocks.iter().filter_map(outlined_block).collect();
    Turn {
        blocks,
        usage: turn.usage.clone(),
        timing: turn.timing.clone(),
        finish: turn.finish.clone(),
        errors: turn.errors.clone(),
        continuation: turn.continuation.clone(),
        ..Turn::default()
    }
}

/// What makes a turn a step: that there is an answer, and its calls.
fn outlined_block(block: &Block) -> Option<Block> {
    match &block.body {
        Body::ToolCall(call) => {
            let call = ToolCall { call: call.call.clone(), name: call.name.clone(), arguments: String::new() };
            Some(Block::new(block.author.clone(), call))
        }
        _ => block.is_answer().then(|| Block::text(Author::Assistant, "")),
    }
}
