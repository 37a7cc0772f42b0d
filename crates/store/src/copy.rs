//! Copying sessions to another store.
//!
//! A copy compares what is there with what is here, batch by batch, and appends only what is missing: so it can be interrupted,
//! repeated and run twice at once. Where the other store has another history under an id, nothing of that is changed. Forks
//! are made when the copy of their parent has come to the place where they leave it, so that they share their past there too.

use std::collections::{BTreeMap, HashMap, HashSet};

use futures_util::StreamExt;
use turnkeep_model::{Batch, Seq, SessionId};

use crate::error::{Error, ErrorKind, Result};
use crate::ext::StoreExt;
use crate::query::{Query, Sort};
use crate::store::{Batches, Store};
use crate::summary::Summary;
use crate::verify::Verified;

/// Which sessions go to another store, in which order, and which of them leave others where.
///
/// A fork is made in the other store at the moment when its parent's copy has come to the place where the fork leaves,
/// so that a listing there shows of it what its own journal says.
#[derive(Debug, Clone, Default)]
pub struct Copying {
    sessions: Vec<Summary>,
    forks: HashMap<SessionId, BTreeMap<Seq, Vec<SessionId>>>,
}

impl Copying {
    /// All sessions of a store, parents before their forks.
    ///
    /// # Errors
    /// What the store says.
    pub async fn all(from: &dyn Store) -> Result<Copying> {
        let query = Query { sort: Sort::Id, limit: usize::MAX, ..Query::default() };
        Ok(Copying::of(from.list(&query).await?.sessions))
    }

    /// These sessions of a store, each once, parents before their forks.
    ///
    /// # Errors
    /// `NotFound` where one of them is not there.
    pub async fn some(from: &dyn Store, ids: &[SessionId]) -> Result<Copying> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for id in ids.iter().filter(|id| seen.insert(*id)) {
            found.push(from.summary(id).await?);
        }
        Ok(Copying::of(found))
    }

    fn of(mut sessions: Vec<Summary>) -> Copying {
        let origins: HashMap<SessionId, SessionId> = sessions
            .iter()
            .filter_map(|summary| Some((summary.id.clone(), summary.origin.as_ref()?.session.clone())))
            .collect();
        let generations = generations(&origins);
        let generation = |id: &SessionId| generations.get(id).copied().unwrap_or_default();
        sessions.sort_by_cached_key(|summary| (generation(&summary.id), summary.last, summary.id.clone()));
        let mut forks: HashMap<SessionId, BTreeMap<Seq, Vec<SessionId>>> = HashMap::new();
        for summary in &sessions {
            if let Some(origin) = &summary.origin {
                let leaving = forks.entry(origin.session.clone()).or_default().entry(origin.seq).or_default();
                leaving.push(summary.id.clone());
            }
        }
        Copying { sessions, forks }
    }

    /// The sessions in their order.
    pub fn sessions(&self) -> &[Summary] {
        &self.sessions
    }

    /// Copies one of them, byte for byte, and compares the digests. A copy that was begun goes on where it ended. `told`
    /// hears of the last record that is known to be there, again and again.
    ///
    /// # Errors
    /// `Conflict` where the other store has another history under this id; nothing of it is changed.
    pub async fn copy(
        &self,
        from: &(impl Store + ?Sized),
        session: &SessionId,
        to: &dyn Store,
        told: &mut (dyn FnMut(Seq) + Send),
    ) -> Result<Verified> {
        share_past(from, session, to).await?;
        let (mut ours, mut theirs) = (from.read(session, Seq::START), Theirs::of(to, session));
        let (mut hash, mut at) = (blake3::Hasher::new(), Seq::START);
        while let Some(batch) = ours.next().await.transpose()? {
            match theirs.next().await? {
                Some(there) if there.to_line() == batch.to_line() => {}
                Some(_) => return Err(another(session)),
                None => {
                    self.leave(from, session, at, &hash, to).await?;
                    put(to, session, &batch).await?;
                }
            }
            add(&mut hash, &batch);
            at = batch.last();
            told(at);
        }
        if theirs.next().await?.is_some() {
            return Err(went_on(session, at));
        }
        self.leave(from, session, at, &hash, to).await?;
        let verified = to.verify(session).await?;
        if verified.digest == hash.finalize().to_hex().as_str() { Ok(verified) } else { Err(another(session)) }
    }

    /// Makes the forks that leave a session here, if they have its past: an id may have been used again.
    async fn leave(
        &self,
        from: &(impl Store + ?Sized),
        session: &SessionId,
        at: Seq,
        hash: &blake3::Hasher,
        to: &dyn Store,
    ) -> Result<()> {
        for fork in self.forks.get(session).and_then(|forks| forks.get(&at)).into_iter().flatten() {
            if past(from, fork, at).await? == hash.finalize() {
                fork_if_new(to, session, at, fork).await?;
            }
        }
        Ok(())
    }
}

