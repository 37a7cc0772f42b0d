//! What is wrong with a document, place by place.

use turnkeep_model::{Error, ErrorKind, Result};

use crate::format::{geppetto, ollama_chat, openai_chat};
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

/// A target whose rules are known: its id and the check over an input as given.
type Target = (&'static str, fn(Input<'_>, Strictness) -> Result<Vec<Finding>>);

const TARGETS: &[Target] = &[
    ("geppetto.turn", geppetto::lint),
    ("geppetto.fixture", geppetto::lint),
    ("openai.chat", |input, strictness| openai_chat::lint::lint(input, strictness, "openai")),
    ("openai.chat:openai", |input, strictness| openai_chat::lint::lint(input, strictness, "openai")),
    ("openai.chat:azure", |input, strictness| openai_chat::lint::lint(input, strictness, "azure")),
    ("openai.chat:mistral", |input, strictness| openai_chat::lint::lint(input, strictness, "mistral")),
    ("openai.chat:groq", |input, strictness| openai_chat::lint::lint(input, strictness, "groq")),
    ("openai.chat:deepseek", |input, strictness| openai_chat::lint::lint(input, strictness, "deepseek")),
    ("openai.chat:cerebras", |input, strictness| openai_chat::lint::lint(input, strictness, "cerebras")),
    ("openai.chat:moonshot", |input, strictness| openai_chat::lint::lint(input, strictness, "moonshot")),
    ("openai.chat:openrouter", |input, strictness| openai_chat::lint::lint(input, strictness, "openrouter")),
    ("openai.chat:xai", |input, strictness| openai_chat::lint::lint(input, strictness, "xai")),
    ("openai.chat:llamacpp", |input, strictness| openai_chat::lint::lint(input, strictness, "llamacpp")),
    ("openai.chat:vllm", |input, strictness| openai_chat::lint::lint(input, strictness, "vllm")),
    ("openai.chat:together", |input, strictness| openai_chat::lint::lint(input, strictness, "together")),
    ("openai.chat:fireworks", |input, strictness| openai_chat::lint::lint(input, strictness, "fireworks")),
    ("openai.chat:perplexity", |input, strictness| openai_chat::lint::lint(input, strictness, "perplexity")),
    ("openai.chat:qwen", |input, strictness| openai_chat::lint::lint(input, strictness, "qwen")),
    ("openai.chat:zai", |input, strictness| openai_chat::lint::lint(input, strictness, "zai")),
    ("ollama.chat", ollama_chat::lint::lint),
];

/// The targets whose rules are known.
pub fn targets() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|(id, _)| *id)
}

/// The rules of a wire, all of its dialects together; none where they are not told as data.
pub fn rules(wire: &str) -> Vec<&'static Rule> {
    match wire {
        "openai.chat" => openai_chat::lint::rules(),
        "ollama.chat" => ollama_chat::lint::rules(),
        _ => Vec::new(),
    }
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
