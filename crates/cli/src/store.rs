//! The store of a command: which one is meant, how it is opened, and what it says on its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args as Group;
use turnkeep_store::{Error, ErrorKind, Listener, Notice, Options, Store, open_with};

use crate::exit::{CliError, Exit};
use crate::terminal::{counted, print_note};
use crate::visible::visible_line;

/// Which store is meant.
#[derive(Group)]
pub(crate) struct StoreArgs {
    /// The store: `sqlite:PATH`, `file:DIR`, `postgres://…`; by default `TURNKEEP_STORE`, or a file in your data directory
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

impl StoreArgs {
    /// The URL of the store.
    pub(crate) fn url(&self) -> Result<String, CliError> {
        let named = self.store.clone().or_else(|| std::env::var("TURNKEEP_STORE").ok().filter(|url| !url.is_empty()));
        named.or_else(default_url).ok_or_else(|| {
            let what = "there is no data directory to keep sessions in".to_owned();
            CliError::Usage(what, "name a store with --store URL".to_owned())
        })
    }

    /// Whether the command line names it.
    pub(crate) fn is_named(&self) -> bool {
        self.store.is_some()
    }

    /// Whether there is a store already: looking for a session must not make one.
    pub(crate) fn exists(&self) -> bool {
        self.url().is_ok_and(|url| is_there(&url))
    }

    /// Opens the store; makes it if need be.
    pub(crate) fn open(&self) -> Result<Arc<dyn Store>, CliError> {
        open(&self.url()?)
    }

    /// Opens a store that is there.
    pub(crate) fn open_existing(&self) -> Result<Arc<dyn Store>, CliError> {
        let url = self.url()?;
        match file_of(&url).filter(|_| !is_there(&url)) {
            Some(file) => Err(Error::new(ErrorKind::NotFound, "there is no store")
                .file(file)
                .hint("`turnkeep import FILE` makes one; --store URL names another")
                .into()),
            None => open(&url),
        }
    }
}

/// Whether commits of a store that was opened are lost, and nobody has cleared that.
// The exit code is decided in `main`, far from the listener that hears of the loss.
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
pub(crate) fn open(url: &str) -> Result<Arc<dyn Store>, CliError> {
    let listener = Listener::new(|notice| {
        // A store may be opened twice by one command.
        if !matches!(notice, Notice::LostCommits { .. }) || !LOST.swap(true, Ordering::Relaxed) {
            noted(&notice).lines().for_each(print_note);
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

/// Whether there is a store, or what is left of one: a log without its database is no empty store.
fn is_there(url: &str) -> bool {
    let log = |file: &Path| PathBuf::from(format!("{}-wal", file.display()));
    let is_left = |file: &Path| url.starts_with("sqlite:") && log(file).metadata().is_ok_and(|log| log.len() > 0);
    file_of(url).is_none_or(|file| file.exists() || is_left(file))
}

/// The file or folder of a store, if it is one.
pub(crate) fn file_of(url: &str) -> Option<&Path> {
    let (scheme, rest) = url.split_once(':')?;
    let file = rest.strip_prefix("//").unwrap_or(rest).split('?').next().filter(|file| !file.is_empty())?;
    ["sqlite", "file"].contains(&scheme).then(|| Path::new(file))
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
