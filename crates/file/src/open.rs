//! From a file to sessions.

use std::io;
use std::path::Path;

use turnkeep_codec::{Codec, DecodeOptions, Guess, Input, Read, pack, read};
use turnkeep_model::{Archive, Error, ErrorKind, Loss, Result, Session, Snapshot};

use crate::read::{Limits, read_from};
use crate::source::Source;

/// How to open a file.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How much may be read.
    pub limits: Limits,
    /// The format, where it is known; otherwise it is sniffed.
    pub from: Option<&'static dyn Codec>,
    /// How to read it.
    pub decoding: DecodeOptions,
}

/// What was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The sessions.
    pub archive: Archive,
    /// What could not be kept.
    pub losses: Vec<Loss>,
    /// The id of the format.
    pub format: &'static str,
    /// What the format was recognised by; `None` where it was named.
    pub guess: Option<Guess>,
    /// Other formats that it may be just as well.
    pub ambiguous: Vec<&'static str>,
}

impl Opened {
    /// The main session, if there is any.
    pub fn session(&self) -> Option<&Session> {
        self.archive.main_session()
    }

    /// The main session as a snapshot that a recorder can take up.
    ///
    /// # Errors
    /// `Corrupt` where there is no session.
    pub fn into_snapshot(self) -> Result<Snapshot> {
        Snapshot::try_from(self.archive)
    }
}

/// Opens a file in whatever known format it is.
///
/// # Errors
/// As [`read`](crate::read()); `NotThisFormat` where no format knows it; `Corrupt` with the line where the bytes are unusable.
pub fn open(path: impl AsRef<Path>) -> Result<Opened> {
    OpenOptions::default().open(path.as_ref())
}

/// Reads bytes in whatever known format they are, compressed or not.
///
/// # Errors
/// As [`open`].
pub fn decode(bytes: &[u8]) -> Result<Opened> {
    let options = OpenOptions::default();
    let bytes = pack::unpack(bytes, options.limits.max_bytes)?;
    options.decode(Input::new(&bytes))
}

/// Reads all that a reader gives, in whatever known format it is.
///
/// # Errors
/// As [`open`].
pub fn decode_from(reader: impl io::Read) -> Result<Opened> {
    decode(&read_from(reader, "<input>", &Limits::default())?)
}

impl OpenOptions {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self, path: &Path) -> Result<Opened> {
        self.open_source(Source::read(path, &self.limits)?)
    }

    /// Opens what was read; the bytes are gone afterwards.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open_source(&self, source: Source) -> Result<Opened> {
        self.decode(source.input()).map_err(|error| with_remedy(error).file(source.name()))
    }

    /// Reads an input.
    ///
    /// # Errors
    /// As [`open`].
    pub fn decode(&self, input: Input<'_>) -> Result<Opened> {
        let Read { codec, guess, ambiguous, archive, losses } = read(input, self.from, &self.decoding)?;
        Ok(Opened { archive, losses, format: codec.spec().id, guess, ambiguous })
    }
}

/// A remedy for damage that the decoder knows none for.
pub(crate) fn with_remedy(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Corrupt => error.hint("mend that place, or restore the file from a copy"),
        ErrorKind::NotThisFormat => error.hint("ask `turnkeep sniff` what it is"),
        _ => error,
    }
}
