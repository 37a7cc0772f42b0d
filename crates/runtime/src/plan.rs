//! What a session needs next: decided from its fold alone.

use std::cell::LazyCell;
use std::collections::HashSet;

use jiff::Timestamp;
use turnkeep_model::event::{Effect, Resolution, Verdict};
use turnkeep_model::ledger::{Approval, LedgerEntry};
use turnkeep_model::status::WaitingForTools;
use turnkeep_model::{Body, CallId, Ledger, Session, Status, ToolCall, Turn};

/// What becomes of calls that an earlier run left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResumePolicy {
    /// Only what has no outcome is done.
    #[default]
    MissingOnly,
    /// The whole turn is gone through again; calls that ended are answered from the ledger.
    RerunTurn,
    /// A person decides about every open call.
    Ask,
}

/// What a session needs next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// These calls of a turn, in order; then look again.
    Calls {
        /// The turn they belong to, from 0.
        turn: u32,
        /// What to do about each.
        steps: Vec<PlannedCall>,
    },
    /// The model's answer.
    Ask,
    /// Nothing.
    Done,
}

/// What to do about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCall {
    /// The call.
    pub call: ToolCall,
    /// What to do.
    pub step: CallStep,
}

/// What to do about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStep {
    /// It ended: its recorded result stands.
    Replay,
    /// Call it; `arguments` replace what the model wrote, where a person edited them.
    Call {
        /// Which try this is, from 1.
        attempt: u32,
        /// What a person wrote instead.
        arguments: Option<String>,
    },
    /// It may have acted: find out, ask, or say so; never repeat it silently.
    Unsure,
    /// A person must decide first.
    AwaitHuman,
    /// It is not called: a person said no, or nobody said yes in time.
    Deny(String),
    /// It is given up: undo it where possible, and say that its outcome is unknown.
    Abandon,
}

/// What the session needs next. `effect` tells what repeating a tool would do; a tool it does not know is not called.
pub fn plan(
    session: &Session,
    ledger: &Ledger,
    policy: ResumePolicy,
    now: Timestamp,
    effect: &dyn Fn(&str) -> Option<Effect>,
) -> Plan {
    Planner { session, ledger, policy, now, effect }.plan(0)
}

pub(crate) fn results(turn: &Turn) -> impl Iterator<Item = &CallId> {
    turn.blocks.iter().filter_map(|block| match &block.body {
        Body::ToolResult(result) => Some(&result.call),
        _ => None,
    })
}

pub(crate) fn calls(turn: &Turn) -> impl Iterator<Item = &ToolCall> {
    turn.blocks.iter().filter_map(|block| match &block.body {
        Body::ToolCall(call) => Some(call),
        _ => None,
    })
}

/// With no call open: the model is asked where its answer is due, else there is nothing to do.
fn ask_or_done(session: &Session) -> Plan {
    let Some(last) = session.turns.last() else {
        return Plan::Done;
    };
    let answered = last.blocks.iter().any(turnkeep_model::Block::is_answer);
    if !answered || calls(last).next().is_some() { Plan::Ask } else { Plan::Done }
}

/// What a plan is made from.
pub(crate) struct Planner<'a> {
    pub(crate) session: &'a Session,
    pub(crate) ledger: &'a Ledger,
    pub(crate) policy: ResumePolicy,
    pub(crate) now: Timestamp,
    pub(crate) effect: &'a dyn Fn(&str) -> Option<Effect>,
}

