//! Deleting sessions.
//!
//! A fork holds no copy of what it shares with its parent, so the file of a deleted session stays as long as a fork needs it. A
//! tombstone beside it says that the session itself is gone, and the file is cut after the last record that is shared.

use turnkeep_model::{Seq, SessionId};

use super::journal_dir::JournalDir;
use super::journal_index::{JournalIndex, Past};
use super::sharing::Sharing;
use crate::error::{Error, Result};
use crate::store::Deleted;
use crate::thread_pool::lock;

impl JournalDir {
    pub(super) fn delete(&self, session: &SessionId) -> Result<Deleted> {
        let _held = self.hold()?;
        let deleted = self.delete_held(session, None, &mut self.sharing()?)?;
        self.sync_folder()?;
        Ok(deleted)
    }

    /// Deletes a session while the store is held; where a last record is named, only if it still is that.
    pub(super) fn delete_held(&self, session: &SessionId, last: Option<Seq>, sharing: &mut Sharing) -> Result<Deleted> {
        let stem = self.stem_of(session)?;
        let index = self.index(&stem)?.filter(|index| last.is_none_or(|last| index.summary.last == last));
        let index = index.ok_or_else(|| Error::unknown(session))?;
        let shared = sharing.until(&stem);
        match shared {
            Some(until) => self.leave_tombstone(&stem, &index, until)?,
            None => self.remove(&stem, index.past.clone(), sharing)?,
        }
        Ok(Deleted { shared: shared.unwrap_or_default() })
    }

    /// Marks a session as deleted and cuts off what no fork shares.
    fn leave_tombstone(&self, stem: &str, index: &JournalIndex, until: Seq) -> Result<()> {
        let (mark, file) = (self.tombstone_file(stem), self.journal_file(stem));
        self.disk.append(&mark, b"deleted; forks share its past\n").map_err(|error| Error::io("mark", &mark, error))?;
        let kept = index.between(Seq::START, until).last().map_or(index.good, |end| end.end + 1);
        self.disk.truncate(&file, kept).map_err(|error| Error::io("cut", &file, error))?;
        lock(&self.files).remove(stem);
        Ok(())
    }

    /// Removes a file, and those deleted before it whose past only it shared.
    pub(super) fn remove(&self, stem: &str, past: Option<Past>, sharing: &mut Sharing) -> Result<()> {
        let mut next = Some((stem.to_owned(), past));
        while let Some((stem, past)) = next {
            let (file, mark) = (self.journal_file(&stem), self.tombstone_file(&stem));
            // The journal goes first: a mark without a journal is nothing, a journal without its mark would live again.
            self.disk.remove(&file).map_err(|error| Error::io("remove", &file, error))?;
            lock(&self.files).remove(&stem);
            if self.is_deleted(&stem)? {
                self.disk.remove(&mark).map_err(|error| Error::io("remove", &mark, error))?;
            }
            next = None;
            if let Some(past) = past
                && sharing.end(&stem, &past.stem)
                && self.is_deleted(&past.stem)?
            {
                let before = self.index(&past.stem)?.and_then(|index| index.past.clone());
                next = Some((past.stem, before));
            }
        }
        Ok(())
    }

    /// Which files share whose past.
    pub(super) fn sharing(&self) -> Result<Sharing> {
        let mut sharing = Sharing::default();
        for stem in self.stems()? {
            if let Some(past) = self.index(&stem)?.and_then(|index| index.past.clone()) {
                sharing.begin(stem, past);
            }
        }
        Ok(sharing)
    }
}
