//! Saving so that a file is either the old one or the new one, never half of it.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use turnkeep_model::{Error, ErrorKind, Result};

/// How many symbolic links in a row are followed, as Linux does.
const MAX_LINKS: usize = 40;

/// Saves `bytes` as the file `path`, atomically and durably.
///
/// The bytes go to a temporary file beside it, which then takes its name. An existing file keeps its permissions; where
/// `path` is a symbolic link, the file it points to is replaced, not the link. What is not a regular file, such as a
/// pipe or a device, is written to directly.
///
/// # Errors
/// `NotFound` where the directory is missing, `Io` where the system says no; an existing file is then as it was.
pub fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.display().to_string();
    let target = follow(path).map_err(|error| failed(error, &name))?;
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => Err(is_directory(&name)),
        Ok(metadata) if !metadata.is_file() => write_through(&target, bytes).map_err(|error| failed(error, &name)),
        Ok(metadata) if metadata.permissions().readonly() => Err(is_read_only(&name)),
        Ok(metadata) => replace(&target, bytes, Some(metadata.permissions()), &name),
        Err(_) => replace(&target, bytes, None, &name),
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

fn replace(target: &Path, bytes: &[u8], permissions: Option<Permissions>, name: &str) -> Result<()> {
    let directory = directory_of(target);
    if !directory.is_dir() {
        return Err(no_directory(directory, name));
    }
    let saved = write_beside(directory, bytes, permissions).and_then(|file| {
        file.persist(target)?;
        sync_directory(directory)
    });
    saved.map_err(|error| failed(error, name))
}

fn write_beside(directory: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".turnkeep-").suffix(".tmp");
    if let Some(mode) = permissions.clone().or_else(default_permissions) {
        builder.permissions(mode);
    }
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        // The umask took bits away when the file was made.
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
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

fn write_through(target: &Path, bytes: &[u8]) -> io::Result<()> {
    File::options().write(true).open(target)?.write_all(bytes)
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
