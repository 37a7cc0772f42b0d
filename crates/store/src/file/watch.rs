//! What changed: whoever changes something holds the lock, and the file of the lock grows by a byte with every holder.

use std::sync::Arc;
use std::time::{Duration, Instant};

use turnkeep_model::SessionId;

use super::journal_dir::JournalDir;
use crate::disk::Stat;
use crate::error::{Error, Result};
use crate::poll::{Probe, Sighting};

/// How often every followed journal is looked at all the same: an earlier version of this program, or a disk of one's own, may
/// not let the lock's file grow.
const SWEEP: Duration = Duration::from_secs(2);

/// Looks at the lock's file, and at journals only after someone held it.
pub(super) struct FileProbe {
    dir: Arc<JournalDir>,
    seen: Option<Stat>,
    swept: Option<Instant>,
}

impl FileProbe {
    pub(super) fn new(dir: Arc<JournalDir>) -> FileProbe {
        FileProbe { dir, seen: None, swept: None }
    }
}

impl Probe for FileProbe {
    fn has_changed(&mut self) -> Result<bool> {
        let file = self.dir.lock_file();
        let stat = self.dir.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))?;
        let is_due = self.swept.is_none_or(|swept| swept.elapsed() >= SWEEP);
        let has_changed = std::mem::replace(&mut self.seen, stat) != stat || is_due;
        if has_changed {
            self.swept = Some(Instant::now());
        }
        Ok(has_changed)
    }

    fn sight(&mut self, sessions: &[SessionId]) -> Result<Vec<Sighting>> {
        Ok(sessions.iter().map(|session| self.dir.sight(session)).collect())
    }
}

impl JournalDir {
    /// How a session is. One that cannot be read is a sight of its own: whoever reads it is told why.
    fn sight(&self, session: &SessionId) -> Sighting {
        match self.stem_of(session).and_then(|stem| self.index(&stem)) {
            Ok(Some(index)) => Sighting { last: Some(index.summary.last), mark: index.good },
            Ok(None) => Sighting::default(),
            Err(_) => Sighting { last: None, mark: u64::MAX },
        }
    }
}
