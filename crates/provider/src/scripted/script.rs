//! What is played.

use std::time::Duration;

use regex_lite::Regex;
use turnkeep_codec::wire::mock::Refusal;
use turnkeep_codec::{DecodeOptions, Input};
use turnkeep_model::{Block, Body, FinishReason, Result, Session, Usage};

use super::read;

/// The answers of a vendor, in order.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The model that the answers name, where it is not the one asked for.
    pub model: Option<String>,
    /// When it answers, in seconds since 1970.
    pub created: i64,
    /// How many characters a streamed piece of text has.
    pub piece: usize,
    /// Whether thinking in the history must be the vendor's own.
    pub signatures: Signatures,
    /// What it says.
    pub answers: Vec<Said>,
}

/// Which signatures of thinking a vendor takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signatures {
    /// Any: the history may come from the real vendor.
    #[default]
    Any,
    /// Those of the script, and those it made itself.
    Own,
}

/// One answer of a script.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// When it is given, whatever its place; without, it is the answer of its place.
    pub when: Option<When>,
    /// What the first tries to get it come to, one each.
    pub failures: Vec<Failure>,
    /// The content; an answer without content only fails.
    pub blocks: Vec<Block>,
    /// Why it ends; by default what its content says.
    pub finish: Option<FinishReason>,
    /// What it counts; by default an estimate.
    pub usage: Option<Usage>,
    /// How long it lets one wait.
    pub pauses: Pauses,
}

/// How long an answer lets one wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pauses {
    /// Before it begins.
    pub first: Duration,
    /// Between the events of a stream.
    pub between: Duration,
}

/// What an answer is given to.
#[derive(Debug, Clone, Default)]
pub struct When {
    /// The text of the last message of the user.
    pub user: Option<Matcher>,
    /// The results of tools after the last answer.
    pub results: Option<Matcher>,
    /// The model that is asked.
    pub model: Option<Matcher>,
}

/// Part of a text, or a pattern of it.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// The text is somewhere in it.
    Contains(String),
    /// The pattern is somewhere in it.
    Pattern(Regex),
}

impl Matcher {
    /// Whether a text has it.
    pub fn finds(&self, text: &str) -> bool {
        match self {
            Matcher::Contains(part) => text.contains(part),
            Matcher::Pattern(pattern) => pattern.is_match(text),
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// An error instead of an answer.
    Refused {
        /// What the vendor says.
        refusal: Refusal,
        /// The seconds after which it may be asked again.
        retry_after: Option<u64>,
    },
    /// An error after so many events of the stream.
    Late {
        /// After how many events.
        after: usize,
        /// What the vendor says.
        refusal: Refusal,
    },
    /// The connection ends after so many events, or in the middle of a body.
    Cut {
        /// After how many events.
        after: usize,
    },
    /// What comes after so many events is no JSON.
    Malformed {
        /// After how many events.
        after: usize,
    },
    /// There is no connection.
    Unreachable,
    /// Nothing comes in time.
    Silent,
}

/// How many characters a piece has by default.
const PIECE: usize = 12;

impl Script {
    /// These answers, in order.
    pub fn new(answers: Vec<Said>) -> Script {
        Script { piece: PIECE, answers, ..Script::default() }
    }

    /// The answers that a session has: any recorded session is a script.
    pub fn of(session: &Session) -> Script {
        let answered = session.turns.iter().filter(|turn| turn.blocks.iter().any(Block::is_answer));
        let answers = answered.map(|turn| Said {
            blocks: turn.blocks.iter().filter(|block| block.is_answer()).cloned().collect(),
            finish: turn.finish.as_ref().map(|finish| finish.reason.clone()),
            usage: (turn.usage != Usage::default()).then(|| turn.usage.clone()),
            ..Said::default()
        });
        Script::new(answers.collect())
    }

    /// Reads a script: its own YAML, or any session file, whose answers it then is.
    ///
    /// # Errors
    /// `Corrupt` with the line where a script cannot be understood; where a session file cannot be read, that error.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Script> {
        if let Some(script) = std::str::from_utf8(bytes).ok().and_then(read::script) {
            return script.map_err(|error| error.file(name));
        }
        let input = Input::new(bytes).named(name);
        let (_, decoded) = turnkeep_codec::decode(input, None, &DecodeOptions::default())?;
        Ok(decoded.archive.main_session().map(Script::of).unwrap_or_default())
    }

    /// The signatures and seals that its answers have.
    pub(super) fn seals(&self) -> impl Iterator<Item = &str> {
        let blocks = self.answers.iter().flat_map(|said| &said.blocks);
        let seals = blocks.filter_map(|block| match &block.body {
            Body::Reasoning(reasoning) => Some([reasoning.signature.as_deref(), reasoning.encrypted.as_deref()]),
            _ => None,
        });
        seals.flatten().flatten()
    }
}

impl Said {
    /// An answer of some blocks.
    pub fn blocks(blocks: Vec<Block>) -> Said {
        Said { blocks, ..Said::default() }
    }

    /// Why it ends: as it says, or as its content says.
    pub(super) fn reason(&self) -> FinishReason {
        let calls = self.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)));
        let usual = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
        self.finish.clone().unwrap_or(usual)
    }
}
