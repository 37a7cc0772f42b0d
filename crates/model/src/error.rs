//! What can go wrong, by what the caller can do about it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something did not succeed, where, and what helps.
///
/// One type serves the rooms that read and write documents (`model`, `codec`, `file`): the place is filled in by
/// whoever knows it. The message never shows a session's content.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    what: String,
    file: Option<String>,
    path: String,
    offset: Option<usize>,
    line: Option<usize>,
    column: Option<usize>,
    hint: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// What the caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Ask for something else: it is not there.
    NotFound,
    /// Read again and retry: someone else was faster.
    Conflict,
    /// Repair or restore: the bytes are damaged.
    Corrupt,
    /// Try another format.
    NotThisFormat,
    /// Raise a limit.
    TooLarge,
    /// Restart or confirm: it does not belong to what it is used with.
    Mismatch,
    /// Ask a person.
    NeedsHuman,
    /// Choose another way: this one does not exist.
    Unsupported,
    /// Try again later.
    Unavailable,
    /// The system said no.
    Io,
}

impl Error {
    /// An error that says what happened, without a place yet.
    #[must_use]
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            kind,
            what: what.into(),
            file: None,
            path: String::new(),
            offset: None,
            line: None,
            column: None,
            hint: None,
            source: None,
        }))
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Adds the byte where it happened.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Error {
        self.0.offset = Some(offset);
        self
    }

    /// Adds the line (from 1) where it happened.
    #[must_use]
    pub fn line(mut self, line: usize) -> Error {
        self.0.line.get_or_insert(line);
        self
    }

    /// Adds the column (from 1, in characters) where it happened.
    #[must_use]
    pub fn column(mut self, column: usize) -> Error {
        self.0.column.get_or_insert(column);
        self
    }

    /// Adds the path inside the document.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Error {
        if self.0.path.is_empty() {
            self.0.path = path.into();
        }
        self
    }

    /// Adds the file, if none is named yet.
    #[must_use]
    pub fn file(mut self, file: impl Into<String>) -> Error {
        self.0.file.get_or_insert_with(|| file.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn because(mut self, source: impl StdError + Send + Sync + 'static) -> Error {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Turns the byte offset into a line and column of `text`.
    #[must_use]
    pub fn locate(mut self, text: &str) -> Error {
        if let (Some(offset), None) = (self.0.offset, self.0.line) {
            let (line, column) = line_and_column(text, offset);
            self.0.line = Some(line);
            self.0.column = Some(column);
        }
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What happened, without the place.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// What the user can do.
    pub fn remedy(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The line (from 1), where known.
    pub fn at_line(&self) -> Option<usize> {
        self.0.line
    }

    /// The column (from 1, in characters), where known.
    pub fn at_column(&self) -> Option<usize> {
        self.0.column
    }

    /// The path inside the document, empty where it concerns the whole.
    pub fn at_path(&self) -> &str {
        &self.0.path
    }

    /// Whether trying again may help.
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Conflict | ErrorKind::Unavailable)
    }
}

/// The line and column (both from 1) of a byte offset.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        if let Some(file) = &inner.file {
            write!(f, "{file}")?;
            if let Some(line) = inner.line {
                write!(f, ":{line}")?;
                if let Some(column) = inner.column {
                    write!(f, ":{column}")?;
                }
            }
            f.write_str(": ")?;
        } else if let Some(line) = inner.line {
            write!(f, "line {line}: ")?;
        }
        if !inner.path.is_empty() {
            write!(f, "{}: ", inner.path)?;
        }
        f.write_str(&inner.what)?;
        if let Some(source) = &inner.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
