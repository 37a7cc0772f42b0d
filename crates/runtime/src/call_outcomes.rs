//! How the calls of a session ended, for tools that ask while they run.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use turnkeep_model::{CallId, Event, Ledger, Outcome};

/// What the ledger says of every call that ended; shared with the tools, and kept up with the journal.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallOutcomes(Arc<RwLock<HashMap<CallId, Outcome>>>);

impl CallOutcomes {
    pub(crate) fn of(ledger: &Ledger) -> CallOutcomes {
        let ended = ledger.entries().iter().filter_map(|entry| {
            let (outcome, _) = entry.settled.as_ref()?;
            Some((entry.call.clone(), outcome.clone()))
        });
        CallOutcomes(Arc::new(RwLock::new(ended.collect())))
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

#[cfg(test)]
mod tests {
    use turnkeep_model::Seq;
    use turnkeep_model::event::{Effect, ToolIntended, ToolSettled};

    use super::*;

    #[test]
    fn a_call_that_is_tried_again_has_not_ended() {
        let call = CallId::given("a");
        let (effect, key, attempt, duplicate_of) = (Effect::Keyed, None, None, None);
        let intended = Event::from(ToolIntended { call: call.clone(), effect, key, attempt, duplicate_of });
        let settled = Event::from(ToolSettled::new(call.clone(), Outcome::Success));
        let (mut ledger, outcomes) = (Ledger::default(), CallOutcomes::default());
        let mut ended = |event: &Event| {
            ledger.apply(Seq(1), event);
            outcomes.note(&ledger, event);
            assert_eq!(outcomes.get(&call), CallOutcomes::of(&ledger).get(&call));
            outcomes.get(&call)
        };

        // An outcome without an intent is no outcome.
        let seen = [&settled, &intended, &settled, &intended].map(&mut ended);

        assert_eq!(seen, [None, None, Some(Outcome::Success), None]);
    }
}
