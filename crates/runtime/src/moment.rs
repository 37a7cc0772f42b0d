//! A place in a session that one can come back to.

use std::sync::Arc;

use turnkeep_model::{Seq, Session, SessionId, Slice, Snapshot};
use turnkeep_store::{Store, StoreExt};

use crate::error::Result;
use crate::recorder::Recorder;
use crate::slices::{Logs, Reducers};

/// A session at a place of its journal, inside this process. What was said stays in the journal, which only grows, so a
/// moment costs the same however long the session is.
#[derive(Clone)]
pub struct Moment {
    store: Arc<dyn Store>,
    id: SessionId,
    seq: Seq,
    slices: Arc<[Slice]>,
}

impl Moment {
    /// The place.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The side-state there.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// The session there, as a complete portable document.
    ///
    /// # Errors
    /// What the store says.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        let loaded = self.store.load_at(&self.id, self.seq).await?;
        Ok(Snapshot { session: loaded.session, seq: loaded.seq })
    }
}

impl Recorder {
    /// This place, to come back to.
    pub fn moment(&self) -> Moment {
        let slices = self.session().slices.clone().into();
        Moment { store: self.store().clone(), id: self.id().clone(), seq: self.seq(), slices }
    }

    /// Puts the side-state back to what it was: all of it, or nothing.
    ///
    /// # Errors
    /// `SnapshotRestoreError` when there was state that is not registered, and those of recording.
    pub async fn rollback(&mut self, reducers: &Reducers, to: &Moment, logs: Logs) -> Result<()> {
        let then = Session { slices: to.slices.to_vec(), ..Session::default() };
        self.record_with(|state, _| reducers.rollback(&state.session, &then, logs)).await.map(drop)
    }
}
