//! One thing that did not survive a reading, a writing or a reduction.
//!
//! A loss is a value and never an error: the caller decides what is too much. It names a place and what became of it, never the
//! content that was there, because reports are logged and shown.

mod severity;

use std::fmt;

use crate::diff::Change;
use crate::shape::{flat_shape, string_enum};

/// One thing that did not survive: where it stood, what became of it, on which side, and why.
///
/// ```
/// use turnkeep_model::{Loss, LossKind};
///
/// let loss = Loss::encode(LossKind::Dropped, "turns[0].options", "the format has no place for it");
///
/// assert_eq!(loss.at, "turns[0].options");
/// ```
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
    /// How much it matters, where kind and place do not tell; see [`Loss::severity`].
    pub severity: Option<Severity>,
}

flat_shape! { Loss { at: req, kind: req, side: req, what: req, severity: opt } }

string_enum! {
    /// How much a loss matters.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// Something said, shown, called or returned.
        Content = "content",
        /// Options, ids and metadata: what acts without being said.
        Setting = "setting",
        /// Order, the spelling of numbers and texts, notes on the source.
        Spelling = "spelling",
    }
}

string_enum! {
    /// What became of the thing that did not survive.
    #[non_exhaustive]
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

string_enum! {
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
        Loss::new(kind, at, Side::Decode, what)
    }

    /// A loss while writing.
    pub fn encode(kind: LossKind, at: impl Into<String>, what: impl Into<String>) -> Loss {
        Loss::new(kind, at, Side::Encode, what)
    }

    /// A loss by a policy.
    pub fn policy(kind: LossKind, at: impl Into<String>, what: impl Into<String>) -> Loss {
        Loss::new(kind, at, Side::Policy, what)
    }

    fn new(kind: LossKind, at: impl Into<String>, side: Side, what: impl Into<String>) -> Loss {
        Loss { at: at.into(), kind, side, what: what.into(), severity: None }
    }

    /// The same loss with a severity that kind and place do not tell.
    #[must_use]
    pub fn rated(mut self, severity: Severity) -> Loss {
        self.severity = (self.severity() != severity).then_some(severity).or(self.severity);
        self
    }

    /// The same loss with the severity of the change it reports: a value that is only spelled in another way is no more
    /// than that.
    #[must_use]
    pub fn of_change(self, change: &Change) -> Loss {
        match severity::of_change(change) {
            Some(severity) => self.rated(severity),
            None => self,
        }
    }

    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.severity.unwrap_or_else(|| severity::of(self.kind, &self.at))
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
