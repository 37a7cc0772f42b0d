//! What is said of an input that no format takes.

use turnkeep_model::{Error, ErrorKind};

use super::{foreign, outline};
use crate::input::Input;

/// The error of an input that holds nothing.
pub(super) fn nothing(input: &Input<'_>) -> Error {
    let what = if input.bytes().is_empty() { "the file is empty" } else { "the file holds nothing but white space" };
    Error::new(ErrorKind::NotThisFormat, what)
        .hint("there is no session in it; look whether it was written to the end, or restore it from a copy")
}

/// The error of a file that a known system wrote.
pub(super) fn unreadable(name: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("it is {name}; this version cannot read it yet"))
        .hint("`turnkeep formats` lists what can be read; if it is one of these, name it with --from")
}

/// The error of anything else: what it looks like, and what comes near.
pub(super) fn unknown(input: &Input<'_>) -> Error {
    if let Some((what, hint)) = binary(input.bytes()) {
        return Error::new(ErrorKind::NotThisFormat, what).hint(hint);
    }
    let top = input.top();
    if let (Err(error), true) = (input.document(), top.records.is_empty()) {
        return error.clone().hint("name its format with --from; `turnkeep formats` lists them");
    }
    let what = format!("no known format looks like this: {}", outline::found(top));
    let nearest = match outline::nearest(top).as_slice() {
        [] => String::new(),
        near => format!("nearest: {}; ", near.join(", ")),
    };
    let others = foreign::names().collect::<Vec<_>>().join(", ");
    let hint = format!(
        "{nearest}name its format with --from; `turnkeep formats` lists them; known and not readable yet: {others}"
    );
    Error::new(ErrorKind::NotThisFormat, what).hint(hint)
}

/// What can be said of bytes that are no text, and what to do about them.
fn binary(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    /// How many bytes are looked through for one that no text holds.
    const ENOUGH: usize = 8_192;
    match bytes {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [b'B', b'Z', b'h', ..] | [0xfd, b'7', b'z', ..] => {
            Some(("the file is compressed", "unpack it, and name the file that comes out"))
        }
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] if cfg!(not(feature = "sqlite")) => {
            Some(("it is an SQLite database, which this build cannot read", "build turnkeep with the feature `sqlite`"))
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] if cfg!(not(feature = "zip")) => {
            Some(("it is a zip file, which this build cannot read", "build turnkeep with the feature `zip`"))
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] => {
            Some(("it is a zip file, and no debug bundle", "unpack it, and name one of the files in it"))
        }
        // UTF-16 is full of zero bytes, and has an error of its own.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => None,
        bytes => bytes.iter().take(ENOUGH).any(|byte| *byte == 0).then_some((
            "the file is binary, and no known format looks like this",
            "session files are JSON, YAML, JSON lines, SQLite databases or zip bundles; check the name",
        )),
    }
}
