//! What models are asked, kept.

use std::sync::{Arc, Mutex, PoisonError};

use turnkeep_provider::{HttpRequest, HttpResponse, Transport, TransportError};
use turnkeep_store::BoxFuture;

/// Keeps the bodies of the requests that pass, in order, whichever transport carries them.
#[derive(Clone, Default)]
pub struct Tap {
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Tap {
    /// A transport before which the tap sits.
    pub fn before(&self, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(Tapped { inner, tap: self.clone() })
    }

    /// The bodies that passed since this was last asked.
    pub fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.bodies.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Tapped {
    inner: Arc<dyn Transport>,
    tap: Tap,
}

impl Transport for Tapped {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        self.tap.bodies.lock().unwrap_or_else(PoisonError::into_inner).push(request.body.clone());
        self.inner.send(request)
    }
}
