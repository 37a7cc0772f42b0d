//! A folder of journals on a disk: every operation, blocking.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use turnkeep_model::{Batch, Seq, SessionId};

use super::journal::{Ending, Known, Past, batch_of, damaged};
use super::lines::Lines;
use super::name::{self, ASIDE, DAMAGED, GONE, JOURNAL, stem};
use super::sharing::Sharing;
use crate::disk::{Disk, Stat};
use crate::error::{Error, ErrorKind, Result};
use crate::lent;
use crate::options::{Durability, Notice, Options};
use crate::query::{Page, Query};
use crate::store::{self, Deleted};
use crate::summary::{Effects, Summary};
use crate::work::lock;

/// How much of a file is read at once.
pub(super) const CHUNK: u64 = 1 << 18;

pub(super) struct Shelf {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) options: Options,
    pub(super) files: Mutex<HashMap<String, (Stat, Arc<Known>)>>,
}

/// A batch to append, ready to be written.
pub(super) struct Ready {
    /// The line as it is kept.
    pub(super) line: String,
    pub(super) effects: Effects,
}

/// A part of a file that holds some batches: those after a record, up to another.
pub(super) struct Span {
    stem: String,
    after: Seq,
    until: Seq,
    from: u64,
    length: u64,
}

impl Shelf {
    pub(super) fn open(disk: Arc<dyn Disk>, folder: PathBuf, options: Options) -> Result<Shelf> {
        disk.make_folder(&folder).map_err(|error| Error::no_folder(&folder, error))?;
        Ok(Shelf { disk, folder, options, files: Mutex::default() })
    }

