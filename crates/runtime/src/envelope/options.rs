//! How much envelopes tell, and in whose words.

use std::time::Duration;

use turnkeep_model::policy::Redact;

use super::Coalescer;

/// In whose words an envelope is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// The journal's: every record, whole.
    Native,
    /// The specification's seven kinds.
    #[default]
    Specified,
    /// The seven as a release of the original program wrote them: its field names, its words for a status, and one name
    /// for all events.
    Released,
}

impl Dialect {
    /// The dialect of a name.
    pub fn from_word(word: &str) -> Option<Dialect> {
        match word {
            "native" => Some(Dialect::Native),
            "specified" => Some(Dialect::Specified),
            "released" => Some(Dialect::Released),
            _ => None,
        }
    }
}

/// How much an agent's envelopes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Whether continuation decisions are told with their evaluations.
    pub continuation_trace: bool,
    /// Whether arguments are told whole beside their summary; strings longer than this are cut.
    pub arguments: Option<usize>,
    /// Whether pieces of answers are told.
    pub chunks: bool,
}

impl Detail {
    /// The names of the presets; `full` is another name of `debug`.
    pub const PRESETS: [&'static str; 4] = ["minimal", "standard", "debug", "full"];

    /// Status, steps and tools.
    pub const MINIMAL: Detail = Detail { continuation_trace: false, arguments: None, chunks: false };
    /// And the answer as it comes.
    pub const STANDARD: Detail = Detail { continuation_trace: false, arguments: None, chunks: true };
    /// And arguments and decisions.
    pub const DEBUG: Detail = Detail { continuation_trace: true, arguments: Some(500), chunks: true };
    /// The same by another name.
    pub const FULL: Detail = Detail::DEBUG;

    /// The preset of a name.
    pub fn preset(name: &str) -> Option<Detail> {
        match name {
            "minimal" => Some(Detail::MINIMAL),
            "standard" => Some(Detail::STANDARD),
            "debug" | "full" => Some(Detail::DEBUG),
            _ => None,
        }
    }
}

/// Whether the field names of older front ends stand beside the specified ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OldNames {
    /// They do not.
    #[default]
    Absent,
    /// They do: what an old front end looks for is there, with the same value.
    Beside,
}

/// How envelopes are made.
#[derive(Debug, Clone)]
pub struct EnvelopeOptions {
    /// In whose words.
    pub dialect: Dialect,
    /// How much they tell; native envelopes tell everything.
    pub detail: Detail,
    /// Whether old field names stand beside the specified ones.
    pub old_names: OldNames,
    /// What is hidden before anything leaves.
    pub redact: Redact,
    /// How long pieces of an answer are joined.
    pub window: Duration,
}

impl Default for EnvelopeOptions {
    fn default() -> EnvelopeOptions {
        EnvelopeOptions::from(Detail::STANDARD)
    }
}

impl From<Detail> for EnvelopeOptions {
    fn from(detail: Detail) -> EnvelopeOptions {
        EnvelopeOptions {
            dialect: Dialect::default(),
            detail,
            old_names: OldNames::default(),
            redact: Redact::default(),
            window: Coalescer::WINDOW,
        }
    }
}

impl From<Dialect> for EnvelopeOptions {
    fn from(dialect: Dialect) -> EnvelopeOptions {
        EnvelopeOptions { dialect, ..EnvelopeOptions::default() }
    }
}
