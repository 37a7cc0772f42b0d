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

use super::location::{Identity, Location, find_or_make};
use super::shared::Shared;
use crate::error::Result;
use crate::thread_pool::lock;

/// The open databases. One that is being opened or closed is there without a store.
static OPEN: Mutex<BTreeMap<Identity, Weak<Shared>>> = Mutex::new(BTreeMap::new());
static CHANGED: Condvar = Condvar::new();

/// Keeps others from opening a database beside this store. Every connection holds it, so that it ends with the last one.
pub(super) struct Registration(Identity);

impl Drop for Registration {
    fn drop(&mut self) {
        lock(&OPEN).remove(&self.0);
        CHANGED.notify_all();
    }
}

/// Whether this process has a database open.
pub(super) enum Opened {
    /// It has: this is the database.
    Already(Arc<Shared>),
    /// It has not. The file is registered, and the caller opens it.
    New(Location, Arc<Registration>),
}

/// Finds the open database of a file, or registers the file. Waits while it is being opened or closed.
#[cfg_attr(unix, allow(clippy::clone_on_copy, reason = "what is a number here is a path elsewhere"))]
pub(super) fn find_or_register(file: &Path) -> Result<Opened> {
    let mut open = lock(&OPEN);
    loop {
        // Under the lock: a file that is made here must not have a connection yet.
        let location = find_or_make(file)?;
        match open.get(&location.identity).map(Weak::upgrade) {
            Some(Some(shared)) => return Ok(Opened::Already(shared)),
            Some(None) => open = CHANGED.wait(open).unwrap_or_else(PoisonError::into_inner),
            None => {
                let identity = location.identity.clone();
                open.insert(identity.clone(), Weak::new());
                return Ok(Opened::New(location, Arc::new(Registration(identity))));
            }
        }
    }
}

/// Lets others share a store that was opened under this registration.
pub(super) fn share(registration: &Registration, store: &Arc<Shared>) {
    if let Some(entry) = lock(&OPEN).get_mut(&registration.0) {
        *entry = Arc::downgrade(store);
    }
    CHANGED.notify_all();
}
