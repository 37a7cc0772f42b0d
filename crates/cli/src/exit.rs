//! Exit codes: a contract that scripts rely on.

use std::io;
use std::process::ExitCode;

use turnkeep_model::{Error, ErrorKind};

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    Failed = 1,
    Usage = 2,
    Losses = 3,
    NotFound = 4,
    Conflict = 5,
    Corrupt = 6,
    Lint = 7,
    NeedsHuman = 8,
    Mismatch = 9,
    /// Someone stopped it: Ctrl-C or SIGTERM, as shells report them.
    Interrupted = 130,
}

impl Exit {
    /// `diff` ends like diff(1): 1 where the files differ.
    pub(crate) const DIFFERENT: Exit = Exit::Failed;
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Exit {
        match kind {
            ErrorKind::NotFound => Exit::NotFound,
            ErrorKind::Conflict => Exit::Conflict,
            // What is unsupported here is always a version or kind of input.
            ErrorKind::Corrupt | ErrorKind::NotThisFormat | ErrorKind::TooLarge | ErrorKind::Unsupported => {
                Exit::Corrupt
            }
            ErrorKind::Mismatch => Exit::Mismatch,
            ErrorKind::NeedsHuman => Exit::NeedsHuman,
            _ => Exit::Failed,
        }
    }
}

/// Why a command did not go on.
pub(crate) enum CliError {
    /// Something is wrong with a file.
    Error(Error),
    /// Something is wrong with a store.
    Store(turnkeep_store::Error),
    /// A run did not go on.
    Run(turnkeep_runtime::Error),
    /// Something is wrong with the command line: what, and what helps.
    Usage(String, String),
    /// Content or settings would be lost, and that is not allowed: how many losses.
    Losses(usize),
    /// Someone stopped it before it began.
    Interrupted,
    /// Standard output does not take any more.
    Output(io::Error),
}

impl CliError {
    /// The exit code. A reader that closes the pipe has seen enough: that is no failure.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            CliError::Error(error) => error.kind().into(),
            CliError::Store(error) => error.kind().into(),
            // A run reads no files: what it does not support is what it was asked for.
            CliError::Run(error) if error.kind() == ErrorKind::Unsupported => Exit::Failed,
            CliError::Run(error) => error.kind().into(),
            CliError::Usage(..) => Exit::Usage,
            CliError::Losses(_) => Exit::Losses,
            CliError::Interrupted => Exit::Interrupted,
            CliError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
            CliError::Output(_) => Exit::Failed,
        }
    }
}

impl CliError {
    /// What happened, in a line.
    pub(crate) fn message(&self) -> String {
        match self {
            CliError::Error(error) => error.to_string(),
            CliError::Store(error) => error.to_string(),
            CliError::Run(error) => error.to_string(),
            CliError::Usage(what, _) => what.clone(),
            CliError::Losses(count) => format!("{count} losses of content or settings, and none are allowed"),
            CliError::Interrupted => "it was stopped before it began".to_owned(),
            CliError::Output(error) => format!("cannot write the output: {error}"),
        }
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> CliError {
        CliError::Error(error)
    }
}

impl From<turnkeep_runtime::Error> for CliError {
    fn from(error: turnkeep_runtime::Error) -> CliError {
        CliError::Run(error)
    }
}

impl From<turnkeep_store::Error> for CliError {
    fn from(error: turnkeep_store::Error) -> CliError {
        CliError::Store(error)
    }
}

impl From<turnkeep_store::ErrorKind> for Exit {
    fn from(kind: turnkeep_store::ErrorKind) -> Exit {
        use turnkeep_store::ErrorKind as Kind;
        match kind {
            Kind::NotFound => Exit::NotFound,
            Kind::Conflict => Exit::Conflict,
            Kind::Corrupt => Exit::Corrupt,
            _ => Exit::Failed,
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Output(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_code() {
        let table = [
            (ErrorKind::NotFound, 4),
            (ErrorKind::Conflict, 5),
            (ErrorKind::Corrupt, 6),
            (ErrorKind::NotThisFormat, 6),
            (ErrorKind::TooLarge, 6),
            (ErrorKind::Unsupported, 6),
            (ErrorKind::Mismatch, 9),
            (ErrorKind::NeedsHuman, 8),
            (ErrorKind::Unavailable, 1),
            (ErrorKind::Io, 1),
        ];
        for (kind, code) in table {
            assert_eq!(Exit::from(kind) as u8, code, "{kind:?}");
        }
    }
}
