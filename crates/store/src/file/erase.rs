//! Taking a secret out of journal files.
//!
//! The text may stand in any file of the family of forks, and forks count the bytes of the past they share. So all related files
//! are written anew beside the old ones first, and only then put in their places: a failure before that changes nothing.

use std::collections::HashMap;
use std::sync::Arc;

use turnkeep_model::{Json, Object, Seq, SessionId};

use super::journal_dir::JournalDir;
use super::journal_index::{JournalIndex, OURS, damaged, head_text, read_head};
use crate::capability::Erased;
use crate::checksum;
use crate::error::{Error, Result};
use crate::scrub::{check_needle, scrub, without};
use crate::thread_pool::lock;

/// A journal file as it will be.
struct Rewrite {
    stem: String,
    index: Arc<JournalIndex>,
    head: String,
    lines: Vec<String>,
    /// By how much every batch's account of bytes grows.
    shifts: Vec<i64>,
}

impl JournalDir {
    pub(super) fn erase(&self, session: &SessionId, only: Option<Seq>, needle: &str) -> Result<Erased> {
        check_needle(needle)?;
        let _held = self.hold()?;
        let lineage = self.lineage(session)?;
        let mut erased = Erased::default();
        let mut rewrites = Vec::new();
        for stem in self.related(&lineage)? {
            let mut rewrite = self.as_it_is(stem)?;
            let shift = shift_of_past(&rewrites, &rewrite.index);
            let until = lineage.iter().find(|(stem, _)| *stem == rewrite.stem).map_or(Seq::START, |(_, until)| *until);
            erased.records.extend(rewrite.erase(shift, until, only, needle)?);
            rewrite.scrub_head(shift, needle)?;
            rewrites.push(rewrite);
        }
        if erased.records.is_empty() {
            return Ok(erased);
        }
        self.replace_all(&rewrites)?;
        for rewrite in rewrites {
            let id = &rewrite.index.summary.id;
            if id != session && !self.is_deleted(&rewrite.stem)? {
                erased.shared_with.push(id.clone());
            }
        }
        erased.shared_with.sort();
        Ok(erased)
    }

    /// The files that a session's journal is in, each with the last record of it that is shared.
    fn lineage(&self, session: &SessionId) -> Result<Vec<(String, Seq)>> {
        let stem = self.stem_of(session)?;
        let mut index = self.index(&stem)?.ok_or_else(|| Error::unknown(session))?;
        let mut lineage = vec![(stem, Seq(u64::MAX))];
        while let Some(past) = index.past.clone() {
            index = self.past(&past)?;
            let until = lineage.last().map_or(past.until, |(_, until)| past.until.min(*until));
            lineage.push((past.stem, until));
        }
        Ok(lineage)
    }

    /// The files of everything that descends from the root of a lineage, themselves included, each after the one it is forked from.
    fn related(&self, lineage: &[(String, Seq)]) -> Result<Vec<String>> {
        let mut related: Vec<String> = lineage.last().map(|(root, _)| root.clone()).into_iter().collect();
        let mut forks: HashMap<String, Vec<String>> = HashMap::new();
        for stem in self.stems()? {
            if let Some(past) = self.index(&stem)?.and_then(|index| index.past.clone()) {
                forks.entry(past.stem).or_default().push(stem);
            }
        }
        let mut next = 0;
        while let Some(stem) = related.get(next) {
            related.extend(forks.remove(stem).unwrap_or_default());
            next += 1;
        }
        Ok(related)
    }

    fn as_it_is(&self, stem: String) -> Result<Rewrite> {
        let file = self.journal_file(&stem);
        let index = self.index(&stem)?.ok_or_else(|| damaged("a journal is missing").file(&file))?;
        let bytes = self.disk.read(&file, 0, index.good).map_err(|error| Error::io("read", &file, error))?;
        let text = String::from_utf8(bytes).map_err(|_| damaged("the journal is not UTF-8").file(&file))?;
        let head = text.lines().next().unwrap_or_default().to_owned();
        let line = |end: &super::journal_index::BatchSpan| {
            let range = usize::try_from(end.start).ok()?..usize::try_from(end.end).ok()?;
            text.get(range).map(str::to_owned)
        };
        let lines = index.ends.iter().map(line).collect::<Option<_>>();
        let lines = lines.ok_or_else(|| damaged("the journal was cut meanwhile").file(&file))?;
        Ok(Rewrite { stem, index, head, lines, shifts: Vec::new() })
    }

