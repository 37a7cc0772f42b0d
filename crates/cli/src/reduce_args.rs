//! The part of the command line that concerns views, condensing and compression.

use std::path::PathBuf;

use clap::Args as Group;
use clap::builder::ArgPredicate;
use turnkeep_codec::format::cognesy::Dialect;
use turnkeep_codec::{Target, pack};
use turnkeep_model::view::Slim as Config;

use crate::args::target;
use crate::conversation_args::ModelArgs;
use crate::input_args::InputArgs;
use crate::store::StoreArgs;

/// Whether and how far what is written is condensed.
#[derive(Group)]
pub(crate) struct CondenseArgs {
    /// Put a summary in the place of older exchanges, after every other reduction
    #[arg(long)]
    pub(crate) condense: bool,
    #[command(flatten)]
    pub(crate) extent: Extent,
    #[command(flatten)]
    pub(crate) by: ModelArgs,
}

/// How far a session is condensed.
#[derive(Group)]
pub(crate) struct Extent {
    /// How many exchanges at the end stay as they are [default: 4; none for lucee.session, whose program condenses all it keeps]
    #[arg(long, value_name = "K")]
    pub(crate) keep: Option<usize>,
    /// Stop condensing as soon as there are no more tokens than this, by estimate
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<u64>,
}

/// Whether what is written is compressed.
#[derive(Group)]
pub(crate) struct CompressArgs {
    /// Compress what is written with zstd, at a level from 1 to 22; every command reads it as if it were not
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "9", value_parser = level)]
    pub(crate) compress: Option<i32>,
}

fn level(word: &str) -> Result<i32, String> {
    let level = word.parse().ok().filter(|level| pack::LEVELS.contains(level));
    level.ok_or_else(|| "levels go from 1 to 22".to_owned())
}

/// Write a slim view of a session, or restore what one can
#[derive(Group)]
pub(crate) struct Slim {
    /// The file, or the id of a stored session; `-` is standard input
    #[arg(value_name = "IN|ID")]
    pub(crate) input: PathBuf,
    /// Where to write; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// How much the view holds
    #[arg(long, value_name = "P", default_value = "standard", value_parser = Config::PRESETS)]
    pub(crate) preset: String,
    #[command(flatten)]
    pub(crate) fields: Fields,
    /// The dialect of the document: as proposed, or as it was released
    #[arg(long, value_name = "D", default_value = "proposal", value_parser = dialect)]
    pub(crate) dialect: Dialect,
    /// Read a snapshot, and write the session that it can restore, in this format
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "turnkeep", value_parser = target)]
    pub(crate) restore: Option<Target>,
    /// Cut at bytes, number steps within those listed and slice plainly, as the original program does
    #[arg(long)]
    pub(crate) compat: bool,
    #[command(flatten)]
    pub(crate) packing: CompressArgs,
    /// Write what is not in the view to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print what would go as JSON
    #[arg(long, requires_if(ArgPredicate::IsPresent, "dry_run"))]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

fn dialect(word: &str) -> Result<Dialect, String> {
    Dialect::from_word(word).ok_or_else(|| format!("dialects: {}", Dialect::NAMES.join(", ")))
}

/// What differs from the preset.
#[derive(Group)]
pub(crate) struct Fields {
    /// How many messages, the newest; zero or less is none
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) max_messages: Option<i64>,
    /// How many steps, the newest; zero or less is none
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) max_steps: Option<i64>,
    /// How many characters of a message's text; zero or less is all of them
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) max_content_length: Option<i64>,
    /// Whether what tools answered is in it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) include_tool_results: Option<bool>,
    /// Whether steps are in it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) include_steps: Option<bool>,
    /// Whether it says why the run went on or stopped
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) include_continuation_trace: Option<bool>,
    /// Whether calls are reduced to their ids and tools
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) redact_tool_args: Option<bool>,
}

impl Slim {
    /// The preset with what differs from it.
    pub(crate) fn config(&self) -> Config {
        let preset = Config::preset(&self.preset).unwrap_or_default();
        let own = &self.fields;
        Config {
            max_messages: own.max_messages.unwrap_or(preset.max_messages),
            max_steps: own.max_steps.unwrap_or(preset.max_steps),
            max_content_length: own.max_content_length.unwrap_or(preset.max_content_length),
            include_tool_results: own.include_tool_results.unwrap_or(preset.include_tool_results),
            include_steps: own.include_steps.unwrap_or(preset.include_steps),
            include_continuation_trace: own.include_continuation_trace.unwrap_or(preset.include_continuation_trace),
            redact_tool_args: own.redact_tool_args.unwrap_or(preset.redact_tool_args),
        }
    }
}

/// Put a summary in the place of older exchanges; a stored session keeps the originals
#[derive(Group)]
pub(crate) struct Condense {
    /// The file, or the id of a stored session; `-` is standard input
    #[arg(value_name = "IN|ID")]
    pub(crate) input: PathBuf,
    /// Where to write the session of a file; standard output where it is not named
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The format to write the session of a file in
    #[arg(long, value_name = "FORMAT[:VARIANT]", value_parser = target, default_value = "turnkeep")]
    pub(crate) to: Target,
    #[command(flatten)]
    pub(crate) extent: Extent,
    #[command(flatten)]
    pub(crate) by: ModelArgs,
    /// Ask nobody: choose from the conversation's own sentences, also where the session's endpoint is configured
    #[arg(long, conflicts_with_all = ["endpoint", "script"])]
    pub(crate) offline: bool,
    /// Only say what would be condensed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
