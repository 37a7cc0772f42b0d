//! Zip files, read from memory and within limits.

use std::io::{Cursor, Read};

use turnkeep_model::{Error, ErrorKind, Result};
use zip::ZipArchive;

use super::files::hostile;

/// How large one file may become. weakincentives itself stops at 10 MB.
const MAX_FILE: u64 = 64 << 20;

/// How large all files together may become. weakincentives itself stops at 50 MB.
const MAX_TOTAL: u64 = 256 << 20;

/// How many files there may be.
const MAX_FILES: usize = 10_000;

/// The files of a zip file by their names.
pub(super) fn unzip(bytes: &[u8], name: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
        Error::new(ErrorKind::Corrupt, format!("Not a valid zip file: {name}"))
            .because(error)
            .hint("copy it again from where it was written")
    })?;
    if archive.len() > MAX_FILES {
        return Err(too_large("the zip file holds too many files"));
    }
    let mut files = Vec::new();
    let mut left = MAX_TOTAL;
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(damaged)?;
        if file.is_symlink() {
            return Err(hostile("the zip file holds a symbolic link"));
        }
        if file.is_dir() {
            continue;
        }
        let name = file.name().map_err(damaged)?.into_owned();
        let content = inflate(file, left.min(MAX_FILE))?;
        left = left.saturating_sub(content.len() as u64);
        files.push((name, content));
    }
    Ok(files)
}

/// Reads no further than the limit, whatever the file says of its size.
fn inflate(file: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(limit + 1).read_to_end(&mut content).map_err(|error| damaged(error.into()))?;
    if content.len() as u64 > limit {
        return Err(too_large("a file of the zip file becomes too large"));
    }
    Ok(content)
}

fn too_large(what: &str) -> Error {
    Error::new(ErrorKind::TooLarge, what).hint("unpack it yourself, if you trust it, and name the folder")
}

fn damaged(error: zip::result::ZipError) -> Error {
    Error::new(ErrorKind::Corrupt, "the zip file is damaged")
        .because(error)
        .hint("copy it again from where it was written")
}
