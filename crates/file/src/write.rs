//! From sessions to a file.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use turnkeep_codec::{EncodeOptions, Encoded, Target, pack};
use turnkeep_model::{Archive, Error, ErrorKind, Loss, Result, Session, Snapshot};

use crate::open::Opened;
use crate::save::save;

/// Something that can be written as sessions: a session, a snapshot, an archive, or what was opened.
pub trait ToArchive {
    /// The sessions.
    fn to_archive(&self) -> Cow<'_, Archive>;
}

impl ToArchive for Archive {
    fn to_archive(&self) -> Cow<'_, Archive> {
        Cow::Borrowed(self)
    }
}

impl ToArchive for Opened {
    fn to_archive(&self) -> Cow<'_, Archive> {
        Cow::Borrowed(&self.archive)
    }
}

impl ToArchive for Session {
    fn to_archive(&self) -> Cow<'_, Archive> {
        Cow::Owned(Archive::from(self.clone()))
    }
}

impl ToArchive for Snapshot {
    fn to_archive(&self) -> Cow<'_, Archive> {
        Cow::Owned(Archive::from(self.clone()))
    }
}

/// Saves sessions as a file, atomically, and says what could not be kept.
///
/// `format` is an id such as `turnkeep.yaml`, or names a variant too, as `turnkeep:pretty`.
///
/// # Errors
/// `NotFound` where there is no such format, and as [`save`](crate::save()).
pub fn save_session<T: ToArchive + ?Sized>(sessions: &T, path: impl AsRef<Path>, format: &str) -> Result<Vec<Loss>> {
    let path = path.as_ref();
    let target = target_for(Target::parse(format)?, path);
    let encoded = turnkeep_codec::encode(&sessions.to_archive(), &target, &EncodeOptions::default())?;
    save(path, &encoded.bytes)?;
    Ok(encoded.losses)
}

/// Saves sessions as a compressed file: as [`save_session`], at a level of [`pack::LEVELS`]. Everything here that reads opens it as if it
/// were not compressed.
///
/// # Errors
/// As [`save_session`], and `Unsupported` where there is no such level.
pub fn save_packed<T: ToArchive + ?Sized>(
    sessions: &T,
    path: impl AsRef<Path>,
    format: &str,
    level: i32,
) -> Result<Vec<Loss>> {
    let path = path.as_ref();
    let target = target_for(Target::parse(format)?, path);
    let encoded = turnkeep_codec::encode(&sessions.to_archive(), &target, &EncodeOptions::default())?;
    save(path, &pack::pack(&encoded.bytes, target.codec.spec().id, level)?)?;
    Ok(encoded.losses)
}

/// Writes sessions as bytes of a format.
///
/// # Errors
/// `NotFound` where there is no such format.
pub fn encode<T: ToArchive + ?Sized>(sessions: &T, format: &str) -> Result<Encoded> {
    turnkeep_codec::encode(&sessions.to_archive(), &Target::parse(format)?, &EncodeOptions::default())
}

/// Writes sessions into a writer, and says what could not be kept.
///
/// # Errors
/// As [`encode`], and `Io` where writing fails.
pub fn encode_to<T: ToArchive + ?Sized>(sessions: &T, mut writer: impl Write, format: &str) -> Result<Vec<Loss>> {
    let encoded = encode(sessions, format)?;
    let written = writer.write_all(&encoded.bytes).and_then(|()| writer.flush());
    written.map_err(|error| Error::new(ErrorKind::Io, "cannot be written").because(error))?;
    Ok(encoded.losses)
}

/// The target as the name of the output wants it: where no variant is named and the format has one that is called like
/// the file's ending, that one (`.json` wants `json`, `.yml` wants `yaml`).
#[must_use]
pub fn target_for(target: Target, path: &Path) -> Target {
    let packed = path.extension().is_some_and(|ending| ending == "zst");
    let stem = path.with_extension("");
    let path = if packed { stem.as_path() } else { path };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let wanted = if ending == "yml" { "yaml" } else { ending };
    match target.codec.spec().variants.iter().find(|variant| **variant == wanted) {
        Some(variant) if target.variant.is_none() => Target { variant: Some((*variant).to_owned()), ..target },
        _ => target,
    }
}
