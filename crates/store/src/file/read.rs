//! Reading batches back: from a session to the parts of files that hold its journal, and from those to batches.
//!
//! Where batches stand is known before a file is read, so that a reader can fetch one part at a time. An erasure may replace the
//! file in between; a part that no longer holds its batches is looked up again by their record numbers, which never change.

use turnkeep_model::{Batch, Seq, SessionId};

use super::journal_dir::{CHUNK, JournalDir, not_text};
use super::journal_index::{JournalIndex, batch_of};
use crate::checksum;
use crate::error::{Error, Result};

/// A part of a file that holds some batches: those after a record, up to another.
pub(super) struct Span {
    stem: String,
    after: Seq,
    until: Seq,
    from: u64,
    length: u64,
}

impl JournalDir {
    /// The parts of files to read for the batches after `after`, each of about one chunk.
    pub(super) fn spans(&self, session: &SessionId, after: Seq) -> Result<Vec<Span>> {
        let mut stem = self.stem_of(session)?;
        let mut index = self.index(&stem)?.ok_or_else(|| Error::unknown(session))?;
        let mut until = Seq(u64::MAX);
        let mut parts = Vec::new();
        loop {
            parts.push(self.cut_into_spans(&stem, &index, after, until));
            match index.past.clone() {
                Some(past) if past.until > after => {
                    index = self.past(&past)?;
                    (stem, until) = (past.stem, past.until.min(until));
                }
                _ => break,
            }
        }
        Ok(parts.into_iter().rev().flatten().collect())
    }

    fn cut_into_spans(&self, stem: &str, index: &JournalIndex, after: Seq, until: Seq) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for end in index.between(after, until) {
            match spans.last_mut() {
                Some(span) if span.length < CHUNK => {
                    (span.length, span.until) = (end.end - span.from, end.mark.last);
                }
                last => {
                    let after = last.map_or(index.before(end), |span| span.until);
                    let (stem, length) = (stem.to_owned(), end.end - end.start);
                    spans.push(Span { stem, after, until: end.mark.last, from: end.start, length });
                }
            }
        }
        spans
    }

    pub(super) fn read(&self, span: &Span) -> Result<Vec<Batch>> {
        match self.read_at(span) {
            Ok(batches) if span.is_of(&batches) => Ok(batches),
            first => self.read_again(span).unwrap_or(first),
        }
    }

    /// An erasure may have put another file in the place of this one: its batches stand elsewhere now.
    fn read_again(&self, span: &Span) -> Option<Result<Vec<Batch>>> {
        let index = self.index(&span.stem).ok()??;
        let ends = index.between(span.after, span.until);
        let (first, last) = (ends.first()?, ends.last()?);
        let moved = Span { stem: span.stem.clone(), from: first.start, length: last.end - first.start, ..*span };
        Some(self.read_at(&moved))
    }

    fn read_at(&self, span: &Span) -> Result<Vec<Batch>> {
        let file = self.journal_file(&span.stem);
        let bytes = self.disk.read(&file, span.from, span.length);
        let bytes = bytes.map_err(|error| Error::io("read", &file, error))?;
        let text = String::from_utf8(bytes).map_err(|_| not_text().file(&file))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| batch_of(&checksum::original_line(line)?)).collect()
    }
}

impl Span {
    /// Whether these are its batches.
    fn is_of(&self, batches: &[Batch]) -> bool {
        let (first, last) = (batches.first().map(|batch| batch.seq), batches.last().map(Batch::last));
        first == Some(self.after.next()) && last == Some(self.until)
    }
}
