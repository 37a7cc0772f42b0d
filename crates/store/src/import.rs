//! Journals that come from elsewhere.

use futures_util::StreamExt;
use turnkeep_model::{Batch, Journal, Seq, SessionId};

use crate::copy::{add, another, put};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Store, check_id};

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
    if journal.batches.is_empty() {
        return Err(Error::new(ErrorKind::Unsupported, "the journal has no record, and a session begins with one")
            .hint("import a session in which something happened"));
    }
    let digest = digest(journal);
    let short = digest.get(..16).unwrap_or(&digest);
    if let Some(id) = journal.session.as_ref().filter(|id| check_id(id).is_ok()) {
        match begin(store, id, journal).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            done => return done,
        }
        let other = SessionId::new(format!("{id}-{short}"));
        if check_id(&other).is_ok() {
            return begin(store, &other, journal).await;
        }
    }
    begin(store, &SessionId::new(format!("import-{short}")), journal).await
}

/// The digest of a journal's lines, in hex.
fn digest(journal: &Journal) -> String {
    let mut hash = blake3::Hasher::new();
    journal.batches.iter().for_each(|batch| add(&mut hash, batch));
    hash.finalize().to_hex().to_string()
}

/// Appends what is not there yet; `Conflict` where the session holds something else. Of several who import the same
/// journal at once, each finds what the others have appended.
async fn begin(store: &(impl Store + ?Sized), id: &SessionId, journal: &Journal) -> Result<Imported> {
    let there = match same_so_far(store, id, &journal.batches).await {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let rest = journal.batches.get(there..).unwrap_or_default();
    for batch in rest {
        put(store, id, batch).await?;
    }
    Ok(if rest.is_empty() { Imported::Known(id.clone()) } else { Imported::New(id.clone()) })
}

/// How many of `batches` the session begins with.
async fn same_so_far(store: &(impl Store + ?Sized), id: &SessionId, batches: &[Batch]) -> Result<usize> {
    let mut stored = store.read(id, Seq::START);
    let mut same = 0;
    for batch in batches {
        match stored.next().await.transpose()? {
            Some(there) if there.to_line() == batch.to_line() => same += 1,
            Some(_) => return Err(another(id)),
            None => break,
        }
    }
    Ok(same)
}
