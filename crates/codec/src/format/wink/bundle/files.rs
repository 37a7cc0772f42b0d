//! The files of a bundle, by their path below its root.

use std::borrow::Cow;
use std::collections::BTreeMap;

use turnkeep_model::{Error, ErrorKind, Result};

use crate::input::Input;

/// The folder that all files of a bundle stand in.
pub(super) const ROOT: &str = "debug_bundle/";

/// The file that lists the others.
pub(super) const MANIFEST: &str = "manifest.json";

/// The files of a bundle.
pub(super) struct Files<'a>(BTreeMap<String, Cow<'a, [u8]>>);

impl<'a> Files<'a> {
    /// The files beside an input, or in the zip file that it is.
    pub(super) fn of(input: &Input<'a>) -> Result<Files<'a>> {
        if input.bytes().starts_with(b"PK") {
            return unzip(input);
        }
        let mut files = BTreeMap::new();
        for (name, bytes) in input.files() {
            files.insert(below_root(name)?.to_owned(), Cow::Borrowed(bytes.as_slice()));
        }
        if files.is_empty() {
            let name = input.name().unwrap_or("the input");
            return Err(Error::new(ErrorKind::NotThisFormat, format!("Not a valid zip file: {name}"))
                .hint("name the zip file, or the folder that holds manifest.json"));
        }
        Ok(Files(files))
    }

    /// The bytes of a file.
    pub(super) fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(|bytes| &**bytes)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// `Corrupt` where it is no UTF-8.
    pub(super) fn text(&self, path: &str) -> Result<Option<&str>> {
        let text = self.get(path).map(std::str::from_utf8).transpose();
        text.map_err(|_| Error::new(ErrorKind::Corrupt, "the file is not UTF-8").path(path).hint("restore the bundle"))
    }

    /// Every path, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn unzip<'a>(input: &Input<'a>) -> Result<Files<'a>> {
    let mut files = BTreeMap::new();
    for (name, bytes) in super::unzip::unzip(input.bytes(), input.name().unwrap_or("the input"))? {
        let path = below_root(&name)?.to_owned();
        if files.insert(path, Cow::Owned(bytes)).is_some() {
            return Err(hostile("two files of the zip file have one name"));
        }
    }
    Ok(Files(files))
}

/// The path below the root of the bundle. A path that could leave the bundle is refused.
fn below_root(name: &str) -> Result<&str> {
    let leaves = name.split('/').any(|step| step == "..") || name.starts_with('/') || name.contains(['\\', ':', '\0']);
    if leaves {
        return Err(hostile("a file of the bundle has a path that leads out of it"));
    }
    Ok(name.strip_prefix(ROOT).unwrap_or(name))
}

/// A container that is made to do harm.
pub(super) fn hostile(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, what).hint("it was not written by weakincentives; do not trust it")
}

#[cfg(test)]
mod tests {
    use super::below_root;

    #[test]
    fn paths_that_lead_out_are_refused() {
        for bad in ["../x", "a/../../x", "/etc/passwd", "c:\\x", "a\\..\\x", "C:/x"] {
            assert!(below_root(bad).is_err(), "{bad}");
        }
        assert_eq!(below_root("debug_bundle/logs/app.jsonl").unwrap(), "logs/app.jsonl");
        assert_eq!(below_root("manifest.json").unwrap(), "manifest.json");
    }
}
