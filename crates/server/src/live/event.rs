//! What whoever follows a session is given.

use std::sync::Arc;

use axum::body::Bytes;
use turnkeep_model::Seq;

/// One envelope, written once for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveEvent {
    /// The record it comes from; pieces of an answer have none.
    pub seq: Option<Seq>,
    /// Where to join again after it. Only the last envelope of a record has it: whoever breaks off before it gets the record
    /// once more.
    pub resume: Option<Seq>,
    /// Its type.
    pub name: String,
    /// The envelope, as JSON on one line.
    pub json: Bytes,
}

/// What whoever follows a session is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveItem {
    /// Something happened.
    Event(Arc<LiveEvent>),
    /// Items were dropped because they were not taken in time. What was recorded after this place comes next, from the store;
    /// pieces of answers that were dropped do not come again.
    Lagged {
        /// The last place that was given whole.
        resume_from: Seq,
    },
    /// The session is no longer there.
    Gone,
}
