//! Appending to a session without running it.

use turnkeep_model::{Batch, Entry, Event, Seq, SessionId, Time};
use turnkeep_store::{ErrorKind, Loaded, Store, StoreExt};

use crate::error::{Error, Result};
use crate::ports::Ports;

/// Appends to a session that someone else may be running: reads, makes the events, appends, and begins again when someone
/// was faster.
///
/// # Errors
/// `NotFound`, what `make` says, and what the store says.
pub async fn post(
    store: &dyn Store,
    id: &SessionId,
    ports: &Ports,
    make: impl Fn(&Loaded) -> Result<Vec<Event>> + Send + Sync,
) -> Result<Seq> {
    loop {
        let state = store.load(id).await?;
        let events = make(&state).map_err(|error| error.session(id))?;
        let mut batch = Batch::new(state.seq.next(), events.into_iter().map(Entry::from).collect());
        batch.time = Some(Time::from_instant(ports.clock.now()));
        match store.append(id, state.seq, &batch).await {
            Ok(seq) => {
                ports.hub.publish(id, &batch);
                return Ok(seq);
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            Err(error) => return Err(Error::from(error).session(id)),
        }
    }
}
