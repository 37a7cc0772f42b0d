//! Several models, one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use turnkeep_runtime::port::{Answer, Begun, Deltas, Identity, Model, ModelError, Request, Tried};
use turnkeep_store::BoxFuture;

/// Several models as one, for callers without a journal: an agent has `with_fallback`, which records the switch. The next one is asked
/// where one is not available, refuses for now, or does not accept the key, and its answer had not begun.
pub struct Fallback {
    models: Vec<Arc<dyn Model>>,
    last: Mutex<usize>,
    told: Option<Box<Told>>,
}

/// Who hears of a switch.
type Told = dyn Fn(&Switch) + Send + Sync;

/// That another model was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The model that did not answer.
    pub from: Identity,
    /// The model that is asked instead.
    pub to: Identity,
    /// Why.
    pub why: ModelError,
}

impl Fallback {
    /// Asks `first`, and `others` in order where it does not answer.
    pub fn new(first: Arc<dyn Model>, others: impl IntoIterator<Item = Arc<dyn Model>>) -> Fallback {
        Fallback { models: std::iter::once(first).chain(others).collect(), last: Mutex::new(0), told: None }
    }

    /// Tells of every switch.
    #[must_use]
    pub fn telling(mut self, told: impl Fn(&Switch) + Send + Sync + 'static) -> Fallback {
        self.told = Some(Box::new(told));
        self
    }

    fn answered_by(&self, index: usize) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = index;
    }
}

impl Model for Fallback {
    /// The model that answered last; before any answer, the first.
    fn identity(&self) -> Identity {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.models.get(last).map(|model| model.identity()).unwrap_or_default()
    }

    fn answer<'a>(
        &'a self,
        request: Request<'a>,
        deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, std::result::Result<Answer, ModelError>> {
        Box::pin(async move {
            let mut tried: Vec<Tried> = Vec::new();
            for (index, model) in self.models.iter().enumerate() {
                if let (Some(Tried { by, error }), Some(told)) = (tried.last(), &self.told) {
                    told(&Switch { from: by.clone(), to: model.identity(), why: error.clone() });
                }
                let heard = Begun::new(deltas);
                let error = match model.answer(request.clone(), &heard).await {
                    Ok(answer) => {
                        self.answered_by(index);
                        return Ok(answer);
                    }
                    Err(error) => error,
                };
                let passes = error.may_pass_elsewhere() && !heard.has_begun();
                tried.push(Tried { by: model.identity(), error });
                if !passes {
                    self.answered_by(index);
                    break;
                }
            }
            Err(Tried::error_of(&tried))
        })
    }
}
