//! A place in a session that one can come back to.

use std::sync::Arc;

use turnkeep_model::{Seq, Session, SessionId, Slice, Snapshot};
use turnkeep_store::{ErrorKind, Store, StoreExt};

use crate::error::{Error, Named, Result};
use crate::ports::Ports;
use crate::recorder::Recorder;
use crate::slices::{Logs, Reducers, restore_derived, with_derived};

/// A session at a place of its journal, inside this process. What was said stays in the journal, which only grows, so a
/// moment costs the same however long the session is.
#[derive(Clone)]
pub struct Savepoint {
    store: Arc<dyn Store>,
    id: SessionId,
    seq: Seq,
    slices: Arc<[Slice]>,
}

impl Savepoint {
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
        Ok(Snapshot { session: with_derived(loaded.session), seq: loaded.seq })
    }
}

impl Recorder {
    /// This place, to come back to.
    pub fn savepoint(&self) -> Savepoint {
        let slices = self.session().slices.clone().into();
        Savepoint { store: self.store().clone(), id: self.id().clone(), seq: self.seq(), slices }
    }

    /// Puts the side-state back to what it was: all of it, or nothing.
    ///
    /// # Errors
    /// `SnapshotRestoreError` when there was state that is not registered, and those of recording.
    pub async fn rollback(&mut self, reducers: &Reducers, to: &Savepoint, logs: Logs) -> Result<()> {
        let then = Session { slices: to.slices.to_vec(), ..Session::default() };
        self.record_with(|state, _| reducers.rollback(&state.session, &then, logs)).await.map(drop)
    }

    /// Takes up the session of a snapshot: its journal, where the store has it and it is as new; else the snapshot becomes
    /// a session of the same id, so that its calls keep their keys.
    ///
    /// # Errors
    /// `SnapshotRestoreError` when the store's journal ends before the snapshot, and those of [`Recorder::resume`] and
    /// [`Recorder::create`].
    pub async fn restore(store: Arc<dyn Store>, snapshot: Snapshot, ports: Ports) -> Result<Recorder> {
        let Snapshot { mut session, seq } = snapshot;
        restore_derived(&mut session);
        let Some(id) = session.id.clone() else {
            return Recorder::create(store, session, ports).await;
        };
        match store.last(&id).await {
            Ok(last) if last >= seq => Recorder::resume(store, &id, ports).await,
            Ok(last) => Err(older(&id, last, seq)),
            Err(error) if error.kind() == ErrorKind::NotFound => Recorder::create(store, session, ports).await,
            Err(error) => Err(Error::from(error).session(&id)),
        }
    }
}

/// The journal has less than the snapshot: going on with either would lose something or act twice.
fn older(id: &SessionId, last: Seq, seq: Seq) -> Error {
    let detail = format!("the store has the session up to {last} only, and the snapshot was taken at {seq}");
    Error::new(turnkeep_model::ErrorKind::Mismatch, format!("the snapshot cannot be restored: {detail}"))
        .named(Named::SnapshotRestore)
        .session(id)
        .hint("use the store it was recorded in; or remove the session from this one (`turnkeep rm`) and restore again")
}