/// How many forks lie between each fork and the first of its line. An id that was used again may make a circle; those in
/// it come last.
fn generations(origins: &HashMap<SessionId, SessionId>) -> HashMap<&SessionId, usize> {
    let mut generations = HashMap::new();
    for fork in origins.keys() {
        let mut line = vec![fork];
        while let Some(parent) = line.last().and_then(|id| origins.get(*id)).filter(|id| !generations.contains_key(id))
        {
            // Until it is known: whoever comes back here went round in a circle.
            generations.insert(parent, origins.len());
            line.push(parent);
        }
        let above = line.last().and_then(|id| origins.get(*id)).and_then(|id| generations.get(id));
        let first = above.map_or(0, |above| above + 1);
        generations.extend(line.into_iter().rev().zip(first..));
    }
    generations
}

/// What the other store has of a session.
struct Theirs<'a>(Option<Batches<'a>>);

impl<'a> Theirs<'a> {
    fn of(to: &'a dyn Store, session: &'a SessionId) -> Theirs<'a> {
        Theirs(Some(to.read(session, Seq::START)))
    }

    /// The next batch that is there. What comes later was not there when it was looked.
    async fn next(&mut self) -> Result<Option<Batch>> {
        let Some(batches) = &mut self.0 else {
            return Ok(None);
        };
        match batches.next().await.transpose() {
            Ok(Some(batch)) => return Ok(Some(batch)),
            Ok(None) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.0 = None;
        Ok(None)
    }
}

/// Forks in the other store, if the session is not there, and its parent is with the same past.
async fn share_past(from: &(impl Store + ?Sized), session: &SessionId, to: &dyn Store) -> Result<()> {
    let Some(origin) = from.summary(session).await?.origin else {
        return Ok(());
    };
    match to.last(session).await {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        done => return done.map(drop),
    }
    let (ours, theirs) = (past(from, session, origin.seq).await?, past(to, &origin.session, origin.seq).await);
    match theirs {
        Ok(theirs) if theirs == ours => fork_if_new(to, &origin.session, origin.seq, session).await,
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a fork, unless someone was faster.
async fn fork_if_new(to: &dyn Store, session: &SessionId, at: Seq, fork: &SessionId) -> Result<()> {
    match to.fork(session, at, fork).await {
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(()),
        done => done,
    }
}

/// Appends a batch that follows what is there. Someone else may be faster with the very same one.
pub(crate) async fn put(store: &(impl Store + ?Sized), session: &SessionId, batch: &Batch) -> Result<Seq> {
    let at = Seq(batch.seq.0.saturating_sub(1));
    match store.append(session, at, batch).await {
        Err(error) if error.kind() == ErrorKind::Conflict => match store.read(session, at).next().await.transpose()? {
            Some(there) if there.to_line() == batch.to_line() => Ok(batch.last()),
            _ => Err(another(session)),
        },
        done => done,
    }
}

/// The digest of a session up to a place.
async fn past(store: &(impl Store + ?Sized), session: &SessionId, until: Seq) -> Result<blake3::Hash> {
    let mut hash = blake3::Hasher::new();
    let mut batches = store.read(session, Seq::START);
    while let Some(batch) = batches.next().await.transpose()? {
        if batch.last() > until {
            break;
        }
        add(&mut hash, &batch);
    }
    Ok(hash.finalize())
}

/// Adds a batch to the digest of a journal.
pub(crate) fn add(hash: &mut blake3::Hasher, batch: &Batch) {
    hash.update(batch.to_line().as_bytes()).update(b"\n");
}

/// The error that an id names another history in the other store.
pub(crate) fn another(session: &SessionId) -> Error {
    Error::new(ErrorKind::Conflict, "another session has this id there")
        .session(session)
        .hint("nothing of it was changed; `turnkeep export` and `import` give the copy an id of its own")
}

fn went_on(session: &SessionId, at: Seq) -> Error {
    Error::new(ErrorKind::Conflict, format!("the copy has gone on after {at}, the last record here"))
        .session(session)
        .hint("nothing of it was changed; copy the other way to bring it here")
}
