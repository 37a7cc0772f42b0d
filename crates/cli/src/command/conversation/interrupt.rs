//! Ctrl-C and SIGTERM.

use std::sync::{Arc, Mutex, PoisonError};

use turnkeep_runtime::StopSignal;

use crate::exit::Exit;
use crate::terminal::print_note;

/// What a signal does: it stops the answer that is on its way, and what has arrived is recorded. A second one, or one that
/// comes while nothing is asked, ends the program.
pub(crate) struct Interrupt(Arc<Mutex<Option<StopSignal>>>);

impl Interrupt {
    pub(crate) fn watch() -> Interrupt {
        let armed: Arc<Mutex<Option<StopSignal>>> = Arc::default();
        let heard = armed.clone();
        // Where nothing can be watched, a signal ends the program, and what was recorded stays.
        let _ = ctrlc::set_handler(move || match heard.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(stop) => {
                print_note(
                    "stopping; a tool that runs is waited for, until its timeout (once more leaves at once, and its call \
                     stays open)",
                );
                stop.ask();
            }
            None => std::process::exit(Exit::Interrupted as i32),
        });
        Interrupt(armed)
    }

    /// The next signal stops what is given this.
    pub(crate) fn arm(&self) -> StopSignal {
        let stop = StopSignal::default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop.clone());
        stop
    }

    pub(crate) fn disarm(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
