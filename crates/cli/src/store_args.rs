//! The arguments of the commands that work on stores.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args as Group, ValueEnum};
use turnkeep_codec::Target;
use turnkeep_model::Json;
use turnkeep_store::Sort;

use crate::args::target;
use crate::input_args::InputArgs;
use crate::policy_args::PolicyArgs;
use crate::reduce_args::{CompressArgs, CondenseArgs};
use crate::store::StoreArgs;

/// List stored sessions
#[derive(Group)]
pub(crate) struct Ls {
    /// Only those with this text in their title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Only those that carry this label
    #[arg(long, value_name = "KEY[=VALUE]")]
    pub(crate) tag: Vec<String>,
    /// Only those with this in what the application keeps with them
    #[arg(long, value_name = "KEY[=VALUE]")]
    pub(crate) meta: Vec<String>,
    /// Only those that stand here, as in `in_progress`
    #[arg(long, value_name = "STATE")]
    pub(crate) status: Option<String>,
    /// Only forks of this session
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<String>,
    /// The order
    #[arg(long, value_enum, default_value = "updated")]
    pub(crate) sort: Order,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Go on after the page that ended with this word
    #[arg(long, value_name = "WORD")]
    pub(crate) after: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Order {
    Updated,
    Created,
    Id,
}

impl From<Order> for Sort {
    fn from(order: Order) -> Sort {
        match order {
            Order::Updated => Sort::Updated,
            Order::Created => Sort::Created,
            Order::Id => Sort::Id,
        }
    }
}

/// Search what was said in stored sessions
#[derive(Group)]
pub(crate) struct Find {
    /// The words; all must be there
    #[arg(value_name = "Q", required = true)]
    pub(crate) words: Vec<String>,
    /// Only in this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// How many hits at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Make a session that shares the past of another
#[derive(Group)]
pub(crate) struct Fork {
    /// The session
    pub(crate) id: String,
    /// The last record they share; the end where it is not named
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// The new session's id; made from the old one where it is not named
    #[arg(long = "as", value_name = "ID")]
    pub(crate) child: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Remove stored sessions
#[derive(Group)]
pub(crate) struct Rm {
    /// The sessions
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Label a stored session, or list its labels
#[derive(Group)]
pub(crate) struct Tag {
    /// The session
    pub(crate) id: String,
    /// Labels to set
    #[arg(value_name = "KEY[=VALUE]", value_parser = label)]
    pub(crate) set: Vec<(String, String)>,
    /// Take this label off
    #[arg(long, short = 'd', value_name = "KEY")]
    pub(crate) remove: Vec<String>,
    /// Keep this with the session; VALUE is JSON, or a text
    #[arg(long, value_name = "KEY=VALUE", value_parser = kept)]
    pub(crate) meta: Vec<(String, Json)>,
    /// No longer keep this with the session
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_meta: Vec<String>,
    /// Give the session this title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl Tag {
    pub(crate) fn changes(&self) -> bool {
        let labels = !self.set.is_empty() || !self.remove.is_empty();
        labels || self.title.is_some() || !self.meta.is_empty() || !self.remove_meta.is_empty()
    }
}

fn kept(word: &str) -> Result<(String, Json), String> {
    let (key, value) =
        word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or("as in owner=ada or limits={\"n\":3}")?;
    let value =
        turnkeep_model::json::parse(value).map_or_else(|_| Json::from(value), turnkeep_model::json::Node::into_json);
    Ok((key.to_owned(), value))
}

fn label(word: &str) -> Result<(String, String), String> {
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    if key.is_empty() {
        return Err("a label needs a key, as in team=red".to_owned());
    }
    Ok((key.to_owned(), value.to_owned()))
}

/// Take a secret out of a stored session
#[derive(Group)]
#[group(skip)]
#[command(group = ArgGroup::new("what").required(true).args(["text", "text_from", "beginning", "at"]))]
pub(crate) struct Erase {
    /// The session
    pub(crate) id: String,
    /// Erase this text; others may see it in the list of processes
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Erase the text in this file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) text_from: Option<PathBuf>,
    /// Erase every word that begins like this, as in `sk-`
    #[arg(long, value_name = "TEXT")]
    pub(crate) beginning: Option<String>,
    /// Erase the text at this path, as in `turns[3].blocks[1].text`
    #[arg(long, value_name = "PATH")]
    pub(crate) at: Option<String>,
    /// Only in this record
    #[arg(long, value_name = "SEQ")]
    pub(crate) seq: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Check every sum of stored sessions
#[derive(Group)]
pub(crate) struct Verify {
    /// One session; all of them where it is not named
    pub(crate) id: Option<String>,
    /// Save what can be saved of damaged journals, and say what that is
    #[arg(long, conflicts_with = "id")]
    pub(crate) repair: bool,
    /// Clear findings that are kept until someone has dealt with them; --repair does that, too
    #[arg(long, conflicts_with_all = ["id", "repair"])]
    pub(crate) clear: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Say what takes how much space
#[derive(Group)]
pub(crate) struct Du {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Remove what is no longer kept, and give space back
#[derive(Group)]
pub(crate) struct Gc {
    /// Keep sessions that were changed in the last N days
    #[arg(long, value_name = "N")]
    pub(crate) keep_days: Option<u64>,
    /// Keep the N sessions that were changed last
    #[arg(long, value_name = "N")]
    pub(crate) keep_count: Option<u64>,
    /// Keep the sessions that were changed last and have N bytes together
    #[arg(long, value_name = "N")]
    pub(crate) keep_bytes: Option<u64>,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl Gc {
    pub(crate) fn age(&self) -> Option<Duration> {
        self.keep_days.map(|days| Duration::from_secs(days.saturating_mul(86_400)))
    }
}

/// Store sessions of files
#[derive(Group)]
pub(crate) struct Import {
    /// The files; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Write a stored session as a file
#[derive(Group)]
pub(crate) struct Export {
    /// The session
    pub(crate) id: String,
    /// The format to write, optionally with a variant
    #[arg(long, value_name = "FORMAT[:VARIANT]", value_parser = target, default_value = "turnkeep.jsonl")]
    pub(crate) to: Target,
    /// Where to write; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Leave out data that the application passes along
    #[arg(long)]
    pub(crate) omit_data: bool,
    #[command(flatten)]
    pub(crate) condensing: CondenseArgs,
    #[command(flatten)]
    pub(crate) packing: CompressArgs,
    #[command(flatten)]
    pub(crate) reducing: PolicyArgs,
    /// Leave secrets and sealed content in a page (`--to html`), which is redacted otherwise
    #[arg(long, conflicts_with_all = ["redact", "pattern"])]
    pub(crate) no_redact: bool,
    /// Write nothing, and print what would be lost
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write what did not survive to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl Export {
    /// Whether what is stored is written as it is.
    pub(crate) fn changes_nothing(&self) -> bool {
        !self.condensing.condense && self.packing.compress.is_none() && self.reducing.is_empty() && !self.dry_run
    }
}

/// Copy sessions to another store
#[derive(Group)]
pub(crate) struct Copy {
    /// The sessions; all of them where none is named
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// The other store
    #[arg(long, value_name = "URL")]
    pub(crate) to_store: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
