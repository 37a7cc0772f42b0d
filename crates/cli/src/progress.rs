//! How far long work has come: one line on standard error, where that is a terminal.

use std::io::{self, IsTerminal, Write};

/// How many characters the bar has.
const WIDTH: u64 = 30;

/// How often the bar is drawn at most, however many steps there are.
const DRAWINGS: u64 = 1000;

/// A count of steps.
pub(crate) struct Progress {
    what: &'static str,
    done: u64,
    all: u64,
    shown: Shown,
    /// Which of its drawings stands there, if one does.
    drawn: Option<u64>,
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
        Progress { what, done: 0, all: all as u64, shown, drawn: None }
    }

    pub(crate) fn step(&mut self) {
        self.reach(self.done + 1);
    }

    /// So many steps are done.
    pub(crate) fn reach(&mut self, done: u64) {
        self.done = done.min(self.all);
        let drawing = self.done * DRAWINGS.min(self.all) / self.all.max(1);
        if self.shown == Shown::Yes && self.drawn != Some(drawing) {
            self.drawn = Some(drawing);
            let filled = usize::try_from(WIDTH * self.done / self.all.max(1)).unwrap_or_default();
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat((WIDTH as usize).saturating_sub(filled)));
            let _ = write!(io::stderr(), "\r{} {bar} {}/{}", self.what, self.done, self.all);
        }
    }

    /// Takes the line away, so that something else can be said; the next step brings it back.
    pub(crate) fn hide(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }

    /// Takes the line away.
    pub(crate) fn end(mut self) {
        self.hide();
    }
}
