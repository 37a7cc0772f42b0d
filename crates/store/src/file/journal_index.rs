//! The index of one journal file: what its head says, and where every batch stands.
//!
//! It is made by reading the file once, holds no content, and is never stored: the file alone is the truth. Line by line it checks
//! every checksum and that no record is missing, so a file with an index is a whole journal up to the torn end that it notes.

use std::borrow::Cow;

use turnkeep_model::{Batch, Journal, Json, Object, Seq, SessionId};

use crate::checksum::{self, Checksum};
use crate::error::{Error, ErrorKind, Result};
use crate::summary::{Effects, Mark, Origin, Summary};

/// Where the fields of the first line are that journals elsewhere do not have.
pub(super) const OURS: &str = "turnkeep";

/// What to do about a damaged file.
const REMEDY: &str = "restore the file, or save what comes before with `turnkeep verify --repair`";

/// A journal file as far as it was read. It holds no content.
#[derive(Debug, Clone)]
pub(super) struct JournalIndex {
    pub(super) summary: Summary,
    /// What a fork was given by its parent; its own batches change the summary, not this.
    pub(super) given: Summary,
    /// The file whose past it shares.
    pub(super) past: Option<Past>,
    /// Where its own batches begin and end.
    pub(super) ends: Vec<BatchSpan>,
    /// Where the last whole line ends, and how.
    pub(super) good: u64,
    pub(super) ending: Ending,
    /// Bytes after that which are no whole line.
    pub(super) torn: u64,
}

/// Where the past of a fork is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) stem: String,
    pub(super) until: Seq,
    pub(super) mark: Mark,
}

/// One batch of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchSpan {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) mark: Mark,
}

/// Whether the last whole line has its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Broken,
    Bare,
}

impl JournalIndex {
    /// A session that has no file yet.
    pub(super) fn new(session: &SessionId) -> JournalIndex {
        JournalIndex {
            summary: Summary::new(session.clone()),
            given: Summary::new(session.clone()),
            past: None,
            ends: Vec::new(),
            good: 0,
            ending: Ending::Broken,
            torn: 0,
        }
    }

    /// A fork that has no batch of its own yet.
    pub(super) fn fork(summary: Summary, past: Past) -> JournalIndex {
        JournalIndex {
            given: summary.clone(),
            summary,
            past: Some(past),
            ends: Vec::new(),
            good: 0,
            ending: Ending::Broken,
            torn: 0,
        }
    }

    /// Whether the session exists: it has a batch, or is a fork.
    pub(super) fn exists(&self) -> bool {
        self.past.is_some() || !self.ends.is_empty()
    }

    /// The first line.
    pub(super) fn head_line(&self) -> String {
        let mut journal = Journal { session: Some(self.summary.id.clone()), ..Journal::default() };
        if let (Some(past), Some(origin)) = (&self.past, &self.summary.origin) {
            journal.extra.part_mut(OURS).fields.set("fork", fork_field(past, origin, &self.given));
        }
        head_text(&journal)
    }

    /// What the first line says. The batches of a fork begin where its past ends.
    pub(super) fn from_head(line: &str) -> Result<JournalIndex> {
        let journal = read_head(line)?;
        let session = journal.session.ok_or_else(|| damaged("the journal names no session"))?;
        let mut index = JournalIndex::new(&session);
        let fields = journal.extra.fields(OURS).cloned().unwrap_or_default();
        if let Some(Json::Object(fork)) = fields.get("fork") {
            let (past, origin) = read_fork(fork).ok_or_else(|| damaged("the journal does not say what it forks"))?;
            let mut summary = Summary::new(origin.session.clone());
            summary.title = fork.get_str("title").map(Cow::into_owned);
            summary.status = fork.get_str("status").map(Cow::into_owned);
            summary.tags = tags(fork);
            summary.created = number(fork, "created").unwrap_or_default();
            summary.updated = number(fork, "updated").unwrap_or_default();
            summary.last = past.until;
            index.summary = summary.forked(session, past.mark);
            index.given = index.summary.clone();
            index.past = Some(past);
        }
        Ok(index)
    }

    /// Takes in the next line, which stands at `start`; `changed` is the file's time.
    pub(super) fn take(&mut self, line: &str, start: u64, changed: i64) -> Result<()> {
        let given = checksum::original_line(line)?;
        let batch = batch_of(&given)?;
        let due = self.summary.last.next();
        if batch.seq != due || batch.events.is_empty() {
            return Err(damaged(&format!("the journal goes on at {} where {due} is due", batch.seq)));
        }
        self.summary.apply(&Effects::of(&batch, given.len()), changed);
        self.ended(start, start + line.len() as u64);
        Ok(())
    }

