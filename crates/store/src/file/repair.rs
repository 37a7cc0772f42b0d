//! Finding what is wrong with the files, and saving what can be saved.
//!
//! A repair keeps the whole lines before the damage and never throws the rest away: the damaged file stays beside the new one.

use turnkeep_model::{Seq, SessionId};

use super::journal_dir::JournalDir;
use super::journal_index::{JournalIndex, Past};
use super::name::{JOURNAL, is_stem_of};
use crate::capability::Repaired;
use crate::error::{Error, Result};
use crate::summary::Summary;
use crate::verify::Finding;

impl JournalDir {
    /// Torn tails, damaged lines, files that are not of the session they are named for, and forks without their past.
    pub(super) fn check(&self, session: Option<&SessionId>) -> Result<Vec<Finding>> {
        let stems = match session {
            Some(session) => vec![self.stem_of(session)?],
            None => self.stems()?,
        };
        let mut findings = Vec::new();
        for stem in stems {
            match self.index(&stem) {
                Ok(Some(index)) if index.torn > 0 => {
                    findings.push(Finding::TornTail { session: index.summary.id.clone(), bytes: index.torn });
                }
                Ok(Some(index)) if !is_stem_of(&stem, &index.summary.id) => {
                    let what = format!("the file {stem} is of another session than its name says");
                    findings.push(Finding::Damaged { session: Some(index.summary.id.clone()), seq: None, what });
                }
                Ok(Some(index)) => findings.extend(self.lacks_past(&index)),
                Ok(None) => {}
                Err(error) => {
                    let (session, seq) = (session.cloned(), error.at_seq());
                    findings.push(Finding::Damaged { session, seq, what: error.to_string() });
                }
            }
        }
        Ok(findings)
    }

    /// What a fork lacks of its past. What is wrong inside of the file that holds it is found there.
    fn lacks_past(&self, index: &JournalIndex) -> Option<Finding> {
        let past = index.past.as_ref()?;
        let what = match self.past(past) {
            Ok(parent) if parent.mark(past.until).is_some() => return None,
            Ok(_) => format!("the file that holds its past, {}{JOURNAL}, ends before record {}", past.stem, past.until),
            Err(error) => error.what().to_owned(),
        };
        let session = Some(index.summary.id.clone());
        Some(Finding::Damaged { session, seq: Some(past.until), what })
    }

    /// Cuts torn tails off, and keeps of a damaged file what comes before the damage; the damaged one is kept beside it.
    pub(super) fn repair(&self) -> Result<Vec<Repaired>> {
        let _held = self.hold()?;
        let mut repaired = Vec::new();
        for stem in self.stems()? {
            match self.index(&stem) {
                Ok(Some(index)) if index.torn > 0 => repaired.push(self.cut_tail(&stem, &index)?),
                Ok(_) => {}
                Err(_) => repaired.extend(self.save_prefix(&stem)?),
            }
        }
        self.cut_forks(&mut repaired)?;
        Ok(repaired)
    }

    /// Cuts forks off where what they share was lost, and forks of those after them.
    fn cut_forks(&self, repaired: &mut Vec<Repaired>) -> Result<()> {
        loop {
            let before = repaired.len();
            for stem in self.stems()? {
                if let Ok(Some(index)) = self.index(&stem) {
                    repaired.extend(self.cut_fork(&stem, &index)?);
                }
            }
            if repaired.len() == before {
                return Ok(());
            }
        }
    }

    fn cut_fork(&self, stem: &str, index: &JournalIndex) -> Result<Option<Repaired>> {
        let Some(past) = &index.past else {
            return Ok(None);
        };
        let Ok(parent) = self.index(&past.stem) else {
            return Ok(None);
        };
        if parent.as_ref().is_some_and(|parent| parent.mark(past.until).is_some()) {
            return Ok(None);
        }
        let mark = parent.and_then(|parent| parent.mark(parent.summary.last)).unwrap_or_default();
        let summary = Summary { last: past.until, ..index.given.clone() };
        let cut = JournalIndex::fork(summary, Past { stem: past.stem.clone(), until: mark.last, mark });
        self.keep_damaged(stem)?;
        if mark.last == Seq::START {
            self.remove_if_there(&self.journal_file(stem))?;
        } else {
            self.stage(stem, format!("{}\n", cut.head_line()).as_bytes())?;
            self.replace_by_staged(stem)?;
        }
        let lost = Some(format!("records {} to {}, with what it shared", mark.last.next(), index.summary.last));
        Ok(Some(Repaired { session: index.summary.id.clone(), last: mark.last, lost, anew: Vec::new() }))
    }

    /// Keeps a file as it is beside the one that takes its place.
    fn keep_damaged(&self, stem: &str) -> Result<()> {
        let (file, aside) = (self.journal_file(stem), self.damaged_file(stem));
        let bytes = self.disk.read(&file, 0, u64::MAX).map_err(|error| Error::io("read", &file, error))?;
        self.remove_if_there(&aside)?;
        let saved = self.disk.append(&aside, &bytes).and_then(|()| self.disk.sync(&aside));
        saved.map_err(|error| Error::io("keep", &aside, error))
    }

    fn cut_tail(&self, stem: &str, index: &JournalIndex) -> Result<Repaired> {
        let file = self.journal_file(stem);
        let done = self.disk.truncate(&file, index.good).and_then(|()| self.disk.sync(&file));
        done.map_err(|error| Error::io("repair", &file, error))?;
        let lost = format!("{} bytes of a batch that was never acknowledged", index.torn);
        let (session, last) = (index.summary.id.clone(), index.summary.last);
        Ok(Repaired { session, last, lost: Some(lost), anew: Vec::new() })
    }

    fn save_prefix(&self, stem: &str) -> Result<Option<Repaired>> {
        let (file, aside) = (self.journal_file(stem), self.damaged_file(stem));
        let bytes = self.disk.read(&file, 0, u64::MAX).map_err(|error| Error::io("read", &file, error))?;
        let (kept, session, last) = good_prefix(&bytes);
        let Some(session) = session else {
            return Ok(None);
        };
        self.keep_damaged(stem)?;
        self.stage(stem, kept)?;
        self.replace_by_staged(stem)?;
        self.disk.sync_folder(&self.folder).map_err(|error| Error::io("repair", &file, error))?;
        let lost =
            format!("{} bytes after the damage; all of it is kept in {}", bytes.len() - kept.len(), aside.display());
        Ok(Some(Repaired { session, last, lost: Some(lost), anew: Vec::new() }))
    }
}

/// The whole and gapless lines at the beginning of a file, whose they are, and the last record in them.
fn good_prefix(bytes: &[u8]) -> (&[u8], Option<SessionId>, Seq) {
    let mut index: Option<JournalIndex> = None;
    let mut good = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = std::str::from_utf8(line).ok().and_then(|text| text.strip_suffix('\n'));
        let taken = match (text, &mut index) {
            (Some(text), None) => JournalIndex::from_head(text).map(|head| index = Some(head)).is_ok(),
            (Some(text), Some(index)) => index.take(text, 0, 0).is_ok(),
            (None, _) => false,
        };
        if !taken {
            break;
        }
        good += line.len();
    }
    let last = index.as_ref().map_or(Seq::START, |index| index.summary.last);
    (bytes.get(..good).unwrap_or_default(), index.map(|index| index.summary.id), last)
}
