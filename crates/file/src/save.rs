//! Saving so that a file is either the old one or the new one, never half of it.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use turnkeep_model::{Error, ErrorKind, Result};

/// How many symbolic links in a row are followed, as Linux does.
const MAX_LINKS: usize = 40;

/// Saves `bytes` as the file `path`, atomically and durably, as [`Saving`] does.
///
/// # Errors
/// Those of [`Saving`].
pub fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut saving = Saving::begin(path)?;
    saving.write(bytes)?;
    saving.finish()
}

/// A file that is being saved piece by piece, atomically and durably.
///
/// The bytes go to a temporary file beside it, which takes its name when it is finished; what is dropped before that
/// leaves nothing behind. An existing file keeps its permissions; where the path is a symbolic link, the file it points
/// to is replaced, not the link. What is not a regular file, such as a pipe or a device, is written to directly.
pub struct Saving {
    name: String,
    target: PathBuf,
    out: Out,
}

enum Out {
    /// A file beside the target, and the permissions that it will have.
    Beside(BufWriter<NamedTempFile>, Option<Permissions>),
    Through(BufWriter<File>),
}

impl Saving {
    /// Begins to save the file `path`.
    ///
    /// # Errors
    /// `NotFound` where the directory is missing, `Io` where the system says no.
    pub fn begin(path: &Path) -> Result<Saving> {
        let name = path.display().to_string();
        let target = follow(path).map_err(|error| failed(error, &name))?;
        let out = match fs::metadata(&target) {
            Ok(metadata) if metadata.is_dir() => return Err(is_directory(&name)),
            Ok(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(&target).map_err(|error| failed(error, &name))?;
                Out::Through(BufWriter::new(file))
            }
            Ok(metadata) if metadata.permissions().readonly() => return Err(is_read_only(&name)),
            found => beside(&target, found.ok().map(|metadata| metadata.permissions()), &name)?,
        };
        Ok(Saving { name, target, out })
    }

    /// Writes what comes next.
    ///
    /// # Errors
    /// `Io` where the system says no; an existing file stays as it is.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.out {
            Out::Beside(file, _) => file.write_all(bytes),
            Out::Through(file) => file.write_all(bytes),
        };
        written.map_err(|error| failed(error, &self.name))
    }

    /// Gives the file its name, once all of it is on the disk.
    ///
    /// # Errors
    /// `Io` where the system says no; an existing file is then as it was.
    pub fn finish(self) -> Result<()> {
        let saved = match self.out {
            Out::Beside(file, permissions) => put_in_place(file, permissions, &self.target),
            Out::Through(mut file) => file.flush(),
        };
        saved.map_err(|error| failed(error, &self.name))
    }
}

/// Makes a directory and those above it; one that is there is fine.
///
/// # Errors
/// `Io` where the system says no, or where a file has that name.
pub fn make_directory(path: &Path) -> Result<()> {
    let why = |error| Error::new(ErrorKind::Io, "is not a directory and cannot be made one").because(error);
    fs::create_dir_all(path).map_err(|error| why(error).file(path.display().to_string()).hint("choose another name"))
}

/// A temporary file in the directory of the target.
fn beside(target: &Path, permissions: Option<Permissions>, name: &str) -> Result<Out> {
    let directory = directory_of(target);
    if !directory.is_dir() {
        return Err(no_directory(directory, name));
    }
    let mut builder = Builder::new();
    builder.prefix(".turnkeep-").suffix(".tmp");
    if let Some(mode) = permissions.clone().or_else(default_permissions) {
        builder.permissions(mode);
    }
    let file = builder.tempfile_in(directory).map_err(|error| failed(error, name))?;
    Ok(Out::Beside(BufWriter::new(file), permissions))
}

fn put_in_place(file: BufWriter<NamedTempFile>, permissions: Option<Permissions>, target: &Path) -> io::Result<()> {
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(permissions) = permissions {
        // The umask took bits away when the file was made.
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(target)?;
    sync_directory(directory_of(target))
}

/// What a new file gets, less the umask.
#[cfg(unix)]
fn default_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn default_permissions() -> Option<Permissions> {
    None
}

/// The new name survives a power cut only once its directory is on disk. Some file systems cannot do that on request.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(directory).and_then(|file| file.sync_all()) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

/// The file that a chain of symbolic links ends at, also when it is not there yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = directory_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("the symbolic links go in a circle"))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("."),
    }
}

fn failed(error: io::Error, name: &str) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => "check the permissions of its directory",
        io::ErrorKind::StorageFull => "free some space",
        _ => "check the disk and the path",
    };
    Error::new(ErrorKind::Io, "cannot be written").file(name).hint(hint).because(error)
}

fn is_directory(name: &str) -> Error {
    Error::new(ErrorKind::Io, "is a directory, and a file is meant").file(name).hint("name a file in it")
}

fn is_read_only(name: &str) -> Error {
    Error::new(ErrorKind::Io, "is read-only").file(name).hint("make it writable, or choose another name")
}

fn no_directory(directory: &Path, name: &str) -> Error {
    let what = format!("cannot be written: the directory {} is not there", directory.display());
    Error::new(ErrorKind::NotFound, what).file(name).hint(format!("make it with: mkdir -p {}", directory.display()))
}
