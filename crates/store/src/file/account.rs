//! What is stored, in bytes.

use super::journal::Known;
use super::name::JOURNAL;
use super::shelf::Shelf;
use crate::error::{Error, ErrorKind, Result};
use crate::power::{SessionUse, Usage};

impl Shelf {
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
        let known = match self.known(stem) {
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(()),
            known => known?,
        };
        let Some(known) = known else {
            return Ok(());
        };
        let (raw, shared) = (known.summary.bytes, shared(&known));
        usage.raw += raw.saturating_sub(shared);
        if !self.is_gone(stem)? {
            usage.sessions.push(SessionUse { session: known.summary.id.clone(), raw, own: length, shared });
        }
        Ok(())
    }
}

/// The bytes of the lines that a fork shares with its parent.
fn shared(known: &Known) -> u64 {
    known.past.as_ref().map_or(0, |past| past.mark.bytes)
}
