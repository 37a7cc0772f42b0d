//! Following a conversation while it goes on.
//!
//! A journal has whole answers; the pieces in which they arrive are only seen by those who watch. An observer never holds a
//! run up by an error: it has no way to return one.

use std::sync::Arc;

use turnkeep_runtime::port::{Answer, Delta, Deltas, Identity, Model, ModelError, Request};
use turnkeep_store::BoxFuture;

/// What happens in a conversation before it is recorded.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// A model is asked.
    Asked,
    /// A piece of its answer arrived.
    Arrived(&'a Delta),
    /// It answered; `None` where it could not. A run that someone stops ends without this.
    Answered(Option<&'a Answer>),
}

/// Follows a conversation. Every function of a [`Progress`] is one.
pub trait Observer: Send + Sync {
    /// Something happens.
    fn observe(&self, progress: Progress<'_>);
}

impl<F: Fn(Progress<'_>) + Send + Sync> Observer for F {
    fn observe(&self, progress: Progress<'_>) {
        self(progress);
    }
}

/// The same model, observed.
pub(crate) fn observed(inner: Arc<dyn Model>, observer: Arc<dyn Observer>) -> Arc<dyn Model> {
    Arc::new(ObservedModel { inner, observer })
}

struct ObservedModel {
    inner: Arc<dyn Model>,
    observer: Arc<dyn Observer>,
}

impl Model for ObservedModel {
    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.observer.observe(Progress::Asked);
        Box::pin(async move {
            let answer = self.inner.answer(request, &Passing { deltas, observer: &*self.observer }).await;
            self.observer.observe(Progress::Answered(answer.as_ref().ok()));
            answer
        })
    }
}

/// Shows pieces to an observer, and passes them on.
struct Passing<'a> {
    deltas: &'a dyn Deltas,
    observer: &'a dyn Observer,
}

impl Deltas for Passing<'_> {
    fn delta(&self, delta: Delta) {
        self.observer.observe(Progress::Arrived(&delta));
        self.deltas.delta(delta);
    }
}