    pub(super) fn journal_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{JOURNAL}"))
    }

    pub(super) fn gone_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{GONE}"))
    }

    pub(super) fn aside_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{ASIDE}"))
    }

    pub(super) fn is_aside(&self, name: &str) -> bool {
        name.ends_with(ASIDE)
    }

    pub(super) fn damaged_file(&self, stem: &str) -> PathBuf {
        self.folder.join(format!("{stem}{DAMAGED}"))
    }

    pub(super) fn hold(&self) -> Result<Box<dyn Send>> {
        let file = self.folder.join(".lock");
        self.disk.lock(&file).map_err(|error| Error::io("lock the store", &file, error))
    }

    /// The stem of the session's file: the first that was not deleted.
    pub(super) fn live(&self, session: &SessionId) -> Result<String> {
        store::check_id(session)?;
        for life in 0.. {
            let stem = stem(session, life);
            if !self.is_gone(&stem)? {
                return Ok(stem);
            }
        }
        Err(Error::unknown(session))
    }

    pub(super) fn is_gone(&self, stem: &str) -> Result<bool> {
        let file = self.gone_file(stem);
        let stat = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))?;
        Ok(stat.is_some())
    }

    /// What is known of a file, read on to its end; nothing if there is no session in it.
    pub(super) fn known(&self, stem: &str) -> Result<Option<Arc<Known>>> {
        let file = self.journal_file(stem);
        let mut files = lock(&self.files);
        let Some(stat) = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))? else {
            files.remove(stem);
            return Ok(None);
        };
        match files.get(stem) {
            Some((seen, known)) if *seen == stat => return Ok(Some(Arc::clone(known)).filter(|known| known.exists())),
            _ => {}
        }
        let before = files.remove(stem);
        let grown = before.filter(|(seen, _)| seen.identity == stat.identity && seen.length <= stat.length);
        let start = grown
            .map(|(_, known)| Arc::unwrap_or_clone(known))
            .filter(|known| known.good > 0 && known.ending == Ending::Broken);
        let known = Arc::new(self.scan(&file, stat, start).map_err(|error| error.file(&file))?);
        files.insert(stem.to_owned(), (stat, Arc::clone(&known)));
        Ok(Some(known).filter(|known| known.exists()))
    }

    /// What is known of the file that a fork shares its past with.
    pub(super) fn past(&self, past: &Past) -> Result<Arc<Known>> {
        self.known(&past.stem)?.ok_or_else(|| {
            let what = format!("the file that holds its past, {}{JOURNAL}, is missing", past.stem);
            damaged(&what)
        })
    }

    /// Reads the lines after what is known.
    fn scan(&self, file: &std::path::Path, stat: Stat, start: Option<Known>) -> Result<Known> {
        let mut at = start.as_ref().map_or(0, |known| known.good);
        let mut known = start;
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
                take_line(&mut known, line, at, stat.changed)?;
                at += line.len() as u64 + 1;
            }
        }
        let rest = lines.rest();
        let mut known = known.unwrap_or_else(|| Known::new(&SessionId::new("")));
        known.good = at;
        known.ending = Ending::Broken;
        known.torn = rest.len() as u64;
        // A last line that lacks only its line break is whole.
        if known.torn > 0
            && at > 0
            && let Ok(line) = std::str::from_utf8(rest)
            && line.ends_with('}')
            && known.take(line, at, stat.changed).is_ok()
        {
            known.good = at + rest.len() as u64;
            known.ending = Ending::Bare;
            known.torn = 0;
        }
        Ok(known)
    }

    pub(super) fn append(&self, session: &SessionId, at: Seq, ready: &Ready) -> Result<Seq> {
        let _held = self.hold()?;
        let stem = self.live(session)?;
        let known = self.known(&stem)?;
        match known.as_ref().map(|known| known.summary.last) {
            None if at != Seq::START => return Err(Error::unknown(session)),
            Some(last) if last != at => return Err(Error::stale(session, at, last)),
            _ => {}
        }
        // Should the write fail, the file is read anew.
        lock(&self.files).remove(&stem);
        match known {
            Some(known) => self.append_to(&stem, Arc::unwrap_or_clone(known), ready),
            None => self.create(&stem, Known::new(session), Some(ready)),
        }
    }

    /// Writes a new file: its head, and the first batch.
    fn create(&self, stem: &str, mut known: Known, ready: Option<&Ready>) -> Result<Seq> {
        let file = self.journal_file(stem);
        let mut text = known.head_line();
        text.push('\n');
        known.good = text.len() as u64;
        if let Some(ready) = ready {
            text.push_str(&ready.line);
            text.push('\n');
        }
        // A file that holds no session is what an earlier attempt left.
        if let Some(stat) = self.disk.stat(&file).map_err(|error| Error::io("look at", &file, error))? {
            self.disk.truncate(&file, 0).map_err(|error| Error::io("empty", &file, error))?;
            if stat.length > 0 {
                self.options.listener.tell(Notice::TornTail { session: known.summary.id.clone(), bytes: stat.length });
            }
        }
        self.write(&file, 0, text.as_bytes())?;
        if self.options.durability == Durability::Power {
            let synced = self.disk.sync_folder(&self.folder);
            synced.map_err(|error| Error::io("sync the folder of the store", &self.folder, error))?;
        }
        self.keep(stem, known, ready)
    }

    fn append_to(&self, stem: &str, mut known: Known, ready: &Ready) -> Result<Seq> {
        let file = self.journal_file(stem);
        if known.torn > 0 {
            self.disk.truncate(&file, known.good).map_err(|error| Error::io("repair", &file, error))?;
            self.options.listener.tell(Notice::TornTail { session: known.summary.id.clone(), bytes: known.torn });
            known.torn = 0;
        }
        let mut text = String::with_capacity(ready.line.len() + 2);
        let good = known.good;
        if known.ending == Ending::Bare {
            text.push('\n');
            known.good += 1;
            known.ending = Ending::Broken;
        }
        text.push_str(&ready.line);
        text.push('\n');
        self.write(&file, good, text.as_bytes())?;
        self.keep(stem, known, Some(ready))
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
    fn keep(&self, stem: &str, mut known: Known, ready: Option<&Ready>) -> Result<Seq> {
        let file = self.journal_file(stem);
        if let Some(Ready { line, effects }) = ready {
            known.summary.apply(effects, self.options.clock.now());
            let (start, end) = (known.good, known.good + line.len() as u64);
            known.ended(start, end);
            known.good = end + 1;
        }
        let last = known.summary.last;
        let stat = self.disk.stat(&file).ok().flatten();
        let mut files = lock(&self.files);
        match stat.filter(|stat| stat.length == known.good) {
            Some(stat) => files.insert(stem.to_owned(), (stat, Arc::new(known))),
            None => files.remove(stem),
        };
        Ok(last)
    }

    pub(super) fn fork(&self, session: &SessionId, at: Seq, child: &SessionId) -> Result<()> {
        let _held = self.hold()?;
        let (parent_stem, child_stem) = (self.live(session)?, self.live(child)?);
        let parent = self.known(&parent_stem)?.ok_or_else(|| Error::unknown(session))?;
        if self.known(&child_stem)?.is_some() {
            return Err(store::taken(child));
        }
        let (stem, mark) = self.holder(parent_stem, at)?.ok_or_else(|| store::no_such_place(session, at))?;
        let summary = parent.summary.forked(child.clone(), mark);
        let past = Past { stem, until: at, mark };
        self.create(&child_stem, Known::fork(summary, past), None).map(drop)
    }

    /// The file, of this one and those whose past it shares, in which a batch ends at `at`.
    fn holder(&self, mut stem: String, at: Seq) -> Result<Option<(String, crate::summary::Mark)>> {
        while let Some(known) = self.known(&stem)? {
            let past = known.past.clone();
            match past {
                Some(past) if at <= past.until => stem = past.stem,
                _ => return Ok(known.mark(at).map(|mark| (stem, mark))),
            }
        }
        Ok(None)
    }

    pub(super) fn delete(&self, session: &SessionId) -> Result<Deleted> {
        let _held = self.hold()?;
        let deleted = self.delete_held(session, None, &mut self.sharing()?)?;
        self.sync_folder()?;
        Ok(deleted)
    }

    /// Deletes a session while the store is held; where a last record is named, only if it still is that.
    pub(super) fn delete_held(&self, session: &SessionId, last: Option<Seq>, sharing: &mut Sharing) -> Result<Deleted> {
        let stem = self.live(session)?;
        let known = self.known(&stem)?.filter(|known| last.is_none_or(|last| known.summary.last == last));
        let known = known.ok_or_else(|| Error::unknown(session))?;
        let shared = sharing.until(&stem);
        match shared {
            Some(until) => self.bury(&stem, &known, until)?,
            None => self.remove(&stem, known.past.clone(), sharing)?,
        }
        Ok(Deleted { shared: shared.unwrap_or_default() })
    }

    pub(super) fn sync_folder(&self) -> Result<()> {
        let synced = self.disk.sync_folder(&self.folder);
        synced.map_err(|error| Error::io("sync the folder of the store", &self.folder, error))
    }

    /// Marks a session as deleted and cuts off what no fork shares.
    fn bury(&self, stem: &str, known: &Known, until: Seq) -> Result<()> {
        let (mark, file) = (self.gone_file(stem), self.journal_file(stem));
        self.disk.append(&mark, b"deleted; forks share its past\n").map_err(|error| Error::io("mark", &mark, error))?;
        let kept = known.between(Seq::START, until).last().map_or(known.good, |end| end.end + 1);
        self.disk.truncate(&file, kept).map_err(|error| Error::io("cut", &file, error))?;
        lock(&self.files).remove(stem);
        Ok(())
    }

    /// Removes a file, and those deleted before it whose past only it shared.
    pub(super) fn remove(&self, stem: &str, past: Option<Past>, sharing: &mut Sharing) -> Result<()> {
        let mut next = Some((stem.to_owned(), past));
        while let Some((stem, past)) = next {
            let (file, mark) = (self.journal_file(&stem), self.gone_file(&stem));
            // The journal goes first: a mark without a journal is nothing, a journal without its mark would live again.
            self.disk.remove(&file).map_err(|error| Error::io("remove", &file, error))?;
            lock(&self.files).remove(&stem);
            if self.is_gone(&stem)? {
                self.disk.remove(&mark).map_err(|error| Error::io("remove", &mark, error))?;
            }
            next = None;
            if let Some(past) = past
                && sharing.end(&stem, &past.stem)
                && self.is_gone(&past.stem)?
            {
                let before = self.known(&past.stem)?.and_then(|known| known.past.clone());
                next = Some((past.stem, before));
            }
        }
        Ok(())
    }

    /// Which files share whose past.
    pub(super) fn sharing(&self) -> Result<Sharing> {
        let mut sharing = Sharing::default();
        for stem in self.stems()? {
            if let Some(past) = self.known(&stem)?.and_then(|known| known.past.clone()) {
                sharing.begin(stem, past);
            }
        }
        Ok(sharing)
    }

    pub(super) fn names(&self) -> Result<Vec<String>> {
        self.disk.list(&self.folder).map_err(|error| Error::io("list", &self.folder, error))
    }

    pub(super) fn stems(&self) -> Result<Vec<String>> {
        Ok(self.names()?.iter().filter_map(|name| name.strip_suffix(JOURNAL)).map(str::to_owned).collect())
    }

    pub(super) fn list(&self, query: &Query) -> Result<Page> {
        let stems = match &query.id {
            Some(id) => vec![self.live(id)?],
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
        let gone: HashSet<&str> = names.iter().filter_map(|name| name.strip_suffix(GONE)).collect();
        let stems = names.iter().filter_map(|name| name.strip_suffix(JOURNAL));
        Ok(stems.filter(|stem| !gone.contains(stem)).map(str::to_owned).collect())
    }

    /// What a listing shows of a file. One damaged file does not hide the others: it is listed as such.
    fn listed(&self, stem: &str, asked: Option<&SessionId>) -> Result<Option<Summary>> {
        match self.known(stem) {
            Err(error) if error.kind() == ErrorKind::Corrupt && asked.is_none() => {
                let status = Some("damaged".to_owned());
                Ok(Some(Summary { status, ..Summary::new(name::session(stem)) }))
            }
            known => Ok(known?.map(|known| known.summary.clone())),
        }
    }

    /// The parts of files to read for the batches after `after`, each of about one chunk.
    pub(super) fn spans(&self, session: &SessionId, after: Seq) -> Result<Vec<Span>> {
        let mut stem = self.live(session)?;
        let mut known = self.known(&stem)?.ok_or_else(|| Error::unknown(session))?;
        let mut until = Seq(u64::MAX);
        let mut parts = Vec::new();
        loop {
            parts.push(self.cut_into_spans(&stem, &known, after, until));
            match known.past.clone() {
                Some(past) if past.until > after => {
                    known = self.past(&past)?;
                    (stem, until) = (past.stem, past.until.min(until));
                }
                _ => break,
            }
        }
        Ok(parts.into_iter().rev().flatten().collect())
    }

    fn cut_into_spans(&self, stem: &str, known: &Known, after: Seq, until: Seq) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for end in known.between(after, until) {
            match spans.last_mut() {
                Some(span) if span.length < CHUNK => {
                    (span.length, span.until) = (end.end - span.from, end.mark.last);
                }
                last => {
                    let after = last.map_or(known.before(end), |span| span.until);
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
        let known = self.known(&span.stem).ok()??;
        let ends = known.between(span.after, span.until);
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
        lines.map(|line| batch_of(&lent::given(line)?)).collect()
    }
}

impl Span {
    /// Whether these are its batches.
    fn is_of(&self, batches: &[Batch]) -> bool {
        let (first, last) = (batches.first().map(|batch| batch.seq), batches.last().map(Batch::last));
        first == Some(self.after.next()) && last == Some(self.until)
    }
}

fn not_text() -> Error {
    Error::new(ErrorKind::Corrupt, "the journal is not UTF-8")
}

fn take_line(known: &mut Option<Known>, line: &[u8], start: u64, changed: i64) -> Result<()> {
    let line = std::str::from_utf8(line).map_err(|_| not_text())?;
    match known {
        None => *known = Some(Known::from_head(line)?),
        Some(_) if line.trim().is_empty() => {}
        Some(known) => known.take(line, start, changed)?,
    }
    Ok(())
}
