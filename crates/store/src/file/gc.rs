//! Retention, and removing what no session reaches any more.
//!
//! The directory is locked while files are removed, so that nobody forks a session that goes, and who shares whose past is
//! found out once and not for every session.

use turnkeep_model::SessionId;

use super::journal_dir::JournalDir;
use super::name::TOMBSTONE;
use super::sharing::Sharing;
use crate::capability::{Freed, Retention};
use crate::error::{Error, ErrorKind, Result};
use crate::retention::{Candidate, expired_of, unfinished};

impl JournalDir {
    pub(super) fn gc(&self, retention: &Retention) -> Result<Freed> {
        let expired = self.expired(retention)?;
        if retention.rehearse {
            let sessions = expired.into_iter().map(|candidate| candidate.session).collect();
            return Ok(Freed { sessions, ..Freed::default() });
        }
        let (batches, bytes) = (self.batches()?, self.bytes()?);
        let mut sessions = Vec::new();
        self.remove_all(expired, &mut sessions).map_err(|error| unfinished(sessions.len(), error))?;
        Ok(Freed {
            sessions,
            batches: batches.saturating_sub(self.batches()?),
            bodies: 0,
            bytes: bytes.saturating_sub(self.bytes()?),
        })
    }

    /// Removes these sessions, unless someone changed them meanwhile, and what a process left that died while it deleted
    /// or erased. The store is held throughout, so that nobody forks what goes: who shares whose past is asked once.
    fn remove_all(&self, expired: Vec<Candidate>, sessions: &mut Vec<SessionId>) -> Result<()> {
        let _held = self.hold()?;
        let mut sharing = self.sharing()?;
        for candidate in expired {
            match self.delete_held(&candidate.session, Some(candidate.last), &mut sharing) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                done => {
                    done?;
                    sessions.push(candidate.session);
                }
            }
        }
        self.sweep(&mut sharing)?;
        self.sync_folder()
    }

    /// The sessions that are no longer kept.
    fn expired(&self, retention: &Retention) -> Result<Vec<Candidate>> {
        let mut summaries = Vec::new();
        for stem in self.live_stems()? {
            summaries.extend(self.index(&stem)?.map(|index| index.summary.clone()));
        }
        summaries.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        let candidate = |summary: crate::summary::Summary| Candidate {
            session: summary.id,
            last: summary.last,
            updated: summary.updated,
            bytes: summary.bytes,
            held: false,
        };
        Ok(expired_of(summaries.into_iter().map(candidate).collect(), retention, self.options.clock.now()))
    }

    fn sweep(&self, sharing: &mut Sharing) -> Result<()> {
        for name in self.names()? {
            if let Some(stem) = name.strip_suffix(TOMBSTONE) {
                match self.index(stem)? {
                    None => self.remove_if_there(&self.tombstone_file(stem))?,
                    Some(index) if sharing.until(stem).is_none() => self.remove(stem, index.past.clone(), sharing)?,
                    Some(_) => {}
                }
            } else if self.is_staged(&name) {
                self.remove_if_there(&self.folder.join(&name))?;
            }
        }
        Ok(())
    }

    fn batches(&self) -> Result<u64> {
        let mut batches = 0;
        for stem in self.stems()? {
            batches += self.index(&stem)?.map_or(0, |index| index.ends.len() as u64);
        }
        Ok(batches)
    }

    fn bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        for name in self.names()? {
            let file = self.folder.join(name);
            let stat = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))?;
            bytes += stat.map_or(0, |stat| stat.length);
        }
        Ok(bytes)
    }
}
