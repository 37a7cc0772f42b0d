//! What a path holds, ready to be read.

use std::fs;
use std::path::Path;

use turnkeep_codec::Input;
use turnkeep_model::{Error, ErrorKind, Result};

use crate::read::{Limits, read, read_stdin};
use crate::walk::walk;

/// The file whose presence makes a directory a bundle.
const MANIFEST: &str = "manifest.json";

/// What an SQLite file begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How many files a bundle may have.
const MAX_FILES: usize = 10_000;

/// Bytes to read, with the files that belong to them: those of a bundle, or the log of a database.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    bytes: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
}

impl Source {
    /// Reads a file, a database with the log that stands beside it, or a bundle folder.
    ///
    /// # Errors
    /// As [`read`]; the limit counts all files of a bundle together.
    pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
        let name = path.display().to_string();
        if is_bundle(path) {
            return read_bundle(path, limits).map(|(bytes, files)| Source { name, bytes, files });
        }
        let bytes = read(path, limits)?;
        let files = read_log(path, &bytes, limits)?;
        Ok(Source { name, bytes, files })
    }

    /// Reads standard input.
    ///
    /// # Errors
    /// As [`read_stdin`].
    pub fn stdin(limits: &Limits) -> Result<Source> {
        Ok(Source { name: "<stdin>".to_owned(), bytes: read_stdin(limits)?, files: Vec::new() })
    }

    /// What to call it in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a codec reads.
    pub fn input(&self) -> Input<'_> {
        Input::new(&self.bytes).named(&self.name).with_files(&self.files)
    }
}

/// Whether a path is a directory that is one document.
pub fn is_bundle(path: &Path) -> bool {
    path.is_dir() && path.join(MANIFEST).is_file()
}

type Bundle = (Vec<u8>, Vec<(String, Vec<u8>)>);

fn read_bundle(path: &Path, limits: &Limits) -> Result<Bundle> {
    let names = walk(path)?;
    if names.len() > MAX_FILES {
        return Err(Error::new(ErrorKind::TooLarge, format!("the bundle has more than {MAX_FILES} files"))
            .file(path.display().to_string()));
    }
    let mut left = limits.max_bytes;
    let mut manifest = Vec::new();
    let mut files = Vec::new();
    for name in names {
        let bytes = read(&path.join(&name), &Limits { max_bytes: left })?;
        left = left.saturating_sub(bytes.len() as u64);
        if name == Path::new(MANIFEST) {
            manifest.clone_from(&bytes);
        }
        files.push((name.to_string_lossy().replace('\\', "/"), bytes));
    }
    Ok((manifest, files))
}

/// The write-ahead log of a database, if one stands beside it.
fn read_log(path: &Path, bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>> {
    let Some(name) = path.file_name().filter(|_| bytes.starts_with(SQLITE)) else { return Ok(Vec::new()) };
    let log = format!("{}-wal", name.to_string_lossy());
    let beside = path.with_file_name(&log);
    if !fs::metadata(&beside).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Ok(Vec::new());
    }
    Ok(vec![(log, read(&beside, limits)?)])
}
