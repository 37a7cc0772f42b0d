//! Which session evaluates a request: `ID`, and after each restart the next of `ID-2`, `ID-3` …

use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Event, Session, SessionId, Status};
use turnkeep_store::{ErrorKind, Loaded, Store, StoreExt};

use super::conversation::is_recorded;
use crate::error::{Error, Named, Result};
use crate::ports::Ports;
use crate::post::post;

/// The tag that names the request which a session evaluates.
const REQUEST: &str = "request_id";

/// The tag of a session whose checkpoint was cleared.
const CLEARED: &str = "checkpoint_cleared";

/// How a session stopped being a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cleared {
    /// The checkpoint was cleared. A completed evaluation still answers for its request.
    Checkpoint,
    /// The request was restarted: the next session evaluates it.
    Restarted,
}

impl Cleared {
    fn word(self) -> &'static str {
        match self {
            Cleared::Checkpoint => "yes",
            Cleared::Restarted => "restarted",
        }
    }

    /// Whether and how the session was cleared.
    pub(crate) fn of(session: &Session) -> Option<Cleared> {
        let word = tag(session, CLEARED)?;
        Some(if word == Cleared::Restarted.word() { Cleared::Restarted } else { Cleared::Checkpoint })
    }
}

/// The session that evaluates a request now.
pub(crate) struct Latest {
    /// Its id.
    pub(crate) id: SessionId,
    /// The session, where it was begun.
    pub(crate) loaded: Option<Loaded>,
}

/// The session that evaluates a request now: the first that is not given up, or the first id that is free.
///
/// # Errors
/// `SnapshotRestoreError` where its journal is damaged, and what the store says.
pub(crate) async fn latest(store: &dyn Store, request: &str) -> Result<Latest> {
    let mut number = 1_u32;
    loop {
        let id = id_of(request, number);
        let loaded = match store.load(&id).await {
            Ok(loaded) => loaded,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Latest { id, loaded: None }),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                return Err(damaged(&id, error));
            }
            Err(error) => return Err(error.into()),
        };
        if evaluates(&loaded.session, request, number) && !is_given_up(&loaded.session) {
            return Ok(Latest { id, loaded: Some(loaded) });
        }
        number = number.saturating_add(1);
    }
}

fn damaged(id: &SessionId, error: turnkeep_store::Error) -> Error {
    Error::new(turnkeep_model::ErrorKind::Corrupt, format!("the snapshot cannot be restored: {error}"))
        .named(Named::SnapshotRestore)
        .because(error)
        .session(id)
        .hint("repair its journal with `turnkeep verify --repair`, or give the request a new id")
}

fn id_of(request: &str, number: u32) -> SessionId {
    if number == 1 { SessionId::new(request) } else { SessionId::new(format!("{request}-{number}")) }
}

/// Whether a session evaluates this request. Sessions of earlier versions say so by their id alone.
fn evaluates(session: &Session, request: &str, number: u32) -> bool {
    match tag(session, REQUEST) {
        Some(named) => named == request,
        None => number == 1 && is_recorded(session),
    }
}

fn is_given_up(session: &Session) -> bool {
    match Cleared::of(session) {
        None => false,
        Some(Cleared::Restarted) => true,
        Some(Cleared::Checkpoint) => !matches!(session.status, Some(Status::Completed(_))),
    }
}

fn tag<'a>(session: &'a Session, key: &str) -> Option<&'a str> {
    session.tags.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Names the request in the tags of its session.
pub(crate) fn name(session: &mut Session, request: &str) {
    session.tags.retain(|(key, _)| key != REQUEST);
    session.tags.push((REQUEST.to_owned(), request.to_owned()));
}

/// Marks a session as cleared.
///
/// # Errors
/// What the store says.
pub(crate) async fn clear(store: &dyn Store, id: &SessionId, ports: &Ports, how: Cleared) -> Result<()> {
    let mark = |state: &Loaded| {
        let mut tags = state.session.tags.clone();
        tags.retain(|(key, _)| key != CLEARED);
        tags.push((CLEARED.to_owned(), how.word().to_owned()));
        Ok(vec![Event::from(SessionChanged { tags: Some(tags), ..SessionChanged::default() })])
    };
    post(store, id, ports, mark).await.map(drop)
}
