//! Whether a journal is what was appended.
//!
//! Verifying reads every line and its checksum, folds the summary anew, compares it with the listing, and asks the store for what
//! it can check itself. A digest over the lines makes equal journals comparable between stores.

use std::cmp::Ordering;

use futures_util::StreamExt;
use turnkeep_model::{Seq, SessionId};

use crate::error::Result;
use crate::store::{Store, summary_of};
use crate::summary::{Effects, Summary};

/// What a check of a session found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The session.
    pub session: SessionId,
    /// The last record that is whole.
    pub last: Seq,
    /// How many batches are whole.
    pub batches: u64,
    /// The BLAKE3 digest of their lines, in hex: equal journals have equal ones, wherever they are stored.
    pub digest: String,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// The end of a journal was cut off in the middle of a batch that was never acknowledged.
    TornTail {
        /// Whose journal.
        session: SessionId,
        /// How many bytes are there of it.
        bytes: u64,
    },
    /// Records are missing.
    Gap {
        /// Whose journal.
        session: SessionId,
        /// The record that is due.
        due: Seq,
        /// The one that is there.
        found: Seq,
    },
    /// A batch cannot be read.
    Damaged {
        /// Whose journal, where known.
        session: Option<SessionId>,
        /// The place, where known.
        seq: Option<Seq>,
        /// What is wrong, in words.
        what: String,
    },
    /// Something that is derived from the journals does not match them; it can be made anew.
    Stale {
        /// What it is, in words.
        what: String,
    },
}

/// Reads all of a session and checks every sum, the order, and what the store itself knows to be wrong.
pub(crate) async fn verify(store: &(impl Store + ?Sized), session: &SessionId) -> Result<Verified> {
    let mut hash = blake3::Hasher::new();
    let mut verified = Verified {
        session: session.clone(),
        last: Seq::START,
        batches: 0,
        digest: String::new(),
        findings: Vec::new(),
    };
    // Before the journal, which may grow meanwhile. A store that cannot tell says why when it is read.
    let listing = summary_of(store, session).await.ok();
    let mut listed = Summary::without_times(session.clone());
    let mut batches = store.read(session, Seq::START);
    while let Some(batch) = batches.next().await {
        let batch = match batch {
            Ok(batch) => batch,
            Err(error) if error.kind() == crate::ErrorKind::Corrupt => {
                let seq = error.at_seq().or(Some(verified.last.next()));
                let what = error.what().to_owned();
                verified.findings.push(Finding::Damaged { session: Some(session.clone()), seq, what });
                break;
            }
            Err(error) => return Err(error),
        };
        if batch.seq != verified.last.next() {
            let (due, found) = (verified.last.next(), batch.seq);
            verified.findings.push(Finding::Gap { session: session.clone(), due, found });
        }
        let line = batch.to_line();
        listed.take(&Effects::of(&batch, line.len()));
        hash.update(line.as_bytes()).update(b"\n");
        verified.last = batch.last();
        verified.batches += 1;
    }
    verified.digest = hash.finalize().to_hex().to_string();
    if verified.findings.is_empty() {
        verified.findings.extend(listing.and_then(|listing| mismatch(&listed, &listing)));
    }
    if let Some(repair) = store.repair() {
        verified.findings.extend(repair.check(Some(session)).await?);
    }
    Ok(verified)
}

/// What a listing says that the journal does not. What a fork was given by its parent, its store compares.
fn mismatch(journal: &Summary, listing: &Summary) -> Option<Finding> {
    match journal.last.cmp(&listing.last) {
        Ordering::Less => {
            let (session, due) = (listing.id.clone(), journal.last.next());
            return Some(Finding::Gap { session, due, found: listing.last });
        }
        // Someone appended meanwhile.
        Ordering::Greater => return None,
        Ordering::Equal => {}
    }
    stale_listing(&match listing.origin {
        Some(_) => journal.miscounted(listing),
        None => journal.differs_in(listing),
    })
}

/// That a listing is wrong in these.
pub(crate) fn stale_listing(wrong: &[&str]) -> Option<Finding> {
    let what = format!("the listing has another {} than the journal", wrong.join(", "));
    (!wrong.is_empty()).then_some(Finding::Stale { what })
}
