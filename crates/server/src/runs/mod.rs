//! Runs: tasks of the server that outlive the request that began them.
//!
//! A run goes through the same library call as the command line's and is recorded the same way. Beside it the control store says
//! which server runs it, with which endpoint and tools, and when that server was last seen. When the process is gone, or was not
//! seen for a while, another server, or the same one after a restart, takes the run up; the `run.started` that it appends
//! to the session's journal fences the one before.

mod choice;
mod record;
mod start;
mod takeover;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turnkeep_model::SessionId;
use turnkeep_runtime::StopSignal;

use crate::config::Config;
use crate::control::Control;
use crate::ops::Log;
use crate::tenant::{TenantName, Tenants};

pub(crate) use start::{Started, Wanted, What};

/// The runs of this server.
pub(crate) struct Runs {
    config: Arc<Config>,
    control: Control,
    tenants: Arc<Tenants>,
    log: Log,
    active: Mutex<HashMap<Key, Active>>,
    reservations: AtomicU64,
}

type Key = (TenantName, SessionId);

/// A run that goes on here.
#[derive(Clone, Default)]
struct Active {
    stop: StopSignal,
    /// Which reservation it is, so that only its own end removes it.
    number: u64,
    /// Something was said since it began: it goes on once more if that was not answered.
    said: bool,
}

/// A session that runs here for as long as this is there, however its run ends.
struct Reserved {
    runs: Arc<Runs>,
    key: Key,
    number: u64,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut active = self.runs.lock();
        if active.get(&self.key).is_some_and(|active| active.number == self.number) {
            active.remove(&self.key);
        }
    }
}

impl Runs {
    pub(crate) fn new(config: Arc<Config>, control: Control, tenants: Arc<Tenants>, log: Log) -> Arc<Runs> {
        Arc::new(Runs { config, control, tenants, log, active: Mutex::default(), reservations: AtomicU64::new(0) })
    }

    /// How many go on here.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// The sessions of a tenant that run here.
    pub(crate) fn of(&self, tenant: &TenantName) -> Vec<SessionId> {
        self.lock().keys().filter(|(name, _)| name == tenant).map(|(_, id)| id.clone()).collect()
    }

    /// Asks a run to stop; whether there is one here.
    pub(crate) fn stop(&self, tenant: &TenantName, session: &SessionId) -> bool {
        let active = self.lock();
        let found = active.get(&(tenant.clone(), session.clone()));
        found.inspect(|active| active.stop.ask()).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
