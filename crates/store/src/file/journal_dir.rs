//! A directory of journal files on a disk: every operation, blocking.
//!
//! The files are the only state. What is known of a file, its [`JournalIndex`], is cached by the file's identity, length and time,
//! and read on from where it ended when the file has grown. Every change is made under the lock of the directory, which other
//! processes take too; reading takes no lock, because a file only grows or is replaced whole.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use turnkeep_model::{Seq, SessionId};

use super::journal_index::{Ending, JournalIndex, Past, damaged};
use super::lines::Lines;
use super::name::{self, DAMAGED, JOURNAL, STAGED, TOMBSTONE, stem};
use crate::disk::{Disk, Stat};
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Durability, Notice, Options};
use crate::query::{Page, Query};
use crate::store;
use crate::summary::{Effects, Summary};
use crate::thread_pool::lock;

/// How much of a file is read at once.
pub(super) const CHUNK: u64 = 1 << 18;

/// A directory with one journal file a session.
pub(super) struct JournalDir {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) options: Options,
    pub(super) files: Mutex<HashMap<String, (Stat, Arc<JournalIndex>)>>,
}

/// The line of a batch, prepared to be written.
pub(super) struct PreparedLine {
    /// The line as it is kept.
    pub(super) line: String,
    pub(super) effects: Effects,
}

impl JournalDir {
    pub(super) fn open(disk: Arc<dyn Disk>, folder: PathBuf, options: Options) -> Result<JournalDir> {
        disk.make_folder(&folder).map_err(|error| Error::no_folder(&folder, error))?;
        Ok(JournalDir { disk, folder, options, files: Mutex::default() })
    }

