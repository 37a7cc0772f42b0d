//! Hides what must not be told.

mod redactor;
mod rules;
mod tools;

use regex_lite::{Regex, RegexBuilder};

pub use redactor::{PieceOf, Redactor};
pub(super) use rules::Rules;

use super::edit::{self, Opaque};
use super::encrypted;
use super::pipeline::Policy;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::Journal;
use crate::json::TreeSink;
use crate::loss::{Loss, LossKind};
use crate::native::Archive;
use crate::session::Session;
use crate::shape::{Shape, string_enum};

string_enum! {
    /// What is hidden.
    pub enum RedactTarget {
        /// Encrypted reasoning becomes its ends and its length.
        EncryptedContent = "encrypted_content",
        /// The arguments of tool calls: what is left is the call's id and name.
        ToolArgs = "tool_args",
        /// What tools answered.
        ToolResults = "tool_results",
        /// Keys, tokens, passwords, addresses and numbers of people.
        Secrets = "secrets",
    }
}

/// The most bytes that a compiled pattern may take: it bounds how long a search can take.
const PATTERN_SIZE: usize = 1 << 18;

/// The longest pattern.
const PATTERN_LENGTH: usize = 4096;

/// Hides content, wherever it stands in a session: texts, arguments, results, options, metadata, slices, and what was kept
/// raw. Doing it twice changes nothing more.
///
/// Equal secrets of a session get equal placeholders, as in `[email-1]`; nothing of a secret is in its placeholder. What
/// is split over two texts is not found, and the bytes of media are not looked into.
///
/// ```
/// use turnkeep_model::policy::{RedactTarget, Policy, Redact};
/// use turnkeep_model::{Author, Block, Session, Turn};
///
/// let turn = Turn { blocks: vec![Block::text(Author::User, "I am ada@example.com.")], ..Turn::default() };
/// let mut session = Session { turns: vec![turn], ..Session::default() };
///
/// let losses = Redact::new([RedactTarget::Secrets]).apply(&mut session).unwrap();
///
/// assert_eq!(session.turns[0].blocks[0].body.as_text(), Some("I am [email-1]."));
/// assert_eq!(losses[0].at, "turns[0].blocks[0].text");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Redact {
    hidden: Vec<RedactTarget>,
    patterns: Vec<Regex>,
}

impl Redact {
    /// Hides these.
    #[must_use]
    pub fn new(hidden: impl IntoIterator<Item = RedactTarget>) -> Redact {
        Redact { hidden: hidden.into_iter().collect(), patterns: Vec::new() }
    }

    /// Hides also what a pattern matches, each match as a secret.
    ///
    /// Patterns are regular expressions without Unicode classes; a search takes time in proportion to the text.
    ///
    /// # Errors
    /// `Unsupported` where the pattern does not compile, is too large, or matches the empty text.
    pub fn with_pattern(mut self, pattern: &str) -> Result<Redact> {
        self.patterns.push(compile(pattern)?);
        Ok(self)
    }

    /// Whether it hides nothing.
    pub fn is_empty(&self) -> bool {
        self.hidden.is_empty() && self.patterns.is_empty()
    }

    fn hides(&self, hidden: RedactTarget) -> bool {
        self.hidden.contains(&hidden)
    }

    /// What finds secrets, where any are looked for.
    fn rules(&self) -> Option<Rules> {
        let known = self.hides(RedactTarget::Secrets).then(Rules::of_secrets);
        let asked = (!self.patterns.is_empty()).then(Rules::none);
        known.or(asked).map(|rules| rules.with_patterns(self.patterns.clone()))
    }
}

fn compile(pattern: &str) -> Result<Regex> {
    let refused = |what: String| {
        Error::new(ErrorKind::Unsupported, format!("the pattern {what}")).hint(
            "patterns are regular expressions in the syntax of the crate regex-lite, each match at least one character",
        )
    };
    if pattern.len() > PATTERN_LENGTH {
        return Err(refused(format!("is longer than {PATTERN_LENGTH} bytes")));
    }
    let compiled = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
    let compiled = compiled.map_err(|error| refused(format!("cannot be used: {error}")))?;
    if compiled.is_match("") {
        return Err(refused("matches the empty text".to_owned()));
    }
    Ok(compiled)
}

impl Policy for Redact {
    fn apply(&self, session: &mut Session) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        if self.hides(RedactTarget::EncryptedContent) {
            losses.extend(encrypted::hide(session)?);
        }
        if self.hides(RedactTarget::ToolArgs) {
            losses.extend(edit::session(&mut tools::Arguments, session, Opaque::Drop)?);
        }
        if self.hides(RedactTarget::ToolResults) {
            losses.extend(edit::session(&mut tools::Results, session, Opaque::Drop)?);
        }
        if let Some(mut rules) = self.rules() {
            losses.extend(rules.hide(session)?);
        }
        Ok(losses)
    }

    fn apply_around(&self, archive: &mut Archive) -> Result<Vec<Loss>> {
        let mut losses = Vec::new();
        if self.hides(RedactTarget::EncryptedContent) {
            losses.extend(edit::around(&mut encrypted::Encrypted, &mut archive.extra)?);
        }
        if self.hides(RedactTarget::ToolArgs) {
            losses.extend(edit::around(&mut tools::Arguments, &mut archive.extra)?);
        }
        if self.hides(RedactTarget::ToolResults) {
            losses.extend(edit::around(&mut tools::Results, &mut archive.extra)?);
        }
        if let Some(mut rules) = self.rules() {
            losses.extend(edit::around(&mut rules, &mut archive.extra)?);
        }
        if archive.journal.as_ref().is_some_and(|journal| self.is_told_by(journal)) {
            archive.journal = None;
            let what = "the journal tells what is hidden; only what it folds to is kept";
            losses.push(Loss::policy(LossKind::Dropped, "journal", what));
        }
        Ok(losses)
    }
}

impl Redact {
    /// Whether a journal repeats what is hidden, also where the session does not hold it any more.
    fn is_told_by(&self, journal: &Journal) -> bool {
        let rules = self.rules();
        let tells = |batch: &crate::journal::Batch| {
            let mut sink = TreeSink::default();
            batch.write(&mut sink);
            let tree = sink.into_json();
            self.hides(RedactTarget::EncryptedContent) && encrypted::is_told(&tree)
                || self.hides(RedactTarget::ToolArgs) && edit::would_change(&mut tools::Arguments, &tree)
                || self.hides(RedactTarget::ToolResults) && edit::would_change(&mut tools::Results, &tree)
                || rules.as_ref().is_some_and(|rules| rules.is_told(&tree))
        };
        journal.batches.iter().any(tells) || !journal.extra.is_empty()
    }
}
