//! Several reductions, one after the other.

use super::original_paths::OriginalPaths;
use super::{Redact, Truncate, Window};
use crate::error::Result;
use crate::loss::{Loss, LossKind};
use crate::native::Archive;
use crate::session::Session;

/// One reduction of a session: a pure function that says what it took away.
///
/// The places of its losses are places of [`diff`](crate::diff) between what it was given and what it leaves: indices
/// count in what it was given, or, for what only the result has, there. A loss at exactly `turns[3]` or
/// `turns[3].blocks[1]` says that it is gone (kinds `dropped`, `condensed`) or that it is new (`synthesised`,
/// `reordered`): by these the steps of a [`Pipeline`] know where things came from.
pub trait Policy: Send + Sync {
    /// Reduces the session.
    ///
    /// # Errors
    /// Where it cannot be done. The session may then be half reduced: [`Pipeline`] keeps the one it was given.
    fn apply(&self, session: &mut Session) -> Result<Vec<Loss>>;

    /// Reduces what stands around the sessions of an archive. Most policies have nothing to do there.
    ///
    /// # Errors
    /// As [`Policy::apply`].
    fn apply_around(&self, _archive: &mut Archive) -> Result<Vec<Loss>> {
        Ok(Vec::new())
    }
}

/// Policies in written order.
///
/// ```
/// use turnkeep_model::policy::{Pipeline, Policy};
/// use turnkeep_model::{Loss, LossKind, Result, Session};
///
/// struct Untitled;
///
/// impl Policy for Untitled {
///     fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
///         let title = session.title.take();
///         Ok(title.map(|_| Loss::policy(LossKind::Dropped, "title", "titles are not kept")).into_iter().collect())
///     }
/// }
///
/// let mut session = Session { title: Some("A day".into()), ..Session::default() };
/// let losses = Pipeline::new().then(Untitled).apply(&mut session).unwrap();
///
/// assert_eq!(losses[0].at, "title");
/// assert_eq!(session, Session::default());
/// ```
#[derive(Default)]
pub struct Pipeline {
    steps: Vec<Box<dyn Policy>>,
}

impl Pipeline {
    /// No policy: what goes in comes out.
    #[must_use]
    pub fn new() -> Pipeline {
        Pipeline::default()
    }

    /// Adds a window: what is older goes.
    #[must_use]
    pub fn window(self, window: Window) -> Pipeline {
        self.then(window)
    }

    /// Adds a redaction: what must not be told is hidden.
    #[must_use]
    pub fn redact(self, redact: Redact) -> Pipeline {
        self.then(redact)
    }

    /// Adds a truncation: what is long is cut.
    #[must_use]
    pub fn truncate(self, truncate: Truncate) -> Pipeline {
        self.then(truncate)
    }

    /// Adds a step after the others.
    #[must_use]
    pub fn then(mut self, policy: impl Policy + 'static) -> Pipeline {
        self.steps.push(Box::new(policy));
        self
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Applies every step, or none of them.
    ///
    /// # Errors
    /// The first error of a step; the session is then as it was.
    pub fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
        let mut reduced = session.clone();
        let mut places = OriginalPaths::of(&reduced);
        let mut losses = Vec::new();
        for step in &self.steps {
            let own = step.apply(&mut reduced)?;
            losses.extend(own.iter().map(|loss| places.original(loss)));
            places.after(&own, &reduced);
        }
        *session = reduced;
        Ok(losses)
    }

    /// Applies every step to every session of an archive and to what stands around them, or none of them.
    ///
    /// A journal tells what was reduced: it goes as soon as anything did, and the shortest one that folds to the session
    /// is written in its place.
    ///
    /// # Errors
    /// As [`Pipeline::apply`].
    pub fn apply_to(&self, archive: &mut Archive) -> Result<Vec<Loss>> {
        if self.is_empty() {
            // A long session is not copied for nothing.
            return Ok(Vec::new());
        }
        let mut sessions = archive.sessions.clone();
        let mut losses = Vec::new();
        for (index, session) in sessions.iter_mut().enumerate() {
            let prefix = archive.prefix(index);
            let own = self.apply(session).map_err(|error| error.path(prefix.trim_end_matches('.')))?;
            losses.extend(own.into_iter().map(|loss| Loss { at: format!("{prefix}{}", loss.at), ..loss }));
        }
        let mut around = Archive { sessions, ..archive.clone_around() };
        for step in &self.steps {
            losses.extend(step.apply_around(&mut around)?);
        }
        if !losses.is_empty() && around.journal.take().is_some() {
            let what = "a journal tells what was taken away; only what is left of the session is kept";
            losses.push(Loss::policy(LossKind::Dropped, "journal", what));
        }
        *archive = around;
        Ok(losses)
    }
}

impl Archive {
    /// All of it but its sessions.
    fn clone_around(&self) -> Archive {
        Archive {
            sessions: Vec::new(),
            main: self.main,
            seq: self.seq,
            journal: self.journal.clone(),
            extra: self.extra.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Author, Block};
    use crate::error::{Error, ErrorKind};
    use crate::session::Turn;

    /// Takes the first turn.
    struct Behead;

    impl Policy for Behead {
        fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
            session.turns.remove(0);
            Ok(vec![Loss::policy(LossKind::Dropped, "turns[0]", "the first")])
        }
    }

    /// Takes the last block of the first turn.
    struct Shorten;

    impl Policy for Shorten {
        fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
            let blocks = &mut session.turns[0].blocks;
            blocks.pop();
            let at = format!("turns[0].blocks[{}]", blocks.len());
            Ok(vec![Loss::policy(LossKind::Dropped, at, "the last")])
        }
    }

    struct Fail;

    impl Policy for Fail {
        fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
            session.turns.clear();
            Err(Error::new(ErrorKind::Unavailable, "no"))
        }
    }

    fn session() -> Session {
        let turn = |(at, name): (u32, &str)| Turn {
            blocks: vec![
                Block::text(Author::User, name).in_message(2 * at),
                Block::text(Author::Assistant, name).in_message(2 * at + 1),
            ],
            ..Turn::default()
        };
        Session { turns: [(0, "a"), (1, "b"), (2, "c")].map(turn).to_vec(), ..Session::default() }
    }

    #[test]
    fn places_are_told_as_they_were_before_the_first_step() {
        let mut reduced = session();

        let losses = Pipeline::new().then(Behead).then(Behead).then(Shorten).apply(&mut reduced).unwrap();

        let places: Vec<_> = losses.iter().map(|loss| loss.at.as_str()).collect();
        assert_eq!(places, ["turns[0]", "turns[1]", "turns[2].blocks[1]"]);
        let found: Vec<_> = crate::diff(&session(), &reduced).into_iter().map(|change| change.at).collect();
        assert_eq!(found, places);
    }

    #[test]
    fn a_step_that_fails_leaves_the_session_as_it_was() {
        let mut kept = session();

        let error = Pipeline::new().then(Behead).then(Fail).apply(&mut kept).unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(kept, session());
    }
}
