//! What is known of each tool call: intended, approved, settled, resolved.
//!
//! A tool acts in the outside world, where nothing can be rolled back. The ledger tells from the journal alone which calls may have
//! acted without an outcome on record, and that decides what resuming does: it never guesses from the conversation, where a result
//! may have been trimmed away or belong to a fork.

use std::collections::{HashMap, HashSet};

use crate::block::Outcome;
use crate::event::{ApprovalAsked, ApprovalGiven, Effect, EndpointChosen, Event, Resolution, ToolIntended};
use crate::id::{CallId, Seq};
use crate::journal::Journal;
use crate::loss::Loss;

/// Per tool call: intended, settled, or unsure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
    /// Where every call was last intended, by which its entry is found: a long session has thousands.
    intents: HashMap<CallId, Seq>,
    /// What people were asked about calls, and what they said.
    approvals: HashMap<CallId, Approval>,
    /// What people said of calls whose intent nobody recorded.
    resolutions: HashMap<CallId, Resolution>,
    /// The last turn that a model was asked for.
    asked: Option<u32>,
    /// The endpoint that is asked.
    endpoint: Option<Box<EndpointChosen>>,
    /// What its requests lack of the session.
    losses: HashSet<Loss>,
    /// The last record that a fork shares with its parent. Calls that are open there belong to the parent.
    inherited: Seq,
    /// Where the last run started.
    run_started: Seq,
}

/// What a person was asked about a call, and what they said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// What was asked.
    pub asked: ApprovalAsked,
    /// What was said.
    pub given: Option<ApprovalGiven>,
    /// Where that was recorded.
    pub decided: Option<Seq>,
}

/// What is known of one tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The call.
    pub call: CallId,
    /// What repeating it would do.
    pub effect: Effect,
    /// The key under which the outside world can tell a repetition.
    pub key: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
    /// Where it was last intended.
    pub intended: Seq,
    /// How it ended, and where that was recorded.
    pub settled: Option<(Outcome, Seq)>,
    /// What a person said is to become of it, if nobody knew its outcome.
    pub resolved: Option<Resolution>,
    /// An earlier call of the same tool with equal arguments, whose outcome was not known.
    pub duplicate_of: Option<CallId>,
    /// Whether undoing it was begun (`None` as the outcome), and how that ended.
    pub compensated: Option<Option<Outcome>>,
}

/// What is known of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// It ended, and its outcome is recorded.
    Settled,
    /// It may have begun; repeating it does no harm.
    Repeatable,
    /// It may have acted, and repeating it could act twice.
    Unsure,
}

impl Ledger {
    /// The ledger that a journal tells of.
    pub fn of(journal: &Journal) -> Ledger {
        let mut ledger = Ledger::default();
        for record in journal.records() {
            ledger.apply(record.seq, &record.event);
        }
        ledger
    }

    /// A ledger of these entries, oldest intent first.
    pub fn from_entries(entries: Vec<LedgerEntry>) -> Ledger {
        let intents = entries.iter().map(|entry| (entry.call.clone(), entry.intended)).collect();
        Ledger { entries, intents, ..Ledger::default() }
    }

    /// Applies one event.
    pub fn apply(&mut self, seq: Seq, event: &Event) {
        match event {
            Event::ToolIntended(intended) => self.intend(seq, intended),
            Event::ToolSettled(settled) => {
                self.amend(&settled.call, |entry| entry.settled = Some((settled.outcome.clone(), seq)));
            }
            Event::ToolResolved(_) if seq <= self.inherited => {}
            Event::ToolResolved(resolved) if self.intents.contains_key(&resolved.call) => {
                self.amend(&resolved.call, |entry| entry.resolved = Some(resolved.resolution));
            }
            Event::ToolResolved(resolved) => {
                self.resolutions.insert(resolved.call.clone(), resolved.resolution);
            }
            Event::CompensationIntended(intended) => {
                self.amend(&intended.call, |entry| entry.compensated = Some(None));
            }
            Event::CompensationSettled(settled) => {
                self.amend(&settled.call, |entry| entry.compensated = Some(Some(settled.outcome.clone())));
            }
            Event::ApprovalAsked(asked) => {
                self.approvals
                    .insert(asked.call.clone(), Approval { asked: asked.clone(), given: None, decided: None });
            }
            Event::ApprovalGiven(given) => self.decide(seq, given),
            Event::RunStarted(_) => self.run_started = seq,
            Event::ModelAsked(asked) => self.asked = Some(asked.turn),
            Event::EndpointChosen(chosen) => {
                self.endpoint = Some(Box::new(chosen.clone()));
                self.losses.clear();
            }
            Event::LossNoted(noted) => drop(self.losses.insert(noted.loss.clone())),
            _ => {}
        }
    }

