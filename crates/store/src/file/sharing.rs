//! Which journal files share whose past, so that a file is removed only when no fork needs it.

use std::collections::HashMap;

use turnkeep_model::Seq;

use super::journal_index::Past;

/// For every file that has forks, each of them and the last record that it shares.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    forks: HashMap<String, HashMap<String, Seq>>,
}

impl Sharing {
    /// Notes that `fork` shares this past.
    pub(super) fn begin(&mut self, fork: String, past: Past) {
        self.forks.entry(past.stem).or_default().insert(fork, past.until);
    }

    /// Notes that `fork` is gone; tells whether nobody shares the past of `parent` any more.
    pub(super) fn end(&mut self, fork: &str, parent: &str) -> bool {
        let Some(forks) = self.forks.get_mut(parent) else {
            return true;
        };
        forks.remove(fork);
        forks.is_empty()
    }

    /// Up to where forks share the past of this file, if any do.
    pub(super) fn until(&self, stem: &str) -> Option<Seq> {
        self.forks.get(stem)?.values().max().copied()
    }
}
