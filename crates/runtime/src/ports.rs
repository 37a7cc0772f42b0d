//! The clock, the ids, the processes and the hub that a run uses.

use std::sync::Arc;

use turnkeep_store::Chunks;

use crate::hub::Hub;
use crate::port::{Clock, Ids, LocalProcesses, Processes, RandomIds, SystemClock};

/// What a run takes time and ids from, and who hears of it.
#[derive(Clone)]
pub struct Ports {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<dyn Ids>,
    /// Who hears of what is recorded.
    pub hub: Hub,
    /// Who carries pieces of answers to other processes; the store, where it can and nobody is named.
    pub chunks: Option<Arc<dyn Chunks>>,
    /// Which process runs it, and whether another one that ran it still lives.
    pub processes: Arc<dyn Processes>,
}

impl Default for Ports {
    fn default() -> Ports {
        Ports {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            hub: Hub::default(),
            chunks: None,
            processes: Arc::new(LocalProcesses),
        }
    }
}