    fn amend(&mut self, call: &CallId, change: impl FnOnce(&mut LedgerEntry)) {
        if let Some(entry) = self.place(call).and_then(|place| self.entries.get_mut(place)) {
            change(entry);
        }
    }

    /// Where the entry of a call stands. Entries that were made of an older head may share the place of their intent.
    fn place(&self, call: &CallId) -> Option<usize> {
        let intended = self.intents.get(call)?;
        let first = self.entries.partition_point(|entry| entry.intended < *intended);
        let found = self.entries.iter().skip(first).position(|entry| entry.call == *call)?;
        Some(first + found)
    }

    /// The first decision about what was shown counts.
    fn decide(&mut self, seq: Seq, given: &ApprovalGiven) {
        if let Some(approval) = self.approvals.get_mut(&given.call)
            && approval.asked.digest == given.digest
            && approval.given.is_none()
        {
            approval.given = Some(given.clone());
            approval.decided = Some(seq);
        }
    }

    fn intend(&mut self, seq: Seq, intended: &ToolIntended) {
        let attempts = self.get(&intended.call).map_or(0, |entry| entry.attempts);
        // A call that is tried again moves to the end.
        if let Some(place) = self.place(&intended.call) {
            self.entries.remove(place);
        }
        self.intents.insert(intended.call.clone(), seq);
        self.entries.push(LedgerEntry {
            call: intended.call.clone(),
            effect: intended.effect,
            key: intended.key.clone(),
            attempts: intended.attempt.unwrap_or(attempts.saturating_add(1)),
            intended: seq,
            settled: None,
            resolved: None,
            duplicate_of: intended.duplicate_of.clone(),
            compensated: None,
        });
    }

    /// An empty ledger of a fork that shares its journal with its parent up to `seq`. It must not act for calls that the
    /// parent began there, and what people resolved there was said to the parent.
    pub fn of_fork(seq: Seq) -> Ledger {
        Ledger { inherited: seq, ..Ledger::default() }
    }

    /// Whether the parent of this fork began the call and may still act for it.
    pub fn is_inherited(&self, call: &CallId) -> bool {
        self.get(call).is_some_and(|entry| entry.intended <= self.inherited)
            || self.approval(call).is_some_and(|approval| approval.decided.is_some_and(|seq| seq <= self.inherited))
    }

    /// Whether the last run is one of this session, and not of the parent it was forked from.
    pub fn owns_last_run(&self) -> bool {
        self.run_started > self.inherited
    }

    /// Whether the last run has tried the call, and not for the first time.
    pub fn was_retried(&self, call: &CallId) -> bool {
        self.get(call).is_some_and(|entry| entry.attempts > 1 && entry.intended > self.run_started)
    }

    /// What is recorded of a call.
    pub fn get(&self, call: &CallId) -> Option<&LedgerEntry> {
        self.place(call).and_then(|place| self.entries.get(place))
    }

    /// What a person was asked about a call.
    pub fn approval(&self, call: &CallId) -> Option<&Approval> {
        self.approvals.get(call)
    }

    /// What a person said is to become of a call, if nobody knew its outcome.
    pub fn resolution(&self, call: &CallId) -> Option<Resolution> {
        self.get(call).map_or_else(|| self.resolutions.get(call).copied(), |entry| entry.resolved)
    }

    /// The last turn that a model was asked for, from 0.
    pub fn asked(&self) -> Option<u32> {
        self.asked
    }

    /// The endpoint that was last chosen.
    pub fn endpoint(&self) -> Option<&EndpointChosen> {
        self.endpoint.as_deref()
    }

    /// Whether it is recorded that the requests of this endpoint lack this.
    pub fn is_noted(&self, loss: &Loss) -> bool {
        self.losses.contains(loss)
    }

    /// Every entry, oldest intent first.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }
}

impl LedgerEntry {
    /// What is known of the call.
    pub fn known(&self) -> CallState {
        match (&self.settled, self.effect) {
            (Some(_), _) => CallState::Settled,
            (None, Effect::Pure | Effect::Keyed) => CallState::Repeatable,
            (None, Effect::Once) => CallState::Unsure,
        }
    }
}
