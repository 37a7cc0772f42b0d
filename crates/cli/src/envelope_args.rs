//! The flags of envelopes, and the command that makes them of another program's events.

use std::path::PathBuf;

use clap::{Args as Group, ValueEnum};
use turnkeep_file::DEFAULT_MAX_BYTES;
use turnkeep_model::policy::{Redact, RedactTarget};
use turnkeep_runtime::envelope::{Detail, Dialect, EnvelopeOptions, OldNames};

use crate::exit::CliError;
use crate::policy_args::{hidden, pattern};

/// How an agent's envelopes are written.
#[derive(Group)]
pub(crate) struct EnvelopeArgs {
    /// Whose words envelopes are written in
    #[arg(long, value_enum, default_value = "specified")]
    dialect: DialectName,
    /// Put the field names of older front ends beside the specified ones
    #[arg(long)]
    old_names: bool,
    /// What to hide: encrypted_content, tool_args, tool_results, secrets
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = hidden)]
    redact: Vec<RedactTarget>,
    /// Hide also what a regular expression matches; can be repeated
    #[arg(long, value_name = "RE", value_parser = pattern)]
    pattern: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum DialectName {
    /// As specified
    Specified,
    /// As the original program was released
    Released,
}

/// How much envelopes tell.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Preset {
    /// Status, steps and tools
    Minimal,
    /// And answers as they come
    Standard,
    /// And arguments and decisions
    #[value(alias = "full")]
    Debug,
}

impl EnvelopeArgs {
    /// How envelopes of a preset are made; native ones where none is asked for.
    pub(crate) fn options(&self, preset: Option<Preset>) -> Result<EnvelopeOptions, CliError> {
        let detail = match preset {
            Some(Preset::Minimal) => Detail::MINIMAL,
            Some(Preset::Debug) => Detail::DEBUG,
            Some(Preset::Standard) | None => Detail::STANDARD,
        };
        let dialect = match (preset, self.dialect) {
            (None, _) => Dialect::Native,
            (Some(_), DialectName::Specified) => Dialect::Specified,
            (Some(_), DialectName::Released) => Dialect::Released,
        };
        let redact = Redact::new(self.redact.iter().copied());
        let redact = self.pattern.iter().try_fold(redact, |redact, pattern| redact.with_pattern(pattern))?;
        let old_names = if self.old_names { OldNames::Beside } else { OldNames::Absent };
        Ok(EnvelopeOptions { dialect, old_names, redact, ..EnvelopeOptions::from(detail) })
    }
}

/// Make envelopes of the events of instructor-php
#[derive(Group)]
pub(crate) struct Events {
    /// The events: a list in JSON, or one a line; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// How much the envelopes tell
    #[arg(long, value_enum, default_value = "standard")]
    pub(crate) preset: Preset,
    /// The session they belong to; each agent's id where none is named
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) envelopes: EnvelopeArgs,
    /// Print JSON, a line an envelope, which it does anyway
    #[arg(long)]
    json: bool,
    /// The most bytes that the file may have
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_BYTES)]
    pub(crate) max_bytes: u64,
}
