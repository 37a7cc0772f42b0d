//! A disk in memory that fails when it is told to, and that knows what it would hold after a loss of power.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnkeep_store::disk::{Disk, Stat};

/// A disk in memory.
#[derive(Debug, Default)]
pub struct SimDisk {
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone)]
struct State {
    files: Vec<Content>,
    /// The names as the system sees them, and as the disk holds them.
    names: BTreeMap<PathBuf, usize>,
    synced_names: BTreeMap<PathBuf, usize>,
    /// After how many changes it fails.
    left: Option<u32>,
    /// What it does from then on.
    lasting: Lasting,
    changes: u32,
}

/// What a disk does after it has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Lasting {
    /// Nothing any more.
    #[default]
    Dead,
    /// Everything, as if nothing had been: there was no room for a moment.
    Fine,
}

#[derive(Debug, Default, Clone)]
struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
}

/// What ended the process that used the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// It was killed: the system has everything that was written.
    Kill,
    /// The power went: nothing that was not synced is there.
    PowerLost,
    /// The power went in the middle of writing back: half of what was not synced is there.
    PowerLostHalfway,
}

impl CrashKind {
    /// Every one.
    pub const ALL: [CrashKind; 3] = [CrashKind::Kill, CrashKind::PowerLost, CrashKind::PowerLostHalfway];
}

impl SimDisk {
    /// A disk on which the change number `change` (from 0) fails half-way, and everything after it.
    pub fn failing_at(change: u32) -> SimDisk {
        SimDisk { state: Mutex::new(State { left: Some(change), ..State::default() }) }
    }

    /// A disk on which only the change number `change` (from 0) fails half-way.
    pub fn stumbling_at(change: u32) -> SimDisk {
        let state = State { left: Some(change), lasting: Lasting::Fine, ..State::default() };
        SimDisk { state: Mutex::new(state) }
    }

    /// Whether it came to fail.
    pub fn failed(&self) -> bool {
        self.state().left == Some(0)
    }

    /// The disk as the next process finds it; it fails no more.
    #[must_use]
    pub fn after(&self, aftermath: CrashKind) -> SimDisk {
        let mut state = self.state().clone();
        if aftermath != CrashKind::Kill {
            state.names.clone_from(&state.synced_names);
            state.files.iter_mut().for_each(|file| file.lose(aftermath));
        }
        state.left = None;
        SimDisk { state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a change; the one that fails is told so, and may have done half of its work.
    fn change(&self, work: impl FnOnce(&mut State, Fate) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state();
        match state.left {
            Some(0) if state.lasting == Lasting::Dead => return Err(dead()),
            Some(1) => {
                state.left = Some(0);
                work(&mut state, Fate::Fails)?;
                return Err(dead());
            }
            _ => {}
        }
        state.left = state.left.map(|left| left.saturating_sub(1));
        state.changes += 1;
        work(&mut state, Fate::Succeeds)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Succeeds,
    Fails,
}

impl Content {
    /// What is left of it after a loss of power.
    fn lose(&mut self, aftermath: CrashKind) {
        let grown = self.now.len().saturating_sub(self.synced.len());
        let kept = if aftermath == CrashKind::PowerLostHalfway { grown / 2 } else { 0 };
        let tail: Vec<u8> = self.now.iter().skip(self.synced.len()).take(kept).copied().collect();
        self.synced.extend(tail);
        self.now.clone_from(&self.synced);
    }
}

fn dead() -> io::Error {
    io::Error::other("the disk fails, as it was told to")
}

impl State {
    fn file(&mut self, path: &Path) -> io::Result<&mut Content> {
        let index = self.names.get(path).copied().ok_or(io::ErrorKind::NotFound)?;
        self.files.get_mut(index).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Disk for SimDisk {
    fn stat(&self, file: &Path) -> io::Result<Option<Stat>> {
        let state = self.state();
        let Some(index) = state.names.get(file) else {
            return Ok(None);
        };
        let length = state.files.get(*index).map_or(0, |file| file.now.len() as u64);
        Ok(Some(Stat { length, changed: 0, identity: *index as u64 }))
    }

    fn read(&self, file: &Path, from: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut state = self.state();
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(state.file(file)?.now.iter().skip(from).take(length).copied().collect())
    }

    fn append(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change(|state, fate| {
            if !state.names.contains_key(file) {
                state.files.push(Content::default());
                state.names.insert(file.to_owned(), state.files.len() - 1);
            }
            let written = if fate == Fate::Fails { bytes.len() / 2 } else { bytes.len() };
            state.file(file)?.now.extend(bytes.iter().take(written));
            Ok(())
        })
    }

    fn truncate(&self, file: &Path, length: u64) -> io::Result<()> {
        self.change(|state, fate| {
            let file = state.file(file)?;
            if fate == Fate::Succeeds {
                file.now.truncate(usize::try_from(length).unwrap_or(usize::MAX));
                // A file system writes a shorter length before anything that is written after it.
                file.synced.truncate(file.now.len());
            }
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|state, fate| {
            if fate == Fate::Succeeds {
                let index = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
                state.names.insert(to.to_owned(), index);
            }
            Ok(())
        })
    }

    fn sync(&self, file: &Path) -> io::Result<()> {
        self.change(|state, fate| {
            let file = state.file(file)?;
            if fate == Fate::Succeeds {
                file.synced.clone_from(&file.now);
            }
            Ok(())
        })
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.change(|state, fate| {
            if fate == Fate::Succeeds {
                state.synced_names.clone_from(&state.names);
            }
            Ok(())
        })
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        self.change(|state, fate| {
            if fate == Fate::Succeeds {
                state.names.remove(file).ok_or(io::ErrorKind::NotFound)?;
            }
            Ok(())
        })
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        let names = state.names.keys().filter(|file| file.parent() == Some(folder));
        Ok(names.filter_map(|file| Some(file.file_name()?.to_str()?.to_owned())).collect())
    }

    fn make_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, _: &Path) -> io::Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }
}
