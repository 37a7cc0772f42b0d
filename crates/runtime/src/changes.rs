//! When to look at a session again.

use std::time::Duration;

use futures_util::stream::unfold;
use turnkeep_model::SessionId;
use turnkeep_store::{Changed, Changes, Store};

use crate::error::Result;

/// How often a store that cannot tell is looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// Tells when a session may have changed, whichever process changed it: by the store's [`Watch`](turnkeep_store::Watch), or,
/// where the store has none, by the time.
///
/// # Errors
/// What the store says.
pub fn changes(store: &dyn Store, session: &SessionId) -> Result<Changes> {
    match store.watch() {
        Some(watch) => Ok(watch.watch(session)?),
        None => Ok(Box::pin(unfold((), |()| async {
            futures_timer::Delay::new(PAUSE).await;
            Some((Changed { last: None }, ()))
        }))),
    }
}
