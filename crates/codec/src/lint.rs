//! What is wrong with a document, place by place.

use turnkeep_model::{Error, ErrorKind, Result};

use crate::format::{anthropic, bedrock, geppetto};
use crate::input::Input;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// It would be refused, or is against the rules.
    Error,
    /// It is accepted, but not as it should be.
    Warning,
}

impl Severity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule it breaks.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The place in the document, as in `blocks[3].role`.
    pub at: String,
    /// The line (from 1), where known.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub what: String,
}

/// How to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// What readers tolerate is a warning.
    #[default]
    Lax,
    /// Every finding is an error.
    Strict,
}

/// A target whose rules are known: its id and the check over an input as given.
type Target = (&'static str, fn(Input<'_>, Strictness) -> Result<Vec<Finding>>);

const TARGETS: &[Target] = &[
    ("geppetto.turn", geppetto::lint),
    ("geppetto.fixture", geppetto::lint),
    ("anthropic.messages", anthropic::lint),
    ("bedrock.converse", bedrock::lint),
];

/// The targets whose rules are known.
pub fn targets() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|(id, _)| *id)
}

/// Checks an input against the rules of `target`.
///
/// # Errors
/// `NotFound` where no rules are known for the target; where the bytes are unusable, that error.
pub fn lint(input: Input<'_>, target: &str, strictness: Strictness) -> Result<Vec<Finding>> {
    let Some((_, check)) = TARGETS.iter().find(|(id, _)| *id == target) else {
        let known: Vec<_> = targets().collect();
        return Err(Error::new(ErrorKind::NotFound, format!("no rules are known for `{target}`"))
            .hint(format!("targets: {}", known.join(", "))));
    };
    check(input, strictness)
}
