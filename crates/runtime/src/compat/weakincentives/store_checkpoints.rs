//! Checkpoints without a copy: the journal of a request's session is one.

use std::sync::Arc;

use turnkeep_model::{ErrorKind, Snapshot};
use turnkeep_store::{BoxFuture, Store, StoreExt};

use super::evaluations::{self, Cleared};
use crate::checkpoint::{Checkpoint, CheckpointHandler, UserRequest};
use crate::error::{Error, Result};
use crate::ports::Ports;
use crate::slices::with_derived;

/// Checkpoints in a store: the journal of a request's session is one at every place.
#[derive(Clone)]
pub struct StoreCheckpoints {
    store: Arc<dyn Store>,
    ports: Ports,
}

impl StoreCheckpoints {
    /// In this store.
    pub fn new(store: Arc<dyn Store>, ports: Ports) -> StoreCheckpoints {
        StoreCheckpoints { store, ports }
    }
}

impl<R: UserRequest + ?Sized> CheckpointHandler<R> for StoreCheckpoints {
    fn load<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            let latest = evaluations::latest(&*self.store, &request.id()).await?;
            let open = latest.loaded.filter(|loaded| Cleared::of(&loaded.session).is_none());
            Ok(open.map(|loaded| Checkpoint {
                snapshot: Snapshot { session: with_derived(loaded.session), seq: loaded.seq },
            }))
        })
    }

    /// The journal is durable already; that this store has it is checked.
    fn save<'a>(&'a self, request: &'a R, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let last = match &snapshot.session.id {
                Some(id) => self.store.last(id).await.ok(),
                None => None,
            };
            if last.is_none_or(|last| last < snapshot.seq) {
                let what = format!("the store of the checkpoints lacks the session of request {}", request.id());
                return Err(
                    Error::new(ErrorKind::Mismatch, what).hint("run the session in the store of its checkpoints")
                );
            }
            Ok(())
        })
    }

    fn clear<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let latest = evaluations::latest(&*self.store, &request.id()).await?;
            match latest.loaded.filter(|loaded| Cleared::of(&loaded.session).is_none()) {
                Some(_) => evaluations::clear(&*self.store, &latest.id, &self.ports, Cleared::Checkpoint).await,
                None => Ok(()),
            }
        })
    }
}