    /// Puts new files in the place of the old ones, all of them written before the first is replaced.
    fn replace_all(&self, rewrites: &[Rewrite]) -> Result<()> {
        for rewrite in rewrites {
            self.stage(&rewrite.stem, rewrite.text().as_bytes())?;
        }
        for rewrite in rewrites {
            self.replace_by_staged(&rewrite.stem)?;
            // What a repair kept beside the journal may hold the secret in any form.
            self.remove_if_there(&self.damaged_file(&rewrite.stem))?;
        }
        self.sync_folder()
    }

    /// Writes what a journal file will be, durably, beside it.
    pub(super) fn stage(&self, stem: &str, bytes: &[u8]) -> Result<()> {
        let aside = self.staged_file(stem);
        self.remove_if_there(&aside)?;
        let written = self.disk.append(&aside, bytes).and_then(|()| self.disk.sync(&aside));
        written.map_err(|error| {
            let _ = self.disk.remove(&aside);
            Error::io("write", &aside, error).hint("nothing was changed; make room and try again")
        })
    }

    /// Puts what was written beside a journal file in its place.
    pub(super) fn replace_by_staged(&self, stem: &str) -> Result<()> {
        let file = self.journal_file(stem);
        lock(&self.files).remove(stem);
        self.disk.rename(&self.staged_file(stem), &file).map_err(|error| Error::io("replace", &file, error))
    }

    pub(super) fn remove_if_there(&self, file: &std::path::Path) -> Result<()> {
        match self.disk.remove(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", file, error)),
            _ => Ok(()),
        }
    }
}

impl Rewrite {
    /// Takes the needle out of the batches up to a record; gives the records that held it.
    fn erase(&mut self, shift: i64, until: Seq, only: Option<Seq>, needle: &str) -> Result<Vec<Seq>> {
        let mut first = self.index.past.as_ref().map_or(Seq::START, |past| past.until).next();
        let (mut shift, mut erased) = (shift, Vec::new());
        for (line, end) in self.lines.iter_mut().zip(&self.index.ends) {
            let given = checksum::original_line(line)?.into_owned();
            if end.mark.last <= until
                && let Some((changed, records)) = without(&given, first, only, needle)?
            {
                shift += signed(changed.len() as u64) - signed(given.len() as u64);
                *line = changed;
                erased.extend(records);
            }
            self.shifts.push(shift);
            first = end.mark.last.next();
        }
        Ok(erased)
    }

    /// Takes the needle out of what the head of a fork says of its past.
    fn scrub_head(&mut self, shift: i64, needle: &str) -> Result<()> {
        let Some(past) = &self.index.past else {
            return Ok(());
        };
        let mut journal = read_head(&self.head)?;
        let fields = &mut journal.extra.part_mut(OURS).fields;
        let Some(Json::Object(mut fork)) = fields.get("fork").cloned() else {
            return Err(damaged("the journal does not say what it forks"));
        };
        fork.set("bytes", past.mark.bytes.saturating_add_signed(shift));
        scrub_listing(&mut fork, needle);
        fields.set("fork", Json::Object(fork));
        self.head = head_text(&journal);
        Ok(())
    }

    fn text(&self) -> String {
        let lines = std::iter::once(&self.head).chain(&self.lines);
        lines.flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}

/// By how much the account of bytes grows where a file's past ends.
fn shift_of_past(rewrites: &[Rewrite], index: &JournalIndex) -> i64 {
    let Some(past) = &index.past else {
        return 0;
    };
    let Some(parent) = rewrites.iter().find(|rewrite| rewrite.stem == past.stem) else {
        return 0;
    };
    let until = parent.index.ends.partition_point(|end| end.mark.last <= past.until);
    until.checked_sub(1).and_then(|at| parent.shifts.get(at)).copied().unwrap_or_default()
}

fn scrub_listing(fork: &mut Object, needle: &str) {
    for (key, value) in fork.iter_mut() {
        if ["title", "status", "tags"].contains(&key.to_str_lossy().as_ref()) {
            scrub(value, needle);
        }
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
