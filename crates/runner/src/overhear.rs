//! What models say on the way, and what they are asked, kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use turnkeep_provider::{HttpRequest, HttpResponse, Transport, TransportError};
use turnkeep_runtime::port::{Answer, Clock, Delta, Deltas, Identity, Model, ModelError, Request};
use turnkeep_store::BoxFuture;

/// Keeps the body of every request that passes.
#[derive(Clone)]
pub struct Tap {
    inner: Arc<dyn Transport>,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Tap {
    /// A tap before a transport.
    pub fn new(inner: Arc<dyn Transport>) -> Tap {
        Tap { inner, bodies: Arc::default() }
    }

    /// The bodies that passed since this was last asked.
    pub fn take(&self) -> Vec<Vec<u8>> {
        take(&self.bodies)
    }
}

impl Transport for Tap {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        lock(&self.bodies).push(request.body.clone());
        self.inner.send(request)
    }
}

/// What a model said on the way to one answer, and when.
pub type Said = Vec<(Timestamp, Delta)>;

/// A model whose words are kept, answer by answer.
pub(crate) struct Overheard {
    inner: Arc<dyn Model>,
    clock: Arc<dyn Clock>,
    said: Arc<Mutex<Vec<Said>>>,
}

impl Overheard {
    /// A model whose words go to `said`, one entry each time it is asked.
    pub(crate) fn new(inner: Arc<dyn Model>, clock: Arc<dyn Clock>, said: &Arc<Mutex<Vec<Said>>>) -> Overheard {
        Overheard { inner, clock, said: said.clone() }
    }
}

impl Model for Overheard {
    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let ear = Ear { clock: &*self.clock, heard: Mutex::default(), further: deltas };
            let answer = self.inner.answer(request, &ear).await;
            lock(&self.said).push(std::mem::take(&mut *lock(&ear.heard)));
            answer
        })
    }
}

struct Ear<'a> {
    clock: &'a dyn Clock,
    heard: Mutex<Said>,
    further: &'a dyn Deltas,
}

impl Deltas for Ear<'_> {
    fn delta(&self, delta: Delta) {
        lock(&self.heard).push((self.clock.now(), delta.clone()));
        self.further.delta(delta);
    }
}

/// What was gathered since this was last asked.
pub(crate) fn take<T>(gathered: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut *lock(gathered))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
