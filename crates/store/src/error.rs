//! What can go wrong with a store, by what the caller can do about it.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use turnkeep_model::{Seq, SessionId};

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a store did not do what it was asked, and where. It never shows a session's content.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    what: String,
    session: Option<SessionId>,
    seq: Option<Seq>,
    file: Option<String>,
    hint: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// What the caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Ask for another: it is not there.
    NotFound,
    /// Read on and retry: someone else was faster.
    Conflict,
    /// Repair or restore: the stored bytes are damaged.
    Corrupt,
    /// Make it smaller, or raise a limit.
    TooLarge,
    /// Choose another store, or another way.
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
            session: None,
            seq: None,
            file: None,
            hint: None,
            source: None,
        }))
    }

    /// The system's error at a file.
    #[must_use]
    pub fn io(doing: &str, file: &Path, source: std::io::Error) -> Error {
        let kind = match source.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::Io,
        };
        Error::new(kind, format!("cannot {doing}")).file(file).because(source)
    }

    /// The system's error at a folder that is to be made.
    pub(crate) fn no_folder(folder: &Path, source: std::io::Error) -> Error {
        Error::new(ErrorKind::Io, "cannot make the folder of the store").file(folder).because(source)
    }

    /// The error that there is no such session.
    pub fn unknown(session: &SessionId) -> Error {
        Error::new(ErrorKind::NotFound, "the store has no such session")
            .session(session)
            .hint("`turnkeep ls` shows what is there")
    }

    /// The error that a session has gone on past `at`.
    pub fn stale(session: &SessionId, at: Seq, last: Seq) -> Error {
        let what = format!("append after {at}: the session is at {last}");
        Error::new(ErrorKind::Conflict, what).session(session).hint("read on from there and try again")
    }

    /// Adds the session.
    #[must_use]
    pub fn session(mut self, session: &SessionId) -> Error {
        self.0.session.get_or_insert_with(|| session.clone());
        self
    }

    /// Adds the place in the journal.
    #[must_use]
    pub fn seq(mut self, seq: Seq) -> Error {
        self.0.seq.get_or_insert(seq);
        self
    }

    /// Adds the file.
    #[must_use]
    pub fn file(mut self, file: &Path) -> Error {
        self.0.file.get_or_insert_with(|| file.display().to_string());
        self
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn because(mut self, source: impl StdError + Send + Sync + 'static) -> Error {
        self.0.source = Some(Arc::new(source));
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

    /// The session it happened to, where known.
    pub fn at_session(&self) -> Option<&SessionId> {
        self.0.session.as_ref()
    }

    /// The place in the journal, where known.
    pub fn at_seq(&self) -> Option<Seq> {
        self.0.seq
    }

    /// What the user can do.
    pub fn remedy(&self) -> Option<&str> {
        let source = self.0.source.as_ref().and_then(|source| source.downcast_ref::<std::io::Error>());
        self.0.hint.as_deref().or_else(|| source.map(|source| against(source.kind())))
    }

    /// Whether trying again may help.
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Conflict | ErrorKind::Unavailable)
    }
}

/// What helps against what the system said.
fn against(kind: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind as Kind;
    match kind {
        Kind::NotFound => "check the path",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => "check the rights of the folder and of what is in it",
        Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => "make room and try again",
        Kind::AlreadyExists | Kind::NotADirectory | Kind::IsADirectory => "name another place",
        Kind::InvalidInput => "remove what is in the place of the file",
        _ => "check the disk, then try again",
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        if let Some(file) = &inner.file {
            write!(f, "{file}: ")?;
        }
        if let Some(session) = &inner.session {
            write!(f, "session `{}`: ", session.as_str().escape_debug())?;
        }
        if let Some(seq) = inner.seq {
            write!(f, "at {seq}: ")?;
        }
        f.write_str(&inner.what)?;
        match &inner.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
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

/// What a journal's own bytes say: they are damaged, or of a newer version.
impl From<turnkeep_model::Error> for Error {
    fn from(error: turnkeep_model::Error) -> Error {
        let kind = match error.kind() {
            turnkeep_model::ErrorKind::Unsupported => ErrorKind::Unsupported,
            turnkeep_model::ErrorKind::TooLarge => ErrorKind::TooLarge,
            _ => ErrorKind::Corrupt,
        };
        Error::new(kind, error.to_string()).hint("run `turnkeep verify`, then repair or restore the store")
    }
}
