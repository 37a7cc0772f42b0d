//! What can go wrong while an agent runs, by what the caller can do about it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use turnkeep_model::{CallId, ErrorKind, Seq, SessionId};

use crate::port::{ModelError, ToolError};

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something did not succeed, where, and what helps. It never shows a session's content.
///
/// ```
/// use turnkeep_model::ErrorKind;
/// use turnkeep_runtime::Error;
///
/// fn read(path: &str) -> Result<String, Error> {
///     Ok(std::fs::read_to_string(path)?)
/// }
///
/// assert_eq!(read("/nowhere/at/all").unwrap_err().kind(), ErrorKind::Io);
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    name: Option<Named>,
    what: String,
    session: Option<SessionId>,
    hint: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// An error that callers tell from all others of its kind, because it has a remedy of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Named {
    /// `ConversationStateMismatch`: the prompt, or the conversation, is not the one of the checkpoint. Restart the request
    /// with `MainLoop::restart`.
    ConversationStateMismatch,
    /// `SnapshotRestoreError`: a snapshot is damaged or incomplete. Restart the request with
    /// `MainLoop::restart`.
    SnapshotRestore,
    /// `ToolIdempotencyError`: a tool may have acted and cannot safely run again. A person decides with
    /// [`human::resolve`](crate::human::resolve).
    ToolIdempotency,
    /// Another run took over the session.
    Fenced,
}

impl Named {
    /// The name that the specification gives it.
    pub fn as_str(self) -> &'static str {
        match self {
            Named::ConversationStateMismatch => "ConversationStateMismatch",
            Named::SnapshotRestore => "SnapshotRestoreError",
            Named::ToolIdempotency => "ToolIdempotencyError",
            Named::Fenced => "Fenced",
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The remedy for a checkpoint that cannot be used.
const RESTART: &str = "clear the checkpoint and start again";

impl Error {
    /// An error that says what happened, without a place yet.
    #[must_use]
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Error {
        Error(Box::new(Inner { kind, name: None, what: what.into(), session: None, hint: None, source: None }))
    }

    /// Another process runs the session now: this one must not go on.
    pub(crate) fn fenced(at: Seq) -> Error {
        Error::new(ErrorKind::Conflict, format!("another run took over the session at {at}"))
            .named(Named::Fenced)
            .hint("let that run go on, or resume once it has stopped")
    }

    /// [`Named::ConversationStateMismatch`]: the prompt is not the one the session was begun with.
    #[must_use]
    pub fn conversation_state_mismatch(detail: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Mismatch, format!("Cannot resume with mismatched prompt: {detail}"))
            .named(Named::ConversationStateMismatch)
            .hint(RESTART)
    }

    /// [`Named::SnapshotRestore`]: a snapshot is damaged, or of something else.
    #[must_use]
    pub fn snapshot_restore(detail: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Corrupt, format!("the snapshot cannot be restored: {detail}"))
            .named(Named::SnapshotRestore)
            .hint(RESTART)
    }

    /// [`Named::ToolIdempotency`]: a tool may have acted, and calling it again could act twice.
    #[must_use]
    pub fn tool_idempotency(call: &CallId, tool: &str) -> Error {
        let what =
            format!("call {call} of {tool} may have acted before it was cut off, and must not be repeated blindly");
        Error::new(ErrorKind::NeedsHuman, what)
            .named(Named::ToolIdempotency)
            .hint("find out whether it acted, then resolve it: `turnkeep resolve SESSION CALL --retry | --done RESULT | --skip`")
    }

    /// Adds the name that callers may match on.
    #[must_use]
    pub(crate) fn named(mut self, name: Named) -> Error {
        self.0.name = Some(name);
        self
    }

    /// Adds what the user can do, if nothing is said yet.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Adds the session, if none is named yet.
    #[must_use]
    pub fn session(mut self, session: &SessionId) -> Error {
        self.0.session.get_or_insert_with(|| session.clone());
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

    /// Which of the errors that have a remedy of their own it is.
    pub fn which(&self) -> Option<Named> {
        self.0.name
    }

    /// Whether it is this one: `error.is(Named::ToolIdempotency)`.
    pub fn is(&self, name: Named) -> bool {
        self.which() == Some(name)
    }

    /// The specification's name for it, where it has one.
    pub fn name(&self) -> Option<&'static str> {
        self.which().map(Named::as_str)
    }

    /// What the user can do.
    pub fn remedy(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl From<turnkeep_store::Error> for Error {
    fn from(error: turnkeep_store::Error) -> Error {
        use turnkeep_store::ErrorKind as Kind;
        let kind = match error.kind() {
            Kind::NotFound => ErrorKind::NotFound,
            Kind::Conflict => ErrorKind::Conflict,
            Kind::Corrupt => ErrorKind::Corrupt,
            Kind::TooLarge => ErrorKind::TooLarge,
            Kind::Unsupported => ErrorKind::Unsupported,
            Kind::Unavailable => ErrorKind::Unavailable,
            _ => ErrorKind::Io,
        };
        let hint = error.remedy().map(str::to_owned);
        let error_text = error.to_string();
        let made = Error::new(kind, error_text).because(error);
        match hint {
            Some(hint) => made.hint(hint),
            None => made,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::new(ErrorKind::Io, error.to_string()).because(error)
    }
}

impl From<turnkeep_model::Error> for Error {
    fn from(error: turnkeep_model::Error) -> Error {
        let made = Error::new(error.kind(), error.to_string());
        match error.remedy().map(str::to_owned) {
            Some(hint) => made.hint(hint).because(error),
            None => made.because(error),
        }
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Error {
        let kind = match error.retry_after {
            Some(_) => ErrorKind::Unavailable,
            None => ErrorKind::Unsupported,
        };
        Error::new(kind, error.to_string())
    }
}

impl From<ToolError> for Error {
    fn from(error: ToolError) -> Error {
        Error::new(ErrorKind::Unavailable, error.to_string())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::new(ErrorKind::Corrupt, error.to_string()).because(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.session {
            Some(session) => write!(f, "session {session}: {}", self.0.what),
            None => f.write_str(&self.0.what),
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
