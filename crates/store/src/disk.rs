//! The file layer under `file:` stores, so that tests can put a failing one in its place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// What a `file:` store asks of a disk.
pub trait Disk: Send + Sync + 'static {
    /// How the file is, if it is there.
    fn stat(&self, file: &Path) -> io::Result<Option<Stat>>;

    /// At most `length` bytes from `from` on; fewer at the end.
    fn read(&self, file: &Path, from: u64, length: u64) -> io::Result<Vec<u8>>;

    /// Writes at the end of the file, which is made if need be.
    fn append(&self, file: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file.
    fn truncate(&self, file: &Path, length: u64) -> io::Result<()>;

    /// Puts a file in the place of another.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Returns when the content of the file is on the disk.
    fn sync(&self, file: &Path) -> io::Result<()>;

    /// Returns when the names in the folder are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes the file.
    fn remove(&self, file: &Path) -> io::Result<()>;

    /// The names in the folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Makes the folder, if it is not there.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;

    /// Waits until nobody else holds the lock of this file, and holds it until the result is dropped. The file is another
    /// one afterwards, by its [`Stat`]: so whoever follows the store sees that someone held it.
    fn lock(&self, file: &Path) -> io::Result<Box<dyn Send>>;
}

/// How a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Its length.
    pub length: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub changed: i64,
    /// A number that another file of the same name would not have.
    pub identity: u64,
}

/// The disk of this machine. Files and folders are made for their owner alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalDisk;

impl Disk for LocalDisk {
    fn stat(&self, file: &Path) -> io::Result<Option<Stat>> {
        match fs::metadata(file) {
            Ok(metadata) => {
                let since = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
                let changed = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
                Ok(Some(Stat { length: metadata.len(), changed, identity: identity(&metadata) }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read(&self, file: &Path, from: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut file = opened(OpenOptions::new().read(true), file)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn append(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        opened(private().append(true).create(true), file)?.write_all(bytes)
    }

    fn truncate(&self, file: &Path, length: u64) -> io::Result<()> {
        opened(OpenOptions::new().write(true), file)?.set_len(length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync(&self, file: &Path) -> io::Result<()> {
        opened(OpenOptions::new().append(true), file)?.sync_data()
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        fs::remove_file(file)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect()
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        private_folder(folder)
    }

    fn lock(&self, file: &Path) -> io::Result<Box<dyn Send>> {
        let file = opened(private().append(true).create(true), file)?;
        file.lock()?;
        Ok(Box::new(HeldLock(file)))
    }
}

/// How large the file of a lock grows.
const LOCK_FILE: u64 = 1 << 12;

/// A lock that is let go when this is dropped.
struct HeldLock(File);

impl Drop for HeldLock {
    /// Lets the file grow by a byte, before the lock goes with it.
    fn drop(&mut self) {
        // Where that fails, followers are told somewhat later.
        if self.0.metadata().is_ok_and(|found| found.len() >= LOCK_FILE) {
            let _ = self.0.set_len(0);
        }
        let _ = self.0.write_all(b".");
    }
}

/// Opens a file, and nothing else: a named pipe would wait for someone at its other end.
fn opened(options: &OpenOptions, file: &Path) -> io::Result<File> {
    match fs::metadata(file) {
        Ok(found) if !found.is_file() => Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a file")),
        _ => options.open(file),
    }
}

/// Options for files that only their owner may read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder, and those above it that are missing, which only their owner may look into.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> u64 {
    0
}