    /// Notes where the batch that was just counted stands.
    pub(super) fn ended(&mut self, start: u64, end: u64) {
        self.ends.push(BatchSpan { start, end, mark: self.summary.mark() });
    }

    /// What is counted up to the batch of this file that ends at `at`.
    pub(super) fn mark(&self, at: Seq) -> Option<Mark> {
        if let Some(past) = self.past.as_ref().filter(|past| past.until == at) {
            return Some(past.mark);
        }
        let found = self.ends.binary_search_by_key(&at, |end| end.mark.last).ok()?;
        self.ends.get(found).map(|end| end.mark)
    }

    /// The last record before a batch of this file.
    pub(super) fn before(&self, end: &BatchSpan) -> Seq {
        let at = self.ends.partition_point(|other| other.mark.last < end.mark.last);
        let before = at.checked_sub(1).and_then(|at| self.ends.get(at)).map(|end| end.mark.last);
        before.or(self.past.as_ref().map(|past| past.until)).unwrap_or_default()
    }

    /// The batches of this file whose last record is in the range.
    pub(super) fn between(&self, after: Seq, until: Seq) -> &[BatchSpan] {
        let from = self.ends.partition_point(|end| end.mark.last <= after);
        let to = self.ends.partition_point(|end| end.mark.last <= until);
        self.ends.get(from..to).unwrap_or_default()
    }
}

pub(super) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, what).hint(REMEDY)
}

/// The batch of a line as it was given.
pub(super) fn batch_of(given: &str) -> Result<Batch> {
    // What to do about a line that someone edited is another matter in a store.
    let inside = |error: Error| Error::new(error.kind(), error.what()).hint(REMEDY);
    let (batch, _) = Batch::from_line(given).map_err(|error| inside(error.into()))?;
    Ok(batch)
}

/// The first line of a journal. What it says of a fork stands nowhere else, so it ends in a sum.
pub(super) fn head_text(journal: &Journal) -> String {
    let line = journal.head_line();
    if journal.extra.fields(OURS).is_none_or(Object::is_empty) { line } else { checksum::with_checksum(line) }
}

/// The journal of a first line. Older versions wrote the heads of forks without a sum; they had no other field.
pub(super) fn read_head(line: &str) -> Result<Journal> {
    let summed = checksum::check(line)?;
    let mut journal = Journal::from_head_line(line)?;
    let fields = &mut journal.extra.part_mut(OURS).fields;
    fields.remove("sum");
    if summed == Checksum::Absent && fields.iter().any(|(key, _)| key.to_str_lossy() != "fork") {
        return Err(damaged("the first line lacks its sum"));
    }
    Ok(journal)
}

fn fork_field(past: &Past, origin: &Origin, summary: &Summary) -> Json {
    let mut fields = Object::new();
    fields.set("session", origin.session.as_str());
    fields.set("seq", past.until.0);
    fields.set("file", past.stem.as_str());
    fields.set("turns", past.mark.turns);
    fields.set("blocks", past.mark.blocks);
    fields.set("bytes", past.mark.bytes);
    fields.set("created", summary.created);
    fields.set("updated", summary.updated);
    if let Some(title) = &summary.title {
        fields.set("title", title.as_str());
    }
    if let Some(status) = &summary.status {
        fields.set("status", status.as_str());
    }
    let pair = |(key, value): &(String, String)| Json::from(vec![Json::from(key.as_str()), Json::from(value.as_str())]);
    fields.set("tags", Json::from(summary.tags.iter().map(pair).collect::<Vec<_>>()));
    Json::Object(fields)
}

fn read_fork(fork: &Object) -> Option<(Past, Origin)> {
    let until = Seq(number(fork, "seq")?);
    let mark = Mark {
        last: until,
        turns: number(fork, "turns")?,
        blocks: number(fork, "blocks")?,
        bytes: number(fork, "bytes")?,
    };
    let session = SessionId::new(fork.get_str("session")?);
    Some((Past { stem: fork.get_str("file")?.into_owned(), until, mark }, Origin { session, seq: until }))
}

fn number<T: std::str::FromStr>(fields: &Object, key: &str) -> Option<T> {
    fields.get(key)?.as_number()?.as_str().parse().ok()
}

fn tags(fork: &Object) -> Vec<(String, String)> {
    let pairs = fork.get("tags").and_then(Json::as_array).unwrap_or_default();
    pairs
        .iter()
        .filter_map(|pair| match pair.as_array()? {
            [key, value] => Some((key.as_str()?.into_owned(), value.as_str()?.into_owned())),
            _ => None,
        })
        .collect()
}
