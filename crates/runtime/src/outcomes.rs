//! How the calls of a session ended, for tools that ask while they run.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use turnkeep_model::{CallId, Event, Ledger, Outcome};

/// What the ledger says of every call that ended; shared with the tools, and kept up with the journal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcomes(Arc<RwLock<HashMap<CallId, Outcome>>>);

impl Outcomes {
    pub(crate) fn of(ledger: &Ledger) -> Outcomes {
        let ended = ledger.entries().iter().filter_map(|entry| {
            let (outcome, _) = entry.settled.as_ref()?;
            Some((entry.call.clone(), outcome.clone()))
        });
        Outcomes(Arc::new(RwLock::new(ended.collect())))
    }

    /// How a call ended, if it did.
    pub(crate) fn get(&self, call: &CallId) -> Option<Outcome> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(call).cloned()
    }

    /// Takes in an event that the ledger has taken in.
    pub(crate) fn note(&self, ledger: &Ledger, event: &Event) {
        let call = match event {
            Event::ToolIntended(intended) => &intended.call,
            Event::ToolSettled(settled) => &settled.call,
            _ => return,
        };
        let mut ended = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match ledger.get(call).and_then(|entry| entry.settled.as_ref()) {
            Some((outcome, _)) => drop(ended.insert(call.clone(), outcome.clone())),
            None => drop(ended.remove(call)),
        }
    }
}
