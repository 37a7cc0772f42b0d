//! The files of a directory.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use turnkeep_model::Result;

use crate::read::refused;

/// Every file under `root`, relative to it, sorted by name.
///
/// Hidden files and directories are left out. A symbolic link to a file counts as a file; one to a directory is not
/// entered, so that links cannot lead in a circle.
///
/// # Errors
/// Where a directory cannot be listed; the error names it.
pub fn walk(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut due = vec![PathBuf::new()];
    while let Some(directory) = due.pop() {
        for entry in list(&root.join(&directory))? {
            let path = directory.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => due.push(path),
                _ if root.join(&path).is_file() => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

fn list(directory: &Path) -> Result<Vec<DirEntry>> {
    let name = directory.display().to_string();
    let entries: std::io::Result<Vec<_>> = fs::read_dir(directory).and_then(Iterator::collect);
    let entries = entries.map_err(|error| refused(error, &name))?;
    Ok(entries.into_iter().filter(|entry| !is_hidden(entry)).collect())
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}