impl Planner<'_> {
    /// What the session needs next, where no call is open before the turn `first`.
    pub(crate) fn plan(&self, first: usize) -> Plan {
        let turns = &self.session.turns;
        // A result stands in the turn of its call; only where it does not are all of them gone through.
        let elsewhere: LazyCell<HashSet<&CallId>, _> = LazyCell::new(|| turns.iter().flat_map(results).collect());
        let answered =
            |turn: &Turn, call: &ToolCall| results(turn).any(|id| *id == call.call) || elsewhere.contains(&call.call);
        let open = |turn: &Turn| calls(turn).any(|call| !answered(turn, call));
        let Some((index, turn)) = turns.iter().enumerate().skip(first).find(|(_, turn)| open(turn)) else {
            return ask_or_done(self.session);
        };
        let planned = |call: &ToolCall| {
            let step = match answered(turn, call) {
                true if self.policy == ResumePolicy::RerunTurn => CallStep::Replay,
                true => return None,
                false => self.step(call),
            };
            Some(PlannedCall { call: call.clone(), step })
        };
        Plan::Calls { turn: u32::try_from(index).unwrap_or(u32::MAX), steps: calls(turn).filter_map(planned).collect() }
    }

    fn step(&self, call: &ToolCall) -> CallStep {
        match (self.ledger.get(&call.call), self.ledger.approval(&call.call)) {
            (Some(entry), approval) => self.intended(entry, approval),
            (None, Some(approval)) if self.ledger.is_inherited(&call.call) => {
                self.decided_before_the_fork(call, approval)
            }
            (None, Some(approval)) => self.waiting(approval),
            (None, None) => self.unrecorded(call),
        }
    }

    /// An intent is recorded: it may have begun.
    fn intended(&self, entry: &LedgerEntry, approval: Option<&Approval>) -> CallStep {
        let again = || CallStep::Call {
            attempt: entry.attempts.saturating_add(1),
            arguments: approval.and_then(|approval| approval.given.as_ref()).and_then(|given| given.arguments.clone()),
        };
        match (&entry.settled, entry.resolved, entry.effect) {
            // Its outcome is recorded, its result is not: a journal of another writer.
            (Some(_), _, _) | (_, Some(Resolution::Skip), _) => CallStep::Abandon,
            (_, Some(Resolution::Retry), _) => again(),
            _ if self.policy == ResumePolicy::Ask => CallStep::AwaitHuman,
            (_, None, Effect::Pure) => again(),
            // The parent of a fork may act for it at any time, so the fork does not.
            (_, None, Effect::Keyed) if self.ledger.is_inherited(&entry.call) => CallStep::Unsure,
            (_, None, Effect::Keyed) => again(),
            (_, None, Effect::Once) => CallStep::Unsure,
        }
    }

    /// A person decided about the parent's call. Where they consented, the parent may have made it since.
    fn decided_before_the_fork(&self, call: &ToolCall, approval: &Approval) -> CallStep {
        let given = approval.given.as_ref();
        match self.ledger.resolution(&call.call) {
            Some(Resolution::Retry) => {
                CallStep::Call { attempt: 1, arguments: given.and_then(|given| given.arguments.clone()) }
            }
            Some(Resolution::Skip) => CallStep::Abandon,
            None if given.is_some_and(|given| given.verdict == Verdict::Deny) => self.waiting(approval),
            None if self.policy == ResumePolicy::Ask => CallStep::AwaitHuman,
            None => CallStep::Unsure,
        }
    }

    /// It waits for consent, and was never begun.
    fn waiting(&self, approval: &Approval) -> CallStep {
        let expired =
            approval.asked.expires.as_ref().and_then(turnkeep_model::Time::instant).is_some_and(|end| end <= self.now);
        match &approval.given {
            None if expired => CallStep::Deny("nobody consented in time".to_owned()),
            None => CallStep::AwaitHuman,
            Some(given) => match given.verdict {
                Verdict::Approve => CallStep::Call { attempt: 1, arguments: None },
                Verdict::Edit => CallStep::Call { attempt: 1, arguments: given.arguments.clone() },
                Verdict::Deny => CallStep::Deny(given.reason.clone().unwrap_or_else(|| "a person said no".to_owned())),
            },
        }
    }

    /// Nothing is recorded of it: the session comes from elsewhere.
    fn unrecorded(&self, call: &ToolCall) -> CallStep {
        let untouched = self.session.status == Some(Status::from(WaitingForTools {}));
        match (self.ledger.resolution(&call.call), (self.effect)(&call.name)) {
            (Some(Resolution::Retry), _) => CallStep::Call { attempt: 1, arguments: None },
            (Some(Resolution::Skip), _) => CallStep::Abandon,
            (None, _) if self.policy == ResumePolicy::Ask => CallStep::AwaitHuman,
            (None, Some(Effect::Once)) if !untouched => CallStep::Unsure,
            (None, _) => CallStep::Call { attempt: 1, arguments: None },
        }
    }
}
