//! Journals that come from elsewhere.

use futures_util::StreamExt;
use turnkeep_model::{Batch, Journal, Seq, SessionId};

use crate::error::{Error, ErrorKind, Result};
use crate::ext::StoreExt;
use crate::store::Store;
use crate::verify::Verified;

/// What became of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// It is a new session.
    New(SessionId),
    /// It was there already.
    Known(SessionId),
}

impl Imported {
    /// The session.
    pub fn session(&self) -> &SessionId {
        match self {
            Imported::New(session) | Imported::Known(session) => session,
        }
    }
}

/// Appends a journal as a session of its own id; of one named after its content, if it has none or that id is taken by
/// another journal.
pub(crate) async fn import(store: &(impl Store + ?Sized), journal: &Journal) -> Result<Imported> {
    journal.check()?;
    let digest = digest(journal);
    let short = digest.get(..16).unwrap_or(&digest);
    if let Some(id) = &journal.session
        && crate::store::check_id(id).is_ok()
    {
        match put(store, id, journal).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            done => return done,
        }
        return put(store, &SessionId::new(format!("{id}-{short}")), journal).await;
    }
    put(store, &SessionId::new(format!("import-{short}")), journal).await
}

/// The digest of a journal's lines, in hex.
fn digest(journal: &Journal) -> String {
    let mut hash = blake3::Hasher::new();
    for batch in &journal.batches {
        hash.update(batch.to_line().as_bytes()).update(b"\n");
    }
    hash.finalize().to_hex().to_string()
}

/// Appends what is not there yet; `Conflict` where the session holds something else.
async fn put(store: &(impl Store + ?Sized), id: &SessionId, journal: &Journal) -> Result<Imported> {
    let there = match same_so_far(store, id, &journal.batches).await {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let rest = journal.batches.get(there..).unwrap_or_default();
    let mut at = rest.first().map_or(Seq::START, |batch| Seq(batch.seq.0.saturating_sub(1)));
    for batch in rest {
        at = store.append(id, at, batch).await?;
    }
    Ok(if rest.is_empty() && there > 0 { Imported::Known(id.clone()) } else { Imported::New(id.clone()) })
}

/// How many of `batches` the session begins with.
async fn same_so_far(store: &(impl Store + ?Sized), id: &SessionId, batches: &[Batch]) -> Result<usize> {
    let mut stored = store.read(id, Seq::START);
    let mut same = 0;
    for batch in batches {
        match stored.next().await.transpose()? {
            Some(there) if there.to_line() == batch.to_line() => same += 1,
            Some(_) => return Err(Error::new(ErrorKind::Conflict, "another session has this id").session(id)),
            None => break,
        }
    }
    Ok(same)
}

pub(crate) async fn copy(from: &(impl Store + ?Sized), session: &SessionId, to: &dyn Store) -> Result<Verified> {
    let mut at = match to.last(session).await {
        Ok(last) => last,
        Err(error) if error.kind() == ErrorKind::NotFound => share_past(from, session, to).await?,
        Err(error) => return Err(error),
    };
    let mut batches = from.read(session, at);
    while let Some(batch) = batches.next().await {
        at = to.append(session, at, &batch?).await?;
    }
    let (ours, theirs) = (from.verify(session).await?, to.verify(session).await?);
    if ours.digest == theirs.digest {
        return Ok(theirs);
    }
    Err(Error::new(ErrorKind::Conflict, "the other store has a different session of this id").session(session))
}

/// Forks in the other store, if the parent is there with the same past; tells where to go on.
async fn share_past(from: &(impl Store + ?Sized), session: &SessionId, to: &dyn Store) -> Result<Seq> {
    let Some(origin) = from.summary(session).await?.origin else {
        return Ok(Seq::START);
    };
    let same = match (past(from, session, origin.seq).await, past(to, &origin.session, origin.seq).await) {
        (Ok(ours), Ok(theirs)) => ours == theirs,
        _ => false,
    };
    if !same {
        return Ok(Seq::START);
    }
    to.fork(&origin.session, origin.seq, session).await?;
    Ok(origin.seq)
}

/// The digest of a session up to a place.
async fn past(store: &(impl Store + ?Sized), session: &SessionId, until: Seq) -> Result<blake3::Hash> {
    let mut hash = blake3::Hasher::new();
    let mut batches = store.read(session, Seq::START);
    while let Some(batch) = batches.next().await.transpose()? {
        if batch.last() > until {
            break;
        }
        hash.update(batch.to_line().as_bytes()).update(b"\n");
    }
    Ok(hash.finalize())
}
