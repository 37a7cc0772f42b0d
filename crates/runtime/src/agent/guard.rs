//! Which sessions an agent says something new in.

use turnkeep_model::{ErrorKind, Session};

use crate::error::{Error, Result};

/// Which sessions take something new.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Guard {
    /// All of them: what is open is settled first.
    #[default]
    Any,
    /// Those that ended: completed or failed.
    Ended,
    /// Those that stand at one of these words of a status, and those that say nothing.
    Standing(Vec<String>),
}

impl Guard {
    pub(crate) fn check(&self, session: &Session) -> Result<()> {
        let standing = session.status.as_ref().map_or("", |status| status.kind());
        // A session that was never asked anything is at its beginning, not in the middle.
        let fresh = session.turns.is_empty();
        let (passes, what) = match self {
            Guard::Any => (true, ""),
            Guard::Ended => (
                fresh || ended_before(session),
                "Cannot continue from an incomplete conversation. Its last run neither completed nor failed",
            ),
            Guard::Standing(words) => (
                fresh || standing.is_empty() || words.iter().any(|word| word == last_standing(session)),
                "the session may not go on from where it stands",
            ),
        };
        if passes {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Conflict, what).hint("resume it first, or run it with another guard"))
    }
}

/// Where the session stood before this run began.
fn last_standing(session: &Session) -> &str {
    let stopped = session.runs.iter().rev().find_map(|run| run.status.as_ref());
    stopped.or(session.status.as_ref()).map_or("", |status| status.kind())
}

fn ended_before(session: &Session) -> bool {
    session.open_calls().is_empty() && matches!(last_standing(session), "completed" | "failed")
}
