//! The part of the command line that concerns stored sessions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{ArgGroup, Args as Group, ValueEnum};
use turnkeep_codec::Target;
use turnkeep_model::Json;
use turnkeep_store::{Error, ErrorKind, Listener, Notice, Options, Sort, Store, open_with};

use crate::args::{Reading, target};
use crate::exit::{Exit, Stop};
use crate::policy_args::Reducing;
use crate::reduce_args::{Condensing, Packing};
use crate::terminal::{counted, say};
use crate::visible::visible_line;

/// Which store is meant.
#[derive(Group)]
pub(crate) struct Place {
    /// The store: `sqlite:PATH`, `file:DIR`, `postgres://…`; by default `TURNKEEP_STORE`, or a file in your data directory
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

impl Place {
    /// The URL of the store.
    pub(crate) fn url(&self) -> Result<String, Stop> {
        let named = self.store.clone().or_else(|| std::env::var("TURNKEEP_STORE").ok().filter(|url| !url.is_empty()));
        named.or_else(default_url).ok_or_else(|| {
            let what = "there is no data directory to keep sessions in".to_owned();
            Stop::Usage(what, "name a store with --store URL".to_owned())
        })
    }

    /// Whether there is a store already: looking for a session must not make one.
    pub(crate) fn exists(&self) -> bool {
        self.url().is_ok_and(|url| file_of(&url).is_none_or(std::path::Path::exists))
    }

    /// Opens the store; makes it if need be.
    pub(crate) fn open(&self) -> Result<Arc<dyn Store>, Stop> {
        open(&self.url()?)
    }

    /// Opens a store that is there.
    pub(crate) fn there(&self) -> Result<Arc<dyn Store>, Stop> {
        let url = self.url()?;
        match file_of(&url).filter(|file| !file.exists()) {
            Some(file) => Err(Error::new(ErrorKind::NotFound, "there is no store")
                .file(file)
                .hint("`turnkeep import FILE` makes one; --store URL names another")
                .into()),
            None => open(&url),
        }
    }
}

/// Whether commits of a store that was opened are lost, and nobody has cleared that.
static LOST: AtomicBool = AtomicBool::new(false);

/// The exit code of a command that did its work: where commits of its store are lost, it says so.
pub(crate) fn unless_lost(exit: Exit) -> Exit {
    if exit == Exit::Ok && LOST.load(Ordering::Relaxed) { Exit::Corrupt } else { exit }
}

/// Someone has cleared what was lost.
pub(crate) fn cleared() {
    LOST.store(false, Ordering::Relaxed);
}

/// Opens a store by its URL; what it does on its own is said on standard error.
pub(crate) fn open(url: &str) -> Result<Arc<dyn Store>, Stop> {
    let listener = Listener::new(|notice| {
        // A store may be opened twice by one command.
        if !matches!(notice, Notice::LostCommits { .. }) || !LOST.swap(true, Ordering::Relaxed) {
            noted(&notice).lines().for_each(say);
        }
    });
    Ok(open_with(url, Options { listener, ..Options::default() })?)
}

fn noted(notice: &Notice) -> String {
    match notice {
        Notice::TornTail { session, bytes } => {
            format!(
                "note: {bytes} bytes at the end of `{}`, never acknowledged, were cut off",
                visible_line(session.as_str())
            )
        }
        Notice::LostCommits { count } => format!(
            "warning: the log of the store was damaged, and its last {} lost\n  help: `turnkeep verify` says where a copy of the \
             log is; when you have dealt with it, run `turnkeep verify --clear`",
            counted(*count, "commit is", "commits are")
        ),
        _ => "note: the store mended itself; `turnkeep verify` tells more".to_owned(),
    }
}

/// The file or folder of a store, if it is one.
pub(crate) fn file_of(url: &str) -> Option<&std::path::Path> {
    let (scheme, rest) = url.split_once(':')?;
    let file = rest.strip_prefix("//").unwrap_or(rest).split('?').next().filter(|file| !file.is_empty())?;
    ["sqlite", "file"].contains(&scheme).then(|| std::path::Path::new(file))
}

/// A file in the user's data directory.
fn default_url() -> Option<String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || variable("HOME");
    let data = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| home().map(|home| home.join(".local/share")))
    };
    Some(format!("sqlite:{}", data?.join("turnkeep/sessions.db").display()))
}

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
    pub(crate) place: Place,
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
    pub(crate) place: Place,
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
    pub(crate) place: Place,
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
    pub(crate) place: Place,
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
    pub(crate) place: Place,
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
    pub(crate) place: Place,
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
    pub(crate) place: Place,
}

/// Say what takes how much space
#[derive(Group)]
pub(crate) struct Du {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
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
    pub(crate) place: Place,
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
    pub(crate) reading: Reading,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
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
    pub(crate) condensing: Condensing,
    #[command(flatten)]
    pub(crate) packing: Packing,
    #[command(flatten)]
    pub(crate) reducing: Reducing,
    /// Write nothing, and print what would be lost
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write what did not survive to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
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
    pub(crate) place: Place,
}
