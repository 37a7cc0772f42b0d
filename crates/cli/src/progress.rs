//! How far long work has come: one line on standard error, where that is a terminal.

use std::io::{self, IsTerminal, Write};

/// A count of steps.
pub(crate) struct Progress {
    what: &'static str,
    done: usize,
    all: usize,
    shown: Shown,
}

#[derive(PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

impl Progress {
    /// Work of `all` steps; a single one is not worth a line.
    pub(crate) fn of(what: &'static str, all: usize) -> Progress {
        let shown = if all > 1 && io::stderr().is_terminal() { Shown::Yes } else { Shown::No };
        Progress { what, done: 0, all, shown }
    }

    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.shown == Shown::Yes {
            const WIDTH: usize = 30;
            let filled = WIDTH * self.done / self.all.max(1);
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled.min(WIDTH)));
            let _ = write!(io::stderr(), "\r{} {bar} {}/{}", self.what, self.done, self.all);
        }
    }

    /// Takes the line away.
    pub(crate) fn end(self) {
        if self.shown == Shown::Yes {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}
