//! What someone says to an agent, and the events of saying it.
//!
//! **Invariant: nobody's words come between a call and its result.** What is said while an answer is on its way opens the
//! turn after it, and leaves room for the messages of the answer.

use turnkeep_model::event::{BlockAdded, TurnOpened};
use turnkeep_model::{Author, Block, ErrorKind, EvaluationId, Event, Options, Session, Time, Turn};
use turnkeep_store::Loaded;

use crate::error::{Error, Result};
use crate::ordinals::next_ordinal;

/// What someone says to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Input {
    /// The content.
    pub blocks: Vec<Block>,
    /// Settings of the answer to it that differ from the session's.
    pub options: Options,
}

impl Input {
    /// Refuses to say nothing: a model that is asked nothing answers anything.
    pub(crate) fn check(&self) -> Result<()> {
        if self.blocks.is_empty() {
            return Err(Error::new(ErrorKind::Unsupported, "there is nothing to say")
                .hint("say something, or resume the session to go on with what is due"));
        }
        Ok(())
    }

    /// The first text of it.
    pub(crate) fn first_text(&self) -> &str {
        self.blocks.iter().find_map(|block| block.body.as_text()).unwrap_or_default()
    }

    /// The same, with a system text before the first of it.
    pub(crate) fn after_system(self, system: Option<&str>) -> Input {
        let first = u32::from(system.is_some());
        let system = system.map(|text| Block::text(Author::System, text)).into_iter();
        let blocks = system.chain(self.blocks.into_iter().map(|block| block.in_message(first))).collect();
        Input { blocks, options: self.options }
    }
}

impl From<Vec<Block>> for Input {
    fn from(blocks: Vec<Block>) -> Input {
        Input { blocks, options: Options::default() }
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Input {
        vec![Block::text(Author::User, text)].into()
    }
}

impl From<String> for Input {
    fn from(text: String) -> Input {
        text.as_str().into()
    }
}

/// Ordinals that are left free for an answer that is on its way.
const ROOM: u32 = 1024;

/// The events of saying something. It joins the turn that waits for an answer; where one is on its way or given, it opens
/// the next.
pub(crate) fn input_events(state: &Loaded, input: &Input, now: &Time) -> Vec<Event> {
    let session = &state.session;
    let open = session.turns.last().filter(|last| !last.blocks.iter().any(Block::is_answer));
    let last = u32::try_from(session.turns.len()).unwrap_or(u32::MAX);
    let flying = in_flight(state).filter(|turn| turn.saturating_add(1) >= last);
    let mut events = Vec::new();
    let mut ordinal = next_ordinal(session, session.turns.len());
    let mut turn = last.saturating_sub(1);
    if flying == Some(last) {
        // The answer on its way has no turn yet; it gets its own, before this one.
        events.push(TurnOpened { turn: Box::new(next_turn(session)) }.into());
        turn = last;
    }
    if flying.is_some() {
        ordinal = ordinal.saturating_add(ROOM);
    }
    if open.is_none() || flying.is_some() {
        let opened = Turn { options: input.options.clone(), ..next_turn(session) };
        events.push(TurnOpened { turn: Box::new(opened) }.into());
        turn = if session.turns.is_empty() && flying.is_none() { 0 } else { turn.saturating_add(1) };
    }
    events.extend(input.blocks.iter().map(|block| {
        let mut block = block.clone();
        block.message.ordinal = ordinal.saturating_add(block.message.ordinal);
        block.message.time.get_or_insert_with(|| now.clone());
        BlockAdded { turn, block }.into()
    }));
    events
}

/// A turn that follows those of a session: of the same evaluation, where one evaluates a prompt.
pub(crate) fn next_turn(session: &Session) -> Turn {
    let own = session.id.as_ref().filter(|_| session.prompt.is_some()).map(|id| EvaluationId::new(id.as_str()));
    let evaluation = session.turns.last().and_then(|last| last.evaluation.clone()).or(own);
    Turn { evaluation, ..Turn::default() }
}

/// The turn of an answer that a run may be waiting for.
fn in_flight(state: &Loaded) -> Option<u32> {
    let asked = state.ledger.asked()?;
    let running = state.session.runs.last().is_some_and(|run| run.status.is_none());
    let answered = state.session.turns.get(asked as usize).is_some_and(|turn| turn.blocks.iter().any(Block::is_answer));
    (running && !answered).then_some(asked)
}
