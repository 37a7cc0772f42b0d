//! What the rules of a run look at, and the events that follow from it.
//!
//! It is `Copy` and borrows the agent only: events are made inside [`Recorder::record_with`], which makes them anew from
//! the newest state where someone else wrote meanwhile.

use jiff::Timestamp;
use turnkeep_model::event::{Choice, ModelAsked, RunStopped, SessionChanged, TurnClosed};
use turnkeep_model::status::Continuation;
use turnkeep_model::{Author, Block, Event, Ledger, Number, Session, Status, StopReason, Time, Timing, Turn};
use turnkeep_store::Loaded;

use super::Agent;
use crate::criteria::{self, Progress};
use crate::plan::{Plan, Planner};
use crate::port::{Identity, Model, seconds};
use crate::recorder::Recorder;

/// What the rules look at besides the session.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    agent: &'a Agent,
    began: Timestamp,
    ran_before: f64,
    /// How many models could not answer; the next one is asked.
    pub(super) failed_models: usize,
}

impl<'a> RunContext<'a> {
    pub(super) fn new(agent: &'a Agent, recorder: &Recorder) -> RunContext<'a> {
        let ran_before = recorder.session().timing.seconds.as_ref().map_or(0.0, Number::as_f64).max(0.0);
        RunContext { agent, began: recorder.ports().clock.now(), ran_before, failed_models: 0 }
    }

    fn ran(&self, now: Timestamp) -> f64 {
        self.ran_before + seconds(self.began, now)
    }

    fn timing(&self, recorder: &Recorder) -> Event {
        let ran = (self.ran(recorder.ports().clock.now()) * 1000.0).round() / 1000.0;
        let mut timing = recorder.session().timing.clone();
        timing.seconds = Some(Number::from_f64(ran));
        timing.updated = Some(recorder.now());
        SessionChanged { timing: Some(timing), ..SessionChanged::default() }.into()
    }

    pub(super) fn stopping(&self, recorder: &Recorder, status: &Status, reason: Option<&StopReason>) -> Vec<Event> {
        let stopped = RunStopped {
            run: Some(recorder.run().clone()),
            status: Some(status.clone()),
            reason: reason.cloned(),
            completed: Some(recorder.now()),
        };
        vec![self.timing(recorder), stopped.into()]
    }

    /// What every rule says after this turn.
    fn evaluate(&self, session: &Session, turn: &Turn, recorder: &Recorder) -> Continuation {
        let now = recorder.ports().clock.now();
        let progress = Progress {
            session,
            turn,
            steps: steps_of_exchange(session, turn),
            retries: 0,
            seconds: self.ran(now),
            now,
            stop_asked: self.agent.stop.is_asked(),
        };
        criteria::evaluate(&self.agent.criteria, &progress)
    }

    /// The events that end a step: what was decided, how long the session ran, and the next question if there is one.
    pub(super) fn closing(&self, state: &Loaded, index: u32, recorder: &Recorder, more: u32) -> Vec<Event> {
        let Some(turn) = state.session.turns.get(index as usize) else {
            return Vec::new();
        };
        let continuation = self.evaluate(&state.session, turn, recorder);
        let goes_on = continuation.should_continue == Some(true);
        let timing = Some(self.whole(turn, recorder));
        let closed = TurnClosed { turn: index, continuation: Some(continuation), timing, ..TurnClosed::default() };
        let mut events = vec![closed.into(), self.timing(recorder)];
        if goes_on {
            events.extend(self.choice(&state.ledger));
            events.push(self.asking(&state.session, answer_turn(&state.session), 1, more));
        }
        events
    }

    /// How long a turn took with its calls: from the question to the decision.
    fn whole(&self, turn: &Turn, recorder: &Recorder) -> Timing {
        let now = recorder.ports().clock.now();
        let started = turn.timing.started.as_ref().and_then(Time::instant);
        // Records have the time in milliseconds.
        let taken = started.map(|started| Number::from_f64((seconds(started, now) * 1000.0).round() / 1000.0));
        Timing {
            completed: Some(Time::from_instant(now)),
            seconds: taken.or_else(|| turn.timing.seconds.clone()),
            ..turn.timing.clone()
        }
    }

    /// What the session needs next, where no call is open before the turn `first`.
    pub(super) fn plan(&self, session: &Session, ledger: &Ledger, recorder: &Recorder, first: usize) -> Plan {
        let effect = |name: &str| self.agent.tools.effect(name);
        let now = recorder.ports().clock.now();
        Planner { session, ledger, policy: self.agent.policy, now, effect: &effect }.plan(first)
    }

    pub(super) fn model(&self) -> &'a dyn Model {
        self.agent.model(self.failed_models)
    }

    /// The choice of the endpoint, where the journal has another or none.
    pub(super) fn choice(&self, ledger: &Ledger) -> Option<Event> {
        let now = self.model().identity();
        let before = ledger.endpoint().map(Identity::of);
        let choice = match &before {
            Some(before) if *before == now => return None,
            _ if self.failed_models > 0 => Choice::Fallback,
            Some(_) => Choice::Resumed,
            None => Choice::First,
        };
        Some(now.chosen(choice).into())
    }

    /// That the model is about to be asked, with `more` messages than are recorded.
    pub(super) fn asking(&self, session: &Session, turn: u32, attempt: u32, more: u32) -> Event {
        let tools = self.agent.tools.specs().iter().map(|spec| spec.name.clone()).collect();
        let messages = Some(count_messages(session).saturating_add(more));
        ModelAsked { turn, messages, tools, attempt: Some(attempt) }.into()
    }
}

/// The turn that the next answer belongs to: the last one if it waits for an answer, else one to come.
pub(super) fn answer_turn(session: &Session) -> u32 {
    let waits = session.turns.last().is_some_and(|last| !last.blocks.iter().any(Block::is_answer));
    u32::try_from(session.turns.len()).unwrap_or(u32::MAX).saturating_sub(u32::from(waits))
}

/// How many answers there were since the user last spoke, `turn` included.
fn steps_of_exchange(session: &Session, turn: &Turn) -> u32 {
    let at = session.turns.iter().position(|one| std::ptr::eq(one, turn)).map_or(session.turns.len(), |at| at + 1);
    let mut steps = 0;
    for turn in session.turns.iter().take(at).rev() {
        steps += u32::from(turn.blocks.iter().any(Block::is_answer));
        if turn.blocks.iter().any(|block| block.author == Author::User) {
            break;
        }
    }
    steps
}

/// How many messages the session has.
fn count_messages(session: &Session) -> u32 {
    let mut last = None;
    let mut count = 0_u32;
    for (_, block) in session.blocks() {
        if last != Some(block.message.ordinal) {
            count = count.saturating_add(1);
            last = Some(block.message.ordinal);
        }
    }
    count
}