    pub(super) fn journal_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{JOURNAL}"))
    }

    pub(super) fn tombstone_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{TOMBSTONE}"))
    }

    pub(super) fn staged_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{STAGED}"))
    }

    pub(super) fn is_staged(&self, name: &str) -> bool {
        name.ends_with(STAGED)
    }

    pub(super) fn damaged_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{DAMAGED}"))
    }

    pub(super) fn lock_file(&self) -> PathBuf {
        self.folder.join(".lock")
    }

    pub(super) fn hold(&self) -> Result<Box<dyn Send>> {
        let file = self.lock_file();
        self.disk.lock(&file).map_err(|error| Error::io("lock the store", &file, error))
    }

    /// The stem of the session's file: the first that was not deleted.
    pub(super) fn stem_of(&self, session: &SessionId) -> Result<String> {
        store::check_id(session)?;
        for life in 0.. {
            let stem = stem(session, life);
            if !self.is_deleted(&stem)? {
                return Ok(stem);
            }
        }
        Err(Error::unknown(session))
    }

    pub(super) fn is_deleted(&self, stem: &str) -> Result<bool> {
        let file = self.tombstone_file(stem);
        let stat = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))?;
        Ok(stat.is_some())
    }

    /// The index of a file, read on to its end; nothing if there is no session in it.
    pub(super) fn index(&self, stem: &str) -> Result<Option<Arc<JournalIndex>>> {
        let file = self.journal_file(stem);
        let mut files = lock(&self.files);
        let Some(stat) = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))? else {
            files.remove(stem);
            return Ok(None);
        };
        match files.get(stem) {
            Some((seen, index)) if *seen == stat => return Ok(Some(Arc::clone(index)).filter(|index| index.exists())),
            _ => {}
        }
        let before = files.remove(stem);
        let grown = before.filter(|(seen, _)| seen.identity == stat.identity && seen.length <= stat.length);
        let start = grown
            .map(|(_, index)| Arc::unwrap_or_clone(index))
            .filter(|index| index.good > 0 && index.ending == Ending::Broken);
        let index = Arc::new(self.scan(&file, stat, start).map_err(|error| error.file(&file))?);
        files.insert(stem.to_owned(), (stat, Arc::clone(&index)));
        Ok(Some(index).filter(|index| index.exists()))
    }

    /// The index of the file that a fork shares its past with.
    pub(super) fn past(&self, past: &Past) -> Result<Arc<JournalIndex>> {
        self.index(&past.stem)?.ok_or_else(|| {
            let what = format!("the file that holds its past, {}{JOURNAL}, is missing", past.stem);
            damaged(&what)
        })
    }

    /// Reads the lines that the index does not have yet.
    fn scan(&self, file: &std::path::Path, stat: Stat, start: Option<JournalIndex>) -> Result<JournalIndex> {
        let mut at = start.as_ref().map_or(0, |index| index.good);
        let mut index = start;
        let mut lines = Lines::default();
        let mut read = at;
        while read < stat.length {
            let wanted = CHUNK.min(stat.length - read);
            let bytes = self.disk.read(file, read, wanted).map_err(|error| Error::io("read", file, error))?;
            if bytes.is_empty() {
                break;
            }
            read += bytes.len() as u64;
            lines.push(&bytes);
            while let Some(line) = lines.next() {
                take_line(&mut index, line, at, stat.changed)?;
                at += line.len() as u64 + 1;
            }
        }
        let rest = lines.rest();
        let mut index = index.unwrap_or_else(|| JournalIndex::new(&SessionId::new("")));
        index.good = at;
        index.ending = Ending::Broken;
        index.torn = rest.len() as u64;
        // A last line that lacks only its line break is whole.
        if index.torn > 0
            && at > 0
            && let Ok(line) = std::str::from_utf8(rest)
            && line.ends_with('}')
            && index.take(line, at, stat.changed).is_ok()
        {
            index.good = at + rest.len() as u64;
            index.ending = Ending::Bare;
            index.torn = 0;
        }
        Ok(index)
    }

    pub(super) fn append(&self, session: &SessionId, at: Seq, prepared: &PreparedLine) -> Result<Seq> {
        let _held = self.hold()?;
        let stem = self.stem_of(session)?;
        let index = self.index(&stem)?;
        match index.as_ref().map(|index| index.summary.last) {
            None if at != Seq::START => return Err(Error::unknown(session)),
            Some(last) if last != at => return Err(Error::stale(session, at, last)),
            _ => {}
        }
        // Should the write fail, the file is read anew.
        lock(&self.files).remove(&stem);
        match index {
            Some(index) => self.append_to(&stem, Arc::unwrap_or_clone(index), prepared),
            None => self.create(&stem, JournalIndex::new(session), Some(prepared)),
        }
    }

    /// Writes a new file: its head, and the first batch.
    fn create(&self, stem: &str, mut index: JournalIndex, prepared: Option<&PreparedLine>) -> Result<Seq> {
        let file = self.journal_file(stem);
        let mut text = index.head_line();
        text.push('\n');
        index.good = text.len() as u64;
        if let Some(prepared) = prepared {
            text.push_str(&prepared.line);
            text.push('\n');
        }
        // A file that holds no session is what an earlier attempt left.
        if let Some(stat) = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))? {
            self.disk.truncate(&file, 0).map_err(|error| Error::io("empty", &file, error))?;
            if stat.length > 0 {
                self.options.listener.tell(Notice::TornTail { session: index.summary.id.clone(), bytes: stat.length });
            }
        }
        self.write(&file, 0, text.as_bytes())?;
        if self.options.durability == Durability::Power {
            let synced = self.disk.sync_folder(&self.folder);
            synced.map_err(|error| Error::io("sync the folder of the store", &self.folder, error))?;
        }
        self.keep(stem, index, prepared)
    }

    fn append_to(&self, stem: &str, mut index: JournalIndex, prepared: &PreparedLine) -> Result<Seq> {
        let file = self.journal_file(stem);
        if index.torn > 0 {
            self.disk.truncate(&file, index.good).map_err(|error| Error::io("repair", &file, error))?;
            self.options.listener.tell(Notice::TornTail { session: index.summary.id.clone(), bytes: index.torn });
            index.torn = 0;
        }
        let mut text = String::with_capacity(prepared.line.len() + 2);
        let good = index.good;
        if index.ending == Ending::Bare {
            text.push('\n');
            index.good += 1;
            index.ending = Ending::Broken;
        }
        text.push_str(&prepared.line);
        text.push('\n');
        self.write(&file, good, text.as_bytes())?;
        self.keep(stem, index, Some(prepared))
    }

    /// Writes at the end of a file whose good part ends at `good`, durably; what fails is taken back if that can be.
    fn write(&self, file: &std::path::Path, good: u64, bytes: &[u8]) -> Result<()> {
        let written = self.disk.append(file, bytes).and_then(|()| match self.options.durability {
            Durability::Power => self.disk.sync(file),
            Durability::Process => Ok(()),
        });
        written.map_err(|error| {
            // Should this fail too, the next append finds a torn tail and removes it.
            let _ = self.disk.truncate(file, good);
            Error::io("write", file, error).hint("nothing was recorded; make room and try again")
        })
    }

    /// Remembers what was written.
    fn keep(&self, stem: &str, mut index: JournalIndex, prepared: Option<&PreparedLine>) -> Result<Seq> {
        let file = self.journal_file(stem);
        if let Some(PreparedLine { line, effects }) = prepared {
            index.summary.apply(effects, self.options.clock.now());
            let (start, end) = (index.good, index.good + line.len() as u64);
            index.ended(start, end);
            index.good = end + 1;
        }
        let last = index.summary.last;
        let stat = self.disk.stat(&file).ok().flatten();
        let mut files = lock(&self.files);
        match stat.filter(|stat| stat.length == index.good) {
            Some(stat) => files.insert(stem.to_owned(), (stat, Arc::new(index))),
            None => files.remove(stem),
        };
        Ok(last)
    }

    pub(super) fn fork(&self, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
        let _held = self.hold()?;
        let (parent_stem, child_stem) = (self.stem_of(session)?, self.stem_of(child)?);
        let parent = self.index(&parent_stem)?.ok_or_else(|| Error::unknown(session))?;
        if self.index(&child_stem)?.is_some() {
            return Err(store::taken(child));
        }
        let (stem, mark) = self.holder(parent_stem, at)?.ok_or_else(|| store::no_such_place(session, at))?;
        let summary = parent.summary.forked(child.clone(), mark);
        let past = Past { stem, until: at, mark };
        self.create(&child_stem, JournalIndex::fork(summary, past), None).map(drop)
    }

    /// The file, of this one and those whose past it shares, in which a batch ends at `at`.
    fn holder(&self, mut stem: String, at: Seq) -> Result<Option<(String, crate::summary::Mark)>> {
        while let Some(index) = self.index(&stem)? {
            let past = index.past.clone();
            match past {
                Some(past) if at <= past.until => stem = past.stem,
                _ => return Ok(index.mark(at).map(|mark| (stem, mark))),
            }
        }
        Ok(None)
    }

    pub(super) fn sync_folder(&self) -> Result<()> {
        let synced = self.disk.sync_folder(&self.folder);
        synced.map_err(|error| Error::io("sync the folder of the store", &self.folder, error))
    }

    pub(super) fn names(&self) -> Result<Vec<String>> {
        self.disk.list(&self.folder).map_err(|error| Error::io("list", &self.folder, error))
    }

    pub(super) fn stems(&self) -> Result<Vec<String>> {
        Ok(self.names()?.iter().filter_map(|name| name.strip_suffix(JOURNAL)).map(str::to_owned).collect())
    }

    pub(super) fn list(&self, query: &Query) -> Result<Page> {
        let stems = match &query.id {
            Some(id) => vec![self.stem_of(id)?],
            None => self.live_stems()?,
        };
        let mut summaries = Vec::new();
        for stem in stems {
            summaries.extend(self.listed(&stem, query.id.as_ref())?);
        }
        Ok(query.page(summaries.iter()))
    }

    /// The stems of journals that were not deleted.
    pub(super) fn live_stems(&self) -> Result<Vec<String>> {
        let names = self.names()?;
        let gone: HashSet<&str> = names.iter().filter_map(|name| name.strip_suffix(TOMBSTONE)).collect();
        let stems = names.iter().filter_map(|name| name.strip_suffix(JOURNAL));
        Ok(stems.filter(|stem| !gone.contains(stem)).map(str::to_owned).collect())
    }

    /// What a listing shows of a file. One damaged file does not hide the others: it is listed as such.
    fn listed(&self, stem: &str, asked: Option<&SessionId>) -> Result<Option<Summary>> {
        match self.index(stem) {
            Err(error) if error.kind() == ErrorKind::Corrupt && asked.is_none() => {
                let status = Some("damaged".to_owned());
                Ok(Some(Summary { status, ..Summary::new(name::session(stem)) }))
            }
            index => Ok(index?.map(|index| index.summary.clone())),
        }
    }
}

pub(super) fn not_text() -> Error {
    Error::new(ErrorKind::Corrupt, "the journal is not UTF-8")
}

fn take_line(index: &mut Option<JournalIndex>, line: &[u8], start: u64, changed: i64) -> Result<()> {
    let line = std::str::from_utf8(line).map_err(|_| not_text())?;
    match index {
        None => *index = Some(JournalIndex::from_head(line)?),
        Some(_) if line.trim().is_empty() => {}
        Some(index) => index.take(line, start, changed)?,
    }
    Ok(())
}
