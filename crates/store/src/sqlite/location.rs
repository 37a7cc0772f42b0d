//! Where a database is: one file, whichever name leads to it.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{private, private_folder};
use crate::error::{Error, ErrorKind, Result};

/// What two names of one file have in common, hard links included.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);
#[cfg(not(unix))]
pub(super) type Identity = PathBuf;

/// The file of a database.
pub(super) struct Location {
    /// Its path, without symbolic links: SQLite names the log after it.
    pub(super) file: PathBuf,
    pub(super) identity: Identity,
}

impl Location {
    /// Whether the file has hard links.
    pub(super) fn has_other_names(&self) -> bool {
        #[cfg(unix)]
        let names = fs::metadata(&self.file).map_or(1, |found| std::os::unix::fs::MetadataExt::nlink(&found));
        #[cfg(not(unix))]
        let names = 1;
        names > 1
    }

    /// Whether SQLite has files beside this name: it is open somewhere, or was left by a process that was killed.
    pub(super) fn is_in_use(&self) -> bool {
        companion(&self.file, "-shm").exists()
    }
}

/// Finds the file of a database; makes it if need be, for its owner alone. An existing file is not opened: see
/// [`super::registry`].
pub(super) fn find_or_make(file: &Path) -> Result<Location> {
    match fs::metadata(file) {
        Ok(found) => check_kind("the path of the store", &found).map_err(|error| error.file(file))?,
        Err(error) if is_missing(&error) => make(file)?,
        Err(error) => return Err(cannot_open(file, error)),
    }
    let path = fs::canonicalize(file).map_err(|error| cannot_open(file, error))?;
    check_companions(&path)?;
    check_wal(&path)?;
    let found = fs::metadata(&path).map_err(|error| cannot_open(file, error))?;
    Ok(Location { identity: identity(&found, &path), file: path })
}

/// The write-ahead log of a database.
pub(super) fn wal_of(database: &Path) -> PathBuf {
    companion(database, "-wal")
}

fn companion(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether the file, or a folder above it, is not there.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn cannot_open(file: &Path, error: io::Error) -> Error {
    Error::io("open the store", file, error)
}

fn make(file: &Path) -> Result<()> {
    check_wal(file)?;
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folder(folder).map_err(|error| Error::no_folder(folder, error))?;
    }
    // SQLite gives its companions the rights of the file; it must be there, and private, before.
    private().append(true).create(true).open(file).map(drop).map_err(|error| cannot_open(file, error))
}

/// Refuses what is not a file. Opening a named pipe would wait for someone at its other end.
fn check_kind(place: &str, found: &Metadata) -> Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let what = format!("{place} is a {}, not a file", kind(found));
    Err(Error::new(ErrorKind::Unsupported, what).hint("name a file: `sqlite:PATH`; `file:DIR` is a store in a folder"))
}

/// Refuses files of SQLite beside the database that are none: what is committed to a device is gone.
fn check_companions(database: &Path) -> Result<()> {
    for suffix in ["-wal", "-shm"] {
        let file = companion(database, suffix);
        if let Ok(found) = fs::metadata(&file) {
            check_kind("the path of the store's log", &found).map_err(|error| error.file(&file))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn kind(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    let words = [(kind.is_dir(), "directory"), (kind.is_fifo(), "named pipe"), (kind.is_socket(), "socket")];
    words.into_iter().find(|(is, _)| *is).map_or("device", |(_, word)| word)
}

#[cfg(not(unix))]
fn kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "directory" } else { "device" }
}

/// Refuses a log whose database is empty or missing: SQLite would remove it, with every commit in it.
fn check_wal(database: &Path) -> Result<()> {
    let length = |file: &Path| fs::metadata(file).map_or(0, |found| found.len());
    let log = wal_of(database);
    // The log first: whoever makes a new store writes the database before there is a log.
    if length(&log) == 0 || length(database) > 0 {
        return Ok(());
    }
    let hint = format!(
        "restore the database from a copy; to begin a new store, move {} and its -shm file away",
        log.display()
    );
    let what = "the database is empty, but its log holds commits";
    Err(Error::new(ErrorKind::Corrupt, what).file(database).hint(hint))
}

#[cfg(unix)]
fn identity(found: &Metadata, _: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata, path: &Path) -> Identity {
    path.to_owned()
}
