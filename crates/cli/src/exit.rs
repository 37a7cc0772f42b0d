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
pub(crate) enum Stop {
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
    /// Standard output does not take any more.
    Output(io::Error),
}

impl Stop {
    /// The exit code. A reader that closes the pipe has seen enough: that is no failure.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Stop::Error(error) => error.kind().into(),
            Stop::Store(error) => error.kind().into(),
            // A run reads no files: what it does not support is what it was asked for.
            Stop::Run(error) if error.kind() == ErrorKind::Unsupported => Exit::Failed,
            Stop::Run(error) => error.kind().into(),
            Stop::Usage(..) => Exit::Usage,
            Stop::Losses(_) => Exit::Losses,
            Stop::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
            Stop::Output(_) => Exit::Failed,
        }
    }
}

impl Stop {
    /// What happened, in a line.
    pub(crate) fn told(&self) -> String {
        match self {
            Stop::Error(error) => error.to_string(),
            Stop::Store(error) => error.to_string(),
            Stop::Run(error) => error.to_string(),
            Stop::Usage(what, _) => what.clone(),
            Stop::Losses(count) => format!("{count} losses of content or settings, and none are allowed"),
            Stop::Output(error) => format!("cannot write the output: {error}"),
        }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

impl From<turnkeep_runtime::Error> for Stop {
    fn from(error: turnkeep_runtime::Error) -> Stop {
        Stop::Run(error)
    }
}

impl From<turnkeep_store::Error> for Stop {
    fn from(error: turnkeep_store::Error) -> Stop {
        Stop::Store(error)
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

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
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
