//! One thing that did not survive a reading, a writing or a reduction.

use std::fmt;

use crate::shape::{parts, words};

/// One thing that did not survive: where it stood, what became of it, on which side, and why.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Loss {
    /// The place in the session, as in `turns[3].blocks[1].signature`.
    pub at: String,
    /// What became of it.
    pub kind: LossKind,
    /// Who lost it.
    pub side: Side,
    /// A sentence for a person.
    pub what: String,
}

parts! { Loss { at: req, kind: req, side: req, what: req } }

words! {
    /// What became of the thing that did not survive.
    pub enum LossKind {
        /// It is gone.
        Dropped = "dropped",
        /// It is shorter.
        Truncated = "truncated",
        /// It became text.
        Textified = "textified",
        /// It was not there and had to be made up.
        Synthesised = "synthesised",
        /// It has another name.
        Renamed = "renamed",
        /// It stands elsewhere.
        Reordered = "reordered",
        /// It is inside something else.
        Wrapped = "wrapped",
        /// It has another type.
        Coerced = "coerced",
        /// It was wrong and was put right.
        Repaired = "repaired",
        /// It was hidden on purpose.
        Redacted = "redacted",
        /// It was summarised.
        Condensed = "condensed",
    }
}

words! {
    /// Who lost something.
    pub enum Side {
        /// The reader of the source.
        Decode = "decode",
        /// A policy.
        Policy = "policy",
        /// The writer of the target.
        Encode = "encode",
    }
}

impl Loss {
    /// A loss while reading.
    pub fn decode(kind: LossKind, at: impl Into<String>, what: impl Into<String>) -> Loss {
        Loss { at: at.into(), kind, side: Side::Decode, what: what.into() }
    }

    /// A loss while writing.
    pub fn encode(kind: LossKind, at: impl Into<String>, what: impl Into<String>) -> Loss {
        Loss { at: at.into(), kind, side: Side::Encode, what: what.into() }
    }

    /// A loss by a policy.
    pub fn policy(kind: LossKind, at: impl Into<String>, what: impl Into<String>) -> Loss {
        Loss { at: at.into(), kind, side: Side::Policy, what: what.into() }
    }

    /// Whether this loss speaks of the place `path`: of it, of something that holds it, or of something in it.
    pub fn covers(&self, path: &str) -> bool {
        is_within(path, &self.at) || is_within(&self.at, path)
    }
}

/// Whether `inner` is `outer` or stands inside it.
fn is_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}): {}", self.kind, self.at, self.side, self.what)
    }
}
