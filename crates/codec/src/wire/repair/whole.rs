//! A whole history made valid for a vendor, and every edit that it took.

use turnkeep_model::json::{Json, JsonSink, Layout, Sink};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result, Session};

use super::super::outgoing::next;
use crate::codec::{EncodeOptions, Target};
use crate::input::Input;
use crate::lint::{Finding, Severity, Strictness, lint, lint_session};

/// A history that a vendor takes.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The request.
    pub body: Vec<u8>,
    /// What was done to the history, by its places in the session.
    pub edits: Vec<Loss>,
    /// What the vendor would have refused.
    pub before: Vec<Finding>,
    /// What it would still refuse.
    pub after: Vec<Finding>,
}

/// Makes the history of a session valid for a vendor. `given` are the bytes it was read from, where they are a request of
/// that very wire: one without errors is given back as it is.
///
/// # Errors
/// `NotFound` where the target is no vendor's wire.
pub fn repair(session: &Session, given: Option<&[u8]>, target: &Target, options: &EncodeOptions) -> Result<Repaired> {
    let id = target.codec.spec().id;
    let Some(wire) = crate::format::wire(id) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("`{id}` is no vendor's wire, and has no rules to repair by"),
        ));
    };
    let name = target.variant.as_ref().map_or_else(|| id.to_owned(), |variant| format!("{id}:{variant}"));
    let family = options.family.as_deref();
    let before = match given {
        Some(bytes) => lint(Input::new(bytes).of_family(family), &name, Strictness::Lax)?,
        None => lint_session(session, &name, family, Strictness::Lax)?,
    };
    if let Some(bytes) = given.filter(|_| !before.iter().any(is_error)) {
        return Ok(Repaired { body: bytes.to_vec(), edits: Vec::new(), before: before.clone(), after: before });
    }
    let mut options = options.clone();
    options.as_request = true;
    options.variant.clone_from(&target.variant);
    let (body, known) = next(wire, session.clone(), &options);
    let text = body.to_text();
    let after = lint(Input::new(text.as_bytes()).of_family(options.family.as_deref()), &name, Strictness::Lax)?;
    Ok(Repaired { body: pretty(&body), edits: edits(known), before, after })
}

fn is_error(finding: &Finding) -> bool {
    finding.severity == Severity::Error
}

/// Every edit once, in the order of their places.
fn edits(known: Vec<Loss>) -> Vec<Loss> {
    let mut edits: Vec<Loss> = Vec::new();
    for loss in known {
        // A model that had to be named may stand in one of several places of what a reader finds; the same said of a
        // place and of what holds it is one edit.
        let again = |other: &&Loss| {
            let same = other.what == loss.what && (loss.kind == LossKind::Synthesised || other.covers(&loss.at));
            other.at == loss.at || same
        };
        if !edits.iter().any(|other| again(&other)) {
            edits.push(loss);
        }
    }
    edits.sort_by_key(|edit| place(&edit.at));
    edits
}

/// The indices of a turn and of a block in it; what is of no turn comes first.
fn place(at: &str) -> (usize, usize) {
    let mut numbers = at.split(['[', ']']).filter_map(|word| word.parse().ok());
    let is_turn = at.starts_with("turns[");
    let turn = numbers.next().filter(|_| is_turn).map_or(0, |turn: usize| turn + 1);
    (turn, numbers.next().unwrap_or_default())
}

fn pretty(body: &Json) -> Vec<u8> {
    let mut sink = JsonSink::new(Layout::Pretty);
    sink.json(body);
    let mut bytes = sink.into_bytes();
    bytes.push(b'\n');
    bytes
}
