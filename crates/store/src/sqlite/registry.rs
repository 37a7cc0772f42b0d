//! The databases that this process has open: each is opened once, and shared.
//!
//! SQLite's locks are POSIX locks. When a process closes *any* descriptor of a file, the system drops all locks of that
//! process on the file; SQLite takes care of its own descriptors, but cannot know of others. Without its locks, another
//! process that closes the database takes itself for the last one and removes the log, with whatever is committed to it
//! later. So a database that has a connection here is never opened by anything but SQLite, and opening it again, by
//! whatever name, shares the connections that are there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use super::place::{Identity, Place, find_or_make};
use super::shared::Shared;
use crate::error::Result;
use crate::work::lock;

/// The open databases. One that is being opened or closed is there without a store.
static OPEN: Mutex<BTreeMap<Identity, Weak<Shared>>> = Mutex::new(BTreeMap::new());
static CHANGED: Condvar = Condvar::new();

/// Keeps others from opening a database beside this store. Every connection holds it, so that it ends with the last one.
pub(super) struct Tenancy(Identity);

impl Drop for Tenancy {
    fn drop(&mut self) {
        lock(&OPEN).remove(&self.0);
        CHANGED.notify_all();
    }
}

/// Whether a database is open here.
pub(super) enum Claim {
    /// It is: this is its store.
    Shared(Arc<Shared>),
    /// It is not, and whoever asked may open it.
    Free(Place, Arc<Tenancy>),
}

/// Finds the store of a file, or claims the file. Waits while it is being opened or closed.
#[cfg_attr(unix, allow(clippy::clone_on_copy, reason = "what is a number here is a path elsewhere"))]
pub(super) fn claim(file: &Path) -> Result<Claim> {
    let mut open = lock(&OPEN);
    loop {
        // Under the lock: a file that is made here must not have a connection yet.
        let place = find_or_make(file)?;
        match open.get(&place.identity).map(Weak::upgrade) {
            Some(Some(shared)) => return Ok(Claim::Shared(shared)),
            Some(None) => open = CHANGED.wait(open).unwrap_or_else(PoisonError::into_inner),
            None => {
                let identity = place.identity.clone();
                open.insert(identity.clone(), Weak::new());
                return Ok(Claim::Free(place, Arc::new(Tenancy(identity))));
            }
        }
    }
}

/// Lets others share a store that was opened under this tenancy.
pub(super) fn share(tenancy: &Tenancy, store: &Arc<Shared>) {
    if let Some(entry) = lock(&OPEN).get_mut(&tenancy.0) {
        *entry = Arc::downgrade(store);
    }
    CHANGED.notify_all();
}
