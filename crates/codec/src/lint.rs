//! What is wrong with a document, place by place.
//!
//! A wire's rules are data in its contract. One engine (`wire`) finds the request in a document, walks it once into a
//! `view::RequestView` and asks every rule for the places that break it; lines and columns follow from the places.

pub(crate) mod rule;
mod session;
pub(crate) mod two_sides;
pub(crate) mod view;
mod wire;

use turnkeep_model::{Error, ErrorKind, Result};

pub use session::lint_session;

use crate::codec::Spec;
use crate::format::{self, geppetto, llm4s};
use crate::input::Input;
use crate::models;
use wire::Judge;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// The column (from 1) in that line.
    pub column: Option<usize>,
    /// What is wrong and what to do.
    pub what: String,
}

/// A rule, as people are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its code.
    pub id: &'static str,
    /// How bad it is to break it.
    pub severity: Severity,
    /// Which vendors and models have it, in words.
    pub models: &'static str,
    /// What the vendor answers where it is broken.
    pub evidence: &'static str,
    /// What to do.
    pub fix: &'static str,
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

/// The check of a document of a format that is no wire.
type Check = fn(&Input<'_>, Strictness) -> Result<Vec<Finding>>;

/// The formats beside the wires whose rules are known.
const CHECKS: &[(&str, Check)] = &[
    ("geppetto.turn", |input, strictness| geppetto::lint(input.again(), strictness)),
    ("geppetto.fixture", |input, strictness| geppetto::lint(input.again(), strictness)),
    ("llm4s.state", llm4s::lint),
    ("llm4s.session", llm4s::lint),
];

/// The targets whose rules are known: ids, and ids with a profile.
pub fn targets() -> impl Iterator<Item = String> {
    let wires = format::wires().flat_map(|wire| {
        let Spec { id, variants, .. } = wire.spec();
        std::iter::once((*id).to_owned()).chain(variants.iter().map(move |profile| format!("{id}:{profile}")))
    });
    CHECKS.iter().map(|(id, _)| (*id).to_owned()).chain(wires)
}

/// The rules of a wire, all of its dialects together; none where no rules are known.
pub fn rules(wire: &str) -> Vec<RuleInfo> {
    let Some(wire) = format::wire(wire) else { return Vec::new() };
    let rules = wire.contract().rules.iter().copied().flatten();
    rules.map(rule::Rule::info).chain(models::rules(wire)).collect()
}

/// Checks an input against the rules of `target`, as `openai.chat` or `openai.chat:mistral`.
///
/// # Errors
/// `NotFound` where no rules are known for the target; where the bytes are unusable, that error.
pub fn lint(input: Input<'_>, target: &str, strictness: Strictness) -> Result<Vec<Finding>> {
    check(&input, target, strictness)
}

/// The same, of an input that is still needed: what it parses to stays with it.
///
/// # Errors
/// As [`lint`].
pub fn check(input: &Input<'_>, target: &str, strictness: Strictness) -> Result<Vec<Finding>> {
    let (id, dialect) = target.split_once(':').map_or((target, None), |(id, dialect)| (id, Some(dialect)));
    let own = CHECKS.iter().find(|(own, _)| *own == target);
    match (own, judge(id, dialect, strictness)) {
        (Some((_, check)), _) => check(input, strictness),
        (None, Some(judge)) => {
            let asking = |family| input.asking(judge.wire.contract().naming.key(), family);
            judge.input(input.family().map(asking).as_ref().unwrap_or(input))
        }
        (None, None) => Err(Error::new(ErrorKind::NotFound, format!("no rules are known for `{target}`"))
            .hint(format!("targets: {}", targets().collect::<Vec<_>>().join(", ")))),
    }
}

/// The judge of a wire, where there is such a wire, and the dialect is one of its.
fn judge<'d>(id: &str, dialect: Option<&'d str>, strictness: Strictness) -> Option<Judge<'d>> {
    let wire = format::wire(id)?;
    let is_known = dialect.is_none_or(|dialect| wire.spec().variants.contains(&dialect));
    is_known.then_some(Judge { wire, dialect, strictness })
}
