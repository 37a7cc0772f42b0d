//! `du`: how many bytes every session, and the directory as a whole, takes.
//!
//! What forks share is counted once, with the file that holds it.

use super::journal_dir::JournalDir;
use super::journal_index::JournalIndex;
use super::name::JOURNAL;
use crate::capability::{SessionUse, Usage};
use crate::error::{Error, ErrorKind, Result};

impl JournalDir {
    pub(super) fn usage(&self) -> Result<Usage> {
        let mut usage = Usage::default();
        for name in self.names()? {
            let file = self.folder.join(&name);
            let stat = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))?;
            let length = stat.map_or(0, |stat| stat.length);
            match name.strip_suffix(JOURNAL) {
                Some(stem) => self.count(stem, length, &mut usage)?,
                None => usage.listing += length,
            }
            usage.total += length;
        }
        usage.sessions.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| a.session.cmp(&b.session)));
        Ok(usage)
    }

    /// Counts a journal file. Of one that is damaged only its length is known.
    fn count(&self, stem: &str, length: u64, usage: &mut Usage) -> Result<()> {
        usage.journals += length;
        let index = match self.index(stem) {
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(()),
            index => index?,
        };
        let Some(index) = index else {
            return Ok(());
        };
        let (raw, shared) = (index.summary.bytes, shared(&index));
        usage.raw += raw.saturating_sub(shared);
        if !self.is_deleted(stem)? {
            usage.sessions.push(SessionUse { session: index.summary.id.clone(), raw, own: length, shared });
        }
        Ok(())
    }
}

/// The bytes of the lines that a fork shares with its parent.
fn shared(index: &JournalIndex) -> u64 {
    index.past.as_ref().map_or(0, |past| past.mark.bytes)
}
