//! Watching what SQLite does to files: every write and sync is counted, can be kept, and can be made to fail.
//!
//! From what was kept, the files can be made as a loss of power at any moment would have left them.

mod crash;
mod shim;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crash::{Lost, restore};

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The name of the file in the folder.
    pub file: String,
    /// What was done.
    pub op: FileOp,
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// These bytes were written at this place.
    Write(u64, Vec<u8>),
    /// The file was cut to this length.
    Cut(u64),
    /// Everything before is on the disk.
    Sync,
    /// The file was removed.
    Remove,
}

/// How a write or a sync fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// The disk is full.
    Full,
    /// The disk is broken.
    Broken,
}

/// What happened in a folder so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IoCount {
    /// Writes.
    pub writes: u64,
    /// Bytes that were written.
    pub bytes: u64,
    /// Syncs.
    pub syncs: u64,
}

/// Whether changes are kept or only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// They are kept.
    All,
    /// They are counted.
    Nothing,
}

/// Watches the databases in one folder, as long as it lives.
#[derive(Debug)]
pub struct Watch {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    folder: PathBuf,
    keep: Keep,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    counts: BTreeMap<String, IoCount>,
    changes: Vec<FileChange>,
    /// How many writes and syncs still succeed, and how those after them fail.
    left: Option<(u32, u32, DiskFault)>,
}

impl Watch {
    /// Watches databases that are opened in `folder` from now on.
    pub fn new(folder: &Path, keep: Keep) -> Watch {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let state = Arc::new(State { folder, keep, seen: Mutex::default() });
        shim::install(&state);
        Watch { state }
    }

    /// What was done so far to files whose names begin like this: a database and its log.
    pub fn count(&self, beginning: &str) -> IoCount {
        let seen = self.state.seen();
        let counts = seen.counts.iter().filter(|(name, _)| name.starts_with(beginning));
        counts.fold(IoCount::default(), |sum, (_, count)| IoCount {
            writes: sum.writes + count.writes,
            bytes: sum.bytes + count.bytes,
            syncs: sum.syncs + count.syncs,
        })
    }

    /// How many changes were kept so far.
    pub fn moment(&self) -> usize {
        self.state.seen().changes.len()
    }

    /// The changes that were kept.
    pub fn changes(&self) -> Vec<FileChange> {
        self.state.seen().changes.clone()
    }

    /// Lets `good` writes and syncs succeed, and the `bad` after them fail.
    pub fn fail(&self, good: u32, bad: u32, fault: DiskFault) {
        self.state.seen().left = Some((good, bad, fault));
    }

    /// Whether every failure that was asked for has come.
    pub fn failed(&self) -> bool {
        self.state.seen().left.is_some_and(|(good, _, _)| good == 0)
    }

    /// Lets everything succeed again.
    pub fn mend(&self) {
        self.state.seen().left = None;
    }
}

impl State {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the next write or sync fails.
    fn next_fault(&self) -> Option<DiskFault> {
        let mut seen = self.seen();
        match &mut seen.left {
            Some((good @ 1.., _, _)) => {
                *good -= 1;
                None
            }
            Some((_, bad @ 1.., fault)) => {
                *bad -= 1;
                Some(*fault)
            }
            Some((_, _, _)) | None => None,
        }
    }

    fn wrote(&self, file: &str, at: u64, bytes: &[u8]) {
        let mut seen = self.seen();
        let count = seen.count(file);
        count.writes += 1;
        count.bytes += bytes.len() as u64;
        if self.keep == Keep::All {
            seen.changes.push(FileChange { file: file.to_owned(), op: FileOp::Write(at, bytes.to_vec()) });
        }
    }

    fn note(&self, file: &str, op: FileOp) {
        let mut seen = self.seen();
        if op == FileOp::Sync {
            seen.count(file).syncs += 1;
        }
        if self.keep == Keep::All {
            seen.changes.push(FileChange { file: file.to_owned(), op });
        }
    }
}

impl Seen {
    fn count(&mut self, file: &str) -> &mut IoCount {
        self.counts.entry(file.to_owned()).or_default()
    }
}
