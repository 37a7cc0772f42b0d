//! Work on several things, of which some may fail: the others are done all the same.

use std::io;

use turnkeep_model::Json;
use turnkeep_store::ErrorKind;

use super::super::CommandResult;
use crate::exit::{CliError, Exit};
use crate::progress::Progress;
use crate::report::object;
use crate::terminal::{print, print_error, print_json};

/// How it is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Text,
    Json,
}

/// Whether the next one is worth a try.
#[derive(PartialEq, Eq)]
pub(super) enum Next {
    Goes,
    /// The store does not answer, or the disk is full: it would fail as well.
    Ends,
}

/// What became of them. Nobody listening does not end the work: only what is said of it is lost.
pub(super) struct BatchResult {
    output_format: Output,
    pub(super) progress: Progress,
    done: Vec<Json>,
    failed: Vec<Json>,
    exit: Exit,
    output: io::Result<()>,
}

impl BatchResult {
    pub(super) fn new(output_format: Output, progress: Progress) -> BatchResult {
        BatchResult { output_format, progress, done: Vec::new(), failed: Vec::new(), exit: Exit::Ok, output: Ok(()) }
    }

    /// How many are done.
    pub(super) fn count(&self) -> usize {
        self.done.len()
    }

    /// Tells of one that is done; `line` is for a person.
    pub(super) fn done(&mut self, line: &str, told: Json) {
        if self.output_format == Output::Text && self.output.is_ok() && !line.is_empty() {
            self.progress.hide();
            self.output = print(line);
        }
        self.done.push(told);
    }

    /// Tells of one that failed, which is named by this pair.
    pub(super) fn failed(&mut self, key: &'static str, name: &str, error: &CliError) -> Next {
        self.progress.hide();
        print_error(error);
        if self.exit == Exit::Ok {
            self.exit = error.exit();
        }
        let told =
            [(key, name.into()), ("error", error.message().as_str().into()), ("exit", (error.exit() as u64).into())];
        self.failed.push(object(told));
        let lasting = |kind| matches!(kind, ErrorKind::Unavailable | ErrorKind::Io);
        if matches!(error, CliError::Store(error) if lasting(error.kind())) { Next::Ends } else { Next::Goes }
    }

    /// The end of it: JSON with what was done under this key, or a last line for a person.
    pub(super) fn end(self, key: &'static str, line: &str) -> CommandResult {
        self.progress.end();
        self.output?;
        match self.output_format {
            Output::Json => print_json(&object([(key, Json::from(self.done)), ("failed", Json::from(self.failed))]))?,
            Output::Text => print(line)?,
        }
        Ok(self.exit)
    }
}

impl From<bool> for Output {
    fn from(json: bool) -> Output {
        if json { Output::Json } else { Output::Text }
    }
}
