//! Damage to the log that was found. A copy of the log is kept beside the database; its name says when that was, and how
//! many commits were lost. It is reported whenever the store is opened or verified, until a person clears it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::location::wal_of;
use super::wal_scan::unreachable;
use crate::disk::private;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Clock, Listener, Notice};
use crate::verify::Finding;

/// What stands between the name of the database and the time, before and after a person has cleared it.
const KEPT: &str = ".damaged-";
const CLEARED: &str = ".cleared-";
const LOG: &str = "-wal";

/// Damage to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    /// A copy of the log.
    copy: PathBuf,
    /// What comes after the mark in the name of the copy.
    name: String,
    found: String,
    commits: usize,
}

impl Damage {
    pub(super) fn finding(&self) -> Finding {
        self.told(&format!(
            "a copy of the log is in {}; when you have dealt with it, clear this finding with `turnkeep verify --clear`",
            self.copy.display()
        ))
    }

    /// The finding, after it was cleared.
    pub(super) fn cleared(&self) -> Finding {
        self.told(&format!("the copy of the log stays in {} until you remove it", self.copy.display()))
    }

    fn told(&self, rest: &str) -> Finding {
        let what = format!("{} (found {}); {rest}", lost(self.commits), self.found);
        Finding::Damaged { session: None, seq: None, what }
    }
}

fn lost(commits: usize) -> String {
    match commits {
        1 => "the log was damaged, and its last commit is lost".to_owned(),
        _ => format!("the log was damaged, and its last {commits} commits are lost"),
    }
}

/// What the log of a database is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalState {
    Whole,
    Damaged,
}

/// Looks at the log of a database that nobody here has open, and keeps a copy if commits in it cannot be read: SQLite
/// writes over them.
pub(super) fn keep(database: &Path, clock: &Clock) -> Result<WalState> {
    let Some(damaged) = unreachable(&wal_of(database)) else {
        return Ok(WalState::Whole);
    };
    // An earlier attempt to open the store may have kept it.
    let mut known = copies(database, KEPT)?.into_iter().chain(copies(database, CLEARED)?);
    if known.any(|(copy, _)| fs::read(copy).is_ok_and(|copy| copy == damaged.log)) {
        return Ok(WalState::Damaged);
    }
    let found = jiff::Timestamp::from_millisecond(clock.now()).unwrap_or_default();
    let name = format!("{}-{}{LOG}", found.strftime("%Y%m%dT%H%M%S%.3fZ"), damaged.commits);
    let copy = beside(database, KEPT, &name);
    save(&copy, &damaged.log).map_err(|error| Error::io("keep a copy of the damaged log", &copy, error))?;
    Ok(WalState::Damaged)
}

/// Writes a new file durably, or not at all.
fn save(copy: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = match private().write(true).create_new(true).open(copy) {
        // Another process found the same damage at the same moment.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        opened => opened?,
    };
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| sync_folder(copy));
    if written.is_err() {
        let _ = fs::remove_file(copy);
    }
    written
}

fn sync_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) if cfg!(unix) => fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Refuses to open a store in silence: damage that nobody has cleared is an error where there is no listener.
pub(super) fn check_heard(database: &Path, listener: &Listener) -> Result<()> {
    match kept(database)?.first() {
        Some(damage) if !listener.hears() => {
            let hint = format!(
                "a copy of the log is in {}; restore the store, or accept the loss with `turnkeep verify --clear`",
                damage.copy.display()
            );
            Err(Error::new(ErrorKind::Corrupt, lost(damage.commits)).file(database).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Tells of damage that nobody has cleared.
pub(super) fn tell(database: &Path, listener: &Listener) -> Result<()> {
    for damage in kept(database)? {
        listener.tell(Notice::LostCommits { count: damage.commits });
    }
    Ok(())
}

/// The damage that nobody has cleared.
pub(super) fn kept(database: &Path) -> Result<Vec<Damage>> {
    let damage = |(copy, name): (PathBuf, String)| {
        let (time, commits) = name.strip_suffix(LOG)?.rsplit_once('-')?;
        let (found, commits) = (readable(time)?, commits.parse().ok()?);
        Some(Damage { copy, found, commits, name })
    };
    Ok(copies(database, KEPT)?.into_iter().filter_map(damage).collect())
}

/// The time in the name of a copy, as people read it.
fn readable(time: &str) -> Option<String> {
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S%.fZ", time).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Clears the damage. The copies stay, under another name.
pub(super) fn clear(database: &Path) -> Result<Vec<Damage>> {
    let mut cleared = kept(database)?;
    for damage in &mut cleared {
        let copy = beside(database, CLEARED, &damage.name);
        fs::rename(&damage.copy, &copy).map_err(|error| Error::io("clear", &damage.copy, error))?;
        damage.copy = copy;
    }
    Ok(cleared)
}

/// Empties the copies, because they hold what was just erased. That something was lost stays known.
pub(super) fn empty(database: &Path) -> Result<()> {
    for (copy, _) in copies(database, KEPT)?.into_iter().chain(copies(database, CLEARED)?) {
        let emptied = fs::OpenOptions::new().write(true).open(&copy).and_then(|file| {
            file.set_len(0)?;
            file.sync_all()
        });
        emptied.map_err(|error| Error::io("empty", &copy, error))?;
    }
    Ok(())
}

fn beside(database: &Path, mark: &str, name: &str) -> PathBuf {
    let mut path = OsString::from(database);
    path.push(mark);
    path.push(name);
    path.into()
}

/// The copies with this mark, in the order of their times; each with the rest of its name.
fn copies(database: &Path, mark: &str) -> Result<Vec<(PathBuf, String)>> {
    let (Some(folder), Some(name)) = (database.parent(), database.file_name()) else {
        return Ok(Vec::new());
    };
    let failed = |error| Error::io("list", folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let rest = entry.file_name().as_encoded_bytes().strip_prefix(name.as_encoded_bytes()).map(<[u8]>::to_vec);
        let rest = rest.and_then(|rest| String::from_utf8(rest).ok());
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix(mark).map(str::to_owned)) {
            found.push((entry.path(), rest));
        }
    }
    found.sort();
    Ok(found)
}
