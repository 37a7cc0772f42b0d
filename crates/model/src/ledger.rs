//! What is known of each tool call.

use crate::block::Outcome;
use crate::event::{Effect, Event};
use crate::id::{CallId, Seq};
use crate::journal::Journal;

/// Per tool call: intended, settled, or unsure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
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
}

/// What is known of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
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
        Ledger { entries }
    }

    /// Applies one event.
    pub fn apply(&mut self, seq: Seq, event: &Event) {
        match event {
            Event::ToolIntended(intended) => {
                let attempts = self.get(&intended.call).map_or(0, |entry| entry.attempts);
                self.entries.retain(|entry| entry.call != intended.call);
                self.entries.push(LedgerEntry {
                    call: intended.call.clone(),
                    effect: intended.effect,
                    key: intended.key.clone(),
                    attempts: intended.attempt.unwrap_or(attempts.saturating_add(1)),
                    intended: seq,
                    settled: None,
                });
            }
            Event::ToolSettled(settled) => {
                if let Some(entry) = self.entries.iter_mut().find(|entry| entry.call == settled.call) {
                    entry.settled = Some((settled.outcome.clone(), seq));
                }
            }
            _ => {}
        }
    }

    /// What is recorded of a call.
    pub fn get(&self, call: &CallId) -> Option<&LedgerEntry> {
        self.entries.iter().find(|entry| entry.call == *call)
    }

    /// Every entry, oldest intent first.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }
}

impl LedgerEntry {
    /// What is known of the call.
    pub fn known(&self) -> Known {
        match (&self.settled, self.effect) {
            (Some(_), _) => Known::Settled,
            (None, Effect::Pure | Effect::Keyed) => Known::Repeatable,
            (None, Effect::Once) => Known::Unsure,
        }
    }
}
