//! What is wrong with a document, place by place.

mod session;

use turnkeep_model::{Error, ErrorKind, Result};

pub use session::lint_session;

use crate::format::{anthropic, bedrock, gemini, geppetto, llm4s, ollama_chat, openai_chat, responses};
use crate::input::Input;
use crate::models;
use crate::wire;

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

/// A rule, as people are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
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

/// The check of a body or document as given; the profile is the target's variant, where it names one.
type Check = fn(&Input<'_>, Strictness, Option<&str>) -> Result<Vec<Finding>>;

/// Every target: its id, its profiles, and its check.
const CHECKS: &[(&str, &[&str], Check)] = &[
    ("geppetto.turn", &[], |input, strictness, _| geppetto::lint(input.again(), strictness)),
    ("geppetto.fixture", &[], |input, strictness, _| geppetto::lint(input.again(), strictness)),
    ("llm4s.state", &[], |input, strictness, _| llm4s::lint(input, strictness)),
    ("llm4s.session", &[], |input, strictness, _| llm4s::lint(input, strictness)),
    ("openai.chat", openai_chat::VARIANTS, |input, strictness, profile| {
        openai_chat::lint::lint(input, strictness, profile.unwrap_or("openai"))
    }),
    ("openai.responses", responses::VARIANTS, |input, strictness, profile| {
        responses::lint(input, strictness, profile.unwrap_or("openai"))
    }),
    ("anthropic.messages", &[], |input, strictness, _| anthropic::lint(input, strictness)),
    ("gemini.contents", &[], |input, strictness, _| gemini::lint(input, strictness)),
    ("ollama.chat", &[], |input, strictness, _| ollama_chat::lint::lint(input, strictness)),
    ("bedrock.converse", &[], |input, strictness, _| bedrock::lint(input, strictness)),
];

/// The targets whose rules are known: ids, and ids with a profile.
pub fn targets() -> impl Iterator<Item = String> {
    CHECKS.iter().flat_map(|(id, profiles, _)| {
        let named = profiles.iter().map(move |profile| format!("{id}:{profile}"));
        std::iter::once((*id).to_owned()).chain(named)
    })
}

/// The rules of a wire, all of its dialects together; none where no rules are known.
pub fn rules(wire: &str) -> Vec<Rule> {
    let told = |rule: &wire::Rule| Rule {
        id: rule.id,
        severity: rule.severity,
        models: if rule.models.is_empty() { "all" } else { rule.models },
        evidence: rule.evidence.text(),
        fix: rule.fix,
    };
    let mut rules: Vec<Rule> = match wire {
        "openai.chat" => openai_chat::lint::rules().into_iter().cloned().collect(),
        "ollama.chat" => ollama_chat::lint::rules().into_iter().cloned().collect(),
        "openai.responses" => responses::rules(),
        "anthropic.messages" => anthropic::RULES.iter().copied().flatten().map(told).collect(),
        "gemini.contents" => gemini::rules(),
        "bedrock.converse" => bedrock::RULES.iter().map(told).collect(),
        _ => Vec::new(),
    };
    rules.extend(models::rules(wire));
    rules
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
    let (id, profile) = target.split_once(':').map_or((target, None), |(id, profile)| (id, Some(profile)));
    let known = profile.is_none() || targets().any(|known| known == target);
    match CHECKS.iter().find(|(known, ..)| *known == id).filter(|_| known) {
        Some((.., check)) => check(input, strictness, profile),
        None => Err(Error::new(ErrorKind::NotFound, format!("no rules are known for `{target}`"))
            .hint(format!("targets: {}", targets().collect::<Vec<_>>().join(", ")))),
    }
}
