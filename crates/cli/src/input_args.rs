//! The input of a command: a file, standard input, or a stored session.

use std::path::{Path, PathBuf};

use clap::Args as Group;
use turnkeep_codec::Target;
use turnkeep_file::{DEFAULT_MAX_BYTES, Limits, OpenOptions, Opened, Source};
use turnkeep_model::{Error, ErrorKind, Result};
use turnkeep_store::ErrorKind as StoreErrorKind;

use crate::args::with_remedy;
use crate::exit::CliError;
use crate::report::note_ambiguous;
use crate::store::StoreArgs;

/// How an input is read.
#[derive(Group)]
pub(crate) struct InputArgs {
    /// The format of the input, with its variant where it has several; found out where it is not named
    #[arg(long, value_name = "FORMAT[:VARIANT]", value_parser = source)]
    pub(crate) from: Option<Target>,
    /// The most bytes that one file may have
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_BYTES)]
    pub(crate) max_bytes: u64,
    /// Check the items of a weakincentives snapshot against the types that FILE lists; nothing is ever imported
    #[arg(long, value_name = "FILE")]
    pub(crate) types: Option<PathBuf>,
}

impl InputArgs {
    /// As a file is read where nothing is said about it.
    pub(crate) fn plain() -> InputArgs {
        InputArgs { from: None, max_bytes: DEFAULT_MAX_BYTES, types: None }
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits { max_bytes: self.max_bytes }
    }

    /// Opens a source, and says where it may be of another format just as well.
    pub(crate) fn open(&self, source: Source) -> Result<Opened> {
        let name = source.name().to_owned();
        let opened = self.options()?.open_source(source)?;
        note_ambiguous(&name, opened.format, &opened.ambiguous);
        Ok(opened)
    }

    pub(crate) fn options(&self) -> Result<OpenOptions> {
        let mut options = OpenOptions::default();
        options.limits = self.limits();
        options.from = self.from.as_ref().map(|source| source.codec);
        options.decoding.variant = self.from.as_ref().and_then(|source| source.variant.clone());
        if let Some(path) = &self.types {
            options.decoding.types = Some(types_of(path, &options.limits)?);
        }
        Ok(options)
    }
}

/// Whether a path means standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What stands for the format of a stored session.
pub(crate) const STORED: &str = "stored";

/// The sessions of a file, of standard input, or those stored under an id, where no file has that name.
pub(crate) fn open_any(path: &Path, reading: &InputArgs, store: &StoreArgs) -> std::result::Result<Opened, CliError> {
    let Some(id) = stored_id(path, store) else {
        return open_file(path, reading);
    };
    match crate::command::load(store, id) {
        Ok(archive) => Ok(Opened { archive, losses: Vec::new(), format: STORED, guess: None, ambiguous: Vec::new() }),
        // What looked like an id may be a folder of that name.
        Err(error) if is_no_session(&error) => {
            if path.exists() {
                open_file(path, reading)
            } else {
                Err(neither(path).into())
            }
        }
        Err(error) => Err(error),
    }
}

/// The id that a word names, unless it can only be a file.
pub(crate) fn stored_id<'a>(path: &'a Path, store: &StoreArgs) -> Option<&'a str> {
    path.to_str().filter(|_| may_be_an_id(path) && store.exists())
}

/// Whether there is no session of this name in the store; what is wrong with the store itself is told.
pub(crate) fn is_no_session(error: &CliError) -> bool {
    matches!(error, CliError::Store(error) if error.at_session().is_some() && error.kind() == StoreErrorKind::NotFound)
}

fn neither(path: &Path) -> Error {
    Error::new(ErrorKind::NotFound, "is neither a file nor a stored session")
        .file(path.display().to_string())
        .hint("check the name; `turnkeep ls` shows what is stored")
}

/// Whether a word cannot name a file. A folder is no session, unless it is a bundle.
fn may_be_an_id(path: &Path) -> bool {
    !is_dash(path) && (!path.exists() || (path.is_dir() && !path.join("manifest.json").exists()))
}

fn open_file(path: &Path, reading: &InputArgs) -> std::result::Result<Opened, CliError> {
    Ok(reading.open(source_of(path, &reading.limits())?)?)
}

/// The text of a types file.
fn types_of(path: &Path, limits: &Limits) -> Result<String> {
    let bytes = turnkeep_file::read(path, limits)?;
    let no_text = |_| Error::new(ErrorKind::Corrupt, "is no text").file(path.display().to_string());
    String::from_utf8(bytes).map_err(|error| no_text(error).hint("a types file is JSON in UTF-8"))
}

/// What a path holds; `-` is standard input.
pub(crate) fn source_of(path: &Path, limits: &Limits) -> std::result::Result<Source, CliError> {
    Ok(if is_dash(path) { Source::stdin(limits)? } else { Source::read(path, limits)? })
}

fn source(text: &str) -> std::result::Result<Target, String> {
    match Target::parse(text) {
        Ok(source) if !source.codec.spec().reads => Err(format!("`{text}` can only be written")),
        other => with_remedy(other),
    }
}
