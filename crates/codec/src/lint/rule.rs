//! Rules: what vendors demand of a request, as data.

use std::fmt;

use super::view::RequestView;
use super::{RuleInfo, Severity};

/// One demand of a vendor.
pub(crate) struct Rule {
    id: &'static str,
    severity: Severity,
    /// Whose rule it is, in words.
    who: &'static str,
    evidence: Evidence,
    /// What to do.
    fix: &'static str,
    subject: Subject,
    applies: fn(&RequestView<'_, '_>) -> bool,
    check: fn(&RequestView<'_, '_>) -> Vec<Hit>,
}

/// A place in a request that breaks a rule.
#[derive(Debug, Default)]
pub(crate) struct Hit {
    pub(crate) at: String,
    /// What is wrong there. Where the evidence is a template, what stands there.
    pub(crate) what: String,
}

/// What a rule is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// What a session says, too.
    Session,
    /// What only a request says of itself: a session has no place for it before it becomes one.
    Request,
}

/// How a rule is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// What the vendor answered where it was broken, word by word.
    Answer(&'static str),
    /// What comes of it, in the words of the vendor or in ours.
    Reaction(&'static str),
    /// What documentation or types say, in our words; no answer is at hand.
    Stated(&'static str),
    /// What the vendor answers; `{}` stands for what is wrong.
    Template(&'static str),
}

/// A rule whose breach is refused.
pub(crate) const fn error(
    id: &'static str,
    evidence: Evidence,
    fix: &'static str,
    check: fn(&RequestView<'_, '_>) -> Vec<Hit>,
) -> Rule {
    let (severity, who, subject) = (Severity::Error, "all", Subject::Session);
    Rule { id, severity, who, evidence, fix, subject, applies: |_| true, check }
}

/// A rule whose breach is accepted, but not as it should be.
pub(crate) const fn warning(
    id: &'static str,
    evidence: Evidence,
    fix: &'static str,
    check: fn(&RequestView<'_, '_>) -> Vec<Hit>,
) -> Rule {
    Rule { severity: Severity::Warning, ..error(id, evidence, fix, check) }
}

impl Rule {
    /// The same, as a rule of some vendors or models only.
    pub(crate) const fn of(self, who: &'static str, applies: fn(&RequestView<'_, '_>) -> bool) -> Rule {
        Rule { who, applies, ..self }
    }

    /// The same, on what only a request says of itself.
    pub(crate) const fn of_requests(self) -> Rule {
        Rule { subject: Subject::Request, ..self }
    }

    pub(super) fn id(&self) -> &'static str {
        self.id
    }

    pub(super) fn severity(&self) -> Severity {
        self.severity
    }

    pub(super) fn is_of_requests(&self) -> bool {
        self.subject == Subject::Request
    }

    /// The places of a request that break it.
    pub(super) fn hits(&self, view: &RequestView<'_, '_>) -> Vec<Hit> {
        if (self.applies)(view) { (self.check)(view) } else { Vec::new() }
    }

    /// What is told of a place: what is wrong, how that is known, and what to do.
    pub(super) fn message(&self, hit: &Hit) -> String {
        let Rule { evidence, fix, .. } = self;
        match evidence {
            Evidence::Template(text) => format!("{}; {fix}", text.replace("{}", &hit.what)),
            _ if hit.what.is_empty() => format!("{evidence}; {fix}"),
            _ => format!("{}; {evidence}; {fix}", hit.what),
        }
    }

    pub(super) fn info(&self) -> RuleInfo {
        let Rule { id, severity, who, evidence, fix, .. } = *self;
        RuleInfo { id, severity, models: who, evidence: evidence.text(), fix }
    }
}

impl Evidence {
    /// The words, whoever says them.
    fn text(self) -> &'static str {
        match self {
            Evidence::Answer(text) | Evidence::Reaction(text) | Evidence::Stated(text) | Evidence::Template(text) => {
                text
            }
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::Answer(text) => write!(f, "the vendor answers \"{text}\""),
            Evidence::Reaction(text) => write!(f, "the vendor answers: {text}"),
            Evidence::Stated(text) | Evidence::Template(text) => f.write_str(text),
        }
    }
}
