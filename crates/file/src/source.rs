//! What a path holds, ready to be read.

use std::fs;
use std::path::Path;

use turnkeep_codec::{Input, pack};
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
    packed: Packed,
}

/// Whether bytes were compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Packed {
    /// They were not.
    #[default]
    No,
    /// With zstd.
    Zstd,
}

impl Source {
    /// Reads a file, a database with the log that stands beside it, or a bundle folder.
    ///
    /// # Errors
    /// As [`read`]; the limit counts all files of a bundle together.
    pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
        let name = path.display().to_string();
        if is_bundle(path) {
            return read_bundle(path, limits).map(|(bytes, files)| Source { name, bytes, files, packed: Packed::No });
        }
        let bytes = read(path, limits)?;
        let files = read_log(path, &bytes, limits)?;
        Source { name, bytes, files, packed: Packed::No }.unpacked(limits)
    }

    /// Reads standard input.
    ///
    /// # Errors
    /// As [`read_stdin`].
    pub fn stdin(limits: &Limits) -> Result<Source> {
        let (name, bytes) = ("<stdin>".to_owned(), read_stdin(limits)?);
        Source { name, bytes, files: Vec::new(), packed: Packed::No }.unpacked(limits)
    }

    /// The same with its bytes decompressed, if they were compressed.
    fn unpacked(mut self, limits: &Limits) -> Result<Source> {
        if pack::is_packed(&self.bytes) {
            let opened = pack::unpack(&self.bytes, limits.max_bytes).map_err(|error| error.file(self.name.as_str()))?;
            self.bytes = opened.into_owned();
            self.packed = Packed::Zstd;
        }
        Ok(self)
    }

    /// Whether the bytes were compressed.
    pub fn packed(&self) -> Packed {
        self.packed
    }

    /// What to call it in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a codec reads.
    pub fn input(&self) -> Input<'_> {
        // What a compressed file is named like is what is in it.
        Input::new(&self.bytes).named(self.name.trim_end_matches(".zst")).with_files(&self.files)
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
