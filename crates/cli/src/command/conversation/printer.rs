//! What is printed of a conversation while it goes on.

use std::sync::{Arc, Mutex, PoisonError};

use turnkeep_runner::{Observer, Progress};
use turnkeep_runtime::BusyRun;
use turnkeep_runtime::port::{Answer, Delta};

use crate::terminal::{DIM, print, print_note};

/// Whether answers are printed while they arrive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Printed,
    Kept,
}

/// An observer that prints.
pub(super) fn observer(answers: Answers) -> Arc<dyn Observer> {
    Arc::new(Printer { answers, last: Mutex::new(Last::Nothing) })
}

/// Says that another process answers.
pub(super) fn print_busy(busy: &BusyRun) {
    print_note(&format!("{busy}; the question is recorded there and waits for its answer (--take-over asks it here)"));
}

/// What was printed last of an answer: between thinking and text is an empty line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Thinking,
    Text,
}

struct Printer {
    answers: Answers,
    last: Mutex<Last>,
}

impl Observer for Printer {
    fn observe(&self, progress: Progress<'_>) {
        match progress {
            _ if self.answers == Answers::Kept => {}
            Progress::Asked => *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Last::Nothing,
            Progress::Arrived(Delta::Text(text)) => self.show(Last::Text, text),
            Progress::Arrived(Delta::Reasoning(text)) => self.show(Last::Thinking, text),
            Progress::Arrived(_) => {}
            Progress::Answered(answer) => self.end(answer),
        }
    }
}

impl Printer {
    fn show(&self, kind: Last, text: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let turned = if *last != Last::Nothing && *last != kind { "\n\n" } else { "" };
        *last = kind;
        // Nobody may be reading any more; the answer is recorded all the same.
        let _ = match kind {
            Last::Thinking => print(&format!("{turned}{DIM}{text}{DIM:#}")),
            Last::Text | Last::Nothing => print(&format!("{turned}{text}")),
        };
    }

    /// Prints what did not arrive in pieces, and ends the line.
    fn end(&self, answer: Option<&Answer>) {
        let last = || *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last() != Last::Text {
            let texts = answer.into_iter().flat_map(|answer| &answer.blocks).filter_map(|block| block.body.as_text());
            texts.for_each(|text| self.show(Last::Text, text));
        }
        if last() != Last::Nothing {
            let _ = print("\n");
        }
    }
}
