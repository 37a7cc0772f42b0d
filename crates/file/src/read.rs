//! Reading within limits.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use turnkeep_model::{Error, ErrorKind, Result};

/// How many bytes a file may have unless more are allowed: 256 MiB.
pub const DEFAULT_MAX_BYTES: u64 = 256 << 20;

/// How much may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many bytes one file may have.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_bytes: DEFAULT_MAX_BYTES }
    }
}

/// Reads a file.
///
/// # Errors
/// `NotFound`, `TooLarge` before much is read, or `Io` where it is a directory or unreadable; each names the file.
pub fn read(path: &Path, limits: &Limits) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    let metadata = fs::metadata(path).map_err(|error| refused(error, &name))?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::Io, "is a directory, and a file is meant")
            .file(name)
            .hint("name one of the files in it"));
    }
    if metadata.len() > limits.max_bytes {
        return Err(too_large(Some(metadata.len()), limits).file(name));
    }
    let file = File::open(path).map_err(|error| refused(error, &name))?;
    // What grows while it is read, and what has no size to ask for, is counted on the way.
    let expected = usize::try_from(metadata.len()).unwrap_or(0);
    take(file, expected, limits).map_err(|error| error.file(name))
}

/// Reads everything that `reader` gives; `name` stands for the file in errors.
///
/// # Errors
/// `TooLarge` past the limit, `Io` where reading fails.
pub fn read_from(reader: impl Read, name: &str, limits: &Limits) -> Result<Vec<u8>> {
    take(reader, 0, limits).map_err(|error| error.file(name))
}

/// Reads standard input.
///
/// # Errors
/// As [`read_from`].
pub fn read_stdin(limits: &Limits) -> Result<Vec<u8>> {
    read_from(io::stdin().lock(), "<stdin>", limits)
}

fn take(reader: impl Read, expected: usize, limits: &Limits) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve(expected).map_err(|error| {
        Error::new(ErrorKind::TooLarge, "does not fit in memory").because(error).hint("use a machine with more memory")
    })?;
    let read = reader.take(limits.max_bytes.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Error::new(ErrorKind::Io, "cannot be read").because(error))?;
    if bytes.len() as u64 > limits.max_bytes {
        return Err(too_large(None, limits));
    }
    Ok(bytes)
}

fn too_large(size: Option<u64>, limits: &Limits) -> Error {
    let has = size.map_or_else(|| "more".to_owned(), |size| format!("{size} bytes"));
    Error::new(ErrorKind::TooLarge, format!("has {has}, and the limit is {} bytes", limits.max_bytes))
        .hint("raise the limit with --max-bytes")
}

/// An error of the system about a file, as one of ours.
pub(crate) fn refused(error: io::Error, name: &str) -> Error {
    let (kind, what, hint) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorKind::NotFound, "is not there", "check the name"),
        io::ErrorKind::NotADirectory => (ErrorKind::NotFound, "is not there", "part of its path is a file"),
        io::ErrorKind::PermissionDenied => (ErrorKind::Io, "may not be opened", "check its permissions"),
        _ => (ErrorKind::Io, "cannot be opened", "check the disk and the path"),
    };
    let refused = Error::new(kind, what).file(name).hint(hint);
    // That something is not there needs no further reason.
    if kind == ErrorKind::NotFound { refused } else { refused.because(error) }
}
